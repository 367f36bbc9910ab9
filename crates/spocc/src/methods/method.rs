//! The methods by name, and one table of what each can do.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, choose},
    evidence::Evidence,
    methods::{
        AdaSpocc, Bayes, Combiner, DawidSkene, ExpVote, Ladder, Majority, NaiveBayes, OneCoin, Selection,
        Spocc, Stacking, WeightedVote,
    },
};

/// The methods, by the words that all interfaces and files use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Possibilistic fusion with one exponent.
    Spocc,
    /// Possibilistic fusion along a dendrogram with fitted exponents and discounts.
    #[serde(rename = "adaspocc")]
    AdaSpocc,
    /// The most accurate classifier alone.
    Selection,
    /// One vote per classifier.
    Majority,
    /// Votes weighted by accuracy.
    WeightedVote,
    /// Votes weighted by a fitted exponential of accuracy.
    ExpVote,
    /// Predictions that are independent given the class.
    NaiveBayes,
    /// The joint table of all predictions (behaviour-knowledge space).
    Bayes,
    /// Softmax regression on the predictions.
    Stacking,
    /// Naive Bayes estimated by expectation-maximisation, from unlabelled rows too.
    DawidSkene,
    /// One accuracy per classifier, estimated by expectation-maximisation, from unlabelled rows too.
    OneCoin,
    /// A pool of experts, weighted by held-out rows: the default.
    #[default]
    Ladder,
}

/// What a method does with rows whose truth is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnlabelledRows {
    /// It is fitted to labelled rows alone.
    Ignored,
    /// It is fitted to them only where no truth is known at all.
    WithoutTruth,
    /// It is fitted to them, with or without labelled rows.
    Always,
}

/// What a method can do: a row of the one table of all methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The word that names the method in every interface.
    pub word: &'static str,
    /// One line about the method.
    pub summary: &'static str,
    /// Whether its models give probabilities, not only possibilities.
    pub probabilities: bool,
    /// Whether `--missing auto` may take a missing prediction for an answer of its own.
    ///
    /// A vote cannot count it. For SPOCC the possibility that a missing prediction leaves to a class is mostly the
    /// frequency of the class, which would be fused once per missing prediction. The joint table distinguishes
    /// patterns with missing predictions in any case.
    pub missing_as_answer: bool,
    /// The scale on which a margin compares the best class and the runner-up.
    pub margin_of: &'static str,
    /// What it does with rows whose truth is unknown.
    pub unlabelled: UnlabelledRows,
    /// Whether it can decide between [open answers](crate::data::Answers): methods that learn what each class looks like
    /// cannot.
    pub open_answers: bool,
}

impl Method {
    /// All methods, the default first.
    pub const ALL: [Self; 12] = [
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
        Self::OneCoin,
    ];

    /// What the method can do.
    #[rustfmt::skip]
    pub fn capabilities(self) -> Capabilities {
        const POSSIBILITY: &str = "possibility";
        const PROBABILITY: &str = "probability";
        const VOTES: &str = "vote share";
        use UnlabelledRows::{Always, Ignored, WithoutTruth};
        let (word, summary, probabilities, missing_as_answer, margin_of, unlabelled) = match self {
            Self::Ladder => ("ladder", "a pool of experts, weighted by held-out rows", true, true, PROBABILITY, Always),
            Self::Spocc => ("spocc", "possibilistic fusion with one t-norm for all classifiers", false, false, POSSIBILITY, Ignored),
            Self::AdaSpocc => ("adaspocc", "possibilistic fusion with t-norms fitted to the dependence of classifiers", false, false, POSSIBILITY, Ignored),
            Self::Selection => ("selection", "the most accurate classifier alone", false, false, VOTES, Ignored),
            Self::Majority => ("majority", "one vote per classifier", false, false, VOTES, WithoutTruth),
            Self::WeightedVote => ("weighted-vote", "votes weighted by accuracy", false, false, VOTES, Ignored),
            Self::ExpVote => ("exp-vote", "votes weighted by a fitted exponential of accuracy", false, false, VOTES, Ignored),
            Self::NaiveBayes => ("naive-bayes", "predictions taken as independent given the class", true, true, PROBABILITY, Ignored),
            Self::Bayes => ("bayes", "the joint table of all predictions (behaviour-knowledge space)", true, false, PROBABILITY, Ignored),
            Self::Stacking => ("stacking", "softmax regression on the predictions", true, true, PROBABILITY, Ignored),
            Self::DawidSkene => ("dawid-skene", "naive Bayes by expectation-maximisation, fitted to unlabelled rows too", true, false, PROBABILITY, Always),
            Self::OneCoin => ("one-coin", "Dawid-Skene with one accuracy per classifier, fitted to unlabelled rows too", true, false, PROBABILITY, Always),
        };
        let open_answers = matches!(
            self,
            Self::Ladder | Self::Selection | Self::Majority | Self::WeightedVote | Self::Stacking
        );
        Capabilities { word, summary, probabilities, missing_as_answer, margin_of, unlabelled, open_answers }
    }

