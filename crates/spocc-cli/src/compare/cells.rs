//! Cells: the labelled rows as the comparison sees them, equal ones together.

use std::collections::HashMap;

use serde::Serialize;
use spocc::{
    Control, Error, Evidence, Label, Model, Predictions,
    data::ClassWeights,
    evidence::{Counting, GroupedRows},
};

use crate::compare::deal::{Part, Weighed, mix, text};

/// A tally as a table: what was said, what was true, and how often.
pub(super) struct Cells {
    table: GroupedRows,
    /// A hash of what each cell says, whatever the order of its columns.
    pub(super) keys: Vec<u64>,
    /// What a row of each cell counts.
    counting: Vec<f64>,
    /// Number of each cell's truth among `classes`.
    truths: Vec<usize>,
    classes: Vec<Label>,
    /// Whether the classes were given, so that no part of the rows knows fewer.
    is_closed: bool,
}

/// The classifier that was right most often.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BestClassifier {
    /// Its name.
    pub(crate) name: String,
    /// Share of all rows on which it was right; silence is not.
    pub(crate) accuracy: f64,
}

impl Cells {
    /// Groups the rows behind a tally.
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
            // Whole rows have the keys they have without weights.
            let part = table.weights[cell];
            let key = mix(pattern, text(truth));
            keys.push(if part < 1.0 { mix(key, part.to_bits()) } else { key });
            truths.push(numbers.get(truth).copied().unwrap_or(usize::MAX));
        }
        let class_weight = |truth: &usize| class_weights.get(*truth).copied().unwrap_or(1.0);
        let counting = table.weights.iter().zip(&truths).map(|(own, truth)| own * class_weight(truth));
        let counting = effective(counting.collect(), &table.counts);
        Ok(Self { table, keys, counting, truths, is_closed: evidence.labels().is_closed(), classes })
    }

    /// What was said in each cell.
    pub(super) fn answers(&self) -> &Predictions {
        &self.table.predictions
    }

    /// How many rows each cell holds.
    pub(super) fn counts(&self) -> &[u64] {
        &self.table.counts
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether someone was silent somewhere.
    pub(super) fn has_gaps(&self) -> bool {
        let answers = &self.table.predictions;
        let mut n = 0;
        (0..self.len()).for_each(|cell| answers.for_each_prediction(cell, |_, _| n += 1));
        n < self.len() * answers.n_classifiers()
    }

    /// Number of rows.
    pub(super) fn n_rows(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// All rows.
    pub(super) fn all(&self) -> Part {
        self.counts().iter().copied().enumerate().collect()
    }

    /// What the rows of a part count and weigh.
    pub(super) fn weighed(&self, part: &Part) -> Weighed {
        let weighed = |&(cell, count): &(usize, u64)| {
            (cell, [self.counting[cell], self.table.weights[cell]].map(|own| own * count as f64))
        };
        part.iter().map(weighed).collect()
    }

    /// How many rows each cell holds that are not in `part`.
    pub(super) fn without(&self, part: &Part) -> Vec<u64> {
        let mut counts = self.counts().to_vec();
        part.iter().for_each(|(cell, count)| counts[*cell] -= count);
        counts
    }

    /// The evidence of some of the rows; of an open list of labels it knows those it meets.
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

    /// Whether a model is right about each cell; it never is about a truth that it does not know.
    pub(super) fn judge(&self, model: &Model, control: &Control<'_>) -> Result<Vec<bool>, Error> {
        let numbers: HashMap<&str, usize> = self.classes.iter().map(Label::canonical).zip(0..).collect();
        let number = |class: &Label| numbers.get(class.canonical()).copied();
        let known: Vec<Option<usize>> = model.classes().iter().map(number).collect();
        let decided = model.align(&self.table.predictions)?.decide_all(control)?;
        let is_right = |(ruling, truth): (&spocc::predict::Ruling, &usize)| {
            known.get(usize::from(ruling.class)).copied().flatten() == Some(*truth)
        };
        Ok(decided.rulings().iter().zip(&self.truths).map(is_right).collect())
    }

    /// Of the classifiers that answered every row, the one that is right about the most, the first of several: known
    /// only in hindsight.
    pub(super) fn best_classifier(&self) -> Option<BestClassifier> {
        let answers = &self.table.predictions;
        let (mut right, mut n_answers) =
            (vec![0.0; answers.n_classifiers()], vec![0; answers.n_classifiers()]);
        let all = self.weighed(&self.all());
        for &(cell, [count, _]) in &all {
            let truth = self.table.truth.get(cell);
            answers.for_each_prediction(cell, |k, label| {
                n_answers[k] += 1;
                right[k] += if Some(label) == truth { count } else { 0.0 };
            });
        }
        let everywhere = right.into_iter().enumerate().rev().filter(|(k, _)| n_answers[*k] == self.len());
        let best = everywhere.max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(k, right)| BestClassifier {
            name: answers.classifiers()[k].clone(),
            accuracy: right / all.iter().map(|(_, [count, _])| count).sum::<f64>().max(f64::MIN_POSITIVE),
        })
    }
}

