//! Coverage and size of the conformal prediction sets of some methods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spocc::{
    Control, Method, Model, Options,
    conformal::{ConformalScheme, ConformalSettings, Coverage, PredictionSets},
};

use crate::{
    error::Error,
    panel::PanelPredictions,
    protocol::{self, Protocol},
};

/// Requested coverages.
pub(crate) const COVERAGES: [f64; 4] = [0.8, 0.9, 0.95, 0.99];

/// Methods whose sets are evaluated: two with probabilities, one with possibilities.
pub(crate) const METHODS: [Method; 3] = [Method::Ladder, Method::Stacking, Method::AdaSpocc];

/// Sums over test rows; stored as `[rows, covered, classes]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 3]", into = "[u64; 3]")]
pub(crate) struct SetCounts {
    pub(crate) rows: u64,
    /// Rows whose set contains the true class.
    pub(crate) covered: u64,
    /// Classes in all sets together.
    pub(crate) classes: u64,
}

impl From<[u64; 3]> for SetCounts {
    fn from([rows, covered, classes]: [u64; 3]) -> Self {
        Self { rows, covered, classes }
    }
}

impl From<SetCounts> for [u64; 3] {
    fn from(SetCounts { rows, covered, classes }: SetCounts) -> Self {
        [rows, covered, classes]
    }
}

impl SetCounts {
    fn count(sets: &PredictionSets, truth: &[u16]) -> Self {
        let covered = sets.iter().zip(truth).filter(|(set, class)| set.contains(class)).count();
        let classes = sets.iter().map(<[u16]>::len).sum::<usize>();
        Self { rows: truth.len() as u64, covered: covered as u64, classes: classes as u64 }
    }

    /// The sum of both, saturating: counts from a file may be absurd.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            covered: self.covered.saturating_add(other.covered),
            classes: self.classes.saturating_add(other.classes),
        }
    }

    /// Share of rows whose set contains the true class.
    pub(crate) fn coverage(self) -> f64 {
        self.covered as f64 / self.rows as f64
    }

    /// Mean number of classes in a set.
    pub(crate) fn mean_size(self) -> f64 {
        self.classes as f64 / self.rows as f64
    }

    /// Whether these counts can come from non-empty sets over so many classes.
    pub(crate) fn is_possible(self, n_classes: usize) -> bool {
        let most = self.rows.saturating_mul(n_classes as u64);
        self.rows > 0 && self.covered <= self.rows && (self.rows..=most).contains(&self.classes)
    }
}

/// Counts by method and coverage; coverages that need more calibration rows are omitted.
///
/// A random quarter of the validation rows is used for calibration.
pub(crate) fn evaluate_sets(
    protocol: Protocol,
    validation: &PanelPredictions,
    test: &PanelPredictions,
    seed: u64,
) -> Result<BTreeMap<String, BTreeMap<String, SetCounts>>, Error> {
    let n_classifiers = validation.columns.len();
    let (evidence, predictions) = (validation.evidence(n_classifiers)?, test.predictions(n_classifiers)?);
    let calibrate = Some(ConformalSettings { seed, ..ConformalSettings::new(ConformalScheme::Split) });
    let options = Options { calibrate, ..protocol::options() };
    let mut sets = BTreeMap::new();
    for method in METHODS {
        let model = Model::fit(&*protocol.combiner(method), &evidence, &options, &Control::default())?;
        let mut by_coverage = BTreeMap::new();
        for coverage in COVERAGES {
            let coverage = Coverage::try_from(coverage)?;
            if model.check_coverage(coverage).is_ok() {
                let sets = model.predict_sets(&predictions, coverage, seed)?;
                by_coverage.insert(coverage.to_string(), SetCounts::count(&sets, &test.truth));
            }
        }
        sets.insert(method.to_string(), by_coverage);
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    /// Two classifiers on three classes: accuracy 3/4, and random predictions.
    fn panel(ids: std::ops::Range<u64>) -> PanelPredictions {
        let class = |id: u64, purpose: u64| (random::uniform(3, &[id, purpose]) * 3.0) as u16;
        let truth: Vec<u16> = ids.clone().map(|id| class(id, 0)).collect();
        let first = ids.clone().zip(&truth);
        let first =
            first.map(|(id, &truth)| if random::uniform(3, &[id, 1]) < 0.625 { truth } else { class(id, 2) });
        let columns = vec![first.collect(), ids.clone().map(|id| class(id, 3)).collect()];
        PanelPredictions { n_classes: 3, truth, ids: ids.collect(), columns }
    }

    #[test]
    fn sets_have_the_requested_coverage_and_grow_with_it() {
        let (validation, test) = (panel(0..8000), panel(8000..18_000));
        let sets = evaluate_sets(Protocol::Honest, &validation, &test, 7).expect("enough rows");
        assert_eq!(sets.keys().collect::<Vec<_>>(), ["adaspocc", "ladder", "stacking"]);
        for (method, by_coverage) in &sets {
            let of = COVERAGES.map(|coverage| by_coverage[&coverage.to_string()]);
            for (counts, coverage) in of.iter().zip(COVERAGES) {
                assert_eq!(counts.rows, 10_000);
                // Three standard deviations with 2000 calibration and 10000 test rows.
                let spread = 3.0 * (coverage * (1.0 - coverage) * (1.0 / 2000.0 + 1.0 / 10_000.0)).sqrt();
                assert!((counts.coverage() - coverage).abs() < spread, "{method} {coverage} {counts:?}");
            }
            assert!(of.windows(2).all(|pair| pair[0].classes < pair[1].classes), "{method} {of:?}");
        }
    }

    #[test]
    fn coverages_that_need_more_calibration_rows_are_skipped() {
        // A quarter of 100 rows is enough for 0.95, which needs 19, and not for 0.99, which needs 99.
        let sets = evaluate_sets(Protocol::Honest, &panel(0..100), &panel(100..200), 7).expect("enough rows");
        assert_eq!(sets["ladder"].keys().collect::<Vec<_>>(), ["0.8", "0.9", "0.95"]);
    }

    #[test]
    fn sets_of_a_perfect_classifier_contain_the_true_class_alone() {
        let panel = PanelPredictions::perfect(40, 2);
        let sets =
            evaluate_sets(Protocol::Honest, &panel, &panel.select(&[0, 1, 2]), 7).expect("enough rows");
        assert_eq!(sets["stacking"]["0.8"], SetCounts { rows: 3, covered: 3, classes: 3 });
    }
}
