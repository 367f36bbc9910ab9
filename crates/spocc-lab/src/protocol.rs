//! How an experiment is run: as the paper's authors did, or with tuning on held-out rows.

use std::{fmt, str::FromStr};

use spocc::{
    Combiner, Method, Options,
    data::Missing,
    methods::{AdaSpocc, ExpVote, Inputs, Stacking, StackingStrength},
    tuning::Tuning,
};

use crate::error::{Error, choose};

/// The two protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// The paper's own program: settings are tuned on the rows they were counted on, stacking reads labels as numbers,
    /// validation rows repeat and overlap with training rows, and base classifiers are retrained after the fusion
    /// was fitted.
    Authors,
    /// The engine's defaults: settings are tuned on held-out rows, labels are one-hot, no validation row is used in
    /// training, and classifiers are not retrained.
    Honest,
}

impl Protocol {
    const ALL: [Self; 2] = [Self::Authors, Self::Honest];

    /// A method with the settings of this protocol.
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

/// Options of every fit: missing predictions are ignored, as in the paper.
pub(crate) fn options() -> Options {
    Options { missing: Missing::Ignore, ..Options::default() }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Authors => "authors",
            Self::Honest => "honest",
        })
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("--as", &Self::ALL.map(|protocol| protocol.to_string()), word).map(|at| Self::ALL[at])
    }
}
