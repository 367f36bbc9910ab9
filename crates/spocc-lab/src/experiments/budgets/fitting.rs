//! Fitting: every method with the labelled rows of a draw, and with its unlabelled rows where it can use them.

use std::{collections::BTreeMap, fmt};

use spocc::{
    Control, Evidence, Method, Model, Options,
    evidence::Counting,
    methods::UnlabelledRows,
    predict::{DecisionColumns, Decisions},
};

use super::draws::Draw;
use crate::{
    error::{Error, choose},
    label_sets::LabelSet,
    results::RunOutcome,
};

/// Probabilities are floored at this value in the log-loss.
pub(crate) const MIN_PROBABILITY: f64 = 1e-6;

/// A method, and whether it is given the unlabelled rows; written with the suffix `+u`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodVariant {
    method: Method,
    with_unlabelled: bool,
}

impl MethodVariant {
    fn all() -> Vec<Self> {
        let both = Method::ALL
            .into_iter()
            .flat_map(|method| [false, true].map(|with_unlabelled| Self { method, with_unlabelled }));
        both.filter(|variant| !variant.with_unlabelled || variant.uses() != UnlabelledRows::Ignored).collect()
    }

    fn uses(self) -> UnlabelledRows {
        self.method.capabilities().unlabelled
    }

    /// Whether it is the method that a user gets without asking.
    pub(super) fn is_default(self) -> bool {
        self.method == Method::default()
    }

    /// Whether so many labelled rows allow a fit that no other variant has.
    pub(super) fn can_fit(self, n_labelled: usize) -> bool {
        match (self.with_unlabelled, self.uses()) {
            (true, UnlabelledRows::WithoutTruth) => n_labelled == 0,
            (true, _) => true,
            (false, _) => n_labelled > 0,
        }
    }
}

impl fmt::Display for MethodVariant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.method, if self.with_unlabelled { "+u" } else { "" })
    }
}

/// The methods named, with `+u` for those that see the unlabelled rows; all without names.
pub(crate) fn variants(names: &[String], is_open: bool) -> Result<Vec<MethodVariant>, Error> {
    let mut all = MethodVariant::all();
    all.retain(|variant| !is_open || variant.method.capabilities().open_answers);
    let words: Vec<String> = all.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        return Ok(all);
    }
    names.iter().map(|name| choose("method", &words, name).map(|at| all[at])).collect()
}

/// The figures of methods that are fitted to one draw. The classes are given to all of them; some also report an accuracy.
pub(super) fn evaluate(
    set: &LabelSet,
    draw: &Draw,
    methods: &[MethodVariant],
    reports: impl Fn(MethodVariant) -> bool,
) -> Result<RunOutcome, Error> {
    let control = Control::default();
    let sees_all = methods.iter().any(|method| method.with_unlabelled);
    let unlabelled: &[usize] = if sees_all { &draw.unlabelled } else { &[] };
    let rows = [draw.labelled.as_slice(), unlabelled].concat();
    let counting = Counting { classes: Some(set.classes.clone()), unlabelled: true, ..Counting::default() };
    let truth = set.truths(&draw.labelled, unlabelled.len())?;
    let whole = Evidence::count(&set.predictions(&rows)?, &truth, &counting, &control)?;
    let labelled = whole.labelled(&control)?;
    let test = set.predictions(&draw.test)?;
    let [mut log_loss, mut reported] = [(); 2].map(|()| BTreeMap::new());
    let mut confusion = BTreeMap::new();
    for variant in methods {
        let evidence = if variant.with_unlabelled { &whole } else { &*labelled };
        let options = Options { evaluate: reports(*variant), ..Options::default() };
        let model = Model::fit(&*variant.method.combiner(), evidence, &options, &control)?;
        let columns = DecisionColumns { probability: true, ..DecisionColumns::default() };
        let decisions = model.decide_all(&test, columns, &control)?;
        let truths: Vec<usize> =
            draw.test.iter().filter_map(|&row| set.truth[row]).map(usize::from).collect();
        confusion.insert(variant.to_string(), count_confusion(&decisions, &truths));
        log_loss.extend(mean_loss(&decisions, &truths).map(|loss| (variant.to_string(), loss)));
        reported.extend(model.held_out_accuracy().map(|held_out| (variant.to_string(), held_out.accuracy)));
    }
    Ok(RunOutcome { confusion, log_loss, reported, ..RunOutcome::default() })
}

