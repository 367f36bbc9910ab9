//! Tables of accuracies beside the paper's: what it printed, what came out here, and whether the two agree.

use super::{
    page::{Cell, Column, Row, Table, Tone, signed},
    svg::plain,
};
use crate::{
    measured::{DIFFICULTIES, Measured, points, repetitions},
    paper::{Figure, Paper, PaperTable},
    results::Results,
    statistics::{Summary, quantile},
};

/// Printed figures are rounded to a hundredth, their intervals too: so much more may lie between the two.
const ROUNDING: f64 = 0.01;

/// One column: an experiment, or several taken together.
pub(super) struct Side<'a> {
    name: &'a str,
    experiments: Vec<&'a Results>,
}

/// A table beside the paper's, and how often the two agree.
pub(super) struct Comparison {
    pub(super) table: Table,
    /// Of methods.
    pub(super) methods: Agreement,
    /// Of references, which know nothing of combining.
    pub(super) references: Agreement,
}

/// Cells where both have an interval.
#[derive(Default)]
pub(super) struct Agreement {
    pub(super) agreeing: usize,
    /// Absolute differences of all of them.
    differences: Vec<f64>,
}

/// Columns of the paper's Table 1 that were run.
pub(super) fn synthetic_sides<'a>(measured: &Measured<'a>) -> Vec<Side<'a>> {
    let one = |name: &'static str| {
        Some(Side { name, experiments: vec![measured.experiment(&format!("synthetic-{name}"))?] })
    };
    let mut sides: Vec<Side<'a>> = DIFFICULTIES.iter().filter_map(|name| one(name)).collect();
    sides.extend(measured.all_difficulties().map(|experiments| Side { name: "global", experiments }));
    sides
}

/// Real datasets that were run: the paper's in its order, then the others.
pub(super) fn real_sides<'a>(measured: &Measured<'a>, paper: &Paper) -> Vec<Side<'a>> {
    let place = |name: &str| paper.real.columns.iter().position(|column| column == name);
    let mut found = measured.named("real-");
    found.sort_by_key(|(name, _)| (place(name).unwrap_or(usize::MAX), *name));
    found.into_iter().map(|(name, results)| Side { name, experiments: vec![results] }).collect()
}

/// Sides without a counterpart in the paper's tables: its figures alone show them.
pub(super) fn other_sides<'a>(measured: &Measured<'a>) -> Vec<Side<'a>> {
    let one =
        |name| Some(Side { name, experiments: vec![measured.experiment(&format!("synthetic-{name}"))?] });
    ["heterogeneous", "imbalance"].into_iter().filter_map(one).collect()
}

impl Side<'_> {
    fn is_subset(&self) -> bool {
        self.experiments.iter().any(|results| results.heading.is_subset)
    }

    fn summary(&self, measured: &Measured<'_>, name: &str) -> Option<Summary> {
        match self.experiments.as_slice() {
            [only] => measured.summary(only, name),
            several => measured.pooled(several, name),
        }
    }

    fn column(&self) -> Column {
        let note = self.is_subset().then(|| "subset of the rows".to_owned());
        Column { name: self.name.into(), note }
    }
}

