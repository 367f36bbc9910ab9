//! Audit: who in the panel is worth listening to, who guesses, copies, lies or keeps silent.
//!
//! In: evidence, and a model where influence is wanted. Out: one verdict per classifier with the figures
//! behind it, and how the panel hangs together.

mod report;
mod statistics;

use serde::Serialize;

use crate::{
    data::{Label, MISSING, Missing, Row},
    dendrogram::Dendrogram,
    dependence::{Dependence, Dissimilarities, mutual_information},
    error::Error,
    evidence::{Evidence, Level},
    methods::{Ladder, Method, Scratch},
    model::{self, Model, Options},
    parallel,
    progress::Control,
};

pub use statistics::clopper_pearson;
use statistics::{PairStatistics, agreement, g_test, interval, pair_statistics, pearson_p_value};

/// An informative answer is less likely than this by chance.
const SIGNIFICANT: f64 = 0.01;
/// A guesser's accuracy lies surely below that of knowing nothing plus this share of the way to perfection.
const BARELY_BETTER: f64 = 0.2;
/// Agreement beyond what the truth explains that makes one classifier a copy of another.
const COPY: f64 = 0.8;
/// Rows without which nobody is called constant, or a copy (those on which independent errors would have shown).
const ENOUGH_ROWS: f64 = 10.0;
/// Norm evaluations that influence may cost before it is left out.
const INFLUENCE_BUDGET: f64 = 2e10;

/// What is known about a panel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// Number of labelled rows, or the sum of their weights.
    #[serde(serialize_with = "whole")]
    pub n_rows: f64,
    /// The candidate classes and how often each was true.
    #[serde(serialize_with = "as_objects")]
    pub classes: Vec<(Label, f64)>,
    /// One entry per classifier.
    pub classifiers: Vec<ClassifierAudit>,
    /// How the panel hangs together.
    pub panel: PanelAudit,
    /// The method whose decisions influence is measured on; none without influence.
    pub influence_on: Option<Method>,
}

/// A number of rows as such; only weights have a fraction.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands it over so
fn whole<S: serde::Serializer>(rows: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if rows.fract() == 0.0 { serializer.serialize_u64(*rows as u64) } else { serializer.serialize_f64(*rows) }
}

/// Pairs as objects: a reader of JSON should not have to know which of the two is the count.
fn as_objects<S: serde::Serializer>(classes: &[(Label, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Class<'a> {
        label: &'a Label,
        #[serde(serialize_with = "whole")]
        n_rows: f64,
    }
    serializer.collect_seq(classes.iter().map(|(label, n_rows)| Class { label, n_rows: *n_rows }))
}

/// What is known about one classifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassifierAudit {
    /// Its name.
    pub name: String,
    /// What to make of it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Share of its answers that were right.
    pub accuracy: f64,
    /// 95 % Clopper-Pearson interval of the accuracy.
    pub interval: [f64; 2],
    /// Accuracy if each of its labels is read as the class that it most often stands for, where the rows show
    /// beyond chance that this is not the class of that name. Never below the accuracy.
    pub relabelled_accuracy: f64,
    /// Share of the rows on which it spoke.
    pub coverage: f64,
    /// Mutual information of its answers and the truth, in bits, over the rows on which it spoke.
    pub information: f64,
    /// The G statistic of independence of its answers and the truth.
    pub g_statistic: f64,
    /// Degrees of freedom of that test.
    pub degrees_of_freedom: usize,
    /// Probability of so much information by chance.
    pub p_value: f64,
    /// Share of the rows whose decision changes when it is made neutral, all parameters kept; needs a model
    /// and a tally.
    pub influence: Option<f64>,
}

/// What to make of a classifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "original", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Its answers tell something about the truth.
    Useful,
    /// There were rows enough to see that its answers tell next to nothing.
    Guesser,
    /// Too few rows to tell.
    Unproven,
    /// It is right less often than chance, so its answers help once they are read the other way.
    Adversary,
    /// It always says the same.
    Constant,
    /// It repeats that classifier, the most accurate of its family, perhaps under other names.
    CopyOf(String),
    /// It never spoke.
    Silent,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Useful => out.pad("useful"),
            Self::Guesser => out.pad("guesser"),
            Self::Unproven => out.pad("unproven"),
            Self::Adversary => out.pad("adversary"),
            Self::Constant => out.pad("constant"),
            Self::CopyOf(name) => out.pad(&format!("copy of {name}")),
            Self::Silent => out.pad("silent"),
        }
    }
}

