//! Combiners: eleven ways to turn a panel's answers into one, behind one trait, each learned from evidence alone.

mod adaspocc;
mod bayes;
mod cost_table;
mod dawid_skene;
mod exp_vote;
mod ladder;
mod majority;
mod naive_bayes;
mod selection;
mod softmax;
mod spocc;
mod stacking;
mod weighted_vote;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    dendrogram::Dendrogram,
    error::{Error, choose},
    evidence::{Evidence, Level},
    fusion::{Exponent, FusionScratch},
    math::exp,
    model::{Model, Options},
    possibility::Discount,
    progress::Control,
};

pub use adaspocc::AdaSpocc;
pub use bayes::Bayes;
pub use dawid_skene::DawidSkene;
pub use exp_vote::ExpVote;
pub use ladder::Ladder;
pub use majority::Majority;
pub use naive_bayes::NaiveBayes;
pub use selection::Selection;
pub use spocc::{Spocc, SpoccExponent};
pub use stacking::{Inputs, Stacking, StackingStrength, Strength};
pub use weighted_vote::WeightedVote;

pub(crate) use adaspocc::{FittedAdaSpocc, share};
pub(crate) use cost_table::CostTable;
pub(crate) use spocc::{PossibilityTable, opinions_of};

/// The methods, by the words that every face uses. Files know them by their place here: new ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Possibilistic fusion at one exponent.
    Spocc,
    /// Possibilistic fusion along a dendrogram, exponents and discounts fitted.
    #[serde(rename = "adaspocc")]
    AdaSpocc,
    /// The most accurate classifier alone.
    Selection,
    /// One classifier, one vote.
    Majority,
    /// Votes weighted by accuracy.
    WeightedVote,
    /// Votes weighted by a fitted exponential of accuracy.
    ExpVote,
    /// Answers independent given the truth.
    NaiveBayes,
    /// The joint table of all answers.
    Bayes,
    /// Softmax regression on the answers.
    Stacking,
    /// Answers independent given the truth, learned also from rows without truth.
    DawidSkene,
    /// Models of growing richness, each pulled towards the one below it.
    Ladder,
}

impl Method {
    /// Every method there is.
    pub const ALL: [Self; 11] = [
        Self::Ladder,
        Self::Spocc,
        Self::AdaSpocc,
        Self::Selection,
        Self::Majority,
        Self::WeightedVote,
        Self::ExpVote,
        Self::NaiveBayes,
        Self::Bayes,
        Self::Stacking,
        Self::DawidSkene,
    ];

    /// Whether it gains from hearing a silence that tells classes apart.
    ///
    /// Votes cannot count it, and the possibility that a silence leaves to each class is mostly how frequent the
    /// class is, which SPOCC would fuse once for everyone silent. Bayes tells patterns with gaps apart in any case.
    pub(crate) fn gains_from_missing(self) -> bool {
        matches!(self, Self::Ladder | Self::NaiveBayes | Self::Stacking)
    }

    /// Whether its models have probabilities, not only possibilities.
    pub fn gives_probabilities(self) -> bool {
        matches!(self, Self::Ladder | Self::NaiveBayes | Self::Bayes | Self::Stacking | Self::DawidSkene)
    }

    /// The scale of its own on which a margin compares the best class and the runner-up.
    pub fn margin_of(self) -> &'static str {
        match self {
            Self::Spocc | Self::AdaSpocc => "possibility",
            Self::Selection | Self::Majority | Self::WeightedVote | Self::ExpVote => "vote share",
            _ => "probability",
        }
    }

    /// The method with its default settings.
    pub fn combiner(self) -> Box<dyn Combiner> {
        match self {
            Self::Ladder => Box::new(Ladder),
            Self::Spocc => Box::new(Spocc::default()),
            Self::AdaSpocc => Box::new(AdaSpocc::default()),
            Self::Selection => Box::new(Selection),
            Self::Majority => Box::new(Majority),
            Self::WeightedVote => Box::new(WeightedVote),
            Self::ExpVote => Box::new(ExpVote::default()),
            Self::NaiveBayes => Box::new(NaiveBayes),
            Self::Bayes => Box::new(Bayes),
            Self::Stacking => Box::new(Stacking::default()),
            Self::DawidSkene => Box::new(DawidSkene),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ladder => "ladder",
            Self::Spocc => "spocc",
            Self::AdaSpocc => "adaspocc",
            Self::Selection => "selection",
            Self::Majority => "majority",
            Self::WeightedVote => "weighted-vote",
            Self::ExpVote => "exp-vote",
            Self::NaiveBayes => "naive-bayes",
            Self::Bayes => "bayes",
            Self::Stacking => "stacking",
            Self::DawidSkene => "dawid-skene",
        })
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("method", &Self::ALL, word)
    }
}

/// Settings of a method, from which evidence makes a model.
pub trait Combiner: Send + Sync {
    /// Which method this is.
    fn method(&self) -> Method;

    /// How much evidence it needs.
    fn needs(&self) -> Level;

    /// Whether it learns from those rows of this evidence whose truth is not known; most methods never see them.
    fn uses_unlabelled(&self, evidence: &Evidence) -> bool {
        let _ = evidence;
        false
    }

    /// Learns the rule; [`fit`](Self::fit) makes a model of it.
    ///
    /// # Errors
    ///
    /// Those of the method: [`Error::TuningRefused`], [`Error::MemoryLimit`], [`Error::Cancelled`].
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error>;

    /// Fits a model with default options: silence says nothing, ties go to the first class.
    ///
    /// # Errors
    ///
    /// As [`Model::fit`].
    fn fit(&self, evidence: &Evidence) -> Result<Model, Error> {
        Model::fit(self, evidence, &Options::default(), &Control::default())
    }
}

