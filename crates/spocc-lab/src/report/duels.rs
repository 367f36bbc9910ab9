//! Duels: on which datasets the ladder beats each other method, repetition by repetition.

use super::page::{Cell, Column, Row, Table, Tone, signed};
use crate::{
    measured::Measured,
    results::Results,
    statistics::{Paired, by_repetition},
};

/// Who fights everybody else.
const FIGHTER: &str = "ladder";

/// The level of each test.
const LEVEL: f64 = 0.05;

/// Wins, ties and losses against every other method, a dataset per column and all of them in the last.
pub(super) fn table(measured: &Measured<'_>, experiments: &[(&str, &Results)]) -> Option<Table> {
    let rivals = measured.methods.iter().filter(|method| *method != FIGHTER);
    let rows: Vec<Row> = rivals.filter_map(|rival| row(rival, experiments)).collect();
    let column = |name: &str| Column { name: name.to_owned(), note: None };
    let names = experiments.iter().map(|(name, _)| *name).chain(["wins/ties/losses"]);
    let caption = "The ladder minus each other method, in points of accuracy: a paired t test of the means of repetitions, each at 5 % and not corrected for their number.";
    (!rows.is_empty()).then(|| Table { caption: caption.into(), columns: names.map(column).collect(), rows })
}

/// Nothing if they never met often enough.
fn row(rival: &str, experiments: &[(&str, &Results)]) -> Option<Row> {
    let mut counts = [0; 3];
    let mut cell = |(_, results): &(&str, &Results)| {
        let differences = by_repetition(&results.outcomes, FIGHTER, rival);
        let Some(paired) = Paired::independent(&differences) else { return Cell::none() };
        let (place, word, tone) = judged(paired);
        counts[place] += 1;
        Cell::new(signed(paired.difference, 2)).toned(word, tone)
    };
    let mut cells: Vec<Cell> = experiments.iter().map(&mut cell).collect();
    if counts == [0; 3] {
        return None;
    }
    cells.push(Cell::new(counts.map(|count: usize| count.to_string()).join("/")));
    Some(Row { name: rival.to_owned(), is_reference: false, cells })
}

fn judged(paired: Paired) -> (usize, &'static str, Tone) {
    match (paired.p < LEVEL, paired.difference > 0.0) {
        (true, true) => (0, "wins", Tone::Good),
        (true, false) => (2, "loses", Tone::Bad),
        (false, _) => (1, "ties", Tone::Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::invented;

    #[test]
    fn wins_ties_and_losses_are_counted_over_datasets() {
        let results = ["real-wine", "real-spam"].map(|name| invented::experiment(name, 2, &[0.0], 30));
        let mut worse = results[0].clone();
        for outcome in &mut worse.outcomes {
            // Selection, the worst by far, and the ladder change places.
            let ladder = outcome.confusion.insert("ladder".into(), outcome.confusion["selection"].clone());
            outcome.confusion.extend(ladder.map(|ladder| ("selection".to_owned(), ladder)));
        }
        let found = [("wine", &results[0]), ("spam", &results[1]), ("worse", &worse)];
        let table = table(&Measured::new(&results), &found).expect("thirty repetitions");
        assert!(table.rows.iter().all(|row| row.name != "ladder" && row.cells.len() == 4));
        let selection = table.rows.iter().find(|row| row.name == "selection").expect("a rival");
        let words = selection.cells[..3].iter().map(|cell| cell.notes[0].text.as_str());
        assert_eq!(words.collect::<Vec<_>>(), ["wins", "wins", "loses"]);
        assert_eq!(selection.cells[3].text, "2/0/1");
    }

    #[test]
    fn what_chance_explains_is_a_tie() {
        let judge = |difference, p| judged(Paired { difference, p }).1;
        assert_eq!([judge(9.0, 0.06), judge(1.0, 0.04), judge(-1.0, 0.0)], ["ties", "wins", "loses"]);
    }

    #[test]
    fn without_the_ladder_or_with_one_repetition_there_are_no_duels() {
        let mut results = [invented::experiment("real-wine", 2, &[0.0], 1)];
        assert!(table(&Measured::new(&results), &[("wine", &results[0])]).is_none());
        results = [invented::experiment("real-wine", 2, &[0.0], 9)];
        results[0].outcomes.iter_mut().for_each(|outcome| drop(outcome.confusion.remove("ladder")));
        assert!(table(&Measured::new(&results), &[("wine", &results[0])]).is_none());
    }
}
