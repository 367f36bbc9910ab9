//! Candidate classes: which labels a model can decide.
//!
//! In: counts in which every label that occurs is a class. Out: the labels that may be decided; the others are counted as
//! predictions and never decided. Counting and merging keep every label, so that the choice depends on the merged rows
//! alone.

use crate::{
    data::{Label, MISSING},
    evidence::Evidence,
};

/// Labelled rows with a prediction that is never true, from which that label is not a class.
const MIN_ROWS: f64 = 10.0;
/// Labelled rows from which a panel that mostly predicts labels that are never true shows that its labels are not classes.
/// On fewer rows the errors of a weak panel look the same.
const MIN_PANEL_ROWS: f64 = 5.0;

impl Evidence {
    /// The classes that a model fitted to these counts decides between, in the order in which ties are resolved.
    ///
    /// These are the given classes, if they were given. Otherwise they are the truths and the labels of the classifiers
    /// that also predict true labels, unless most of their predictions on labelled rows are labels that are never true
    /// (such as grades from 0 to 9 where the truth is 0 or 1; from 5 labelled rows and two classes on); except for labels that the rows show not to be classes: those that were never true,
    /// although a classifier that is otherwise correct on at least half of its rows predicted them on 10 labelled rows or
    /// more (such as an annotator's `na`). Without any truth, all labels are candidates.
    pub fn candidate_classes(&self) -> Vec<Label> {
        let labels = self.labels();
        let classes = labels.classes();
        if labels.is_closed() || self.is_open() || self.total() == 0 {
            return classes.to_vec();
        }
        let counts: Vec<Vec<u64>> = (0..self.n_classifiers()).map(|k| self.predicted_counts(k)).collect();
        let is_true = |j: usize| self.class_counts[j] > 0;
        let mut is_candidate: Vec<bool> = (0..classes.len()).map(is_true).collect();
        let predicted = self.predicted_labels(&counts);
        let names_classes = |k: &usize| (0..classes.len()).any(|j| is_true(j) && predicted[*k][j]);
        let naming: Vec<usize> = (0..self.n_classifiers()).filter(names_classes).collect();
        let mut n_predicted = [0u128; 2];
        for &k in &naming {
            counts[k]
                .iter()
                .enumerate()
                .for_each(|(j, count)| n_predicted[usize::from(is_true(j))] += u128::from(*count));
        }
        let [n_never_true, n_true] = n_predicted;
        // Where a single class is true, any other label may be the second.
        let n_classes = self.class_counts.iter().filter(|count| **count > 0).count();
        if n_true >= n_never_true || n_classes < 2 || self.n_rows() < MIN_PANEL_ROWS {
            for (j, candidate) in is_candidate.iter_mut().enumerate() {
                *candidate |= naming.iter().any(|&k| predicted[k][j]);
            }
        }
        for (k, counts) in counts.iter().enumerate() {
            let (correct, answered) = (self.correct(k), counts.iter().sum::<u64>());
            for j in (0..classes.len()).filter(|&j| !is_true(j)) {
                let others = answered - counts[j];
                let is_no_class =
                    self.rows_of(counts[j]) >= MIN_ROWS && others > 0 && correct >= others.div_ceil(2);
                is_candidate[j] &= !is_no_class;
            }
        }
        classes
            .iter()
            .zip(is_candidate)
            .filter(|(_, candidate)| *candidate)
            .map(|(label, _)| label.clone())
            .collect()
    }

    /// For every classifier, which labels it predicted on any row, with or without truth.
    fn predicted_labels(&self, counts: &[Vec<u64>]) -> Vec<Vec<bool>> {
        let occurs = |counts: &Vec<u64>| counts.iter().map(|count| *count > 0).collect();
        let mut predicts: Vec<Vec<bool>> = counts.iter().map(occurs).collect();
        for row in self.unlabelled.iter().flat_map(|rows| rows.patterns().rows()) {
            row.for_each(|k, j| {
                if j != MISSING {
                    predicts[k][usize::from(j)] = true;
                }
            });
        }
        predicts
    }
}

#[cfg(test)]
mod tests {
    use crate::{Control, Evidence, Label, Predictions, Truth, evidence::Counting};

    /// Rows of two classifiers and a truth (`-` is missing), each with its count.
    fn counted(rows: &[([&str; 3], u64)], classes: Option<&[&str]>) -> Evidence {
        let mut predictions = Predictions::builder(["a", "b"]).expect("two names");
        let mut truth = Truth::default();
        for ([a, b, class], _) in rows {
            let cell = |text: &str| (text != "-").then(|| text.to_owned());
            predictions.push([cell(a), cell(b)]).expect("two predictions");
            truth.push(cell(class)).expect("few labels");
        }
        let counts: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let counting = Counting {
            counts: Some(&counts),
            unlabelled: true,
            classes: classes.map(|classes| classes.iter().copied().map(Label::from).collect()),
            ..Counting::default()
        };
        Evidence::count(&predictions.finish(), &truth, &counting, &Control::default()).expect("rows")
    }

    fn candidates(rows: &[([&str; 3], u64)]) -> Vec<String> {
        counted(rows, None).candidate_classes().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn labels_of_a_column_without_true_labels_are_not_classes() {
        let rows = [(["x", "item-1", "x"], 1), (["y", "item-2", "y"], 1), (["z", "item-3", "x"], 1)];
        assert_eq!(candidates(&rows), ["x", "y", "z"]);
    }

    #[test]
    fn a_label_that_a_good_classifier_predicts_and_is_never_true_is_not_a_class() {
        let rows = |n: u64| [(["x", "x", "x"], 20), (["y", "y", "y"], 20), (["na", "x", "x"], n)];
        assert_eq!(candidates(&rows(9)), ["na", "x", "y"]);
        assert_eq!(candidates(&rows(10)), ["x", "y"]);
        // A constant classifier shows nothing about a class that has not been true yet.
        assert_eq!(candidates(&[(["z", "x", "x"], 20), (["z", "z", "y"], 1)]), ["x", "y", "z"]);
    }

    #[test]
    fn labels_of_a_panel_that_mostly_predicts_no_true_label_are_not_classes() {
        // Grades where the truth is 0 or 1; a grade that occurs without truth is no class either.
        let rows = [(["1", "4", "0"], 2), (["3", "0", "1"], 2), (["7", "6", "1"], 1), (["8", "0", "-"], 1)];
        assert_eq!(candidates(&rows), ["0", "1"]);
        let few = [(["1", "4", "1"], 1), (["3", "5", "0"], 1), (["7", "6", "1"], 1)];
        assert_eq!(candidates(&few), ["0", "1", "3", "7"], "three labelled rows are too few");
        // As many predictions of true labels as others.
        assert_eq!(candidates(&[(["1", "0", "0"], 2), (["3", "4", "1"], 2)]), ["0", "1", "3", "4"]);
    }

    #[test]
    fn labels_of_rows_without_truth_are_candidates() {
        let rows = [(["x", "x", "x"], 3), (["w", "x", "-"], 1), (["x", "v", "-"], 1)];
        assert_eq!(candidates(&rows), ["v", "w", "x"]);
        assert_eq!(candidates(&[(["w", "v", "-"], 1)]), ["v", "w"]);
    }

    #[test]
    fn given_classes_are_the_candidates() {
        let rows = [(["x", "x", "x"], 3), (["w", "x", "x"], 1)];
        let found = counted(&rows, Some(&["y", "x"])).candidate_classes();
        assert_eq!(found, ["y", "x"].map(Label::from));
    }
}
