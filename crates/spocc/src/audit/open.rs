//! The audit of a panel that gives open answers: there are no classes, so figures come from which answers are right and
//! which classifiers share wrong ones.

use crate::{
    audit::{
        Audit, ClassifierAudit, MIN_ROWS, PanelAudit, Verdict,
        copies::{families, originals_by},
        influence::influences,
        statistics::interval,
        verdict::{BARELY_BETTER, SIGNIFICANT},
    },
    data::NONE,
    dendrogram::Dendrogram,
    dependence::Dependence,
    error::Error,
    evidence::{Evidence, Tally, pair_index},
    model::Model,
    parallel,
    progress::Control,
};

/// Share of the errors of two classifiers that are the same wrong answer, from which one is a copy of the other.
const MIN_COPY_SHARE: f64 = 0.8;
/// Share of the accuracy of drawing an answer below which a classifier is an adversary: poor ones are merely below it.
const MAX_ADVERSARY_SHARE: f64 = 0.5;
/// Rows that both must have answered for their dependence to be reported.
const MIN_JOINT_ROWS: f64 = 20.0;

/// Audits labelled rows of open answers; with a model, also its influence.
pub(super) fn audit(
    evidence: &Evidence,
    model: Option<&Model>,
    control: &Control<'_>,
) -> Result<Audit, Error> {
    let tally = evidence.tally_for("an audit of open answers")?;
    let n = evidence.n_classifiers();
    control
        .allow(|| format!("common errors of {n} x {n} classifiers"), &[n, n, size_of::<CommonErrors>()])?;
    let pairs = CommonErrors::of_pairs(evidence, tally, control)?;
    let pair = |a: usize, b: usize| &pairs[pair_index(n, a.min(b), a.max(b))];
    let originals = originals_by(evidence, |_| false, |original, k| pair(original, k).is_copy());
    let influences = model.map(|model| influences(evidence, model, control)).transpose()?.flatten();
    let chances = chances(evidence, tally);
    let classifier = |k: usize| {
        let (answered, correct) =
            (evidence.rows_of(evidence.answered(k)), evidence.rows_of(evidence.correct(k)));
        let accuracy = if answered > 0.0 { correct / answered } else { 0.0 };
        ClassifierAudit {
            name: evidence.classifiers()[k].clone(),
            verdict: match originals[k] {
                Some(original) => Verdict::CopyOf(evidence.classifiers()[original].clone()),
                None => verdict(correct, answered, chances[k]),
            },
            accuracy,
            interval: interval(correct, answered, 0.025),
            relabelled_accuracy: accuracy,
            coverage: answered / evidence.n_rows(),
            information: f64::NAN,
            g_statistic: f64::NAN,
            degrees_of_freedom: 0,
            p_value: f64::NAN,
            influence: influences.as_ref().map(|influences| influences[k]),
        }
    };
    let classifiers: Vec<ClassifierAudit> = (0..n).map(classifier).collect();
    let known: Vec<f64> = pairs.iter().filter_map(CommonErrors::correlation).collect();
    let correlation = (!known.is_empty()).then(|| (known.iter().sum::<f64>() / known.len() as f64).max(0.0));
    let dependence = Dependence::from_condensed(n, pairs.iter().map(CommonErrors::dependence).collect());
    Ok(Audit {
        n_rows: evidence.n_rows(),
        classes: Vec::new(),
        answerable_share: evidence.answerable_share(),
        exchangeable: None,
        classifiers,
        panel: PanelAudit {
            dendrogram: Some(Dendrogram::average(&dependence)),
            dependence: Some(dependence),
            dissimilarities: None,
            families: families(evidence, &originals),
            fleiss_kappa: None,
            krippendorff_alpha: None,
            error_correlation: correlation,
            effective_votes: correlation.map(|r| n as f64 / (1.0 + (n as f64 - 1.0) * r)),
            left_out: None,
        },
        influence_on: model.filter(|_| influences.is_some()).map(Model::method),
    })
}

/// The accuracy of drawing one of the answers given on a row, over the rows that each classifier answered.
fn chances(evidence: &Evidence, tally: &Tally) -> Vec<f64> {
    let n = evidence.n_classifiers();
    let (mut right, mut answered) = (vec![0.0; n], vec![0.0; n]);
    for (row, truth, count) in tally.cells() {
        let rows = evidence.rows_of(count);
        let mut n_candidates = 0;
        row.for_each(|_, j| n_candidates = n_candidates.max(j));
        let share = if truth == NONE { 0.0 } else { 1.0 / f64::from(n_candidates) };
        row.for_each(|k, _| {
            right[k] += rows * share;
            answered[k] += rows;
        });
    }
    right.iter().zip(&answered).map(|(right, answered)| right / answered.max(1.0)).collect()
}

