//! Rule: what a method has learned, ready to score rows.

use serde::Serialize;

use crate::{
    data::Row,
    dendrogram::Dendrogram,
    error::Error,
    evidence::Tally,
    fusion::{Exponent, FusionScratch},
    math::{exp, exponentiate},
    methods::{
        ClassSums, FittedAdaSpocc, FittedExpert, Inputs, Method, PossibilityTable, bayes, first_ladder,
        ladder, majority, naive_bayes, open, selection, stacking,
    },
    possibility::Discount,
};

/// The learned rule of a method.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    Spocc(PossibilityTable),
    AdaSpocc(Box<FittedAdaSpocc>),
    Selection(selection::AccuracyRanking),
    Vote(majority::Vote),
    NaiveBayes(naive_bayes::Likelihoods),
    Bayes(bayes::JointTable),
    Stacking(stacking::Regression),
    FirstLadder(Box<first_ladder::FittedFirstLadder>),
    Ladder(Box<ladder::FittedLadder>),
    Open(Box<open::FittedOpen>),
}

impl Rule {
    fn fitted(&self) -> &dyn FittedRule {
        match self {
            Self::Ladder(fitted) => &**fitted,
            Self::Open(fitted) => &**fitted,
            Self::FirstLadder(fitted) => &**fitted,
            Self::Spocc(possibilities) => possibilities,
            Self::AdaSpocc(fitted) => fitted.possibilities(),
            Self::Selection(ranking) => ranking,
            Self::Vote(vote) => vote,
            Self::NaiveBayes(likelihoods) => likelihoods,
            Self::Bayes(table) => table,
            Self::Stacking(regression) => regression,
        }
    }

    /// The possibility distributions behind the rule, if it has any.
    pub(crate) fn possibilities(&self) -> Option<&PossibilityTable> {
        match self {
            Self::Spocc(possibilities) => Some(possibilities),
            Self::AdaSpocc(fitted) => Some(fitted.possibilities()),
            _ => None,
        }
    }

    /// The possibility distribution of prediction `j` of classifier `k`, where the rule has possibility distributions.
    pub(crate) fn possibility(&self, k: usize, j: u16) -> Option<Vec<f64>> {
        match self {
            Self::Ladder(fitted) => Some(fitted.possibility(k, j)),
            Self::FirstLadder(fitted) => fitted.possibility(k, j),
            _ => Some(self.possibilities()?.distribution(k, j).iter().map(|s| exp(-s)).collect()),
        }
    }

    /// The parameters in readable form.
    pub(crate) fn parameters(&self) -> Parameters {
        match self {
            Self::Ladder(fitted) => fitted.parameters(),
            Self::Open(fitted) => fitted.parameters(),
            Self::FirstLadder(fitted) => fitted.parameters(),
            Self::Spocc(possibilities) => {
                Parameters::Spocc { exponent: possibilities.tree().root_exponent() }
            }
            Self::AdaSpocc(fitted) => Parameters::AdaSpocc {
                dendrogram: fitted.dendrogram.clone(),
                exponents: fitted.exponents.clone(),
                cut: fitted.cut,
                severity: fitted.severity,
                discounts: fitted.discounts.clone(),
            },
            Self::Selection(ranking) => Parameters::Selection { ranking: ranking.order() },
            Self::Vote(vote) => Parameters::Vote { weights: vote.weights.clone(), rate: vote.rate },
            Self::NaiveBayes(table) => {
                Parameters::NaiveBayes { prior: table.prior.iter().map(|s| exp(-s)).collect() }
            }
            Self::Bayes(table) => Parameters::Bayes { n_patterns: table.n_patterns() },
            Self::Stacking(regression) => regression.parameters(),
        }
    }

    /// The counts of the rule's table of patterns, if it has one.
    pub(crate) fn pattern_table(&self) -> Option<&Tally> {
        match self {
            Self::Bayes(table) => Some(&table.tally),
            Self::Ladder(fitted) => fitted.pattern_table.as_ref().map(|table| &table.tally),
            Self::FirstLadder(fitted) => fitted.pattern_table.as_ref().map(|table| &table.tally),
            _ => None,
        }
    }

    /// The same rule with only those counts of patterns that are at least `least` of their class.
    pub(crate) fn without_rare_patterns(&self, least: &[u64]) -> Self {
        let mut rule = self.clone();
        let table = match &mut rule {
            Self::Bayes(table) => Some(&mut table.tally),
            Self::Ladder(fitted) => fitted.pattern_table.as_mut().map(|table| &mut table.tally),
            Self::FirstLadder(fitted) => fitted.pattern_table.as_mut().map(|table| &mut table.tally),
            _ => None,
        };
        if let Some(tally) = table {
            *tally = tally.at_least(least);
        }
        rule
    }