impl Comparison {
    /// PredictionSets sides beside a table of the paper.
    pub(super) fn new(
        measured: &Measured<'_>,
        sides: &[Side<'_>],
        printed: &PaperTable,
        caption: &str,
    ) -> Self {
        let experiments: Vec<&Results> = sides.iter().flat_map(|side| side.experiments.clone()).collect();
        let rows = measured.rows(&experiments);
        let mut table = Table {
            caption: caption.into(),
            columns: sides.iter().map(Side::column).collect(),
            rows: Vec::new(),
        };
        let [mut methods, mut references] = [Agreement::default(), Agreement::default()];
        let mut means = vec![Vec::new(); sides.len()];
        for (name, is_reference) in rows {
            let agreement = if is_reference { &mut references } else { &mut methods };
            let mut cells = Vec::with_capacity(sides.len());
            for (side, means) in sides.iter().zip(&mut means) {
                let ours = side.summary(measured, &name);
                means.push(ours.map(|summary| summary.mean));
                let theirs = printed.figure(&name, side.name);
                let is_in_paper = printed.columns.iter().any(|column| column == side.name);
                let mut cell = cell(ours, theirs, is_in_paper);
                if let (Some(ours), Some(theirs)) = (ours, theirs) {
                    let verdict = if side.is_subset() { None } else { agree(&ours, theirs) };
                    // A mean of other columns is no evidence beside them.
                    if let (Some(verdict), [_]) = (verdict, side.experiments.as_slice()) {
                        agreement.count(verdict, ours.mean - theirs.0);
                    }
                    cell = judged(cell, verdict, ours.mean - theirs.0);
                }
                cells.push(cell);
            }
            table.rows.push(Row { name, is_reference, cells });
        }
        for (column, means) in means.iter().enumerate() {
            table.mark_best(column, means);
        }
        Self { table, methods, references }
    }
}

impl Agreement {
    fn count(&mut self, verdict: bool, difference: f64) {
        self.agreeing += usize::from(verdict);
        self.differences.push(difference.abs());
    }

    /// The number of cells compared.
    pub(super) fn compared(&self) -> usize {
        self.differences.len()
    }

    /// The middle one of the absolute differences.
    pub(super) fn median_difference(&self) -> Option<f64> {
        let mut sorted = self.differences.clone();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| quantile(&sorted, 0.5))
    }
}

/// Adds a difference to a cell, and the verdict if there is one.
fn judged(cell: Cell, verdict: Option<bool>, difference: f64) -> Cell {
    let (mark, tone) = match verdict {
        Some(true) => (" ≈", Tone::Good),
        Some(false) => (" ≠", Tone::Bad),
        None => ("", Tone::Plain),
    };
    cell.toned(format!("{}{mark}", signed(difference, 2)), tone)
}

fn cell(ours: Option<Summary>, theirs: Option<Figure>, is_in_paper: bool) -> Cell {
    let cell = ours.map_or_else(Cell::none, |ours| {
        let half = ours.half_width().map_or_else(|| "–".into(), |half| format!("{half:.2}"));
        Cell::new(format!("{:.2}", ours.mean)).note(format!("± {half}, sd {:.2}", ours.deviation))
    });
    match theirs {
        Some(Figure(mean, half, _)) => cell.note(format!("paper {mean:.2} ± {half:.2}")),
        None if is_in_paper => cell.note("paper –"),
        None => cell,
    }
}

/// Whether the intervals meet; nothing where the paper or too few repetitions give none.
fn agree(ours: &Summary, theirs: Figure) -> Option<bool> {
    let [low, high] = theirs.interval();
    ours.overlaps([low - ROUNDING, high + ROUNDING]).filter(|_| theirs.1 > 0.0)
}

/// What was found in the folder.
pub(super) fn runs(measured: &Measured<'_>) -> Table {
    let columns = ["classes", "points", "repetitions", "outcomes", "data"];
    let mut table = Table::new("Experiments with results in this folder.", columns);
    for results in measured.results {
        let points = points(results);
        let span = match points.as_slice() {
            [] => "–".into(),
            [_] => "1".into(),
            [first, .., last] => format!("{} ({} to {})", points.len(), plain(*first), plain(*last)),
        };
        let cells = [
            results.heading.classes.to_string(),
            span,
            repetitions(results).to_string(),
            results.outcomes.len().to_string(),
            if results.heading.is_subset { "a subset of the paper's" } else { "whole" }.to_owned(),
        ];
        table.rows.push(Row {
            name: results.heading.experiment.clone(),
            is_reference: false,
            cells: cells.map(Cell::new).to_vec(),
        });
    }
    table
}

