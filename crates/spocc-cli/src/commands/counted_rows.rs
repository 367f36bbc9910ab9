//! How many rows were counted, in words.

use spocc::Evidence;

use crate::{error::count, print_status};

/// `3 labelled rows`, `3 labelled and 2 unlabelled rows`, `2 unlabelled rows`.
pub(super) fn describe_rows(evidence: &Evidence) -> String {
    match [evidence.n_rows(), evidence.n_unlabelled()].map(|n| n.round() as u64) {
        [labelled, 0] => count(labelled as usize, "labelled row", "labelled rows"),
        [0, unlabelled] => count(unlabelled as usize, "unlabelled row", "unlabelled rows"),
        [labelled, unlabelled] => format!(
            "{labelled} labelled and {}",
            count(unlabelled as usize, "unlabelled row", "unlabelled rows")
        ),
    }
}

/// Prints a note if not all patterns of unlabelled rows are kept.
pub(super) fn note_sample(evidence: &Evidence) {
    if evidence.samples_unlabelled() {
        print_status(format_args!(
            "note: of the unlabelled rows a sample is kept: {} distinct patterns of predictions, chosen by hash",
            evidence.n_unlabelled_patterns()
        ));
    }
}