    /// Refuses a method that cannot decide between open answers.
    pub(crate) fn check_open(self) -> Result<(), Error> {
        if self.capabilities().open_answers {
            return Ok(());
        }
        Err(Error::OpenAnswers {
            expected: "a method that treats all answers alike (ladder, selection, majority, weighted-vote or stacking)",
            found: self.to_string(),
        })
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
            Self::OneCoin => Box::new(OneCoin),
        }
    }

    /// Whether the unlabelled rows of a table are to be counted for the method: as asked, or by default if it is fitted to
    /// them.
    ///
    /// # Errors
    ///
    /// [`Error::UnusedSetting`] if they are asked for and the method would ignore them.
    pub fn counts_unlabelled(self, asked: Option<bool>, has_truth: bool) -> Result<bool, Error> {
        let by_default = match self.capabilities().unlabelled {
            UnlabelledRows::Ignored => false,
            UnlabelledRows::WithoutTruth => !has_truth,
            UnlabelledRows::Always => true,
        };
        if asked == Some(true) && !by_default {
            let used_by = "ladder, dawid-skene and one-coin, and by majority where no truth is known";
            return Err(Error::UnusedSetting {
                setting: "unlabelled",
                used_by,
                method: self.capabilities().word,
            });
        }
        Ok(asked.unwrap_or(by_default))
    }

    /// Whether a fit to this evidence uses its unlabelled rows.
    pub fn uses_unlabelled(self, evidence: &Evidence) -> bool {
        match self.capabilities().unlabelled {
            UnlabelledRows::Ignored => false,
            UnlabelledRows::WithoutTruth => evidence.total() == 0,
            UnlabelledRows::Always => true,
        }
    }

    /// Whether it cannot be fitted without labelled rows.
    pub fn needs_truth(self) -> bool {
        self.capabilities().unlabelled == UnlabelledRows::Ignored
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.capabilities().word)
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("method", &Self::ALL, word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written_and_in_the_same_form_in_json() {
        for method in Method::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
            let json = serde_json::to_string(&method).expect("a word");
            assert_eq!(json, format!("\"{method}\""));
            assert_eq!(method.combiner().method(), method);
        }
    }

    #[test]
    fn unlabelled_rows_are_counted_by_default_for_methods_that_use_them() {
        let counts = |method: Method, asked, has_truth| method.counts_unlabelled(asked, has_truth).ok();
        assert_eq!(counts(Method::Ladder, None, true), Some(true));
        assert_eq!(counts(Method::Ladder, Some(false), true), Some(false));
        assert_eq!(counts(Method::Ladder, Some(true), true), Some(true));
        assert_eq!(counts(Method::DawidSkene, None, true), Some(true));
        assert_eq!(counts(Method::DawidSkene, Some(false), true), Some(false));
        assert_eq!(counts(Method::Majority, None, false), Some(true));
        assert_eq!(counts(Method::Majority, Some(true), true), None);
        assert_eq!(counts(Method::Stacking, Some(true), true), None);
        assert_eq!(counts(Method::Stacking, None, false), Some(false));
    }
}
