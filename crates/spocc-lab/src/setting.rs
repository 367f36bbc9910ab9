//! How an experiment is run: as the paper's authors did, or so that every method has a fair chance.

use std::{fmt, str::FromStr};

use spocc::{
    Combiner, Method,
    methods::{AdaSpocc, ExpVote, Inputs, Stacking, StackingStrength},
    tuning::Tuning,
};

use crate::error::{Error, choose};

/// The two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Settings judged on the very rows they were counted on, labels fed to stacking as numbers, validation rows that
    /// repeat and overlap with training rows, base classifiers trained again after the combination was learned.
    Authors,
    /// The engine's defaults: settings judged on rows left out, labels one-hot, validation rows kept out of all
    /// training, classifiers used as they were judged.
    Honest,
}

impl Setting {
    const ALL: [Self; 2] = [Self::Authors, Self::Honest];

    /// A method as this setting would have it.
    pub(crate) fn combiner(self, method: Method) -> Box<dyn Combiner> {
        let tuning = Tuning::Resubstitution;
        match (self, method) {
            (Self::Authors, Method::AdaSpocc) => Box::new(AdaSpocc { tuning }),
            (Self::Authors, Method::ExpVote) => Box::new(ExpVote { tuning }),
            (Self::Authors, Method::Stacking) => {
                Box::new(Stacking { inputs: Inputs::Ordinal, strength: StackingStrength::Tuned(tuning) })
            }
            (_, method) => method.combiner(),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Authors => "authors",
            Self::Honest => "honest",
        })
    }
}

impl FromStr for Setting {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("--as", &Self::ALL.map(|setting| setting.to_string()), word).map(|at| Self::ALL[at])
    }
}
