//! Outcomes by budget: a column per number of labelled rows and one for half of them, a point per label set.

use std::collections::BTreeSet;

use super::RIVALS;
use crate::{
    experiments::budgets::PROTOCOL,
    results::{Results, RunOutcome},
    statistics::{PairedTest, mean},
};

/// A budget and the label sets that have it.
pub(super) struct BudgetColumn<'a> {
    /// `25` or `half`.
    pub(super) name: String,
    pub(super) points: Vec<BudgetPoint<'a>>,
}

/// The draws of one label set at one budget.
pub(super) struct BudgetPoint<'a> {
    pub(super) set: &'a str,
    outcomes: Vec<&'a RunOutcome>,
}

/// Which figure of an outcome is compared.
#[derive(Clone, Copy)]
pub(super) enum Figure {
    /// In percent.
    Accuracy,
    LogLoss,
}

/// The paired difference between a method and the best rival, over the draws; positive where the method is worse.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gap {
    pub(super) rival: String,
    pub(super) mean: f64,
    /// Half of the width of its 95 % interval; nothing for a single draw.
    pub(super) half_width: Option<f64>,
}

impl Gap {
    /// The lower end of the interval, or the mean without one.
    pub(super) fn lower(&self) -> f64 {
        self.mean - self.half_width.unwrap_or(0.0)
    }
}

/// The budgets of all sets, ascending, `half` last.
pub(super) fn columns(results: &[Results]) -> Vec<BudgetColumn<'_>> {
    let at_half =
        |results: &Results, at: f64| results.header.rows.is_some_and(|rows| at == (rows / 2) as f64);
    let numbers: BTreeSet<u64> = results
        .iter()
        .flat_map(|results| results.outcomes.iter().map(move |outcome| (results, outcome.at)))
        .filter(|(results, at)| !at_half(results, *at))
        .map(|(_, at)| at as u64)
        .collect();
    let column = |name: String, is_here: &dyn Fn(&Results, f64) -> bool| {
        let point = |results: &'_ Results| -> Vec<usize> {
            let outcomes = results.outcomes.iter().enumerate();
            outcomes.filter(|(_, outcome)| is_here(results, outcome.at)).map(|(at, _)| at).collect()
        };
        let points = results.iter().map(|results| BudgetPoint {
            set: results.header.experiment.trim_start_matches(PROTOCOL).trim_start_matches('-'),
            outcomes: point(results).into_iter().map(|at| &results.outcomes[at]).collect(),
        });
        BudgetColumn { name, points: points.filter(|point| !point.outcomes.is_empty()).collect() }
    };
    let mut columns: Vec<BudgetColumn<'_>> =
        numbers.iter().map(|rows| column(rows.to_string(), &|_, at| at == *rows as f64)).collect();
    columns.push(column("half".to_owned(), &at_half));
    columns.retain(|column| !column.points.is_empty());
    columns
}

impl BudgetPoint<'_> {
    /// The figure of a method in every draw; nothing if a draw lacks it.
    pub(super) fn figures(&self, method: &str, figure: Figure) -> Option<Vec<f64>> {
        let of = |outcome: &&RunOutcome| match figure {
            Figure::Accuracy => outcome.accuracy(method).map(|share| 100.0 * share),
            Figure::LogLoss => outcome.log_loss.get(method).copied(),
        };
        self.outcomes.iter().map(of).collect()
    }

    pub(super) fn mean(&self, method: &str, figure: Figure) -> Option<f64> {
        self.figures(method, figure).map(|figures| mean(&figures))
    }

    /// Reported minus measured accuracy of a method in percentage points, in every draw that has both.
    pub(super) fn optimism(&self, method: &str) -> Vec<f64> {
        let of =
            |outcome: &&RunOutcome| Some(100.0 * (outcome.reported.get(method)? - outcome.accuracy(method)?));
        self.outcomes.iter().filter_map(of).collect()
    }

    /// The rival of the best mean over the draws.
    fn best_rival(&self, figure: Figure) -> Option<&'static str> {
        let rank = |rival: &&str| {
            let mean = self.mean(rival, figure)?;
            Some(if matches!(figure, Figure::Accuracy) { mean } else { -mean })
        };
        let ranked = RIVALS.iter().filter_map(|rival| Some((rank(rival)?, *rival)));
        // Of equal rivals the first.
        ranked.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, rival)| rival)
    }

    /// The gap of a method; 0 for the best rival itself.
    pub(super) fn gap(&self, method: &str, figure: Figure) -> Option<Gap> {
        let rival = self.best_rival(figure)?;
        let differences = self.differences(rival, method, figure)?;
        let sign = if matches!(figure, Figure::Accuracy) { 1.0 } else { -1.0 };
        let half_width = PairedTest::half_width(&differences);
        Some(Gap { rival: rival.to_owned(), mean: sign * mean(&differences), half_width })
    }

    /// First minus second in every draw.
    pub(super) fn differences(&self, first: &str, second: &str, figure: Figure) -> Option<Vec<f64>> {
        let (first, second) = (self.figures(first, figure)?, self.figures(second, figure)?);
        Some(first.iter().zip(&second).map(|(first, second)| first - second).collect())
    }
}