/// The same where labels are open answers. Decisions are right or wrong, so that the confusion counts have two classes of
/// which the first alone is true.
pub(super) fn evaluate_open(
    set: &LabelSet,
    draw: &Draw,
    methods: &[MethodVariant],
    reports: impl Fn(MethodVariant) -> bool,
) -> Result<RunOutcome, Error> {
    let control = Control::default();
    let sees_all = methods.iter().any(|method| method.with_unlabelled);
    let unlabelled: &[usize] = if sees_all { &draw.unlabelled } else { &[] };
    let rows = set.answers(&draw.labelled, unlabelled)?;
    let whole = Evidence::new(rows.predictions(), rows.truth())?;
    let labelled = whole.labelled(&control)?;
    let test = set.answers(&draw.test, &[])?;
    let truths: Vec<usize> =
        (0..test.n_rows()).filter_map(|row| test.truth().get(row)?.canonical().parse().ok()).collect();
    let [mut log_loss, mut reported] = [(); 2].map(|()| BTreeMap::new());
    let mut confusion = BTreeMap::new();
    for variant in methods {
        let evidence = if variant.with_unlabelled { &whole } else { &*labelled };
        let options = Options { evaluate: reports(*variant), ..Options::default() };
        let model = Model::fit(&*variant.method.combiner(), evidence, &options, &control)?;
        let columns = DecisionColumns { probability: true, ..DecisionColumns::default() };
        let decisions = model.decide_all(test.predictions(), columns, &control)?;
        // Candidate 0 is "none of these", which is not an answer.
        let is_right = |(class, truth): &(&u16, &usize)| **truth > 0 && usize::from(**class) == **truth;
        let n_right = decisions.class.iter().zip(&truths).filter(is_right).count() as u64;
        confusion.insert(variant.to_string(), vec![n_right, truths.len() as u64 - n_right, 0, 0]);
        log_loss.extend(mean_loss(&decisions, &truths).map(|loss| (variant.to_string(), loss)));
        reported.extend(model.held_out_accuracy().map(|held_out| (variant.to_string(), held_out.accuracy)));
    }
    Ok(RunOutcome { confusion, log_loss, reported, ..RunOutcome::default() })
}

/// Counts by true class, then by decided class.
fn count_confusion(decisions: &Decisions, truths: &[usize]) -> Vec<u64> {
    let l = decisions.classes().len();
    let mut counts = vec![0; l * l];
    for (class, truth) in decisions.class.iter().zip(truths) {
        counts[truth * l + usize::from(*class)] += 1;
    }
    counts
}

/// The mean of `-ln p(truth)`; nothing if the method gives no probabilities.
fn mean_loss(decisions: &Decisions, truths: &[usize]) -> Option<f64> {
    let probability = decisions.probability.as_ref()?;
    let l = decisions.classes().len();
    let loss = |(row, truth): (usize, &usize)| -probability[row * l + truth].max(MIN_PROBABILITY).ln();
    Some(truths.iter().enumerate().map(loss).sum::<f64>() / truths.len() as f64)
}

#[cfg(test)]
mod tests {
    use spocc::Label;

    use super::*;

