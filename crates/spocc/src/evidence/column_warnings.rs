//! Warnings about columns that were counted as classifiers and are probably something else: ids, groups, the truth.
//!
//! In: counts. Out: one warning per suspicious column.

use std::fmt;

use crate::{evidence::Evidence, printable};

/// A column with more labels than this can be a row id.
const MANY_LABELS: usize = 20;
/// Distinct labels per row from which a column is a row id. With weights the number of rows is not known.
const NEARLY_ALL: f64 = 0.9;
/// Rows from which a column that always equals the truth is taken for the truth.
const MIN_ROWS: f64 = 30.0;

/// A column that was counted as a classifier and is probably something else.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnWarning {
    /// The name of the column.
    pub classifier: String,
    /// What the column probably is.
    pub issue: ColumnIssue,
}

/// What a column that is probably not a classifier is instead.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnIssue {
    /// A row id: a different label in nearly every row.
    Id {
        /// Number of distinct labels.
        labels: usize,
        /// Rows with a label, or the sum of their weights.
        rows: f64,
    },
    /// The truth: equal to it in every row.
    Truth {
        /// Rows with a label, or the sum of their weights.
        rows: f64,
    },
    /// Something else: it has no label that is true of any row.
    Other,
}

impl fmt::Display for ColumnWarning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column `{}` ", printable(&self.classifier))?;
        match self.issue {
            ColumnIssue::Id { labels, rows } => {
                write!(out, "has a different label in nearly every row ({labels} labels in {rows} rows)")
            }
            ColumnIssue::Truth { rows } => write!(out, "equals the truth in all of its {rows} rows"),
            ColumnIssue::Other => write!(out, "shares no label with the truth"),
        }
    }
}

impl Evidence {
    /// Warnings about columns that are probably not classifiers, in the order of the columns.
    /// Of open answers none is suspicious: their labels have no meaning across rows, and good classifiers are often right on
    /// all of a few labelled rows.
    pub fn column_warnings(&self) -> Vec<ColumnWarning> {
        let n_truths = self.class_counts.iter().filter(|count| **count > 0).count();
        let issue = |k: usize| {
            let (counts, rows) = (self.predicted_counts(k), self.rows_of(self.answered(k)));
            let labels = counts.iter().filter(|count| **count > 0).count();
            let shares = self.class_counts.iter().zip(&counts).any(|(truly, count)| *truly > 0 && *count > 0);
            if !self.is_open()
                && labels > MANY_LABELS
                && !self.is_weighted()
                && labels as f64 >= NEARLY_ALL * rows
            {
                return Some(ColumnIssue::Id { labels, rows });
            }
            if n_truths > 1 && !self.is_open() && rows >= MIN_ROWS && self.correct(k) == self.answered(k) {
                return Some(ColumnIssue::Truth { rows });
            }
            (!self.is_open() && n_truths > 0 && labels > 0 && !shares).then_some(ColumnIssue::Other)
        };
        let warning = |(k, name): (usize, &String)| {
            issue(k).map(|issue| ColumnWarning { classifier: name.clone(), issue })
        };
        self.classifiers.iter().enumerate().filter_map(warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Evidence, Predictions, Truth};

    #[test]
    fn a_column_of_many_classes_is_not_an_id() {
        let mut rows = Predictions::builder(["good"]).expect("a name");
        let mut truth = Truth::default();
        for t in 0..45 {
            let class = (t * 7 % 25).to_string();
            rows.push([Some(if t % 5 == 0 { "0".to_owned() } else { class.clone() })]).expect("a cell");
            truth.push(Some(class)).expect("few labels");
        }
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        assert!(evidence.column_warnings().is_empty(), "{:?}", evidence.column_warnings());
    }

    #[test]
    fn ids_groups_and_the_truth_are_distinguished_from_classifiers() {
        let mut rows = Predictions::builder(["item", "group", "gold", "good", "few"]).expect("five names");
        let mut truth = Truth::default();
        for t in 0..40 {
            let class = if t % 2 == 0 { "x" } else { "y" };
            let good = if t % 5 == 0 { "x" } else { class };
            let group = if t < 20 { "train" } else { "dev" };
            let few = (t < 29).then(|| class.to_owned());
            rows.push([
                Some(format!("i{t}")),
                Some(group.into()),
                Some(class.into()),
                Some(good.into()),
                few,
            ])
            .expect("five cells");
            truth.push(Some(class)).expect("two labels");
        }
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        let found: Vec<String> = evidence.column_warnings().iter().map(ToString::to_string).collect();
        let expected = [
            "column `item` has a different label in nearly every row (40 labels in 40 rows)",
            "column `group` shares no label with the truth",
            "column `gold` equals the truth in all of its 40 rows",
        ];
        assert_eq!(found, expected);
    }
}
