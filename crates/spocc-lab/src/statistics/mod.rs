//! Statistics: what a list of accuracies says, and how surely.

mod summary;
mod paired;
mod holm;
mod ranks;
mod friedman;

pub(crate) use friedman::{Friedman, critical_difference};
pub(crate) use holm::holm;
pub(crate) use paired::{Paired, by_repetition, differences};
pub(crate) use ranks::{average_ranks, discrepancies};
pub(crate) use summary::{Summary, deviation, mean, quantile};
