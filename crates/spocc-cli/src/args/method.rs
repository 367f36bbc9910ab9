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
    values::{choices, methods, missing, parsed, whole},
};

/// A method and its settings.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// Method that combines the predictions [default: ladder]
    #[arg(long, value_parser = methods())]
    pub(crate) method: Option<Method>,

    /// Rows on which parameters are tuned: the fitted rows themselves, or held-out rows [default: leave-one-out; k-fold
    /// for stacking]
    #[arg(long, value_parser = choices([Tuning::Resubstitution, Tuning::LeaveOneOut, Tuning::KFold(Tuning::FOLDS)]))]
    pub(crate) tuning: Option<Tuning>,

    /// Encoding of the predictions for stacking: one-hot, or the number of the label [default: one-hot]
    #[arg(long, value_parser = choices([Inputs::OneHot, Inputs::Ordinal]))]
    pub(crate) inputs: Option<Inputs>,

    /// Exponent of spocc: from 1 (independent classifiers) to `inf` (copies), or `tuned` [default: 5]
    #[arg(long, value_name = "X", value_parser = parsed::<SpoccExponent>)]
    pub(crate) exponent: Option<SpoccExponent>,

    /// Inverse regularisation strength of stacking, C in scikit-learn: above 0, or `tuned` [default: tuned]
    #[arg(long, value_name = "C", value_parser = parsed::<StackingStrength>)]
    pub(crate) strength: Option<StackingStrength>,
}

/// Options of all methods.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct OptionArgs {
    /// Which of several tied classes to decide
    #[arg(long, value_parser = choices([TieBreak::First, TieBreak::Random(0)]), default_value_t)]
    pub(crate) ties: TieBreak,

    /// What a missing prediction means
    #[arg(long, value_parser = missing(), default_value_t = Missing::Auto)]
    pub(crate) missing: Missing,

    /// Weight of the rows of each class: `equal`, `balanced`, or a list such as `urgent=5,other=1`
    #[arg(long, value_name = "WEIGHTS", default_value_t = ClassWeights::Equal)]
    pub(crate) class_weight: ClassWeights,

    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
}

/// How conformal prediction sets are calibrated.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Prediction sets")]
pub(crate) struct CalibrateArgs {
    /// Calibrate prediction sets for `predict --coverage`. `split`: split conformal, which holds out a quarter of the
    /// rows and guarantees the coverage. `cross`: cross-conformal, which fits to all rows and has about this coverage
    #[arg(long, value_name = "HOW", value_parser = choices([ConformalScheme::Split, ConformalScheme::Cross]))]
    pub(crate) calibrate: Option<ConformalScheme>,

    /// Calibrate each class separately, so that the coverage holds within every class
    #[arg(long, requires = "calibrate")]
    pub(crate) per_class: bool,
}

impl CalibrateArgs {
    /// The settings of the engine, if --calibrate is given.
    pub(crate) fn calibrate(&self, seed: u64) -> Option<ConformalSettings> {
        self.calibrate.map(|scheme| ConformalSettings { scheme, per_class: self.per_class, seed })
    }
}

impl OptionArgs {
    /// The options of the engine.
    pub(crate) fn options(&self) -> Options {
        let ties = match self.ties {
            TieBreak::Random(_) => TieBreak::Random(self.seed()),
            other => other,
        };
        let class_weights = self.class_weight.clone();
        Options { missing: self.missing, ties, class_weights, ..Options::default() }
    }

    /// The value of --seed, or 0.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Refuses --seed if nothing is random.
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
        let method = method.unwrap_or_default();
        let settings = Settings { method, tuning, inputs, exponent, strength };
        settings.combiner().map_err(|error| refused_setting(&error))
    }
}

/// A setting that the engine refuses, as a usage error.
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