/// What a combiner learned: how to judge a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule(pub(crate) Kind);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    Spocc(PossibilityTable),
    AdaSpocc(Box<FittedAdaSpocc>),
    Selection(selection::Ranking),
    Vote(majority::Vote),
    NaiveBayes(naive_bayes::Likelihoods),
    Bayes(bayes::JointTable),
    Stacking(stacking::Regression),
    Ladder(Box<ladder::FittedLadder>),
}

impl Kind {
    fn judge(&self) -> &dyn Judge {
        match self {
            Self::Ladder(fitted) => &**fitted,
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

    /// The possibility that an answer of classifier `k` leaves to each class, where the rule has possibilities.
    pub(crate) fn possibility(&self, k: usize, said: u16) -> Option<Vec<f64>> {
        match self {
            Self::Ladder(fitted) => fitted.possibility(k, said),
            _ => Some(self.possibilities()?.distribution(k, said).iter().map(|s| exp(-s)).collect()),
        }
    }

    /// The parameters, to be looked at.
    pub(crate) fn fitted(&self) -> Fitted {
        match self {
            Self::Ladder(fitted) => fitted.fitted(),
            Self::Spocc(possibilities) => Fitted::Spocc { exponent: possibilities.tree().root_exponent() },
            Self::AdaSpocc(fitted) => Fitted::AdaSpocc {
                dendrogram: fitted.dendrogram.clone(),
                exponents: fitted.exponents.clone(),
                cut: fitted.cut,
                severity: fitted.severity,
                discounts: fitted.discounts.clone(),
            },
            Self::Selection(ranking) => Fitted::Selection { ranking: ranking.order() },
            Self::Vote(vote) => Fitted::Vote { weights: vote.weights.clone(), rate: vote.rate },
            Self::NaiveBayes(table) => {
                Fitted::NaiveBayes { prior: table.prior.iter().map(|s| exp(-s)).collect() }
            }
            Self::Bayes(table) => Fitted::Bayes { n_patterns: table.n_patterns() },
            Self::Stacking(regression) => regression.fitted(),
        }
    }

    /// Surprisal of every class into `work.out`; false if nobody had anything to say.
    pub(crate) fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        self.judge().surprisals(row, work)
    }

    /// Surprisals raised to a power that is returned, which need not be computed as carefully; `None` if
    /// nobody had anything to say.
    #[inline]
    pub(crate) fn surprisals_monotone(&self, row: Row<'_>, work: &mut Scratch) -> Option<f64> {
        match self.possibilities() {
            Some(possibilities) => possibilities.surprisals_monotone(row, work),
            None => self.surprisals(row, work).then_some(1.0),
        }
    }

    /// The rule as sums of costs, if it is one.
    pub(crate) fn costs(&self, n_labels: usize) -> Option<CostTable<'_>> {
        self.judge().costs(n_labels)
    }

    /// Refuses parameters that do not fit `n_classifiers`, `n_labels`, `n_classes`.
    pub(crate) fn check(&self, size: [usize; 3]) -> Result<(), Error> {
        if let Self::AdaSpocc(fitted) = self {
            fitted.check(size)?;
        }
        self.judge().check(size)
    }

    /// Whether this is a rule that the method learns.
    pub(crate) fn fits(&self, method: Method) -> bool {
        match self {
            Self::Ladder(_) => method == Method::Ladder,
            Self::Spocc(_) => method == Method::Spocc,
            Self::AdaSpocc(_) => method == Method::AdaSpocc,
            Self::Selection(_) => method == Method::Selection,
            Self::Vote(_) => matches!(method, Method::Majority | Method::WeightedVote | Method::ExpVote),
            Self::NaiveBayes(_) => matches!(method, Method::NaiveBayes | Method::DawidSkene),
            Self::Bayes(_) => method == Method::Bayes,
            Self::Stacking(_) => method == Method::Stacking,
        }
    }
}

/// The parameters a model was fitted with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Fitted {
    /// Classifiers by the leaf they share, the gain g of the core and the exponent of every merge of leaves, how
    /// strongly the residual and the pattern table are pulled back (none if they are not there), and the method that
    /// decides in place of the ladder (none if the ladder itself does).
    Ladder {
        leaves: Vec<Vec<usize>>,
        gain: f64,
        exponents: Vec<f64>,
        penalty: Option<f64>,
        pattern_shrinkage: Option<f64>,
        fallback: Option<Method>,
    },
    /// The one exponent.
    Spocc { exponent: Exponent },
    /// The merge tree with an exponent per merge, the Ward distance up to which classifiers share a cluster,
    /// how severely the less accurate are discounted, and everyone's discount.
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
    /// How many patterns of answers were met.
    Bayes { n_patterns: usize },
    /// The strength of the fit (scikit-learn's C), the classes it knows by number, and their coefficients
    /// (all outputs of the first input, then of the second, ..) and intercepts; two classes share one output.
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
    fusion: FusionScratch,
    /// Inputs of a regression.
    features: Vec<(u32, f64)>,
    ladder: ladder::LadderScratch,
    /// The result: a surprisal per class.
    pub(crate) out: Vec<f64>,
}

/// A fitted rule: what was said, how surprising each class would be.
trait Judge {
    /// Surprisal of every class into `work.out`; false if nobody had anything to say.
    fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool;

    /// The rule as sums of costs, if it is one: the class that costs least is the least surprising.
    fn costs(&self, n_labels: usize) -> Option<CostTable<'_>> {
        let _ = n_labels;
        None
    }

    /// Refuses parameters that do not fit `[n_classifiers, n_labels, n_classes]`.
    fn check(&self, size: [usize; 3]) -> Result<(), Error>;
}

/// Refuses a list of numbers of the wrong length or with a number out of place.
fn check_numbers(
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