/// Scales what rows count so that all of them count as many rows as would tell as much if all counted alike (Kish):
/// whatever is said of rows that count alike then holds of these.
///
/// ```text
/// sum of w -> (sum of w)^2 / sum of w^2
/// ```
fn effective(mut counting: Vec<f64>, counts: &[u64]) -> Vec<f64> {
    let sum = |power: i32| -> f64 {
        counting.iter().zip(counts).map(|(own, count)| own.powi(power) * *count as f64).sum()
    };
    let scale = sum(1) / sum(2).max(f64::MIN_POSITIVE);
    counting.iter_mut().for_each(|own| *own *= scale);
    counting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::panels::{evidence, table};
    use spocc::{Combiner, evidence::Level, methods::Majority};

    #[test]
    fn keys_depend_on_what_was_said_and_true_alone() {
        let rows = [["x", "y", "x"], ["y", "y", "y"], ["x", "y", "x"]];
        let one = Cells::new(&evidence(["a", "b"], &rows), &ClassWeights::Equal).expect("a tally");
        let swapped = rows.map(|[a, b, truth]| [b, a, truth]);
        let mut other = Cells::new(&evidence(["b", "a"], &swapped), &ClassWeights::Equal).expect("a tally");
        assert_eq!((one.len(), one.n_rows()), (2, 3));
        other.keys.sort_unstable();
        let mut keys = one.keys.clone();
        keys.sort_unstable();
        assert_eq!(keys, other.keys);
        let exchanged = Cells::new(&evidence(["a", "b"], &swapped), &ClassWeights::Equal).expect("a tally");
        assert!(!exchanged.keys.contains(&one.keys[0]), "who said what matters");
    }

    #[test]
    fn a_part_of_the_rows_knows_given_classes_and_otherwise_what_it_met() {
        let rows = [["x", "x"], ["y", "y"]];
        let open = Cells::new(&evidence(["a"], &rows), &ClassWeights::Equal).expect("a tally");
        let part = open.evidence(&[1, 0], &Control::default()).expect("counts fit");
        assert_eq!(part.labels().classes(), ["x".into()]);
        let (answers, truth) = table(["a"], &rows);
        let classes = ["z", "y", "x"].map(Label::from).to_vec();
        let counting = Counting { classes: Some(classes.clone()), ..Counting::default() };
        let given = Evidence::count(&answers, &truth, &counting, &Control::default()).expect("known truths");
        let cells = Cells::new(&given, &ClassWeights::Equal).expect("a tally");
        let part = cells.evidence(&[1, 0], &Control::default()).expect("counts fit");
        assert_eq!(part.labels().classes(), classes);
    }

    #[test]
    fn a_truth_the_model_never_met_is_never_right() {
        let model = Majority.fit(&evidence(["a"], &[["x", "x"]])).expect("a row");
        let cells =
            Cells::new(&evidence(["a"], &[["x", "x"], ["y", "y"]]), &ClassWeights::Equal).expect("a tally");
        assert_eq!(cells.judge(&model, &Control::default()).expect("the same panel"), [true, false]);
    }

    #[test]
    fn the_best_classifier_is_the_first_of_the_best_on_all_rows() {
        let rows = [["x", "x", "x", "x"], ["y", "x", "x", "x"], ["x", "y", "y", "y"]];
        let best = Cells::new(&evidence(["a", "b", "c"], &rows), &ClassWeights::Equal)
            .expect("a tally")
            .best_classifier();
        assert_eq!(best, Some(BestClassifier { name: "b".into(), accuracy: 1.0 }));
    }

    #[test]
    fn less_than_a_tally_is_refused() {
        let rows = evidence(["a"], &[["x", "x"]]);
        let marginals = rows.reduce_to(Level::Marginals, &Control::default()).expect("less");
        assert!(matches!(Cells::new(&marginals, &ClassWeights::Equal), Err(Error::LevelTooLow { .. })));
    }
}
