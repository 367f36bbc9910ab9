//! The labelled rows of a tally as a table in which equal rows are one cell.

use std::collections::HashMap;

use serde::Serialize;

use crate::{
    Control, Error, Evidence, Label, Model, Predictions,
    data::{ClassWeights, NONE},
    evaluate::split::{WeightedSubset, mix, text},
    evidence::{Counting, GroupedRows, RowSubset},
    predict::DecisionColumns,
};

/// A tally as a table: the predictions, truth and count of every cell.
pub(super) struct EvaluationRows {
    table: GroupedRows,
    /// A hash of the predictions and the truth of each cell, in any order of the columns.
    pub(super) keys: Vec<u64>,
    /// How many rows one row of each cell stands for (see [`effective_sizes`]).
    row_sizes: Vec<f64>,
    /// Position of each cell's truth among `classes`.
    truths: Vec<usize>,
    classes: Vec<Label>,
    /// Whether the classes were given, so that every subset of the rows has all of them.
    is_closed: bool,
}

/// The single classifier with the highest accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestClassifier {
    /// Its name.
    pub name: String,
    /// Share of all rows on which its prediction is correct.
    pub accuracy: f64,
}

impl EvaluationRows {
    /// Groups the rows of a tally.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`] without a tally, what [`Evidence::class_weights`] refuses.
    pub(super) fn new(evidence: &Evidence, class_weights: &ClassWeights) -> Result<Self, Error> {
        let class_weights = evidence.class_weights(class_weights)?;
        let table = evidence.grouped()?;
        let classes = evidence.labels().classes().to_vec();
        let numbers: HashMap<&str, usize> = classes.iter().map(Label::canonical).zip(0..).collect();
        let names: Vec<u64> = evidence.classifiers().iter().map(|name| text(name)).collect();
        let (mut keys, mut truths) = (Vec::new(), Vec::new());
        for cell in 0..table.counts.len() {
            let truth = table.truth.get(cell).map_or("", Label::canonical);
            // A sum, so that the order of the columns does not matter.
            let mut pattern = 0u64;
            table.predictions.for_each_prediction(cell, |k, label| {
                pattern = pattern.wrapping_add(mix(names[k], text(label.canonical())));
            });
            // A whole row has the same key with weights as without.
            let weight = table.weights[cell];
            let key = mix(pattern, text(truth));
            keys.push(if weight < 1.0 { mix(key, weight.to_bits()) } else { key });
            truths.push(numbers.get(truth).copied().unwrap_or(usize::MAX));
        }
        let class_weight = |truth: &usize| class_weights.get(*truth).copied().unwrap_or(1.0);
        let weights = table.weights.iter().zip(&truths).map(|(own, truth)| own * class_weight(truth));
        let row_sizes = effective_sizes(weights.collect(), &table.counts);
        Ok(Self { table, keys, row_sizes, truths, is_closed: evidence.labels().is_closed(), classes })
    }

    /// The predictions of each cell.
    pub(super) fn predictions(&self) -> &Predictions {
        &self.table.predictions
    }

    /// Number of rows of each cell.
    pub(super) fn counts(&self) -> &[u64] {
        &self.table.counts
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether any prediction is missing.
    pub(super) fn has_missing(&self) -> bool {
        let predictions = &self.table.predictions;
        let mut n = 0;
        (0..self.len()).for_each(|cell| predictions.for_each_prediction(cell, |_, _| n += 1));
        n < self.len() * predictions.n_classifiers()
    }

    /// Number of rows.
    pub(super) fn n_rows(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// All rows.
    pub(super) fn all(&self) -> RowSubset {
        self.counts().iter().copied().enumerate().collect()
    }

    /// The effective number and the weight of the rows of a subset.
    pub(super) fn weighted(&self, subset: &RowSubset) -> WeightedSubset {
        let weighted = |&(cell, count): &(usize, u64)| {
            (cell, [self.row_sizes[cell], self.table.weights[cell]].map(|own| own * count as f64))
        };
        subset.iter().map(weighted).collect()
    }

    /// Number of rows of each cell that are not in a subset.
    pub(super) fn without(&self, subset: &RowSubset) -> Vec<u64> {
        let mut counts = self.counts().to_vec();
        subset.iter().for_each(|(cell, count)| counts[*cell] -= count);
        counts
    }

    /// The evidence of some of the rows. Unless the classes were given, it has only the labels that occur in these rows.
    pub(super) fn evidence(&self, counts: &[u64], control: &Control<'_>) -> Result<Evidence, Error> {
        let classes = self.is_closed.then(|| self.classes.clone());
        let counting = Counting {
            counts: Some(counts),
            weights: Some(&self.table.weights),
            classes,
            ..Counting::default()
        };
        Evidence::count(&self.table.predictions, &self.table.truth, &counting, control)
    }

    /// Whether the decision of a model is correct on each cell. It is never correct on a class that the model lacks.
    pub(super) fn score(&self, model: &Model, control: &Control<'_>) -> Result<Vec<bool>, Error> {
        let numbers: HashMap<&str, usize> = self.classes.iter().map(Label::canonical).zip(0..).collect();
        let number = |class: &Label| numbers.get(class.canonical()).copied();
        let decided = model.decide_all(&self.table.predictions, DecisionColumns::default(), control)?;
        let known: Vec<Option<usize>> = decided.classes().iter().map(number).collect();
        // "None of these" is not an answer.
        let is_answer = |class: u16| !model.is_open() || class != NONE;
        let is_correct = |(class, truth): (&u16, &usize)| {
            is_answer(*class) && known.get(usize::from(*class)).copied().flatten() == Some(*truth)
        };
        Ok(decided.class.iter().zip(&self.truths).map(is_correct).collect())
    }

    /// Of the classifiers with a prediction on nine rows in ten, the one with the highest accuracy, the first of equals; a
    /// missing prediction is not correct. Only the evaluated rows themselves show which one it is.
    pub(super) fn best_classifier(&self) -> Option<BestClassifier> {
        const MIN_COVERAGE: f64 = 0.9;
        let predictions = &self.table.predictions;
        let k = predictions.n_classifiers();
        let (mut n_correct, mut n_answered) = (vec![0.0; k], vec![0.0; k]);
        let all = self.weighted(&self.all());
        for &(cell, [count, _]) in &all {
            let truth = self.table.truth.get(cell);
            predictions.for_each_prediction(cell, |k, label| {
                n_answered[k] += count;
                n_correct[k] += if Some(label) == truth { count } else { 0.0 };
            });
        }
        let total = all.iter().map(|(_, [count, _])| count).sum::<f64>().max(f64::MIN_POSITIVE);
        let covers = |(k, _): &(usize, f64)| n_answered[*k] >= MIN_COVERAGE * total;
        let best = n_correct.into_iter().enumerate().rev().filter(covers).max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(k, n_correct)| BestClassifier {
            name: predictions.classifiers()[k].clone(),
            accuracy: n_correct / total,
        })
    }
}

/// Scales weights so that their sum is Kish's effective sample size: the number of equally weighted rows that estimate a
/// mean as precisely. Intervals for equally weighted rows then hold for weighted ones.
///
/// ```text
/// sum of w -> (sum of w)^2 / sum of w^2
/// ```
fn effective_sizes(mut weights: Vec<f64>, counts: &[u64]) -> Vec<f64> {
    let sum = |power: i32| -> f64 {
        weights.iter().zip(counts).map(|(own, count)| own.powi(power) * *count as f64).sum()
    };
    let scale = sum(1) / sum(2).max(f64::MIN_POSITIVE);
    weights.iter_mut().for_each(|own| *own *= scale);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Fit,
        evaluate::test_panels::{evidence, table},
        evidence::Level,
        methods::Majority,
    };

