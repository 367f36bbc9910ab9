//! Statistics of accuracies: summaries, paired tests, ranks.

mod summary;
mod paired;
mod holm;
mod ranks;
mod friedman;

pub(crate) use friedman::{Friedman, critical_difference};
pub(crate) use holm::holm;
pub(crate) use paired::{PairedTest, by_repetition, differences};
pub(crate) use ranks::{average_ranks, discrepancies};
pub(crate) use summary::{AccuracySummary, deviation, mean, quantile};
