//! Stacking: softmax regression on the answers, its strength given or tuned.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    decision::first_best,
    error::{Error, choose},
    evidence::{Evidence, Level, Tally},
    methods::{
        Combiner, CostTable, FittedRule, Learn, Method, Parameters, Rule, Scratch, check_numbers,
        softmax::{Design, LEAD, Softmax, SoftmaxProblem},
    },
    parallel,
    progress::Control,
    tuning::{Tuning, fold_counts, grid, median_of_best},
};

/// Settings of stacking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stacking {
    /// How answers become numbers.
    pub inputs: Inputs,
    /// How strongly the rows pull against the penalty.
    pub strength: StackingStrength,
}

impl Default for Stacking {
    fn default() -> Self {
        Self { inputs: Inputs::OneHot, strength: StackingStrength::default() }
    }
}

impl Stacking {
    /// The refusal of a tuning that would need a regression per row and candidate.
    pub(super) fn refuse(found: Tuning) -> Error {
        let (method, found) = (Method::Stacking.to_string(), found.to_string());
        Error::TuningRefused { method, expected: "resubstitution or k-fold", found }
    }
}

/// Where the strength of stacking comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StackingStrength {
    /// This one: a single regression.
    Fixed(Strength),
    /// The median of those between 0.01 and 100 that decide most rows rightly: a hundred regressions and one for
    /// every fold. Leaving one row out would mean as many per row, and is refused.
    Tuned(Tuning),
}

impl Default for StackingStrength {
    fn default() -> Self {
        Self::Tuned(Tuning::KFold(Tuning::FOLDS))
    }
}

/// How strongly rows pull against the penalty, the C of scikit-learn: a number above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Strength(f64);

impl TryFrom<f64> for Strength {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        if value > 0.0 && value.is_finite() {
            return Ok(Self(value));
        }
        Err(Error::OutOfRange { what: "strength", expected: "a finite number above 0", found: value })
    }
}

impl From<Strength> for f64 {
    fn from(strength: Strength) -> Self {
        strength.0
    }
}

/// How answers become numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Inputs {
    /// One input per classifier and answer, 1 if it was given; silence gives none.
    #[default]
    OneHot,
    /// One input per classifier, the number of its answer, as the paper's authors do; silence gives the mean.
    Ordinal,
}

impl fmt::Display for Inputs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OneHot => "one-hot",
            Self::Ordinal => "ordinal",
        })
    }
}

impl FromStr for Inputs {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("inputs", &[Self::OneHot, Self::Ordinal], word)
    }
}

