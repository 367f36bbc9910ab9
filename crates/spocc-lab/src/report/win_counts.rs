//! The ladder against every other method: on which datasets it wins, ties or loses.

use super::document::{ReportCell, ReportTable};
use crate::{
    aggregate::ResultSet,
    results::Results,
    statistics::{PairedTest, by_repetition},
};

/// The method that the others are compared with.
const BASELINE: &str = "ladder";

/// The level of each test.
const LEVEL: f64 = 0.05;

const CAPTION: &str = "The ladder minus each other method, in percentage points of accuracy. An asterisk: a paired t test over repetitions is significant at 5 %, not corrected for the number of tests.";

/// Differences by dataset, and the numbers of significant wins, of ties and of significant losses.
pub(super) fn table(all: &ResultSet<'_>, experiments: &[(&str, &Results)]) -> Option<ReportTable> {
    let columns = experiments.iter().map(|(name, _)| *name).chain(["wins", "ties", "losses"]);
    let mut table = ReportTable::new(CAPTION, columns);
    for other in all.methods.iter().filter(|method| *method != BASELINE) {
        if let Some(cells) = cells(other, experiments) {
            table.add(other, cells);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Nothing where no dataset has two repetitions of both methods.
fn cells(other: &str, experiments: &[(&str, &Results)]) -> Option<Vec<ReportCell>> {
    let mut counts = [0; 3];
    let mut cell = |(_, results): &(&str, &Results)| {
        let differences = by_repetition(&results.outcomes, BASELINE, other);
        let Some(test) = PairedTest::independent(&differences) else { return ReportCell::none() };
        counts[place(test)] += 1;
        ReportCell::difference(test.difference, 2, test.p < LEVEL)
    };
    let mut cells: Vec<ReportCell> = experiments.iter().map(&mut cell).collect();
    if counts == [0; 3] {
        return None;
    }
    cells.extend(counts.map(|count: usize| ReportCell::new(count.to_string())));
    Some(cells)
}

/// 0 for a win, 1 for a tie, 2 for a loss.
fn place(test: PairedTest) -> usize {
    match (test.p < LEVEL, test.difference > 0.0) {
        (true, true) => 0,
        (true, false) => 2,
        (false, _) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn wins_ties_and_losses_are_counted_over_datasets() {
        let results = ["real-wine", "real-spam"].map(|name| simulated::experiment(name, 2, &[0.0], 30));
        let mut worse = results[0].clone();
        for outcome in &mut worse.outcomes {
            // Selection, the worst by far, and the ladder change places.
            let ladder = outcome.confusion.insert("ladder".into(), outcome.confusion["selection"].clone());
            outcome.confusion.extend(ladder.map(|ladder| ("selection".to_owned(), ladder)));
        }
        let found = [("wine", &results[0]), ("spam", &results[1]), ("worse", &worse)];
        let table = table(&ResultSet::new(&results), &found).expect("thirty repetitions");
        assert!(table.rows.iter().all(|row| row.name != "ladder" && row.cells.len() == 6));
        let selection = table.rows.iter().find(|row| row.name == "selection").expect("a row");
        let texts: Vec<&str> = selection.cells.iter().map(|cell| cell.text.as_str()).collect();
        assert!(texts[..2].iter().all(|text| text.starts_with('+') && text.ends_with('*')), "{texts:?}");
        assert!(texts[2].starts_with('−') && texts[2].ends_with('*'), "{texts:?}");
        assert_eq!(texts[3..], ["2", "0", "1"]);
    }

    #[test]
    fn a_difference_that_is_not_significant_is_a_tie() {
        let place = |difference, p| place(PairedTest { difference, p });
        assert_eq!([place(9.0, 0.06), place(1.0, 0.04), place(-1.0, 0.0)], [1, 0, 2]);
    }

    #[test]
    fn without_the_ladder_or_with_one_repetition_there_is_no_table() {
        let mut results = [simulated::experiment("real-wine", 2, &[0.0], 1)];
        assert!(table(&ResultSet::new(&results), &[("wine", &results[0])]).is_none());
        results = [simulated::experiment("real-wine", 2, &[0.0], 9)];
        results[0].outcomes.iter_mut().for_each(|outcome| drop(outcome.confusion.remove("ladder")));
        assert!(table(&ResultSet::new(&results), &[("wine", &results[0])]).is_none());
    }
}
