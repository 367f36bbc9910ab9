//! Options that choose a method and its settings.

use clap::error::ErrorKind;
use spocc::{
    Combiner, Method, Options,
    conformal::{ConformalScheme, ConformalSettings},
    data::{ClassWeights, Missing},
    decision::TieBreak,
    methods::{Inputs, Settings, SpoccExponent, StackingStrength},
    tuning::Tuning,
};

use crate::args::{
    usage,
    words::{methods, parsed, whole, words},
};

/// A method and its settings.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// How to combine the answers
    #[arg(long, value_parser = methods(), default_value_t)]
    pub(crate) method: Method,

    /// On which rows settings are judged [default: leave-one-out; k-fold for stacking]
    #[arg(long, value_parser = words([Tuning::Resubstitution, Tuning::LeaveOneOut, Tuning::KFold(Tuning::FOLDS)]))]
    pub(crate) tuning: Option<Tuning>,

    /// How answers enter stacking: a column per answer, or its number [default: one-hot]
    #[arg(long, value_parser = words([Inputs::OneHot, Inputs::Ordinal]))]
    pub(crate) inputs: Option<Inputs>,

    /// Exponent of spocc: from 1 (independent judges) to `inf` (copies), or `tuned` [default: 5]
    #[arg(long, value_name = "X", value_parser = parsed::<SpoccExponent>)]
    pub(crate) exponent: Option<SpoccExponent>,

    /// Strength of stacking, the C of scikit-learn: a number above 0, or `tuned` [default: tuned]
    #[arg(long, value_name = "C", value_parser = parsed::<StackingStrength>)]
    pub(crate) strength: Option<StackingStrength>,
}

/// Choices that all methods share.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct OptionArgs {
    /// Which of several equally good classes to decide
    #[arg(long, value_parser = words([TieBreak::First, TieBreak::Random(0)]), default_value_t)]
    pub(crate) ties: TieBreak,

    /// What an empty cell means: nothing was asked, silence is an answer, or what the rows say of each classifier
    #[arg(long, value_parser = words(Missing::ALL), default_value_t)]
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
        let Self { method, tuning, inputs, exponent, strength } = *self;
        let settings = Settings { method, tuning, inputs, exponent, strength };
        settings.combiner().map_err(|error| refused_setting(&error))
    }
}

/// A refused setting in the words of the command line.
pub(crate) fn refused_setting(error: &spocc::Error) -> clap::Error {
    let message = match error {
        spocc::Error::UnusedSetting { setting, used_by, method } => {
            format!("--{setting} is not used by --method {method}, only by {used_by}")
        }
        spocc::Error::TuningRefused { method, expected, found } => {
            format!("--method {method} takes --tuning {expected}, not {found}")
        }
        other => other.to_string(),
    };
    usage("fit", ErrorKind::ArgumentConflict, &message)
}