impl Combiner for Stacking {
    fn method(&self) -> Method {
        Method::Stacking
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for Stacking {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        let tally = evidence.tally_for(Method::Stacking)?;
        let encoding = Encoding::new(evidence, self.inputs);
        let entries = tally.n_patterns().saturating_mul(evidence.n_classifiers());
        control.allow(|| format!("regression on {} patterns", tally.n_patterns()), &[entries, 12])?;
        let design = Arc::new(encoding.design(tally));
        let strength = match self.strength {
            StackingStrength::Fixed(strength) => strength.into(),
            StackingStrength::Tuned(tuning) => {
                tuning.check()?;
                tuned(tuning, evidence, &encoding, &design, tally, control)?
            }
        };
        let training = Training::new(&encoding, &design, tally, |p| tally.outcomes(p).collect());
        let softmax = training.problem.solve(strength);
        Ok(Rule::Stacking(Regression { strength, encoding, classes: training.classes, softmax }))
    }
}

/// The strength that decides most rows rightly.
fn tuned(
    tuning: Tuning,
    evidence: &Evidence,
    encoding: &Encoding,
    design: &Arc<Design>,
    tally: &Tally,
    control: &Control<'_>,
) -> Result<f64, Error> {
    let strengths = grid(-2.0, 1.0 / 25.0, 101);
    let right = match tuning {
        Tuning::Resubstitution => {
            let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
            path(encoding, design, tally, &strengths, all, all, control)?
        }
        Tuning::KFold(folds) => {
            let folds = usize::from(folds);
            let parts = parallel::map(folds, |fold| {
                let inside = |p: usize| part(evidence, tally, p, folds, |other| other == fold);
                let outside = |p: usize| part(evidence, tally, p, folds, |other| other != fold);
                path(encoding, design, tally, &strengths, outside, inside, control)
            });
            let mut right = vec![0; strengths.len()];
            for part in parts {
                right.iter_mut().zip(part?).for_each(|(sum, count)| *sum += count);
            }
            right
        }
        Tuning::LeaveOneOut => {
            return Err(Stacking::refuse(tuning));
        }
    };
    Ok(median_of_best(&strengths, &right))
}

/// The outcomes of a pattern in the folds that `keep` wants.
fn part(
    evidence: &Evidence,
    tally: &Tally,
    p: usize,
    folds: usize,
    keep: impl Fn(usize) -> bool,
) -> Vec<(u16, u64)> {
    let count = |(class, count)| {
        let kept =
            fold_counts(evidence, tally.pattern(p), (class, count), folds).filter(|(fold, _)| keep(*fold));
        (class, kept.map(|(_, part)| part).sum())
    };
    tally.outcomes(p).map(count).filter(|(_, count)| *count > 0).collect()
}

/// Number of rows of `judged` decided rightly by the regression on `trained`, at each strength.
fn path(
    encoding: &Encoding,
    design: &Arc<Design>,
    tally: &Tally,
    strengths: &[f64],
    trained: impl Fn(usize) -> Vec<(u16, u64)>,
    judged: impl Fn(usize) -> Vec<(u16, u64)>,
    control: &Control<'_>,
) -> Result<Vec<u64>, Error> {
    let training = Training::new(encoding, design, tally, trained);
    let judged: Vec<(u32, Vec<(u16, u64)>)> = (0..tally.n_patterns())
        .map(|p| (p as u32, judged(p)))
        .filter(|(_, outcomes)| !outcomes.is_empty())
        .collect();
    let rows: Vec<u32> = judged.iter().map(|(p, _)| *p).collect();
    let mut right = Vec::with_capacity(strengths.len());
    let (mut work, mut scratch) = (Scratch::default(), Vec::new());
    control.report("stacking", 0, strengths.len())?;
    training.problem.solve_path(strengths, |softmax| {
        let (mut count, mut rest) = (0, judged.iter());
        softmax.leaders(design, &rows, |leader| {
            let (p, outcomes) = rest.next().expect("a leader per row");
            let decided = leader.map_or_else(
                || {
                    let pattern = tally.pattern(*p as usize);
                    encoding.surprisals(softmax, &training.classes, pattern, &mut scratch, &mut work.out);
                    first_best(&work.out)
                },
                |leader| training.classes[leader].into(),
            );
            let right = outcomes.iter().filter(|(class, _)| usize::from(*class) == decided);
            count += right.map(|cell| cell.1).sum::<u64>();
        });
        right.push(count);
        control.report("stacking", right.len(), strengths.len())
    })?;
    Ok(right)
}

/// Patterns ready for the solver, which sees only classes that occur.
struct Training {
    problem: SoftmaxProblem,
    classes: Vec<u16>,
}

impl Training {
    fn new(
        encoding: &Encoding,
        design: &Arc<Design>,
        tally: &Tally,
        outcomes: impl Fn(usize) -> Vec<(u16, u64)>,
    ) -> Self {
        let rows: Vec<Vec<(u16, u64)>> = (0..tally.n_patterns()).map(outcomes).collect();
        let mut number = vec![MISSING; encoding.n_classes];
        rows.iter().flatten().for_each(|(class, _)| number[usize::from(*class)] = 0);
        let classes: Vec<u16> =
            (0..encoding.n_classes as u16).filter(|class| number[usize::from(*class)] == 0).collect();
        (0..).zip(&classes).for_each(|(at, &class)| number[usize::from(class)] = at);
        let mut problem = SoftmaxProblem::new(design.clone(), classes.len());
        for (p, outcomes) in (0..).zip(&rows).filter(|(_, outcomes)| !outcomes.is_empty()) {
            let weight =
                |&(class, count): &(u16, u64)| (number[usize::from(class)], count as f64 / encoding.unit);
            problem.push(p, outcomes.iter().map(weight));
        }
        Self { problem, classes }
    }
}

/// From a row to the regression's inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Encoding {
    inputs: Inputs,
    n_classifiers: usize,
    n_labels: usize,
    n_classes: usize,
    unit: f64,
    /// Mean number of each classifier's answers, for those who are silent; of ordinal inputs only.
    means: Vec<f64>,
}