    /// Classifier `a` is right, `b` on four rows in five, `c` grades with labels that are no classes.
    fn set() -> LabelSet {
        let labels: Vec<Label> = ["0", "1", "8.5", "2.5", "x"].map(Label::from).to_vec();
        let truth = |row: usize| (row * 7 % 3) % 2;
        let cells = |row: usize| {
            let class = truth(row);
            let wrong = if row.is_multiple_of(5) { 1 - class } else { class };
            vec![(0, class), (1, wrong), (2, 3 - class)]
        };
        LabelSet {
            name: "made-up".to_owned(),
            classifiers: ["a", "b", "c"].map(ToOwned::to_owned).to_vec(),
            // The third class is never true.
            classes: ["0", "1", "x"].map(Label::from).to_vec(),
            labels,
            rows: (0..120).map(cells).collect(),
            truth: (0..120).map(|row| Some(truth(row) as u16)).collect(),
        }
    }

    #[test]
    fn every_method_is_evaluated_with_and_without_unlabelled_rows_where_it_can_use_them() {
        let set = set();
        let draw = Draw::new(&set, 1, 0, 40).expect("two classes");
        let methods: Vec<MethodVariant> =
            variants(&[], false).expect("all").into_iter().filter(|method| method.can_fit(40)).collect();
        let outcome = evaluate(&set, &draw, &methods, MethodVariant::is_default).expect("fits");
        let reported: Vec<(&str, f64)> =
            outcome.reported.iter().map(|(name, accuracy)| (name.as_str(), *accuracy)).collect();
        assert_eq!(reported, [("ladder", 1.0), ("ladder+u", 1.0)]);
        let names: Vec<&str> = outcome.confusion.keys().map(String::as_str).collect();
        for name in ["ladder", "ladder+u", "dawid-skene", "dawid-skene+u", "majority", "stacking"] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        assert!(!names.contains(&"majority+u") && !names.contains(&"stacking+u"), "{names:?}");
        for (name, counts) in &outcome.confusion {
            assert_eq!((counts.len(), counts.iter().sum::<u64>()), (9, 80), "{name}");
        }
        for name in ["ladder", "ladder+u", "selection", "naive-bayes"] {
            assert_eq!(outcome.accuracy(name), Some(1.0), "{name}");
        }
        assert!(outcome.log_loss["ladder"] < 0.2 && !outcome.log_loss.contains_key("majority"));
    }

    #[test]
    fn without_labelled_rows_the_methods_that_need_none_are_fitted() {
        let methods = variants(&[], false).expect("all").into_iter().filter(|method| method.can_fit(0));
        let names: Vec<String> = methods.map(|method| method.to_string()).collect();
        assert!(names.iter().all(|name| name.ends_with("+u")), "{names:?}");
        assert!(names.contains(&"majority+u".to_owned()) && names.contains(&"dawid-skene+u".to_owned()));
    }

    #[test]
    fn methods_are_chosen_by_name() {
        let chosen = variants(&["ladder+u".to_owned(), "majority".to_owned()], false).expect("two names");
        assert_eq!(chosen.iter().map(ToString::to_string).collect::<Vec<_>>(), ["ladder+u", "majority"]);
        let refused = variants(&["stacking+u".to_owned()], false).expect_err("it ignores them").to_string();
        assert!(
            refused.starts_with("method \"stacking+u\": expected one of ladder, ladder+u, "),
            "{refused}"
        );
    }

    #[test]
    fn the_log_loss_is_floored_and_missing_without_probabilities() {
        let set = set();
        let draw = Draw { labelled: (0..20).collect(), test: (20..24).collect(), unlabelled: Vec::new() };
        let mut wrong = set.clone();
        // A class that the joint table has never seen.
        (20..24).for_each(|row| wrong.truth[row] = Some(2));
        let methods = variants(&["bayes".to_owned()], false).expect("a method");
        let outcome = evaluate(&wrong, &draw, &methods, |_| false).expect("fits");
        assert!(outcome.reported.is_empty());
        assert!((outcome.log_loss["bayes"] + MIN_PROBABILITY.ln()).abs() < 1e-9, "{outcome:?}");
    }
}
