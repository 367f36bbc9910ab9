//! Coverage: how often the sets of calibrated methods hold the truth, and how large they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spocc::{
    Control, Method, Model, Options,
    conformal::{ConformalScheme, ConformalSettings, Coverage, PredictionSets},
};

use crate::{error::Error, panel::Answers, setting::Setting};

/// How often sets are asked to hold the truth.
pub(crate) const COVERAGES: [f64; 4] = [0.8, 0.9, 0.95, 0.99];

/// Methods whose sets are judged: one with calibrated probabilities, one with others, one with possibilities.
pub(crate) const METHODS: [Method; 3] = [Method::Ladder, Method::Stacking, Method::AdaSpocc];

/// How the sets of some rows did; `[rows, hits, classes]` in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 3]", into = "[u64; 3]")]
pub(crate) struct Held {
    pub(crate) rows: u64,
    /// Rows whose set holds the truth.
    pub(crate) hits: u64,
    /// Classes in all sets together.
    pub(crate) classes: u64,
}

impl From<[u64; 3]> for Held {
    fn from([rows, hits, classes]: [u64; 3]) -> Self {
        Self { rows, hits, classes }
    }
}

impl From<Held> for [u64; 3] {
    fn from(Held { rows, hits, classes }: Held) -> Self {
        [rows, hits, classes]
    }
}

impl Held {
    fn count(sets: &PredictionSets, truth: &[u16]) -> Self {
        let hits = sets.iter().zip(truth).filter(|(set, class)| set.contains(class)).count();
        let classes = sets.iter().map(<[u16]>::len).sum::<usize>();
        Self { rows: truth.len() as u64, hits: hits as u64, classes: classes as u64 }
    }

    /// Both together; counts from a file that add up to more than any machine has seen stay at the most.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            hits: self.hits.saturating_add(other.hits),
            classes: self.classes.saturating_add(other.classes),
        }
    }

    /// Share of the rows whose set holds the truth.
    pub(crate) fn share(self) -> f64 {
        self.hits as f64 / self.rows as f64
    }

    /// Classes in a set, on average.
    pub(crate) fn mean_size(self) -> f64 {
        self.classes as f64 / self.rows as f64
    }

    /// Whether sets of so many classes can have done so: none is empty.
    pub(crate) fn is_possible(self, n_classes: usize) -> bool {
        let most = self.rows.saturating_mul(n_classes as u64);
        self.rows > 0 && self.hits <= self.rows && (self.rows..=most).contains(&self.classes)
    }
}

/// What the sets of each method did at each coverage for which there are calibration rows enough.
///
/// A random quarter of the validation rows calibrates.
pub(crate) fn judge(
    setting: Setting,
    validation: &Answers,
    test: &Answers,
    seed: u64,
) -> Result<BTreeMap<String, BTreeMap<String, Held>>, Error> {
    let width = validation.columns.len();
    let (evidence, predictions) = (validation.evidence(width)?, test.predictions(width)?);
    let calibrate = Some(ConformalSettings { seed, ..ConformalSettings::new(ConformalScheme::Split) });
    let options = Options { calibrate, ..Options::default() };
    let mut sets = BTreeMap::new();
    for method in METHODS {
        let model = Model::fit(&*setting.combiner(method), &evidence, &options, &Control::default())?;
        let mut by_coverage = BTreeMap::new();
        for coverage in COVERAGES {
            let coverage = Coverage::try_from(coverage)?;
            if model.check_coverage(coverage).is_ok() {
                let sets = model.predict_sets(&predictions, coverage, seed)?;
                by_coverage.insert(coverage.to_string(), Held::count(&sets, &test.truth));
            }
        }
        sets.insert(method.to_string(), by_coverage);
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw;

    /// Two classifiers on three classes, the first right three times in four, the second a guesser.
    fn panel(ids: std::ops::Range<u64>) -> Answers {
        let class = |id: u64, purpose: u64| (draw::uniform(3, &[id, purpose]) * 3.0) as u16;
        let truth: Vec<u16> = ids.clone().map(|id| class(id, 0)).collect();
        let first = ids.clone().zip(&truth);
        let first =
            first.map(|(id, &truth)| if draw::uniform(3, &[id, 1]) < 0.625 { truth } else { class(id, 2) });
        let columns = vec![first.collect(), ids.clone().map(|id| class(id, 3)).collect()];
        Answers { n_classes: 3, truth, ids: ids.collect(), columns }
    }

    #[test]
    fn sets_hold_the_truth_as_often_as_asked_and_grow_with_it() {
        let (validation, test) = (panel(0..8000), panel(8000..18_000));
        let sets = judge(Setting::Honest, &validation, &test, 7).expect("rows enough");
        assert_eq!(sets.keys().collect::<Vec<_>>(), ["adaspocc", "ladder", "stacking"]);
        for (method, by_coverage) in &sets {
            let of = COVERAGES.map(|coverage| by_coverage[&coverage.to_string()]);
            for (held, coverage) in of.iter().zip(COVERAGES) {
                assert_eq!(held.rows, 10_000);
                // Three deviations: 2000 calibration rows, 10000 test rows.
                let share = held.hits as f64 / 10_000.0;
                let spread = 3.0 * (coverage * (1.0 - coverage) * (1.0 / 2000.0 + 1.0 / 10_000.0)).sqrt();
                assert!((share - coverage).abs() < spread, "{method} {coverage} {share}");
            }
            assert!(of.windows(2).all(|pair| pair[0].classes < pair[1].classes), "{method} {of:?}");
        }
    }

    #[test]
    fn coverages_that_need_more_calibration_rows_are_skipped() {
        // A quarter of 100 rows is enough for 0.95, which needs 19, and not for 0.99, which needs 99.
        let sets = judge(Setting::Honest, &panel(0..100), &panel(100..200), 7).expect("rows enough");
        assert_eq!(sets["ladder"].keys().collect::<Vec<_>>(), ["0.8", "0.9", "0.95"]);
    }

    #[test]
    fn sets_are_counted_as_on_paper() {
        let sure = Answers { columns: vec![(0..40).map(|t| t % 2).collect()], ..halves() };
        let sets = judge(Setting::Honest, &sure, &sure.select(&[0, 1, 2]), 7).expect("rows enough");
        // A classifier that never erred leaves one class a set, and it is the truth.
        assert_eq!(sets["stacking"]["0.8"], Held { rows: 3, hits: 3, classes: 3 });
    }

    fn halves() -> Answers {
        Answers {
            n_classes: 2,
            truth: (0..40).map(|t| t % 2).collect(),
            ids: (0..40).collect(),
            columns: vec![],
        }
    }
}