impl Encoding {
    fn new(evidence: &Evidence, inputs: Inputs) -> Self {
        let mean = |k: usize| {
            let said = evidence.predicted_counts(k);
            let sum: f64 = said.iter().enumerate().map(|(j, &count)| j as f64 * count as f64).sum();
            sum / (evidence.answered(k) as f64).max(1.0)
        };
        let means = match inputs {
            Inputs::OneHot => Vec::new(),
            Inputs::Ordinal => (0..evidence.n_classifiers()).map(mean).collect(),
        };
        Self {
            inputs,
            n_classifiers: evidence.n_classifiers(),
            n_labels: evidence.n_labels(),
            n_classes: evidence.n_classes(),
            unit: evidence.unit() as f64,
            means,
        }
    }

    fn n_features(&self) -> usize {
        match self.inputs {
            Inputs::OneHot => self.n_classifiers * self.n_labels,
            Inputs::Ordinal => self.n_classifiers,
        }
    }

    /// The inputs of every pattern.
    fn design(&self, tally: &Tally) -> Design {
        let (mut features, mut entries) = (Vec::new(), Vec::new());
        for p in 0..tally.n_patterns() {
            self.features(tally.pattern(p), &mut features);
            entries.extend(features.iter().map(|&(feature, value)| (p as u32, feature, value)));
        }
        let width = if self.inputs == Inputs::OneHot { self.n_labels } else { 1 };
        Design::new(self.n_features(), width, tally.n_patterns(), &entries)
    }

    fn features(&self, row: Row<'_>, features: &mut Vec<(u32, f64)>) {
        features.clear();
        match self.inputs {
            Inputs::OneHot => {
                row.for_each(|k, j| features.push(((k * self.n_labels + usize::from(j)) as u32, 1.0)));
            }
            Inputs::Ordinal => {
                features.extend((0..).zip(self.means.iter().copied()));
                row.for_each(|k, j| features[k].1 = f64::from(j));
            }
        }
    }

    /// `-ln p` of every class; infinite for classes the regression never met.
    fn surprisals(
        &self,
        softmax: &Softmax,
        classes: &[u16],
        row: Row<'_>,
        features: &mut Vec<(u32, f64)>,
        out: &mut Vec<f64>,
    ) {
        self.features(row, features);
        out.clear();
        out.resize(self.n_classes, 0.0);
        softmax.log_probabilities(features.iter().copied(), &mut out[..classes.len()]);
        // Classes ascend, so that moving from the last one overwrites nothing still needed.
        let mut end = self.n_classes;
        for (at, &class) in classes.iter().enumerate().rev() {
            let surprisal = -out[at];
            out[usize::from(class)..end].fill(f64::INFINITY);
            out[usize::from(class)] = surprisal;
            end = usize::from(class);
        }
        out[..end].fill(f64::INFINITY);
    }
}

/// A fitted regression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Regression {
    strength: f64,
    encoding: Encoding,
    /// The classes it knows, in the order of its outputs.
    classes: Vec<u16>,
    softmax: Softmax,
}

impl Regression {
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::Stacking {
            inputs: self.encoding.inputs,
            strength: self.strength,
            classes: self.classes.iter().map(|&class| class.into()).collect(),
            coefficients: self.softmax.coef.clone(),
            intercepts: self.softmax.intercept.clone(),
        }
    }
}