/// How a panel hangs together; what the evidence is not deep enough for is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PanelAudit {
    /// Dependence of every pair, from 0 (independent) to 1 (copies); needs pair counts.
    pub dependence: Option<Dependence>,
    /// Average linkage of `1 - dependence`; needs pair counts.
    pub dendrogram: Option<Dendrogram>,
    /// The paper's dissimilarity `exp(-mutual information)` of every pair, which the methods use; needs pair counts.
    pub dissimilarities: Option<Dissimilarities>,
    /// Families of copies, each with its most accurate member first; needs a tally.
    pub families: Vec<Vec<String>>,
    /// Fleiss' kappa of the answers; needs a tally.
    pub fleiss_kappa: Option<f64>,
    /// Krippendorff's alpha of the answers, for nominal data; needs a tally.
    pub krippendorff_alpha: Option<f64>,
    /// Mean correlation of being right over all pairs, not below 0; needs a tally, and a pair in which both are
    /// sometimes right and sometimes wrong.
    pub error_correlation: Option<f64>,
    /// As how many independent classifiers the panel counts: `K / (1 + (K - 1) * error_correlation)`.
    pub effective_votes: Option<f64>,
    /// Why figures about pairs are missing: the counts do not hold them, or they would not fit into memory.
    pub left_out: Option<String>,
}

impl Audit {
    /// Audits the panel behind some evidence as the model would be audited that the default method and settings fit to
    /// it; without that model's influence figures where there is no tally to fit it to, or no memory.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_evidence(evidence: &Evidence, control: &Control<'_>) -> Result<Self, Error> {
        let options = Options { missing: Missing::Auto, ..Options::default() };
        let labelled = evidence.labelled(control)?;
        let model = match evidence.level() {
            // A panel too large to fit can be audited all the same.
            Level::Tally => match Model::fit(&Ladder, &labelled, &options, control) {
                Err(Error::MemoryLimit { .. }) => None,
                fitted => Some(fitted?),
            },
            _ => None,
        };
        Self::new(evidence, model.as_ref(), control)
    }

    /// Audits the panel behind some evidence; with a model fitted to it, influence too.
    ///
    /// # Errors
    ///
    /// [`Error::NoLabelledRows`], [`Error::DifferentClassifiers`] if the model listens to others,
    /// [`Error::Cancelled`].
    pub fn new(evidence: &Evidence, model: Option<&Model>, control: &Control<'_>) -> Result<Self, Error> {
        let evidence = &*evidence.labelled(control)?;
        if evidence.total() == 0 {
            return Err(Error::NoLabelledRows);
        }
        let mut left_out = (evidence.level() < Level::Tally)
            .then(|| format!("they need a tally, and these counts are {}", evidence.level()));
        let (dependence, dissimilarities) = match evidence.level() {
            Level::Marginals => None,
            Level::Pairs | Level::Tally => {
                fitting(Dependence::with_dissimilarities(evidence, control), &mut left_out)?
            }
        }
        .unzip();
        let pairs = fitting(pair_statistics(evidence, control), &mut left_out)?.flatten();
        let correlation = pairs.as_ref().and_then(PairStatistics::mean_correlation);
        let kappas = evidence.tally().map(|tally| agreement(evidence, tally));
        let n = evidence.n_classifiers() as f64;
        let figures: Vec<ClassifierAudit> = (0..evidence.n_classifiers())
            .map(|k| {
                control.report("audit", k, evidence.n_classifiers())?;
                Ok(figures(evidence, k))
            })
            .collect::<Result<_, Error>>()?;
        let originals = originals(evidence, pairs.as_ref());
        let panel = PanelAudit {
            dendrogram: dependence.as_ref().map(Dendrogram::average),
            dependence,
            dissimilarities,
            families: families(evidence, &originals),
            fleiss_kappa: kappas.and_then(|kappas| kappas.fleiss),
            krippendorff_alpha: kappas.and_then(|kappas| kappas.krippendorff),
            error_correlation: correlation,
            effective_votes: correlation.map(|r| n / (1.0 + (n - 1.0) * r)),
            left_out,
        };
        let influences = model.map(|model| influences(evidence, model, control)).transpose()?.flatten();
        let mut classifiers = figures;
        for (k, entry) in classifiers.iter_mut().enumerate() {
            entry.influence = influences.as_ref().map(|influences| influences[k]);
            entry.verdict = match originals[k] {
                Some(original) => Verdict::CopyOf(evidence.classifiers()[original].clone()),
                None => verdict(evidence, k, entry),
            };
        }
        let candidates = evidence.candidate_classes();
        let counts = evidence.labels().translate(&candidates).into_iter().map(usize::from);
        let classes = counts.map(|i| evidence.rows_of(evidence.class_counts()[i]));
        let classes = candidates.into_iter().zip(classes).collect();
        let influence_on = model.filter(|_| influences.is_some()).map(Model::method);
        Ok(Self { n_rows: evidence.n_rows(), classes, classifiers, panel, influence_on })
    }
}

