//! Conformal prediction: sets of labels that contain the truth with a chosen probability.
//!
//! The score of a class on a row is its normalised surprisal, which is `-ln p` where the method gives probabilities. A
//! [`Calibration`] holds the scores of the true classes of rows whose truths the scoring model was not fitted to: a held-out
//! quarter (split conformal, with a coverage guarantee) or all rows out of fold (cross-conformal, without one). The p-value
//! of a class on a new row is its rank among those scores, and [`PredictionSets`] hold the classes of large p-value.

mod rounding;
mod scores;
mod sets;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::{Error, choose};

use scores::Scores;
pub(crate) use scores::{Ranks, Score};
pub(crate) use sets::normalise;
pub use sets::{PredictionSets, RowDraw};

/// Which rows give the calibration scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ConformalScheme {
    /// Split conformal: a random quarter of the rows, whose truths the model is not fitted to. For exchangeable rows the
    /// set contains the truth with at least the probability asked for, whatever the method and the number of rows, on
    /// average over calibration and new rows. New rows are the unlabelled rows of the fit, if the method uses some, and
    /// otherwise any rows.
    Split,
    /// Cross-conformal: all rows, each scored out of fold; the model is fitted to all rows. The coverage is close to the
    /// one asked for, without a guarantee.
    Cross,
}

impl fmt::Display for ConformalScheme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Split => "split",
            Self::Cross => "cross",
        })
    }
}

impl FromStr for ConformalScheme {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("calibrate", &[Self::Split, Self::Cross], word)
    }
}

/// How to calibrate prediction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConformalSettings {
    /// Which rows give the calibration scores.
    pub scheme: ConformalScheme,
    /// Whether every class has its own scores, so that the coverage holds within each class.
    pub per_class: bool,
    /// Seed of the split of the rows.
    pub seed: u64,
}

impl ConformalSettings {
    /// All classes together, seed 0.
    pub fn new(scheme: ConformalScheme) -> Self {
        Self { scheme, per_class: false, seed: 0 }
    }
}

/// The probability with which a set contains the truth: above 0, below 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Coverage(f64);

impl Coverage {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The least number of calibration scores with which a set can exclude a class whatever its [`RowDraw`].
    pub fn n_needed(self) -> u64 {
        // The factor keeps rounding errors from adding a row.
        (self.0 / (1.0 - self.0) * (1.0 - 1e-9)).ceil() as u64
    }
}

impl TryFrom<f64> for Coverage {
    type Error = Error;

    fn try_from(found: f64) -> Result<Self, Error> {
        if found > 0.0 && found < 1.0 {
            return Ok(Self(found));
        }
        Err(Error::OutOfRange { what: "coverage", expected: "a number above 0 and below 1", found })
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The calibration scores of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    settings: ConformalSettings,
    /// One list for all classes, or one for each.
    lists: Vec<Scores>,
}

impl Calibration {
    /// Sorts the scores: one list for all classes, or one for each.
    pub(crate) fn new(settings: ConformalSettings, scores: Vec<Vec<Score>>) -> Self {
        Self { settings, lists: scores.into_iter().map(Scores::new).collect() }
    }

    /// How the model was calibrated.
    pub fn settings(&self) -> ConformalSettings {
        self.settings
    }

    /// The same rows with scores rounded up so that each stands for at least `n` rows; a list of fewer rows becomes empty.
    pub(crate) fn rounded(&self, n: u64) -> Self {
        let lists = self.lists.iter().map(|scores| scores.rounded(n)).collect();
        Self { settings: self.settings, lists }
    }

    /// Every stored score with its list and its number of rows.
    pub(crate) fn scores(&self) -> impl Iterator<Item = (usize, Score)> + '_ {
        self.lists.iter().enumerate().flat_map(|(list, scores)| scores.iter().map(move |score| (list, score)))
    }

