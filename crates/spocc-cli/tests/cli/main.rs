//! The command as a user meets it: run in a fresh directory, judged by what it prints and how it ends.

#[cfg(feature = "arrow")]
mod arrow;
mod desk;
mod fit_predict;
mod interrupted;
mod long;
mod manners;
mod refusals;
mod reports;
mod sets;
mod sharing;
mod tables;
mod weights;
mod unlabelled;
