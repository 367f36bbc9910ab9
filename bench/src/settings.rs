//! What is fitted: every method as it comes, and stacking as scikit-learn fits it.

use std::{fmt, str::FromStr};

use spocc::{
    Combiner, Error, Method,
    methods::{Stacking, StackingStrength, Strength},
};

/// A method and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// As it comes; stacking then tries 101 strengths on five folds.
    Default(Method),
    /// Stacking at the strength 1 alone: one regression, as scikit-learn's `LogisticRegression` fits by default.
    OneStrength,
}

/// The word for one strength.
const ONE_STRENGTH: &str = "stacking-c1";

impl Setting {
    /// All settings, or those asked for; the slowest last, so that a time limit costs least.
    pub(crate) fn wanted(asked: &[Self]) -> Vec<Self> {
        let all = [Self::OneStrength].into_iter().chain(Method::ALL.map(Self::Default));
        let mut wanted: Vec<Self> = all.filter(|one| asked.is_empty() || asked.contains(one)).collect();
        let is = |setting: &Self, method: Method| *setting == Self::Default(method);
        wanted.sort_by_key(|setting| (is(setting, Method::Stacking), is(setting, Method::AdaSpocc)));
        wanted
    }

    /// The method to fit.
    pub(crate) fn combiner(self) -> Box<dyn Combiner> {
        match self {
            Self::Default(method) => method.combiner(),
            Self::OneStrength => {
                let strength = Strength::try_from(1.0).expect("1 is above 0");
                Box::new(Stacking { strength: StackingStrength::Fixed(strength), ..Stacking::default() })
            }
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(method) => method.fmt(out),
            Self::OneStrength => out.write_str(ONE_STRENGTH),
        }
    }
}

impl FromStr for Setting {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        if word == ONE_STRENGTH { Ok(Self::OneStrength) } else { word.parse().map(Self::Default) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_named_and_the_slowest_comes_last() {
        let all = Setting::wanted(&[]);
        assert_eq!(all.len(), Method::ALL.len() + 1);
        assert_eq!(all.last(), Some(&Setting::Default(Method::Stacking)));
        for setting in all {
            assert_eq!(setting.to_string().parse::<Setting>().expect("a setting"), setting);
        }
    }
}