impl FittedRule for Regression {
    fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        let Scratch { features, out, .. } = work;
        self.encoding.surprisals(&self.softmax, &self.classes, row, features, out);
        row.n_answered() > 0
    }

    /// One-hot, an answer adds its coefficients to the scores: it costs each class what it adds less than to the
    /// class it adds most to. A class never met costs infinitely much from the start.
    fn costs(&self, _n_labels: usize) -> Option<CostTable<'_>> {
        if self.encoding.inputs != Inputs::OneHot || self.classes.is_empty() {
            return None;
        }
        let (outputs, l) = (self.softmax.intercept.len(), self.encoding.n_classes);
        let costs = |scores: &[f64], unmet: f64, out: &mut Vec<f64>| {
            // With a single output the first of two classes has a score of zero.
            let score =
                |at: usize| (at + outputs).checked_sub(self.classes.len()).map_or(0.0, |at| scores[at]);
            let best = (0..self.classes.len()).map(score).fold(f64::NEG_INFINITY, f64::max);
            let start = out.len();
            out.resize(start + l, unmet);
            (0..)
                .zip(&self.classes)
                .for_each(|(at, &class)| out[start + usize::from(class)] = best - score(at));
        };
        let (mut start, mut table) = (Vec::new(), Vec::new());
        costs(&self.softmax.intercept, f64::INFINITY, &mut start);
        self.softmax.coef.chunks_exact(outputs).for_each(|scores| costs(scores, 0.0, &mut table));
        Some(CostTable { start: Some(start.into()), table: table.into(), tolerance: 1.0, lead: LEAD })
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        let encoding = &self.encoding;
        let wrong = |found: &str| {
            Err(Error::Inconsistent { expected: "a regression on the answers", found: found.to_owned() })
        };
        if (encoding.n_classifiers, encoding.n_labels, encoding.n_classes) != (n, s, l) {
            return wrong("another size");
        }
        let ascending = self.classes.is_sorted_by(|a, b| a < b);
        if !ascending || self.classes.is_empty() || self.classes.iter().any(|&class| usize::from(class) >= l)
        {
            return wrong("other classes");
        }
        let means = if encoding.inputs == Inputs::Ordinal { n } else { 0 };
        check_numbers("a mean answer per classifier", &encoding.means, Some(means), f64::is_finite)?;
        let outputs = if self.classes.len() == 2 { 1 } else { self.classes.len() };
        let size = if encoding.inputs == Inputs::Ordinal { Some(n) } else { n.checked_mul(s) };
        let size = size.and_then(|size| size.checked_mul(outputs));
        check_numbers("a coefficient per input and output", &self.softmax.coef, size, f64::is_finite)?;
        check_numbers("an intercept per output", &self.softmax.intercept, Some(outputs), f64::is_finite)?;
        check_numbers("a strength and a unit", &[self.strength, encoding.unit], Some(2), f64::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fit;
    use crate::{Label, Predictions, Truth, evidence::Counting};

    /// The whole curve of accuracies against C, on which the choice of C rests, as in a golden file.
    #[test]
    fn every_strength_decides_as_many_rows_as_in_the_reference() {
        let text = include_str!("../../../../testdata/golden/case_34.json");
        let golden: serde_json::Value = serde_json::from_str(text).expect("golden files are JSON");
        let ints = |value: &serde_json::Value| -> Vec<u16> {
            value.as_array().expect("a list").iter().map(|id| id.as_u64().expect("a class") as u16).collect()
        };
        let columns: Vec<Vec<u16>> =
            golden["preds_val"].as_array().expect("columns").iter().map(ints).collect();
        let truth = ints(&golden["y_val"]);
        let classes: Vec<Label> = (0..golden["l"].as_i64().expect("a number")).map(Label::from).collect();
        let cells = (0..truth.len()).flat_map(|t| columns.iter().map(move |column| column[t])).collect();
        let names = (0..columns.len()).map(|k| k.to_string());
        let rows = Predictions::from_ids(names, classes.clone(), cells).expect("classes");
        let options = Counting { classes: Some(classes), ..Counting::default() };
        let truths = Truth::new(truth.iter().map(|&class| Some(i64::from(class)))).expect("few labels");
        let evidence = Evidence::count(&rows, &truths, &options, &Control::default()).expect("rows");
        let tally = evidence.tally().expect("a tally");
        let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
        let strengths = grid(-2.0, 1.0 / 25.0, 101);
        let encoding = Encoding::new(&evidence, Inputs::Ordinal);
        let design = Arc::new(encoding.design(tally));
        let control = Control::default();
        let right = path(&encoding, &design, tally, &strengths, all, all, &control).expect("not cancelled");
        let expected = golden["ref"]["stacking_converged"]["val_acc_grid"].as_array().expect("a list");
        for (count, accuracy) in right.iter().zip(expected) {
            let accuracy = accuracy.as_f64().expect("a number");
            assert!((*count as f64 / truth.len() as f64 - accuracy).abs() < 1e-9, "{count} {accuracy}");
        }
        assert_eq!(right.len(), expected.len());
    }

    #[test]
    fn costs_differ_as_surprisals_do() {
        // The second label is never true, and only without the last rows are there two classes.
        let row = |at: usize| [at % 4, at / 2 % 4, at / 5 % 4].map(|id| Some(["p", "q", "r", "s"][id]));
        for rows in [24, 12] {
            let mut builder = Predictions::builder(["a", "b", "c"]).expect("names");
            (0..rows).for_each(|at| builder.push(row(at)).expect("three answers"));
            let truth = Truth::new((0..rows).map(|at| Some(["p", "r", "s"][at / 12 + at % 2]))).expect("few");
            let classes = Some(["p", "q", "r", "s"].map(Label::from).to_vec());
            let counting = Counting { classes, ..Counting::default() };
            let evidence =
                Evidence::count(&builder.finish(), &truth, &counting, &Control::default()).expect("rows");
            let strength = StackingStrength::Fixed(Strength(2.0));
            let fit = |inputs| {
                let rule = Stacking { inputs, strength }.learn(&evidence, &Control::default()).expect("rows");
                let Rule::Stacking(regression) = rule else { panic!("a regression") };
                regression
            };
            assert!(fit(Inputs::Ordinal).costs(4).is_none());
            let regression = fit(Inputs::OneHot);
            assert_eq!(regression.softmax.intercept.len(), if rows == 24 { 3 } else { 1 });
            let costs = regression.costs(4).expect("sums");
            let mut work = Scratch::default();
            for said in [[0, 1, 2], [3, 3, 0], [2, MISSING, 1]] {
                assert!(regression.surprisals(Row::Dense(&said), &mut work));
                let mut sums = costs.start.as_deref().expect("intercepts").to_vec();
                for (k, &j) in said.iter().enumerate().filter(|(_, j)| **j != MISSING) {
                    let added = &costs.table[(k * 4 + usize::from(j)) * 4..][..4];
                    assert!(added.iter().all(|cost| *cost >= 0.0));
                    sums.iter_mut().zip(added).for_each(|(sum, cost)| *sum += cost);
                }
                let known = regression.classes.iter().map(|&class| usize::from(class));
                let shift = sums[0] - work.out[0];
                assert!(known.clone().all(|i| (sums[i] - work.out[i] - shift).abs() < 1e-12));
                assert_eq!(sums.iter().filter(|sum| sum.is_finite()).count(), known.count());
            }
        }
    }

    #[test]
    fn folds_without_a_row_to_learn_from_are_judged() {
        let mut rows = Predictions::builder(["a"]).expect("a name");
        rows.push([Some("x")]).expect("an answer");
        let truth = Truth::new([Some("x")]).expect("few labels");
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        for inputs in [Inputs::OneHot, Inputs::Ordinal] {
            let model = Stacking { inputs, ..Stacking::default() }.fit(&evidence).expect("rows");
            let Parameters::Stacking { classes, intercepts, .. } = model.parameters() else {
                panic!("stacking")
            };
            assert_eq!((classes, intercepts), (vec![0], vec![0.0]));
        }
    }

    #[test]
    fn silence_is_no_input_or_the_mean() {
        let mut rows = Predictions::builder(["a", "b"]).expect("two names");
        for row in [[Some("x"), Some("y")], [Some("y"), Some("y")], [Some("z"), None]] {
            rows.push(row).expect("two answers");
        }
        let truth = Truth::new(["x", "y", "z"].map(Some)).expect("few labels");
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        let mut features = Vec::new();
        Encoding::new(&evidence, Inputs::OneHot).features(Row::Dense(&[2, MISSING]), &mut features);
        assert_eq!(features, [(2, 1.0)]);
        Encoding::new(&evidence, Inputs::Ordinal).features(Row::Dense(&[MISSING, MISSING]), &mut features);
        assert_eq!(features, [(0, 1.0), (1, 1.0)]);
    }
}
