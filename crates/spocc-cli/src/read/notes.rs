//! What was noticed while a labelled table was read, printed on standard error.

use spocc::evidence::{ColumnIssue, RepeatedRows};
use spocc_table::{Error, Location};

use crate::{
    error::{count, rows},
    print_status,
    read::CountedInput,
};

/// Counts of rows and predictions that were not used as they are.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_field_names)] // all of them are numbers
pub(crate) struct ReadNotes {
    /// Labelled rows.
    pub(super) n_rows: u64,
    /// Unlabelled rows that were counted.
    pub(super) n_unlabelled: u64,
    /// Unlabelled rows that were skipped.
    pub(super) n_skipped: u64,
    /// Rows of --unlabelled that were skipped because the labelled table has them too.
    pub(super) n_again: u64,
    /// Rows with the id of a row before them.
    pub(super) n_repeated_ids: u64,
    /// True labels of --gold without a row.
    pub(super) n_unmatched: usize,
    /// Repeated predictions of a long table that were not used.
    pub(super) n_repeats: usize,
}

impl ReadNotes {
    fn report(&self) {
        if self.n_skipped > 0 {
            let skipped = count(self.n_skipped as usize, "unlabelled row", "unlabelled rows");
            print_status(format_args!("skipped {skipped}"));
        }
        if self.n_again > 0 {
            let again = rows(self.n_again);
            print_status(format_args!(
                "skipped {again} of --unlabelled whose id is also in the labelled table"
            ));
        }
        if self.n_repeated_ids > 0 {
            print_status(format_args!("warning: {}", RepeatedRows(self.n_repeated_ids)));
        }
        if self.n_unmatched > 0 {
            let unmatched = count(self.n_unmatched, "true label of --gold has", "true labels of --gold have");
            print_status(format_args!("note: {unmatched} no row in the table"));
        }
        if self.n_repeats > 0 {
            let repeats = count(self.n_repeats, "repeated prediction", "repeated predictions");
            print_status(format_args!("note: ignored {repeats}"));
        }
    }
}

/// The refusal of a column that identifies rows, so that counts of its labels exceed the memory.
pub(super) fn id_in_memory(place: &Location, name: &str) -> Error {
    let expected = format!("predictions in column `{name}`, in memory");
    place.refused(
        expected,
        format!("a different label in every row (if it identifies the rows, use --id '{name}')"),
    )
}

impl CountedInput {
    /// Prints what was skipped and what looks like a mistake.
    pub(crate) fn report_notes(&self) {
        self.warn_columns();
        if let Some(notes) = &self.notes {
            notes.report();
            self.note_labels();
        }
    }

    /// An error of the engine about these counts; a refusal for lack of memory gets its likely reason, a column that is an id.
    pub(crate) fn engine(&self, error: spocc::Error) -> Error {
        let warnings = self.evidence.column_warnings();
        let id = warnings.iter().find(|warning| matches!(warning.issue, ColumnIssue::Id { .. }));
        match (&error, id) {
            (spocc::Error::MemoryLimit { .. }, Some(id)) => id_in_memory(&self.place, &id.classifier),
            _ => self.place.engine(error),
        }
    }

    /// Warns about columns that do not look like classifiers, with the option that excludes them.
    fn warn_columns(&self) {
        let warnings = self.evidence.column_warnings();
        if warnings.is_empty() {
            return;
        }
        let (mut ids, mut others) = (Vec::new(), Vec::new());
        for warning in &warnings {
            print_status(format_args!("warning: {warning}"));
            let is_id = self.notes.is_some() && matches!(warning.issue, ColumnIssue::Id { .. });
            if is_id { &mut ids } else { &mut others }.push(warning.classifier.as_str());
        }
        let are_answers = ids.len() > 1;
        let options = [("--id", ids), ("--ignore", others)];
        let options = options.iter().filter(|(_, names)| !names.is_empty());
        let options: Vec<String> =
            options.map(|(option, names)| format!("{option} {}", quoted_names(names))).collect();
        let they = if warnings.len() == 1 { "it is not a classifier" } else { "they are not classifiers" };
        print_status(format_args!("warning: if {they}, use {}", options.join(" ")));
        if are_answers {
            print_status(format_args!("warning: if they are open answers, such as numbers, use --open"));
        }
    }

    /// Notes labels that look like missing values, and labels that differ only in spaces and capitals.
    fn note_labels(&self) {
        const MISSING: [&str; 7] = ["na", "n/a", "nan", "none", "nil", "-", "?"];
        let labels: Vec<String> = self.evidence.labels().all().iter().map(ToString::to_string).collect();
        let folded: Vec<String> = labels.iter().map(|label| label.trim().to_lowercase()).collect();
        let looks_missing = |(_, folded): &(&String, &String)| MISSING.contains(&folded.as_str());
        for (label, _) in labels.iter().zip(&folded).filter(looks_missing) {
            print_status(format_args!(
                "note: `{label}` counts as a label; if it means a missing value, use --na 'null,{label}'"
            ));
        }
        let equal = |at: usize| folded[..at].iter().position(|known| *known == folded[at]);
        if let Some((at, known)) =
            (0..labels.len().min(1000)).find_map(|at| equal(at).map(|known| (at, known)))
        {
            print_status(format_args!("note: `{}` and `{}` count as two labels", labels[known], labels[at]));
        }
    }
}

/// Names as the value of an option in a shell.
fn quoted_names(names: &[&str]) -> String {
    let quoted = |name: &&str| {
        let is_plain = !name.contains([',', '"', '\n', '\r']);
        if is_plain { (*name).to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
    };
    let value = names.iter().map(quoted).collect::<Vec<String>>().join(",");
    format!("'{}'", value.replace('\'', "'\\''"))
}