    #[test]
    fn keys_depend_on_predictions_and_truth_alone() {
        let rows = [["x", "y", "x"], ["y", "y", "y"], ["x", "y", "x"]];
        let one = EvaluationRows::new(&evidence(["a", "b"], &rows), &ClassWeights::Equal).expect("a tally");
        let swapped = rows.map(|[a, b, truth]| [b, a, truth]);
        let mut other =
            EvaluationRows::new(&evidence(["b", "a"], &swapped), &ClassWeights::Equal).expect("a tally");
        assert_eq!((one.len(), one.n_rows()), (2, 3));
        other.keys.sort_unstable();
        let mut keys = one.keys.clone();
        keys.sort_unstable();
        assert_eq!(keys, other.keys);
        let exchanged =
            EvaluationRows::new(&evidence(["a", "b"], &swapped), &ClassWeights::Equal).expect("a tally");
        assert!(!exchanged.keys.contains(&one.keys[0]), "it matters which classifier predicted what");
    }

    #[test]
    fn a_subset_has_the_given_classes_and_otherwise_those_that_occur() {
        let rows = [["x", "x"], ["y", "y"]];
        let open = EvaluationRows::new(&evidence(["a"], &rows), &ClassWeights::Equal).expect("a tally");
        let part = open.evidence(&[1, 0], &Control::default()).expect("counts fit");
        assert_eq!(part.labels().classes(), ["x".into()]);
        let (predictions, truth) = table(["a"], &rows);
        let classes = ["z", "y", "x"].map(Label::from).to_vec();
        let counting = Counting { classes: Some(classes.clone()), ..Counting::default() };
        let given =
            Evidence::count(&predictions, &truth, &counting, &Control::default()).expect("known truths");
        let rows = EvaluationRows::new(&given, &ClassWeights::Equal).expect("a tally");
        let part = rows.evidence(&[1, 0], &Control::default()).expect("counts fit");
        assert_eq!(part.labels().classes(), classes);
    }

    #[test]
    fn a_decision_on_a_class_that_the_model_lacks_is_never_correct() {
        let model = Majority.fit(&evidence(["a"], &[["x", "x"]])).expect("a row");
        let rows = EvaluationRows::new(&evidence(["a"], &[["x", "x"], ["y", "y"]]), &ClassWeights::Equal)
            .expect("a tally");
        assert_eq!(rows.score(&model, &Control::default()).expect("the same panel"), [true, false]);
    }

    #[test]
    fn the_best_classifier_is_the_first_of_the_best_on_all_rows() {
        let rows = [["x", "x", "x", "x"], ["y", "x", "x", "x"], ["x", "y", "y", "y"]];
        let best = EvaluationRows::new(&evidence(["a", "b", "c"], &rows), &ClassWeights::Equal)
            .expect("a tally")
            .best_classifier();
        assert_eq!(best, Some(BestClassifier { name: "b".into(), accuracy: 1.0 }));
    }

    #[test]
    fn less_than_a_tally_is_refused() {
        let rows = evidence(["a"], &[["x", "x"]]);
        let marginals = rows.reduce_to(Level::Marginals, &Control::default()).expect("less");
        assert!(matches!(
            EvaluationRows::new(&marginals, &ClassWeights::Equal),
            Err(Error::LevelTooLow { .. })
        ));
    }
}
