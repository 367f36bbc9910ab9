//! Reads labelled tables and tallies into evidence.
//!
//! A wide table is read and counted in batches whose counts are added up, so that memory does not grow with the number
//! of rows. A long table is read as a whole, because the predictions for an item can be anywhere in it.

mod answers;
mod count;
mod counted_input;
mod evidence_sum;
mod label_text;
mod long_table;
mod notes;
mod predictions;
mod repeats;
mod row_ids;
mod select_columns;
mod truth_table;
mod wide_table;

use std::sync::Arc;

use spocc::evidence::Level;

use answers::AnswerCollector;
pub(crate) use answers::{RowCollector, TableRows};
pub(crate) use count::refuse_same_file;
pub(crate) use counted_input::CountedInput;
use evidence_sum::{CountBatch, EvidenceSum};
pub(crate) use long_table::{ClassifierFilter, LongTable};
use notes::ReadNotes;
pub(crate) use predictions::PredictionCollector;
use row_ids::IdSet;
use select_columns::{refuse_other_classifiers, select_classifiers};
use truth_table::TruthTable;
pub(crate) use wide_table::{batch_size, batch_text};

/// Which rows of a table are counted, and in how much detail.
#[derive(Clone, Copy)]
pub(crate) struct CountOptions<'a> {
    level: Level,
    /// The level that is enough where `level` does not fit into memory.
    enough: Level,
    filter: RowFilter<'a>,
    /// Whether ids are kept, to recognise the rows in another table.
    with_ids: bool,
    truth: TruthNeed,
}

/// What a table must say about true labels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TruthNeed {
    /// Nothing.
    Nothing,
    /// Which column has them.
    Column,
    /// At least one of them.
    Some,
}

/// Which rows are counted.
#[derive(Clone, Copy)]
enum RowFilter<'a> {
    /// Labelled rows.
    Labelled,
    /// Labelled and unlabelled rows.
    All,
    /// All rows except those with an id in `counted`, as unlabelled rows; the table must have these classifiers.
    Unlabelled { classifiers: &'a [String], counted: &'a Arc<IdSet> },
}

impl RowFilter<'_> {
    fn has_truths(self) -> bool {
        !matches!(self, Self::Unlabelled { .. })
    }

    fn has_unlabelled(self) -> bool {
        !matches!(self, Self::Labelled)
    }
}

impl CountOptions<'_> {
    /// Counts labelled rows.
    pub(crate) fn labelled(level: Level) -> Self {
        Self { level, enough: level, filter: RowFilter::Labelled, with_ids: false, truth: TruthNeed::Some }
    }

    /// Counts labelled and unlabelled rows of a table that has a column of true labels.
    pub(crate) fn all(level: Level) -> Self {
        Self { level, enough: level, filter: RowFilter::All, with_ids: false, truth: TruthNeed::Column }
    }

    /// Also counts tables without any true label. The caller must have asked for a method that needs none: to forget the
    /// column of true labels would make it one more classifier.
    pub(crate) fn or_no_truth(self, is_asked: bool) -> Self {
        Self { truth: if is_asked { TruthNeed::Nothing } else { TruthNeed::Some }, ..self }
    }

    /// Counts in less detail from where the level does not fit into memory.
    pub(crate) fn or_reduced_to(self, enough: Level) -> Self {
        Self { enough, ..self }
    }

    /// Also keeps the ids of rows.
    pub(crate) fn with_ids(self) -> Self {
        Self { with_ids: true, ..self }
    }
}
