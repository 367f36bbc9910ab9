//! Settings: a method and what a caller may choose about it, in the words that all interfaces share.

use std::str::FromStr;

use crate::{
    error::Error,
    fusion::Exponent,
    methods::{
        AdaSpocc, Combiner, ExpVote, Inputs, Method, Spocc, SpoccExponent, Stacking, StackingStrength,
        Strength,
    },
    tuning::Tuning,
};

/// A method and its settings; what is `None` has the default of the method.
///
/// ```
/// use spocc::{Method, methods::Settings};
/// let settings = Settings { method: Method::Spocc, exponent: Some("inf".parse()?), ..Settings::default() };
/// assert_eq!(settings.combiner()?.method(), Method::Spocc);
/// let refused = Settings { strength: Some("0.5".parse()?), ..settings }.combiner().map(drop);
/// assert_eq!(
///     refused.map_err(|error| error.to_string()),
///     Err("strength: expected a method that uses it (stacking), found spocc".to_owned())
/// );
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// On which rows candidate values of a tuned setting are scored.
    pub tuning: Option<Tuning>,
    /// How predictions enter stacking.
    pub inputs: Option<Inputs>,
    /// The exponent of spocc.
    pub exponent: Option<SpoccExponent>,
    /// The inverse regularisation of stacking.
    pub strength: Option<StackingStrength>,
}

impl Settings {
    /// The method with these settings.
    ///
    /// # Errors
    ///
    /// [`Error::UnusedSetting`] for a setting that the method ignores, [`Error::TuningRefused`] for a tuning that it
    /// does not offer.
    pub fn combiner(&self) -> Result<Box<dyn Combiner>, Error> {
        self.refuse_unused()?;
        let tuned = |default: Tuning| self.tuning.unwrap_or(default);
        Ok(match self.method {
            Method::Spocc => {
                let exponent = match self.exponent.unwrap_or_default() {
                    SpoccExponent::Tuned(default) => SpoccExponent::Tuned(tuned(default)),
                    fixed @ SpoccExponent::Fixed(_) => fixed,
                };
                Box::new(Spocc { exponent })
            }
            Method::AdaSpocc => Box::new(AdaSpocc { tuning: tuned(AdaSpocc::default().tuning) }),
            Method::ExpVote => Box::new(ExpVote { tuning: tuned(ExpVote::default().tuning) }),
            Method::Stacking => {
                let default = Stacking::default();
                let strength = match self.strength.unwrap_or(default.strength) {
                    StackingStrength::Tuned(default) => StackingStrength::Tuned(tuned(default)),
                    fixed @ StackingStrength::Fixed(_) => fixed,
                };
                Box::new(Stacking { inputs: self.inputs.unwrap_or(default.inputs), strength })
            }
            other => other.combiner(),
        })
    }

    fn refuse_unused(&self) -> Result<(), Error> {
        let (method, word) = (self.method, self.method.capabilities().word);
        let tunes = match method {
            Method::Spocc => matches!(self.exponent, Some(SpoccExponent::Tuned(_))),
            Method::Stacking => !matches!(self.strength, Some(StackingStrength::Fixed(_))),
            _ => matches!(method, Method::AdaSpocc | Method::ExpVote),
        };
        let given_and_used = [
            ("exponent", self.exponent.is_some(), method == Method::Spocc, "spocc"),
            ("inputs", self.inputs.is_some(), method == Method::Stacking, "stacking"),
            ("strength", self.strength.is_some(), method == Method::Stacking, "stacking"),
            (
                "tuning",
                self.tuning.is_some(),
                tunes,
                "adaspocc, exp-vote, stacking with a tuned strength and spocc with a tuned exponent",
            ),
        ];
        for (setting, given, used, used_by) in given_and_used {
            if given && !used {
                return Err(Error::UnusedSetting { setting, used_by, method: word });
            }
        }
        if method == Method::Stacking
            && let Some(found @ Tuning::LeaveOneOut) = self.tuning
        {
            return Err(Stacking::refuse(found));
        }
        Ok(())
    }
}

impl FromStr for SpoccExponent {
    type Err = Error;

    /// A number from 1, `inf`, or `tuned`.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text == "tuned" {
            return Ok(Self::Tuned(Tuning::LeaveOneOut));
        }
        let number = text.parse().ok().and_then(|number: f64| Exponent::try_from(number).ok());
        number
            .map(Self::Fixed)
            .ok_or_else(|| unreadable("exponent", "a number from 1, `inf` or `tuned`", text))
    }
}

impl FromStr for StackingStrength {
    type Err = Error;

    /// A number above 0, or `tuned`.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text == "tuned" {
            return Ok(Self::default());
        }
        let number = text.parse().ok().and_then(|number: f64| Strength::try_from(number).ok());
        number.map(Self::Fixed).ok_or_else(|| unreadable("strength", "a number above 0 or `tuned`", text))
    }
}

fn unreadable(what: &'static str, expected: &'static str, found: &str) -> Error {
    Error::Unreadable { what, expected, found: found.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_numbers_from_one_or_words() {
        assert_eq!("inf".parse(), Ok(SpoccExponent::Fixed(Exponent::MINIMUM)));
        assert!(matches!("tuned".parse(), Ok(SpoccExponent::Tuned(_))));
        for bad in ["0.5", "NaN", "-inf", "x", ""] {
            assert!(bad.parse::<SpoccExponent>().is_err(), "{bad}");
        }
    }

    #[test]
    fn strengths_are_numbers_above_zero_or_tuned() {
        assert!(matches!("0.5".parse(), Ok(StackingStrength::Fixed(c)) if f64::from(c) == 0.5));
        assert_eq!("tuned".parse(), Ok(StackingStrength::default()));
        for bad in ["0", "inf", "NaN", "-1", "x", ""] {
            assert!(bad.parse::<StackingStrength>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_setting_that_the_method_ignores_is_refused() {
        let of = |method: Method| Settings { method, ..Settings::default() };
        let tuning = Some(Tuning::Resubstitution);
        let used = [
            Settings { tuning, ..of(Method::AdaSpocc) },
            Settings { tuning, ..of(Method::ExpVote) },
            Settings { tuning, ..of(Method::Stacking) },
            Settings { tuning, exponent: "tuned".parse().ok(), ..of(Method::Spocc) },
            Settings { inputs: Some(Inputs::Ordinal), ..of(Method::Stacking) },
        ];
        for settings in used {
            assert_eq!(settings.combiner().map(|combiner| combiner.method()), Ok(settings.method));
        }
        let unused = [
            Settings { tuning, ..of(Method::Ladder) },
            Settings { tuning, ..of(Method::Spocc) },
            Settings { tuning, strength: "1".parse().ok(), ..of(Method::Stacking) },
            Settings { inputs: Some(Inputs::OneHot), ..of(Method::Ladder) },
            Settings { exponent: "5".parse().ok(), ..of(Method::AdaSpocc) },
        ];
        for settings in unused {
            assert!(
                matches!(settings.combiner().map(drop), Err(Error::UnusedSetting { .. })),
                "{settings:?}"
            );
        }
        let left_out = Settings { tuning: Some(Tuning::LeaveOneOut), ..of(Method::Stacking) };
        assert!(matches!(left_out.combiner().map(drop), Err(Error::TuningRefused { .. })));
    }
}