/// What fits into memory; a refusal for want of memory is noted, not passed on.
fn fitting<T>(result: Result<T, Error>, left_out: &mut Option<String>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error @ Error::MemoryLimit { .. }) => {
            *left_out = Some(error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// All figures of one classifier; the verdict comes later.
fn figures(evidence: &Evidence, k: usize) -> ClassifierAudit {
    let (spoken, right) = (evidence.answered(k), evidence.correct(k));
    let share = |count: u64, of: u64| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let (s, l) = (evidence.n_labels(), evidence.n_classes());
    // A square table serves the same sum of entropies.
    let mut square = vec![0; s * s];
    for (at, &count) in evidence.confusion(k).iter().enumerate() {
        square[at / l * s + at % l] = count;
    }
    let information = if spoken == 0 { 0.0 } else { mutual_information(&square, s, spoken) };
    let (g_statistic, degrees_of_freedom, p_value) = g_test(evidence, k, information);
    ClassifierAudit {
        name: evidence.classifiers()[k].clone(),
        verdict: Verdict::Unproven,
        accuracy: share(right, spoken),
        interval: clopper_pearson(evidence.rows_of(right), evidence.rows_of(spoken)),
        relabelled_accuracy: share(relabelled_right(evidence, k), spoken),
        coverage: share(spoken, evidence.total()),
        information: information / std::f64::consts::LN_2,
        g_statistic,
        degrees_of_freedom,
        p_value,
        influence: None,
    }
}

/// Rows that are right when each label is read as the class that it most often stands for, where that is shown beyond
/// chance not to be the class of that name.
fn relabelled_right(evidence: &Evidence, k: usize) -> u64 {
    /// One-sided level of the sign test of two classes.
    const LEVEL: f64 = 0.05;
    let right = |j: u16| {
        let counts = evidence.row(k, j);
        let own = counts.get(usize::from(j)).copied().unwrap_or(0);
        let most = counts.iter().copied().max().unwrap_or(0);
        let (more, all) = (evidence.rows_of(most), evidence.rows_of(most) + evidence.rows_of(own));
        if most > own && interval(more, all, LEVEL)[0] > 0.5 { most } else { own }
    };
    (0..evidence.n_labels() as u16).map(right).sum()
}

/// For every copy, the most accurate classifier that it repeats, which is no copy itself.
///
/// Accuracies are those of [`Evidence::accuracies`], so that few predictions do not make an original; of equal ones
/// the first in the alphabet is the original, so that the order of the columns does not matter.
fn originals(evidence: &Evidence, pairs: Option<&PairStatistics>) -> Vec<Option<usize>> {
    let mut originals = vec![None; evidence.n_classifiers()];
    let Some(pairs) = pairs else { return originals };
    let (accuracies, names) = (evidence.accuracies(), evidence.classifiers());
    let mut order: Vec<usize> =
        (0..names.len()).filter(|&k| evidence.answered(k) > 0 && !is_constant(evidence, k)).collect();
    order.sort_by(|&a, &b| accuracies[b].total_cmp(&accuracies[a]).then_with(|| names[a].cmp(&names[b])));
    let mut leaders: Vec<usize> = Vec::new();
    for k in order {
        originals[k] = leaders.iter().copied().find(|&original| pairs.is_copy(evidence, original, k));
        if originals[k].is_none() {
            leaders.push(k);
        }
    }
    originals
}

/// The names of every family of copies, the most accurate first, in the order of the originals' columns.
fn families(evidence: &Evidence, originals: &[Option<usize>]) -> Vec<Vec<String>> {
    let name = |k: usize| evidence.classifiers()[k].clone();
    let accuracies = evidence.accuracies();
    let mut order: Vec<usize> = (0..originals.len()).collect();
    order.sort_by(|&a, &b| accuracies[b].total_cmp(&accuracies[a]));
    let copies = |original: usize| order.iter().copied().filter(move |&k| originals[k] == Some(original));
    let family = |original: usize| std::iter::once(original).chain(copies(original)).map(name).collect();
    (0..originals.len()).filter(|&k| copies(k).next().is_some()).map(family).collect()
}

/// Whether a classifier predicted a single label, on enough rows of several classes.
fn is_constant(evidence: &Evidence, k: usize) -> bool {
    let said = evidence.predicted_counts(k);
    let n_answers = said.iter().filter(|count| **count > 0).count();
    let truths = (0..evidence.n_classes())
        .filter(|&i| (0..said.len()).any(|j| evidence.row(k, j as u16)[i] > 0))
        .count();
    n_answers == 1 && truths > 1 && evidence.rows_of(evidence.answered(k)) >= ENOUGH_ROWS
}

/// The verdict on a classifier that is no copy.
fn verdict(evidence: &Evidence, k: usize, figures: &ClassifierAudit) -> Verdict {
    let said = evidence.predicted_counts(k);
    let spoken = evidence.answered(k);
    if spoken == 0 {
        return Verdict::Silent;
    }
    if is_constant(evidence, k) {
        return Verdict::Constant;
    }
    // Right by chance: says what it says, whatever is true.
    let total = evidence.total() as f64;
    let by_chance = |i: usize| said[i] as f64 / spoken as f64 * evidence.class_counts()[i] as f64 / total;
    let chance: f64 = (0..evidence.n_classes()).map(by_chance).sum();
    let [_, high] = figures.interval;
    // However its answers are read, it is barely better than knowing nothing.
    let frequent = evidence.class_counts().iter().max().map_or(0.0, |&count| count as f64 / total);
    let answers = evidence.rows_of(spoken);
    let best = |j: u16| evidence.row(k, j).iter().copied().max().unwrap_or(0);
    let best_reading: u64 = (0..evidence.n_labels() as u16).map(best).sum();
    let relabelled_high = clopper_pearson(evidence.rows_of(best_reading), answers)[1];
    let is_barely_better = |high: f64, base: f64| high < base + BARELY_BETTER * (1.0 - base);
    let is_guesser = is_barely_better(high, chance) && is_barely_better(relabelled_high, frequent);
    match pearson_p_value(evidence, k, figures.degrees_of_freedom) < SIGNIFICANT {
        true if high < chance => Verdict::Adversary,
        true => Verdict::Useful,
        false if interval(figures.accuracy * answers, answers, SIGNIFICANT / 2.0)[0] > chance => {
            Verdict::Useful
        }
        false if is_guesser => Verdict::Guesser,
        false => Verdict::Unproven,
    }
}

/// For every classifier, the share of rows whose decision changes without it; none where that would take
/// too long or there is no tally.
fn influences(evidence: &Evidence, model: &Model, control: &Control<'_>) -> Result<Option<Vec<f64>>, Error> {
    if model.classifiers != evidence.classifiers() {
        let difference = crate::error::list(&model.classifiers);
        return Err(Error::DifferentClassifiers { difference: format!("a model of {difference}") });
    }
    let evidence =
        model::read(evidence, evidence.labels().classes(), &model.missing_is_answer, &[], control)?;
    let Some(tally) = evidence.tally() else { return Ok(None) };
    let n = evidence.n_classifiers();
    let cost = tally.n_patterns() as f64 * (n * n * evidence.n_classes()) as f64;
    if cost > INFLUENCE_BUDGET {
        return Ok(None);
    }
    let map = model.labels.translate(evidence.labels().all());
    let stop = |range: &std::ops::Range<usize>| control.report("influence", range.start, tally.n_patterns());
    let parts = parallel::map_ranges(tally.n_patterns(), 256, |range| {
        stop(&range)?;
        let mut work = Scratch::default();
        let mut changed = vec![0u64; n];
        for p in range {
            let mut cells = tally.pattern(p).to_dense(n);
            cells.iter_mut().filter(|id| **id != MISSING).for_each(|id| *id = map[usize::from(*id)]);
            let decided = model.decision(Row::Dense(&cells), &mut work).class;
            for k in 0..n {
                let said = std::mem::replace(&mut cells[k], MISSING);
                if said != MISSING && model.decision(Row::Dense(&cells), &mut work).class != decided {
                    changed[k] += tally.weight(p);
                }
                cells[k] = said;
            }
        }
        Ok(changed)
    });
    let parts = parts.into_iter().collect::<Result<Vec<Vec<u64>>, Error>>()?;
    let total = evidence.total() as f64;
    let sum = |k: usize| parts.iter().map(|part| part[k]).sum::<u64>() as f64 / total;
    Ok(Some((0..n).map(sum).collect()))
}