/// How often the figures agree, table by table.
pub(super) fn agreement(comparisons: &[(&str, &Comparison)]) -> Table {
    let columns = ["agree", "compared", "median difference"];
    let mut table = Table::new("Figures whose 95 % intervals overlap with the paper's.", columns);
    let sides = comparisons.iter().flat_map(|(name, comparison)| {
        [(*name, "methods", &comparison.methods), (*name, "references", &comparison.references)]
    });
    for (name, kind, agreement) in sides.filter(|(_, _, agreement)| agreement.compared() > 0) {
        let median = agreement.median_difference().map_or_else(Cell::none, |m| Cell::new(format!("{m:.2}")));
        let counts = [agreement.agreeing, agreement.compared()].map(|count| Cell::new(count.to_string()));
        let cells = counts.into_iter().chain([median]).collect();
        table.rows.push(Row { name: format!("{name}, {kind}"), is_reference: false, cells });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::invented;

    #[test]
    fn figures_agree_when_intervals_meet_and_are_not_judged_without_one() {
        let ours = Summary { mean: 80.0, deviation: 1.0, interval: Some([79.5, 80.5]) };
        assert_eq!(agree(&ours, Figure(81.0, 0.5, 1.0)), Some(true));
        assert_eq!(agree(&ours, Figure(81.0, 0.4, 1.0)), Some(false));
        assert_eq!(agree(&ours, Figure(87.52, 0.0, 0.0)), None);
    }

    #[test]
    fn a_method_unknown_to_the_paper_has_a_dash_and_a_foreign_dataset_nothing() {
        let results = ["real-digits", "real-wine"].map(|name| invented::experiment(name, 2, &[0.0], 6));
        let (measured, paper) = (Measured::new(&results), Paper::read());
        let sides = real_sides(&measured, &paper);
        let Comparison { table, methods, references } = Comparison::new(&measured, &sides, &paper.real, "");
        assert_eq!(
            table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
            ["wine", "digits"]
        );
        let row = |name: &str| table.rows.iter().find(|row| row.name == name).expect("a row");
        assert_eq!(row("majority").cells[0].notes[1].text, "paper –");
        assert_eq!(row("spocc").cells[0].notes[1].text, "paper 63.60 ± 0.10");
        assert_eq!(row("spocc").cells[1].notes.len(), 1);
        assert_eq!(methods.compared(), 8, "the paper's eight methods on one of its datasets");
        assert_eq!(references.compared(), 2);
        assert_eq!(table.rows.iter().filter(|row| row.cells[0].is_best).count(), 1);
    }

    /// A method that the paper has too.
    fn spocc(comparison: &Comparison) -> &Row {
        comparison.table.rows.iter().find(|row| row.name == "spocc").expect("a row")
    }

    #[test]
    fn the_global_column_is_judged_but_not_counted() {
        let three = |repetitions| {
            DIFFICULTIES
                .map(|name| invented::experiment(&format!("synthetic-{name}"), 2, &[0.0, 1.0], repetitions))
        };
        let compare = |results: &[Results]| {
            let (measured, paper) = (Measured::new(results), Paper::read());
            Comparison::new(&measured, &synthetic_sides(&measured), &paper.synthetic, "")
        };
        let comparison = compare(&three(6));
        assert_eq!(comparison.methods.compared(), 24);
        let global = &spocc(&comparison).cells[3];
        assert!(global.notes[2].text.ends_with(['≈', '≠']), "{}", global.notes[2].text);

        let few = compare(&three(2));
        assert_eq!(few.methods.compared(), 0, "two repetitions give no interval");
        let notes = &spocc(&few).cells[0].notes;
        assert!(notes[0].text.starts_with("± –, sd "), "{}", notes[0].text);
        assert!(!notes[2].text.ends_with(['≈', '≠']), "{}", notes[2].text);
    }

    #[test]
    fn a_subset_is_shown_beside_the_paper_but_not_judged() {
        let mut results = [invented::experiment("real-drive", 11, &[0.0], 4)];
        results[0].heading.is_subset = true;
        let (measured, paper) = (Measured::new(&results), Paper::read());
        let comparison = Comparison::new(&measured, &real_sides(&measured, &paper), &paper.real, "");
        assert_eq!(comparison.methods.compared(), 0);
        assert_eq!(comparison.table.columns[0].note.as_deref(), Some("subset of the rows"));
        assert_eq!(spocc(&comparison).cells[0].notes.len(), 3);
    }
}
