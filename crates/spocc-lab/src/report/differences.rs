//! Differences: one method against every other on the same runs, with p-values corrected for their number.

use super::page::{Cell, Column, Row, Table, Tone, p_value, signed};
use crate::{
    measured::Measured,
    results::Results,
    statistics::{Paired, differences, holm},
};

/// The level at which a difference is called one.
const LEVEL: f64 = 0.05;

/// The method that others are compared with: the paper's proposal, or the first there is.
pub(super) fn champion<'a>(measured: &'a Measured<'_>) -> Option<&'a str> {
    let methods = || measured.methods.iter().map(String::as_str);
    methods().find(|method| *method == "adaspocc").or_else(|| methods().next())
}

/// The champion minus every other method, in points, an experiment per column.
pub(super) fn table(measured: &Measured<'_>, experiments: &[(&str, &Results)]) -> Option<Table> {
    let champion = champion(measured)?;
    let rivals: Vec<&String> = measured.methods.iter().filter(|method| *method != champion).collect();
    let tests: Vec<Vec<Option<Paired>>> = rivals
        .iter()
        .map(|rival| experiments.iter().map(|(_, results)| test(results, champion, rival)).collect())
        .collect();
    let p_values: Vec<f64> = tests.iter().flatten().flatten().map(|paired| paired.p).collect();
    let mut corrected = holm(&p_values).into_iter();
    let mut rows = Vec::with_capacity(rivals.len());
    for (rival, tests) in rivals.iter().zip(&tests) {
        let mut cell = |test: &Option<Paired>| match test {
            Some(paired) => judged(paired.difference, corrected.next().expect("one for every test")),
            None => Cell::none(),
        };
        let cells = tests.iter().map(&mut cell).collect();
        rows.push(Row { name: (*rival).clone(), is_reference: false, cells });
    }
    let column = |(name, _): &(&str, &Results)| Column { name: (*name).to_owned(), note: None };
    let caption = format!(
        "{champion} minus each other method, in points of accuracy; p-values after Holm's correction for {} comparisons.",
        p_values.len()
    );
    let is_empty = p_values.is_empty();
    (!is_empty).then(|| Table { caption, columns: experiments.iter().map(column).collect(), rows })
}

/// Folds of a cross-validation share their rows and are tested as such.
fn test(results: &Results, champion: &str, rival: &str) -> Option<Paired> {
    let differences = differences(&results.outcomes, champion, rival);
    // By kind, not by what is there: a first fold alone is one of two all the same.
    let has_folds = ["real-", "robustness-"].iter().any(|kind| results.heading.experiment.starts_with(kind));
    if has_folds { Paired::across_folds(&differences) } else { Paired::independent(&differences) }
}

fn judged(difference: f64, p: f64) -> Cell {
    let (word, tone) = match (p < LEVEL, difference > 0.0) {
        (true, true) => ("better", Tone::Good),
        (true, false) => ("worse", Tone::Bad),
        (false, _) => ("unsure", Tone::Plain),
    };
    Cell::new(signed(difference, 2)).toned(format!("{word}, {}", p_value(p)), tone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::invented;

    #[test]
    fn a_difference_is_called_one_only_when_the_corrected_p_value_is_small() {
        assert_eq!(judged(1.0, 0.01).notes[0].text, "better, p = 0.010");
        assert_eq!(judged(-1.0, 0.0).notes[0].text, "worse, p < 0.001");
        assert_eq!(judged(9.0, 0.06).notes[0].text, "unsure, p = 0.060");
    }

    #[test]
    fn everyone_is_compared_with_the_champion_and_it_not_with_itself() {
        let results = [invented::experiment("synthetic-faults", 2, &[0.0, 1.0], 30)];
        let measured = Measured::new(&results);
        let table = table(&measured, &[("faults", &results[0])]).expect("thirty repetitions");
        assert_eq!(table.rows.len(), measured.methods.len() - 1);
        assert!(table.rows.iter().all(|row| row.name != "adaspocc"));
        // The invented selection is fifteen points below: no correction hides that.
        let selection = table.rows.iter().find(|row| row.name == "selection").expect("a rival");
        assert!(selection.cells[0].notes[0].text.starts_with("better"), "{}", selection.cells[0].text);
    }

    #[test]
    fn first_folds_alone_are_still_tested_as_folds() {
        let mut real = invented::experiment("real-wine", 2, &[0.0], 9);
        real.outcomes.retain(|outcome| outcome.fold == 0);
        let differences = differences(&real.outcomes, "adaspocc", "bayes");
        assert_eq!(test(&real, "adaspocc", "bayes"), Paired::across_folds(&differences));
        real.heading.experiment = "synthetic-faults".into();
        assert_eq!(test(&real, "adaspocc", "bayes"), Paired::independent(&differences));
    }

    #[test]
    fn one_repetition_proves_nothing() {
        let results = [invented::experiment("synthetic-faults", 2, &[0.0, 1.0], 1)];
        assert!(table(&Measured::new(&results), &[("faults", &results[0])]).is_none());
    }
}
