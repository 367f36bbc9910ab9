//! The command as a user meets it: run in a fresh directory, judged by what it prints and how it ends.

#[cfg(feature = "arrow")]
mod arrow;
mod test_dir;
mod fit_predict;
mod interrupted;
mod long;
mod exit_codes;
mod refusals;
mod reports;
mod sets;
mod tallies;
mod tables;
mod weights;
mod unlabelled;
