//! The benchmarked methods: every method with its defaults, and stacking as scikit-learn fits it.

use std::{fmt, str::FromStr};

use spocc::{
    Combiner, Error, Method,
    methods::{Stacking, StackingStrength, Strength},
};

/// A method and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BenchMethod {
    /// The defaults; stacking then tries several strengths.
    Default(Method),
    /// Stacking with the single strength 1: one regression, as scikit-learn's `LogisticRegression` fits by default.
    OneStrength,
}

/// The word for one strength.
const ONE_STRENGTH: &str = "stacking-c1";

impl BenchMethod {
    /// All methods, or those asked for; the slowest last, so that a time limit affects the fewest.
    pub(crate) fn wanted(asked: &[Self]) -> Vec<Self> {
        let all = [Self::OneStrength].into_iter().chain(Method::ALL.map(Self::Default));
        let mut wanted: Vec<Self> = all.filter(|one| asked.is_empty() || asked.contains(one)).collect();
        let is = |one: &Self, method: Method| *one == Self::Default(method);
        wanted.sort_by_key(|one| (is(one, Method::Stacking), is(one, Method::AdaSpocc)));
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

impl fmt::Display for BenchMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(method) => method.fmt(out),
            Self::OneStrength => out.write_str(ONE_STRENGTH),
        }
    }
}

impl FromStr for BenchMethod {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        if word == ONE_STRENGTH { Ok(Self::OneStrength) } else { word.parse().map(Self::Default) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_and_the_slowest_comes_last() {
        let all = BenchMethod::wanted(&[]);
        assert_eq!(all.len(), Method::ALL.len() + 1);
        assert_eq!(all.last(), Some(&BenchMethod::Default(Method::Stacking)));
        for method in all {
            assert_eq!(method.to_string().parse::<BenchMethod>().expect("a method"), method);
        }
    }
}