/// The verdict on a classifier that is not a copy, given the accuracy of drawing an answer.
fn verdict(correct: f64, answered: f64, chance: f64) -> Verdict {
    if answered == 0.0 {
        return Verdict::NoPredictions;
    }
    let [low, high] = interval(correct, answered, SIGNIFICANT / 2.0);
    if low > chance {
        Verdict::Useful
    } else if high < MAX_ADVERSARY_SHARE * chance {
        Verdict::Adversary
    } else if high < chance + BARELY_BETTER * (1.0 - chance) {
        Verdict::Guesser
    } else {
        Verdict::Unproven
    }
}

/// What two classifiers have in common on the rows that both answered.
#[derive(Clone, Copy, Default)]
struct CommonErrors {
    /// Rows that both answered.
    both: f64,
    /// Rows on which the first, the second, and both are right.
    right: [f64; 3],
    /// Rows on which both give the same wrong answer.
    same_wrong: f64,
}

impl CommonErrors {
    /// Of every pair of classifiers, in the order of pair counts.
    fn of_pairs(evidence: &Evidence, tally: &Tally, control: &Control<'_>) -> Result<Vec<Self>, Error> {
        /// Classifiers between two reports of progress.
        const TOGETHER: usize = 16;
        let n = evidence.n_classifiers();
        let mut pairs = Vec::with_capacity(n * (n - 1) / 2);
        let of = |a: usize| {
            let mut common = vec![Self::default(); n - a - 1];
            for (row, truth, count) in tally.cells() {
                let Some(own) = row.get(a) else { continue };
                let rows = evidence.rows_of(count);
                let is_right = own == truth;
                row.for_each(|b, j| {
                    if b > a {
                        let pair = &mut common[b - a - 1];
                        pair.both += rows;
                        let add = |is: bool| if is { rows } else { 0.0 };
                        pair.right[0] += add(is_right);
                        pair.right[1] += add(j == truth);
                        pair.right[2] += add(is_right && j == truth);
                        pair.same_wrong += add(j == own && !is_right);
                    }
                });
            }
            common
        };
        for start in (0..n).step_by(TOGETHER) {
            control.report("common errors", start, n)?;
            let parts = parallel::map(TOGETHER.min(n - start), |at| of(start + at));
            parts.into_iter().for_each(|part| pairs.extend(part));
        }
        Ok(pairs)
    }

    /// Rows on which at least one of them is wrong.
    fn wrong(&self) -> f64 {
        self.both - self.right[2]
    }

    /// Share of the errors of either that are the same wrong answer of both.
    fn dependence(&self) -> Option<f64> {
        (self.both >= MIN_JOINT_ROWS && self.wrong() > 0.0).then(|| self.same_wrong / self.wrong())
    }

    fn is_copy(&self) -> bool {
        self.wrong() >= MIN_ROWS && self.same_wrong >= MIN_COPY_SHARE * self.wrong()
    }

    /// Correlation of being right; none if one of them is always or never right.
    fn correlation(&self) -> Option<f64> {
        let [p, q, pq] = self.right.map(|rows| rows / self.both.max(1.0));
        let spread = p * (1.0 - p) * q * (1.0 - q);
        (spread > 0.0).then(|| (pq - p * q) / spread.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Answers;

    #[test]
    fn verdicts_compare_with_drawing_an_answer() {
        assert_eq!(verdict(0.0, 0.0, 0.5), Verdict::NoPredictions);
        assert_eq!(verdict(90.0, 100.0, 0.5), Verdict::Useful);
        assert_eq!(verdict(5.0, 100.0, 0.5), Verdict::Adversary);
        assert_eq!(verdict(35.0, 100.0, 0.5), Verdict::Guesser);
        assert_eq!(verdict(500.0, 1000.0, 0.5), Verdict::Guesser);
        assert_eq!(verdict(6.0, 10.0, 0.5), Verdict::Unproven);
    }

    #[test]
    fn copies_share_wrong_answers_and_shared_right_ones_are_no_relation() {
        // All are right on 40 of 60 rows. On the others, b repeats the wrong answers of a, and c has its own.
        let mut rows = Answers::builder(["a", "b", "c"]).expect("three names");
        for t in 0..60 {
            let wrong = t % 3 == 0;
            let of = |name: &str| if wrong { format!("{name} {t}") } else { format!("right {t}") };
            rows.push([Some(of("x")), Some(of("x")), Some(of("y"))], Some(format!("right {t}")))
                .expect("a row");
        }
        let rows = rows.finish();
        let evidence = Evidence::new(rows.predictions(), rows.truth()).expect("rows");
        let found = audit(&evidence, None, &Control::default()).expect("a tally");
        let verdicts: Vec<&Verdict> = found.classifiers.iter().map(|entry| &entry.verdict).collect();
        assert_eq!(verdicts[1], &Verdict::CopyOf("a".to_owned()));
        assert_ne!(verdicts[2], &Verdict::CopyOf("a".to_owned()));
        let dependence = found.panel.dependence.as_ref().expect("pairs");
        assert_eq!((dependence.get(0, 1), dependence.get(0, 2)), (Some(1.0), Some(0.0)));
        assert_eq!(found.panel.families, [["a", "b"]]);
        assert!(found.to_string().lines().all(|line| line.chars().count() <= 80), "{found}");
    }
}
