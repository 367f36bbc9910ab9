//! Missing predictions: the setting of what a missing cell of a table means.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::{Error, choose};

/// What a missing prediction means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Missing {
    /// The classifier was not asked: it contributes nothing to the row.
    Ignore,
    /// The classifier abstained: a missing cell is one more answer, so that a row without any prediction is decided by
    /// the panel, too.
    Answer,
    /// Either of the two for each classifier, as the evidence shows: a missing cell is an answer where it
    /// distinguishes classes, for the methods that gain from that (the ladder, naive Bayes and stacking).
    #[default]
    Auto,
}

impl Missing {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Ignore, Self::Answer, Self::Auto];
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ignore => "ignore",
            Self::Answer => "answer",
            Self::Auto => "auto",
        })
    }
}

impl FromStr for Missing {
    type Err = Error;

    /// `ignore`, `answer` or `auto`; version 0.1 called the first two `silent` and `symbol`.
    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "silent" => Ok(Self::Ignore),
            "symbol" => Ok(Self::Answer),
            _ => choose("missing", &Self::ALL, word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_parsed_by_their_words_and_by_those_of_version_0_1() {
        for missing in Missing::ALL {
            assert_eq!(missing.to_string().parse(), Ok(missing));
        }
        assert_eq!(("silent".parse(), "symbol".parse()), (Ok(Missing::Ignore), Ok(Missing::Answer)));
        let refused = "gap".parse::<Missing>().expect_err("not a choice").to_string();
        assert_eq!(refused, "missing: expected one of ignore, answer, auto, found `gap`");
    }
}
