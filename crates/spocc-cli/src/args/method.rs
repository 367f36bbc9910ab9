//! Options that choose a method and its settings.

use clap::error::ErrorKind;
use spocc::{
    Combiner, Method, Options,
    conformal::{ConformalScheme, ConformalSettings},
    data::{ClassWeights, Missing},
    decision::TieBreak,
    methods::{AdaSpocc, ExpVote, Inputs, Spocc, SpoccExponent, Stacking, StackingStrength},
    tuning::Tuning,
};

use crate::args::{
    usage,
    words::{exponent, methods, strength, whole, words},
};

/// A method and its settings.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// How to combine the answers
    #[arg(long, value_parser = methods(), default_value_t = Method::Ladder)]
    pub(crate) method: Method,

    /// On which rows settings are judged [default: leave-one-out; k-fold for stacking]
    #[arg(long, value_parser = words([Tuning::Resubstitution, Tuning::LeaveOneOut, Tuning::KFold(Tuning::FOLDS)]))]
    pub(crate) tuning: Option<Tuning>,

    /// How answers enter stacking: a column per answer, or its number [default: one-hot]
    #[arg(long, value_parser = words([Inputs::OneHot, Inputs::Ordinal]))]
    pub(crate) inputs: Option<Inputs>,

    /// Exponent of spocc: from 1 (independent judges) to `inf` (copies), or `tuned` [default: 5]
    #[arg(long, value_name = "X", value_parser = exponent)]
    pub(crate) exponent: Option<SpoccExponent>,

    /// Strength of stacking, the C of scikit-learn: a number above 0, or `tuned` [default: tuned]
    #[arg(long, value_name = "C", value_parser = strength)]
    pub(crate) strength: Option<StackingStrength>,
}

/// Choices that all methods share.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct OptionArgs {
    /// Which of several equally good classes to decide
    #[arg(long, value_parser = words([TieBreak::First, TieBreak::Random(0)]), default_value_t = TieBreak::First)]
    pub(crate) ties: TieBreak,

    /// What an empty cell means: nothing was asked, silence is an answer, or what the rows say of each classifier
    #[arg(long, value_parser = words(Missing::ALL), default_value_t = Missing::Auto)]
    pub(crate) missing: Missing,

    /// How much rows of each class count: `equal`, `balanced`, or weights such as `urgent=5,other=1`
    #[arg(long, value_name = "WEIGHTS", default_value_t = ClassWeights::Equal)]
    pub(crate) class_weight: ClassWeights,

    /// Seed of whatever is drawn at random [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
}

/// Whether and how a model learns what sets can promise.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "PredictionSets")]
pub(crate) struct CalibrateArgs {
    /// Let `predict --coverage` promise sets that hold the truth: `split` keeps a quarter of the rows from learning,
    /// for a guarantee; `cross` learns from all, for about the same without one
    #[arg(long, value_name = "HOW", value_parser = words([ConformalScheme::Split, ConformalScheme::Cross]))]
    pub(crate) calibrate: Option<ConformalScheme>,

    /// Promise it within every class, not over all of them; needs rows of each
    #[arg(long, requires = "calibrate")]
    pub(crate) per_class: bool,
}

impl CalibrateArgs {
    /// The choices as the engine takes them.
    pub(crate) fn calibrate(&self, seed: u64) -> Option<ConformalSettings> {
        self.calibrate.map(|scheme| ConformalSettings { scheme, per_class: self.per_class, seed })
    }
}

impl OptionArgs {
    /// The choices as the engine takes them.
    pub(crate) fn options(&self) -> Options {
        let ties = match self.ties {
            TieBreak::Random(_) => TieBreak::Random(self.seed()),
            other => other,
        };
        Options { missing: self.missing, ties, class_weights: self.class_weight.clone(), calibrate: None }
    }

    /// The seed given, or 0.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Refuses a seed where nothing is drawn.
    ///
    /// # Errors
    ///
    /// A usage error.
    pub(crate) fn refuse_unused_seed(&self, calibrate: &CalibrateArgs) -> Result<(), clap::Error> {
        if self.seed.is_some() && self.ties == TieBreak::First && calibrate.calibrate.is_none() {
            let message = "--seed is only used by --ties random and --calibrate";
            return Err(usage("fit", ErrorKind::ArgumentConflict, message));
        }
        Ok(())
    }
}

impl MethodArgs {
    /// The method with its settings.
    ///
    /// # Errors
    ///
    /// A usage error for an option that the method does not use.
    pub(crate) fn combiner(&self) -> Result<Box<dyn Combiner>, clap::Error> {
        self.refuse_unused()?;
        let tuned = |default: Tuning| self.tuning.unwrap_or(default);
        Ok(match self.method {
            Method::Spocc => {
                let exponent = match self.exponent.unwrap_or_default() {
                    SpoccExponent::Tuned(default) => SpoccExponent::Tuned(tuned(default)),
                    fixed => fixed,
                };
                Box::new(Spocc { exponent })
            }
            Method::AdaSpocc => Box::new(AdaSpocc { tuning: tuned(AdaSpocc::default().tuning) }),
            Method::ExpVote => Box::new(ExpVote { tuning: tuned(ExpVote::default().tuning) }),
            Method::Stacking => {
                let default = Stacking::default();
                let inputs = self.inputs.unwrap_or(default.inputs);
                let strength = match self.strength.unwrap_or(default.strength) {
                    StackingStrength::Tuned(default) => StackingStrength::Tuned(tuned(default)),
                    fixed => fixed,
                };
                Box::new(Stacking { inputs, strength })
            }
            other => other.combiner(),
        })
    }

    fn refuse_unused(&self) -> Result<(), clap::Error> {
        let method = self.method;
        let tunes = match method {
            Method::Spocc => matches!(self.exponent, Some(SpoccExponent::Tuned(_))),
            Method::Stacking => !matches!(self.strength, Some(StackingStrength::Fixed(_))),
            _ => matches!(method, Method::AdaSpocc | Method::ExpVote),
        };
        let unused = [
            ("--exponent", self.exponent.is_some(), method == Method::Spocc, "spocc"),
            ("--inputs", self.inputs.is_some(), method == Method::Stacking, "stacking"),
            ("--strength", self.strength.is_some(), method == Method::Stacking, "stacking"),
            (
                "--tuning",
                self.tuning.is_some(),
                tunes,
                "adaspocc, exp-vote, stacking with --strength tuned and spocc with --exponent tuned",
            ),
        ];
        for (option, given, used, by) in unused {
            if given && !used {
                let message = format!("{option} is not used by --method {method}, only by {by}");
                return Err(usage("fit", ErrorKind::ArgumentConflict, &message));
            }
        }
        if method == Method::Stacking && self.tuning == Some(Tuning::LeaveOneOut) {
            let message = "--method stacking takes --tuning k-fold or resubstitution, not leave-one-out";
            return Err(usage("fit", ErrorKind::ArgumentConflict, message));
        }
        Ok(())
    }
}