    /// The same rule for rows with up to `n_classes - 1` candidates; none if it is not a rule over candidates.
    pub(crate) fn with_candidates(&self, n_classes: usize) -> Option<Self> {
        match self {
            Self::Open(fitted) => Some(Self::Open(Box::new(fitted.with_classes(n_classes)))),
            Self::Vote(vote) => Some(Self::Vote(vote.with_classes(n_classes))),
            Self::Selection(ranking) => Some(Self::Selection(ranking.with_classes(n_classes))),
            _ => None,
        }
    }

    /// What classifier `k` adds to the score of its answer, in a rule over candidates.
    pub(crate) fn candidate_weight(&self, k: usize) -> Option<f64> {
        match self {
            Self::Open(fitted) => Some(fitted.weight(k)),
            _ => None,
        }
    }

    /// Writes the surprisal of every class to `scratch.out`; false if the row has no prediction that counts.
    pub(crate) fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        self.fitted().surprisals(row, scratch)
    }

    /// Surprisals raised to the power that is returned, computed less carefully; `None` if the row has no prediction that
    /// counts.
    #[inline]
    pub(crate) fn surprisals_monotone(&self, row: Row<'_>, scratch: &mut Scratch) -> Option<f64> {
        match self.possibilities() {
            Some(possibilities) => possibilities.surprisals_monotone(row, scratch),
            None => self.surprisals(row, scratch).then_some(1.0),
        }
    }

    /// Writes the [ratio](Scratch::ratios) of every class to `scratch.ratios`, given a row that has a prediction that counts
    /// and its surprisals in `scratch.out`, which may be overwritten.
    pub(crate) fn ratios(&self, row: Row<'_>, scratch: &mut Scratch) {
        self.fitted().ratios(row, scratch);
    }

    /// The rule as sums over predictions, if it is one.
    pub(crate) fn sums(&self, n_labels: usize) -> Option<ClassSums<'_>> {
        self.fitted().sums(n_labels)
    }

    /// Refuses parameters that do not fit `n_classifiers`, `n_labels`, `n_classes`.
    pub(crate) fn check(&self, size: [usize; 3]) -> Result<(), Error> {
        if let Self::AdaSpocc(fitted) = self {
            fitted.check(size)?;
        }
        self.fitted().check(size)
    }

    /// Whether this is a rule of the method.
    pub(crate) fn fits(&self, method: Method) -> bool {
        match self {
            Self::Ladder(_) | Self::FirstLadder(_) => method == Method::Ladder,
            Self::Open(_) => matches!(method, Method::Ladder | Method::Stacking),
            Self::Spocc(_) => method == Method::Spocc,
            Self::AdaSpocc(_) => method == Method::AdaSpocc,
            Self::Selection(_) => method == Method::Selection,
            Self::Vote(_) => matches!(method, Method::Majority | Method::WeightedVote | Method::ExpVote),
            Self::NaiveBayes(_) => {
                matches!(method, Method::NaiveBayes | Method::DawidSkene | Method::OneCoin)
            }
            Self::Bayes(_) => method == Method::Bayes,
            Self::Stacking(_) => method == Method::Stacking,
        }
    }
}

/// The fitted parameters of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Parameters {
    /// The classifiers of every leaf (duplicates share one; neutral classifiers have none), gain and weight of every
    /// expert in the pool, the classifier behind the expert that is one classifier alone, and the shrinkage of the pattern
    /// table (none if there is no table).
    Ladder {
        leaves: Vec<Vec<usize>>,
        experts: Vec<FittedExpert>,
        best_classifier: Option<usize>,
        pattern_shrinkage: Option<f64>,
    },
    /// A ladder or stacking over open answers: as a ladder, with the weight of every classifier and the score of "none of
    /// these". The score of an answer is the sum of the weights of the classifiers that give it.
    Open {
        leaves: Vec<Vec<usize>>,
        experts: Vec<FittedExpert>,
        best_classifier: Option<usize>,
        weights: Vec<f64>,
        none: f64,
    },
    /// A ladder of the first generation, read from a file of version 2: the classifiers of every leaf, the gain of the norm tree and the exponent of every merge, the
    /// penalty of the residual and the shrinkage of the pattern table (none if the stage is not used), and the method that
    /// decides in place of the ladder (none if the ladder does).
    FirstLadder {
        leaves: Vec<Vec<usize>>,
        gain: f64,
        exponents: Vec<f64>,
        penalty: Option<f64>,
        pattern_shrinkage: Option<f64>,
        fallback: Option<Method>,
    },
    /// The exponent of the t-norm.
    Spocc { exponent: Exponent },
    /// The dendrogram with an exponent per merge, the Ward distance up to which classifiers share a cluster, the severity,
    /// and a discount per classifier.
    AdaSpocc {
        dendrogram: Dendrogram,
        exponents: Vec<Exponent>,
        cut: f64,
        severity: f64,
        discounts: Vec<Discount>,
    },
    /// The classifiers by number, the most accurate first.
    Selection { ranking: Vec<usize> },
    /// A weight per classifier, and the rate of an exponential vote.
    Vote { weights: Vec<f64>, rate: Option<f64> },
    /// The class frequencies.
    NaiveBayes { prior: Vec<f64> },
    /// The number of patterns with labelled rows.
    Bayes { n_patterns: usize },
    /// The strength of the fit (scikit-learn's C), the classes with training rows by number, and their coefficients (all
    /// outputs of the first input, then of the second, ..) and intercepts; two classes share one output.
    Stacking {
        inputs: Inputs,
        strength: f64,
        classes: Vec<usize>,
        coefficients: Vec<f64>,
        intercepts: Vec<f64>,
    },
}

