//! Runs the command in a fresh directory and checks its output and exit code.

#[cfg(feature = "arrow")]
mod arrow;
mod bombs;
mod decided_formats;
mod exit_codes;
mod fit_predict;
mod full_disks;
mod held_out_accuracy;
mod hidden_characters;
mod interrupted;
mod killed;
mod long;
mod open;
mod protected_formulas;
mod refused_inputs;
mod refused_tables;
mod reports;
mod sets;
mod table_formats;
mod tallies;
mod test_dir;
mod unlabelled;
mod weights;
mod written_files;