    /// The lists of scores, ready for p-values.
    pub(crate) fn ranks(&self) -> Vec<Ranks<'_>> {
        self.lists.iter().map(Scores::ranks).collect()
    }

    /// Number of calibration rows: in all, or of each class if every class has its own scores.
    pub fn n_rows(&self) -> Vec<u64> {
        self.lists.iter().map(Scores::n_rows).collect()
    }

    /// The largest coverage that the calibration rows support, `n / (n + 1)`; of the smallest class if every class has
    /// its own scores.
    pub fn max_coverage(&self) -> f64 {
        let fewest = self.n_rows().into_iter().min().unwrap_or(0) as f64;
        fewest / (fewest + 1.0)
    }

    /// The largest coverage whose sets can exclude a class: rows with an infinite score keep every class in. Of the smallest
    /// class if every class has its own scores.
    pub fn max_informative_coverage(&self) -> f64 {
        let of_list = |scores: &Scores| {
            let n = scores.n_rows();
            (n - scores.n_infinite()) as f64 / (n as f64 + 1.0)
        };
        self.lists.iter().map(of_list).fold(f64::INFINITY, f64::min)
    }

    /// The standard deviation, over draws of the calibration rows, of the share of sets that contain the truth.
    pub fn spread(&self, coverage: Coverage) -> f64 {
        let fewest = self.n_rows().into_iter().min().unwrap_or(0);
        // Given the scores, the share has a beta distribution.
        (coverage.0 * (1.0 - coverage.0) / (fewest as f64 + 2.0)).sqrt()
    }

    /// Refuses scores that no rows can give; for a model read from a file.
    pub(crate) fn check(&self, n_classes: usize) -> Result<(), Error> {
        let expected = if self.settings.per_class { n_classes } else { 1 };
        if self.lists.len() != expected {
            let found = format!("{} lists", self.lists.len());
            return Err(Error::Inconsistent { expected: "a list of scores, or one per class", found });
        }
        self.lists.iter().try_for_each(Scores::check)
    }
}

impl fmt::Display for Calibration {
    /// The scheme, the number of rows and the coverage guarantee.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_rows = self.n_rows();
        let (least, most) = (n_rows.iter().min().unwrap_or(&0), n_rows.iter().max().unwrap_or(&0));
        let name = match self.settings.scheme {
            ConformalScheme::Split => "split conformal",
            ConformalScheme::Cross => "cross-conformal",
        };
        write!(out, "{name}, {least}")?;
        if least != most {
            write!(out, " to {most}")?;
        }
        write!(out, " calibration row{}", if *most == 1 { "" } else { "s" })?;
        let (of_each, within) =
            if self.settings.per_class { (" of each class", " within each class") } else { ("", "") };
        write!(out, "{of_each}: ")?;
        match self.settings.scheme {
            ConformalScheme::Split => {
                write!(out, "coverage guaranteed{within}, on average over splits")
            }
            ConformalScheme::Cross => write!(out, "approximate coverage{within}, without a guarantee"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_strictly_between_0_and_1() {
        for found in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
            let refused = Coverage::try_from(found).map_err(|error| error.to_string());
            let message = format!("coverage: expected a number above 0 and below 1, found {found}");
            assert_eq!(refused, Err(message));
        }
        assert_eq!(Coverage::try_from(0.95).map(Coverage::get), Ok(0.95));
    }

    #[test]
    fn rows_needed_are_rounded_up_but_not_by_rounding_errors() {
        let needed = |coverage| Coverage::try_from(coverage).map(Coverage::n_needed);
        // 0.9 / 0.1 is 9, though 0.9 / (1.0 - 0.9) is more in floating point.
        let expected =
            [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99), (0.999, 999), (0.97, 33), (0.01, 1)];
        for (coverage, n) in expected {
            assert_eq!(needed(coverage), Ok(n), "{coverage}");
        }
    }

    #[test]
    fn the_largest_coverage_is_the_one_that_needs_all_rows() {
        let max = |counts: &[u64]| {
            let settings = ConformalSettings {
                per_class: counts.len() > 1,
                ..ConformalSettings::new(ConformalScheme::Split)
            };
            let lists = counts.iter().map(|&count| Scores::new(vec![(1.0, count)])).collect();
            Calibration { settings, lists }.max_coverage()
        };
        for n in 1..2000 {
            let coverage = Coverage::try_from(max(&[n])).expect("between 0 and 1");
            assert_eq!(coverage.n_needed(), n);
        }
        assert_eq!([max(&[9, 4]), max(&[0, 9]), max(&[19])], [0.8, 0.0, 0.95]);
    }

    #[test]
    fn a_calibration_states_its_guarantee() {
        let calibration = |scheme, counts: &[u64]| {
            let settings =
                ConformalSettings { per_class: counts.len() > 1, ..ConformalSettings::new(scheme) };
            let lists = counts.iter().map(|&count| Scores::new(vec![(1.0, count)])).collect();
            Calibration { settings, lists }.to_string()
        };
        let split = "split conformal, 100 calibration rows: coverage guaranteed, on average over splits";
        assert_eq!(calibration(ConformalScheme::Split, &[100]), split);
        let cross = "cross-conformal, 7 to 9 calibration rows of each class: \
                     approximate coverage within each class, without a guarantee";
        assert_eq!(calibration(ConformalScheme::Cross, &[9, 7]), cross);
    }

    #[test]
    fn schemes_are_named_alike_everywhere() {
        for word in ["split", "cross"] {
            assert_eq!(word.parse::<ConformalScheme>().expect("a scheme").to_string(), word);
        }
        assert!(matches!("jackknife".parse::<ConformalScheme>(), Err(Error::UnknownWord { .. })));
    }
}