/// Buffers that the methods reuse from row to row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(super) fusion: FusionScratch,
    /// Inputs of a regression.
    pub(super) features: Vec<(u32, f64)>,
    pub(super) ladder: ladder::LadderScratch,
    pub(super) first_ladder: first_ladder::FirstLadderScratch,
    /// The result: a surprisal per class.
    pub(crate) out: Vec<f64>,
    /// The ratio of each class's possibility, probability or votes to those of the best class.
    pub(crate) ratios: Vec<f64>,
}

impl Scratch {
    /// Ratios from the surprisals: `exp(least - s)`, and 1 if all are infinite.
    pub(crate) fn ratios_of_surprisals(&mut self) {
        let least = self.out.iter().copied().fold(f64::INFINITY, f64::min);
        self.ratios.clear();
        if least.is_finite() {
            self.ratios.extend(self.out.iter().map(|s| least - s));
            exponentiate(&mut self.ratios);
        } else {
            self.ratios.resize(self.out.len(), 1.0);
        }
    }

    /// Ratios from logarithms of probabilities up to a constant, in place of the surprisals.
    pub(super) fn ratios_of_scores(&mut self) {
        let best = self.out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.ratios.clear();
        self.ratios.extend(self.out.iter().map(|score| score - best));
        exponentiate(&mut self.ratios);
    }
}

/// A fitted rule: the predictions of a row give a surprisal per class.
pub(super) trait FittedRule {
    /// Writes the surprisal of every class to `scratch.out`; false if the row has no prediction that counts.
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool;

    /// Writes the ratio of every class to `scratch.ratios`, given the surprisals in `scratch.out`.
    fn ratios(&self, row: Row<'_>, scratch: &mut Scratch) {
        let _ = row;
        scratch.ratios_of_surprisals();
    }

    /// The rule as sums over predictions, if it is one; `surprisals` and `ratios` add them up in the same order.
    fn sums(&self, n_labels: usize) -> Option<ClassSums<'_>> {
        let _ = n_labels;
        None
    }

    /// Refuses parameters that do not fit `[n_classifiers, n_labels, n_classes]`.
    fn check(&self, size: [usize; 3]) -> Result<(), Error>;
}

/// The largest absolute value of some numbers, those that are infinite aside.
pub(super) fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().filter(|number| number.is_finite()).fold(0.0, |most, number| most.max(number.abs()))
}

/// The largest absolute value of each of `n` equal parts of a table, those of the classifiers.
pub(super) fn largest_of_parts(table: &[f64], n: usize) -> impl Iterator<Item = f64> {
    table.chunks((table.len() / n.max(1)).max(1)).map(largest)
}

/// Refuses parameters whose sum over a row could overflow, given the largest absolute value of every term.
pub(super) fn check_sum(terms: impl Iterator<Item = f64>) -> Result<(), Error> {
    // A contribution is the difference of two differences of sums.
    const MOST: f64 = f64::MAX / 8.0;
    let sum: f64 = terms.sum();
    if sum <= MOST {
        return Ok(());
    }
    let found = format!("terms of up to {sum:e} in total");
    Err(Error::Inconsistent { expected: "parameters whose sum over a row is a finite number", found })
}

/// Refuses a list of numbers of the wrong length or with an invalid number.
pub(super) fn check_numbers(
    what: &'static str,
    numbers: &[f64],
    length: Option<usize>,
    is_valid: impl Fn(f64) -> bool,
) -> Result<(), Error> {
    if Some(numbers.len()) != length {
        return Err(Error::Inconsistent { expected: what, found: format!("{} numbers", numbers.len()) });
    }
    match numbers.iter().find(|number| !is_valid(**number)) {
        Some(number) => Err(Error::Inconsistent { expected: what, found: number.to_string() }),
        None => Ok(()),
    }
}
