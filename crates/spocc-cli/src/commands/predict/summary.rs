//! The summary that `spocc predict` prints on standard error.

use std::collections::BTreeMap;

use spocc::{
    Model,
    conformal::{Calibration, Coverage, PredictionSets},
    predict::{Decisions, UnseenLabel},
};

use crate::{error::rows, print_status};

/// Unknown labels that are listed one by one.
const SHOWN: usize = 8;

/// Figures over all decided rows.
#[derive(Default)]
pub(super) struct PredictionSummary {
    n_rows: usize,
    n_ties: usize,
    n_prior: usize,
    /// Sum of the sizes of all prediction sets.
    total_set_size: usize,
    n_single_class_sets: usize,
    n_abstained: usize,
    /// Rows with each unknown label, by classifier and label.
    unknown: BTreeMap<(String, String), usize>,
}

impl PredictionSummary {
    pub(super) fn add(&mut self, decisions: &Decisions) {
        self.n_rows += decisions.len();
        self.n_ties += decisions.n_ties();
        self.n_prior += decisions.n_prior();
        for UnseenLabel { classifier, label, n_rows, .. } in decisions.unseen() {
            *self.unknown.entry((classifier.clone(), label.to_string())).or_default() += n_rows;
        }
    }

    pub(super) fn add_sets(&mut self, sets: Option<&PredictionSets>, abstained: &[bool]) {
        for set in sets.into_iter().flat_map(PredictionSets::iter) {
            self.total_set_size += set.len();
            self.n_single_class_sets += usize::from(set.len() == 1);
        }
        self.n_abstained += abstained.iter().filter(|abstained| **abstained).count();
    }

    pub(super) fn report_decisions(&self, model: &Model) {
        let without = if model.is_open() {
            "left empty for lack of an answer"
        } else {
            "decided by the class prior alone"
        };
        print_status(format_args!(
            "decided {} with {}: {} tied, {} {without}",
            rows(self.n_rows as u64),
            model.method(),
            self.n_ties,
            self.n_prior
        ));
    }

    pub(super) fn report_sets(&self, coverage: Coverage, calibration: &Calibration, some_absent: bool) {
        let mean = self.total_set_size as f64 / self.n_rows.max(1) as f64;
        print_status(format_args!(
            "prediction sets at coverage {coverage} ± {:.3}: mean size {mean:.2}, {} with one class",
            calibration.spread(coverage),
            self.n_single_class_sets
        ));
        print_status(format_args!("{calibration}"));
        if some_absent {
            print_status(format_args!(
                "note: the sets were calibrated with all classifiers, so coverage may be lower here"
            ));
        }
    }

    pub(super) fn report_abstention(&self) {
        let share = 100.0 * self.n_abstained as f64 / self.n_rows.max(1) as f64;
        print_status(format_args!("abstained on {} ({share:.1} %)", rows(self.n_abstained as u64)));
    }

    pub(super) fn note_unknown_labels(&self) {
        for ((classifier, label), n) in self.unknown.iter().take(SHOWN) {
            print_status(format_args!(
                "note: `{classifier}` predicts `{label}` in {}; the model does not know this label and counts it as missing",
                rows(*n as u64)
            ));
        }
        if let more @ 1.. = self.unknown.len().saturating_sub(SHOWN) {
            print_status(format_args!("note: and {more} more unknown labels"));
        }
    }
}
