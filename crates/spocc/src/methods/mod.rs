//! Methods: twelve ways to combine the predictions of a panel, behind one trait, each fitted to evidence alone.
//!
//! In: evidence. Out: a rule that scores every class of a row. [`Method`] names the methods and says what each can do,
//! [`Settings`] chooses one and its settings, and every method has a file or folder of its own. A new method is a file
//! here, a variant of [`Method`] with its row of [`Capabilities`], and a variant of the rule.

mod method;
mod rule;
mod settings;
mod adaspocc;
mod bayes;
mod class_sums;
mod dawid_skene;
mod equal_groups;
mod exp_vote;
mod first_ladder;
mod ladder;
mod majority;
mod naive_bayes;
mod one_coin;
mod open;
mod selection;
mod softmax;
mod spocc;
mod stacking;
mod weighted_vote;

use crate::{
    error::Error,
    evidence::{Evidence, Level},
    progress::Control,
};

pub use adaspocc::AdaSpocc;
pub use bayes::Bayes;
pub use dawid_skene::DawidSkene;
pub use exp_vote::ExpVote;
pub use ladder::{Expert, FittedExpert, Ladder};
pub use majority::Majority;
pub use method::{Capabilities, Method, UnlabelledRows};
pub use naive_bayes::NaiveBayes;
pub use one_coin::OneCoin;
pub use rule::Parameters;
pub use selection::Selection;
pub use settings::Settings;
pub use spocc::{Spocc, SpoccExponent};
pub use stacking::{Inputs, Stacking, StackingStrength, Strength};
pub use weighted_vote::WeightedVote;

pub(crate) use adaspocc::{FittedAdaSpocc, relative_accuracy};
pub(crate) use class_sums::{ClassSums, CostTable, LEAD, SumKind};
pub(crate) use rule::{Rule, Scratch};
pub(crate) use spocc::{PossibilityTable, prediction_surprisals};

use equal_groups::equal_groups;
use rule::{FittedRule, check_numbers, check_sum, largest, largest_of_parts};

/// The settings of one method; fitted to evidence it becomes a [`Model`](crate::Model).
///
/// The trait is sealed: a method is a file of this module and a row of [`Capabilities`].
#[expect(private_bounds, reason = "the private bound seals the trait")]
pub trait Combiner: Learn + Send + Sync {
    /// Which method this is.
    fn method(&self) -> Method;

    /// How much evidence it needs.
    fn needs(&self) -> Level;
}

impl<C: Combiner + ?Sized> Combiner for &C {
    fn method(&self) -> Method {
        (**self).method()
    }

    fn needs(&self) -> Level {
        (**self).needs()
    }
}

/// How a method learns its rule from evidence.
pub(crate) trait Learn {
    /// The fitted rule.
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error>;
}

impl<C: Learn + ?Sized> Learn for &C {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        (**self).learn(evidence, control)
    }
}