/// Results of sets with so many rows, at 25, 50 and half, from a simple formula: majority is right on 80 % of 100 rows,
/// stacking on 70 and then 90, the ladder on 76, 82 and 90, plus the number of the draw modulo 2.
#[cfg(test)]
pub(super) fn simulated(sets: &[(&str, usize)], draws: u32) -> Vec<Results> {
    use std::collections::BTreeMap;

    use crate::results::ResultsHeader;

    let outcome = |rep: u32, at: f64, place: usize| {
        let extra = u64::from(rep % 2);
        let correct = [
            ("majority", 80),
            ("stacking", [70, 70, 90][place]),
            ("ladder", [76, 82, 90][place] + extra),
            ("ladder+u", [78, 82, 90][place] + extra),
        ];
        let confusion = correct.map(|(name, right)| (name.to_owned(), vec![right, 100 - right, 0, 0]));
        let losses = [("stacking", 0.5), ("ladder", [0.6, 0.4, 0.4][place])];
        RunOutcome {
            rep,
            at,
            confusion: confusion.into(),
            log_loss: losses.map(|(name, loss)| (name.to_owned(), loss)).into(),
            reported: BTreeMap::from([("ladder".to_owned(), 0.84)]),
            ..RunOutcome::default()
        }
    };
    let results = |(name, rows): &(&str, usize)| {
        let points = [25.0, 50.0, (rows / 2) as f64];
        let places = points.iter().zip(0..).filter(|(at, _)| **at <= points[2]);
        let outcomes = places.flat_map(|(at, place)| (0..draws).map(move |rep| (rep, *at, place)));
        let header = ResultsHeader {
            rows: Some(*rows),
            ..ResultsHeader::new(format!("{PROTOCOL}-{name}"), PROTOCOL, 1, 2, false)
        };
        Results { header, outcomes: outcomes.map(|(rep, at, place)| outcome(rep, at, place)).collect() }
    };
    sets.iter().map(results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_in_the_columns_of_its_budgets_and_half_is_last() {
        // Half of 60 is 30: no budget of 50.
        let results = simulated(&[("one", 1000), ("two", 60)], 2);
        let columns = columns(&results);
        let shown: Vec<(&str, Vec<&str>)> = columns
            .iter()
            .map(|column| (column.name.as_str(), column.points.iter().map(|point| point.set).collect()))
            .collect();
        assert_eq!(shown, [("25", vec!["one", "two"]), ("50", vec!["one"]), ("half", vec!["one", "two"])]);
    }

    #[test]
    fn the_gap_is_signed_paired_and_to_the_rival_of_the_best_mean() {
        let results = simulated(&[("one", 1000)], 4);
        let columns = columns(&results);
        let gap =
            |column: usize, method| columns[column].points[0].gap(method, Figure::Accuracy).expect("rivals");
        // 80 against 76, 77, 76, 77: differences 4, 3, 4, 3, deviation 0.57735, t(0.975, 3) = 3.1824.
        let behind = gap(0, "ladder");
        assert_eq!((behind.rival.as_str(), behind.mean), ("majority", 3.5));
        assert!((behind.half_width.expect("four draws") - 3.1824 * 0.57735 / 2.0).abs() < 1e-3, "{behind:?}");
        assert!((behind.lower() - 2.5813).abs() < 1e-3, "{behind:?}");
        assert_eq!(gap(1, "ladder").mean, -2.5);
        assert_eq!(gap(2, "ladder").rival, "stacking");
        assert_eq!((gap(0, "majority").mean, gap(0, "stacking").mean), (0.0, 10.0));
    }

    #[test]
    fn a_gap_of_log_loss_is_positive_where_the_loss_is_larger() {
        let results = simulated(&[("one", 1000)], 4);
        let columns = columns(&results);
        let gap =
            |column: usize| columns[column].points[0].gap("ladder", Figure::LogLoss).expect("rivals").mean;
        assert!((gap(0) - 0.1).abs() < 1e-12 && (gap(1) + 0.1).abs() < 1e-12);
        assert_eq!(columns[0].points[0].gap("majority", Figure::LogLoss), None);
    }

    #[test]
    fn a_method_that_lacks_a_draw_has_no_figures() {
        let mut results = simulated(&[("one", 1000)], 4);
        results[0].outcomes[0].confusion.remove("majority");
        let columns = columns(&results);
        assert_eq!(columns[0].points[0].figures("majority", Figure::Accuracy), None);
        assert_eq!(columns[0].points[0].gap("ladder", Figure::Accuracy).expect("a rival").rival, "stacking");
        assert_eq!(columns[0].points[0].optimism("ladder").len(), 4);
    }
}
