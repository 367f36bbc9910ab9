//! Accuracies beside the paper's: ours, the paper's and the difference, in tables of one figure per cell.

use super::{
    document::{CellTone, ReportCell, ReportColumn, ReportRow, ReportTable, signed},
    svg::plain,
};
use crate::{
    aggregate::{DIFFICULTIES, ResultSet, points, repetitions},
    paper::{Figure, Paper, PaperTable},
    results::Results,
    statistics::{AccuracySummary, quantile},
};

/// Tolerance in overlap tests: printed means and intervals are rounded to a hundredth.
const ROUNDING: f64 = 0.01;

const ACCURACY: &str = "Ours: mean accuracy in %, with the half-width of its 95 % interval (– below three repetitions). Bold: the best method of a column.";
const PRINTED: &str = "Paper: mean accuracy in %, with the half-width of its 95 % interval, as printed.";
const DIFFERENCE: &str =
    "Ours minus paper, in percentage points. An asterisk: the two 95 % intervals do not overlap.";
const DEVIATION: &str = "Ours: standard deviation of single outcomes (repetitions, folds and points together), in percentage points.";

/// One column of a comparison: an experiment, or several pooled.
pub(super) struct ComparedColumn<'a> {
    name: &'a str,
    experiments: Vec<&'a Results>,
}

/// Our accuracies and the paper's, and how often the two agree.
pub(super) struct PaperComparison {
    pub(super) accuracy: ReportTable,
    /// Nothing where the paper has none of these columns.
    paper: Option<ReportTable>,
    difference: Option<ReportTable>,
    deviation: ReportTable,
    /// Agreement over combination methods.
    pub(super) methods: PaperAgreement,
    /// Agreement over references, which involve no combination.
    pub(super) references: PaperAgreement,
}

/// Agreement over the cells in which both sides have an interval.
#[derive(Default)]
pub(super) struct PaperAgreement {
    /// Cells whose intervals overlap.
    pub(super) agreeing: usize,
    /// Absolute differences of all compared cells.
    differences: Vec<f64>,
}

/// Columns of the paper's Table 1 that were run.
pub(super) fn synthetic_columns<'a>(results: &ResultSet<'a>) -> Vec<ComparedColumn<'a>> {
    let mut columns: Vec<ComparedColumn<'a>> =
        DIFFICULTIES.iter().filter_map(|name| synthetic_column(results, name)).collect();
    let pooled = results.all_difficulties();
    columns.extend(pooled.map(|experiments| ComparedColumn { name: "global", experiments }));
    columns
}

/// Real datasets that were run: the paper's in its order, then the others.
pub(super) fn real_columns<'a>(results: &ResultSet<'a>, paper: &Paper) -> Vec<ComparedColumn<'a>> {
    let place = |name: &str| paper.real.columns.iter().position(|column| column == name);
    let mut found = results.named("real-");
    found.sort_by_key(|(name, _)| (place(name).unwrap_or(usize::MAX), *name));
    found.into_iter().map(|(name, results)| ComparedColumn { name, experiments: vec![results] }).collect()
}

/// Synthetic experiments that the paper shows as figures only.
pub(super) fn figure_columns<'a>(results: &ResultSet<'a>) -> Vec<ComparedColumn<'a>> {
    ["heterogeneous", "imbalance"].into_iter().filter_map(|name| synthetic_column(results, name)).collect()
}

fn synthetic_column<'a>(results: &ResultSet<'a>, name: &'static str) -> Option<ComparedColumn<'a>> {
    let experiments = vec![results.experiment(&format!("synthetic-{name}"))?];
    Some(ComparedColumn { name, experiments })
}

impl ComparedColumn<'_> {
    fn is_subset(&self) -> bool {
        self.experiments.iter().any(|results| results.header.is_subset)
    }

    fn is_in(&self, printed: &PaperTable) -> bool {
        printed.columns.iter().any(|column| column == self.name)
    }

    fn summary(&self, results: &ResultSet<'_>, name: &str) -> Option<AccuracySummary> {
        match self.experiments.as_slice() {
            [only] => results.summary(only, name),
            several => results.pooled(several, name),
        }
    }

    fn header(&self) -> ReportColumn {
        let note = self.is_subset().then(|| "subset of the rows".to_owned());
        ReportColumn { name: self.name.into(), note }
    }

    /// Whether the intervals overlap; nothing where the data differ, or where one side has no interval.
    fn agrees(&self, ours: &AccuracySummary, theirs: Figure) -> Option<bool> {
        if self.is_subset() { None } else { agrees(ours, theirs) }
    }
}

impl PaperComparison {
    /// Compares columns with a table of the paper.
    pub(super) fn new(results: &ResultSet<'_>, columns: &[ComparedColumn<'_>], printed: &PaperTable) -> Self {
        let table = |caption: &str, columns: &[&ComparedColumn<'_>]| ReportTable {
            caption: caption.into(),
            columns: columns.iter().map(|column| column.header()).collect(),
            rows: Vec::new(),
        };
        let all: Vec<&ComparedColumn<'_>> = columns.iter().collect();
        let shared: Vec<&ComparedColumn<'_>> =
            columns.iter().filter(|column| column.is_in(printed)).collect();
        let (mut accuracy, mut deviation) = (table(ACCURACY, &all), table(DEVIATION, &all));
        let (mut paper, mut difference) = (table(PRINTED, &shared), table(DIFFERENCE, &shared));
        let [mut methods, mut references] = [PaperAgreement::default(), PaperAgreement::default()];
        let mut means: Vec<Vec<Option<f64>>> = vec![Vec::new(); columns.len()];
        let experiments: Vec<&Results> =
            columns.iter().flat_map(|column| column.experiments.clone()).collect();
        for (name, is_reference) in results.rows(&experiments) {
            let row = |cells| ReportRow { name: name.clone(), is_reference, cells };
            let summaries: Vec<Option<AccuracySummary>> =
                columns.iter().map(|column| column.summary(results, &name)).collect();
            means.iter_mut().zip(&summaries).for_each(|(means, ours)| means.push(ours.map(|ours| ours.mean)));
            accuracy.rows.push(row(summaries.iter().map(|ours| accuracy_cell(ours.as_ref())).collect()));
            let deviations =
                summaries.iter().map(|ours| ReportCell::figure(ours.map(|ours| ours.deviation), 2));
            deviation.rows.push(row(deviations.collect()));
            if !printed.knows(&name) {
                continue;
            }
            let agreement = if is_reference { &mut references } else { &mut methods };
            let (mut theirs, mut differences) = (Vec::new(), Vec::new());
            for (column, ours) in columns.iter().zip(&summaries).filter(|(column, _)| column.is_in(printed)) {
                let figure = printed.figure(&name, column.name);
                theirs.push(figure.map_or_else(ReportCell::none, paper_cell));
                differences.push(match ours.zip(figure) {
                    Some((ours, figure)) => agreement.compare(column, &ours, figure),
                    None => ReportCell::none(),
                });
            }
            paper.rows.push(row(theirs));
            difference.rows.push(row(differences));
        }
        for (column, means) in means.iter().enumerate() {
            accuracy.mark_best(column, means);
        }
        let is_shared = !shared.is_empty();
        Self {
            accuracy,
            paper: is_shared.then_some(paper),
            difference: is_shared.then_some(difference),
            deviation,
            methods,
            references,
        }
    }

    /// Ours, the paper's, the difference, and the spread of ours.
    pub(super) fn into_tables(self) -> impl Iterator<Item = ReportTable> {
        [Some(self.accuracy), self.paper, self.difference, Some(self.deviation)].into_iter().flatten()
    }
}

impl PaperAgreement {
    /// Counts one cell and returns the difference.
    fn compare(&mut self, column: &ComparedColumn<'_>, ours: &AccuracySummary, theirs: Figure) -> ReportCell {
        let difference = ours.mean - theirs.0;
        let agrees = column.agrees(ours, theirs);
        // A pooled column is the mean of its neighbours and no further evidence.
        if let (Some(agrees), [_]) = (agrees, column.experiments.as_slice()) {
            self.agreeing += usize::from(agrees);
            self.differences.push(difference.abs());
        }
        let text = signed(difference, 2);
        match agrees {
            Some(false) => ReportCell { tone: CellTone::Bad, ..ReportCell::new(format!("{text} *")) },
            _ => ReportCell::new(text),
        }
    }

    /// The number of cells compared.
    pub(super) fn compared(&self) -> usize {
        self.differences.len()
    }

    /// The median of the absolute differences.
    pub(super) fn median_difference(&self) -> Option<f64> {
        let mut sorted = self.differences.clone();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| quantile(&sorted, 0.5))
    }
}

fn accuracy_cell(ours: Option<&AccuracySummary>) -> ReportCell {
    ours.map_or_else(ReportCell::none, |ours| {
        let half = ours.half_width().map_or_else(|| "–".into(), |half| format!("{half:.2}"));
        ReportCell::new(format!("{:.2} ± {half}", ours.mean))
    })
}

fn paper_cell(Figure(mean, half, _): Figure) -> ReportCell {
    ReportCell::new(format!("{mean:.2} ± {half:.2}"))
}

/// Whether the intervals overlap; nothing where the paper prints none or ours has too few repetitions.
fn agrees(ours: &AccuracySummary, theirs: Figure) -> Option<bool> {
    let [low, high] = theirs.interval();
    ours.overlaps([low - ROUNDING, high + ROUNDING]).filter(|_| theirs.1 > 0.0)
}

/// The experiments in the folder.
pub(super) fn runs(results: &ResultSet<'_>) -> ReportTable {
    let columns = ["classes", "points", "repetitions", "outcomes", "data"];
    let mut table = ReportTable::new("Experiments with results in this folder.", columns);
    for results in results.results {
        let points = points(results);
        let span = match points.as_slice() {
            [] => "–".into(),
            [_] => "1".into(),
            [first, .., last] => format!("{} ({} to {})", points.len(), plain(*first), plain(*last)),
        };
        let cells = [
            results.header.classes.to_string(),
            span,
            repetitions(results).to_string(),
            results.outcomes.len().to_string(),
            if results.header.is_subset { "a subset of the paper's" } else { "whole" }.to_owned(),
        ];
        table.add(results.header.experiment.clone(), cells.map(ReportCell::new).to_vec());
    }
    table
}

/// How often the figures agree, table by table.
pub(super) fn agreement(comparisons: &[(&str, &PaperComparison)]) -> ReportTable {
    let columns = ["overlapping", "compared", "median absolute difference"];
    let caption = "Figures whose 95 % interval overlaps with the paper's; differences in percentage points.";
    let mut table = ReportTable::new(caption, columns);
    let kinds = comparisons.iter().flat_map(|(name, comparison)| {
        [(*name, "methods", &comparison.methods), (*name, "references", &comparison.references)]
    });
    for (name, kind, agreement) in kinds.filter(|(_, _, agreement)| agreement.compared() > 0) {
        let counts =
            [agreement.agreeing, agreement.compared()].map(|count| ReportCell::new(count.to_string()));
        let median = ReportCell::figure(agreement.median_difference(), 2);
        table.add(format!("{name}, {kind}"), counts.into_iter().chain([median]).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn figures_agree_when_intervals_overlap_and_are_not_compared_without_one() {
        let ours = AccuracySummary { mean: 80.0, deviation: 1.0, interval: Some([79.5, 80.5]) };
        assert_eq!(agrees(&ours, Figure(81.0, 0.5, 1.0)), Some(true));
        assert_eq!(agrees(&ours, Figure(81.0, 0.4, 1.0)), Some(false));
        assert_eq!(agrees(&ours, Figure(87.52, 0.0, 0.0)), None);
    }

    fn names(table: &ReportTable) -> Vec<&str> {
        table.columns.iter().map(|column| column.name.as_str()).collect()
    }

    fn row<'a>(table: &'a ReportTable, name: &str) -> Option<&'a ReportRow> {
        table.rows.iter().find(|row| row.name == name)
    }

    #[test]
    fn the_papers_tables_have_only_the_methods_and_datasets_that_the_paper_printed() {
        let results = ["real-digits", "real-wine"].map(|name| simulated::experiment(name, 2, &[0.0], 6));
        let (results, paper) = (ResultSet::new(&results), Paper::read());
        let comparison = PaperComparison::new(&results, &real_columns(&results, &paper), &paper.real);
        assert_eq!(names(&comparison.accuracy), ["wine", "digits"]);
        let printed = comparison.paper.expect("wine is in the paper");
        let difference = comparison.difference.expect("wine is in the paper");
        assert_eq!((names(&printed), names(&difference)), (vec!["wine"], vec!["wine"]));
        assert!(row(&comparison.accuracy, "majority").is_some() && row(&printed, "majority").is_none());
        assert_eq!(row(&printed, "spocc").expect("a row").cells[0].text, "63.60 ± 0.10");
        assert_eq!(comparison.methods.compared(), 8, "the paper's eight methods on one of its datasets");
        assert_eq!(comparison.references.compared(), 2);
        assert_eq!(comparison.accuracy.rows.iter().filter(|row| row.cells[0].is_best).count(), 1);
    }

    #[test]
    fn the_difference_is_ours_minus_the_papers() {
        let results = [simulated::experiment("real-wine", 2, &[0.0], 6)];
        let (results, paper) = (ResultSet::new(&results), Paper::read());
        let comparison = PaperComparison::new(&results, &real_columns(&results, &paper), &paper.real);
        let ours: f64 =
            row(&comparison.accuracy, "spocc").expect("a row").cells[0].text[..5].parse().unwrap();
        let difference = comparison.difference.expect("a table");
        let shown = &row(&difference, "spocc").expect("a row").cells[0].text;
        assert!(shown.starts_with(&signed(ours - 63.60, 1)), "{ours} {shown}");
        assert!(shown.ends_with(" *"), "{shown}");
    }

    #[test]
    fn the_pooled_column_is_compared_but_not_counted() {
        let three = |repetitions| {
            DIFFICULTIES
                .map(|name| simulated::experiment(&format!("synthetic-{name}"), 2, &[0.0, 1.0], repetitions))
        };
        let compare = |results: &[Results]| {
            let (results, paper) = (ResultSet::new(results), Paper::read());
            PaperComparison::new(&results, &synthetic_columns(&results), &paper.synthetic)
        };
        let comparison = compare(&three(6));
        assert_eq!(comparison.methods.compared(), 24);
        let difference = comparison.difference.expect("four columns of the paper");
        assert_eq!(row(&difference, "selection").expect("a row").cells.len(), 4);
        assert!(row(&difference, "selection").expect("a row").cells[3].text.ends_with(" *"));

        let few = compare(&three(2));
        assert_eq!(few.methods.compared(), 0, "two repetitions give no interval");
        assert!(row(&few.accuracy, "spocc").expect("a row").cells[0].text.ends_with(" ± –"));
        let difference = few.difference.expect("four columns of the paper");
        assert!(difference.rows.iter().all(|row| row.cells.iter().all(|cell| !cell.text.ends_with('*'))));
    }

    #[test]
    fn a_subset_is_shown_beside_the_paper_but_not_compared() {
        let mut results = [simulated::experiment("real-drive", 11, &[0.0], 4)];
        results[0].header.is_subset = true;
        let (results, paper) = (ResultSet::new(&results), Paper::read());
        let comparison = PaperComparison::new(&results, &real_columns(&results, &paper), &paper.real);
        assert_eq!(comparison.methods.compared(), 0);
        assert_eq!(comparison.accuracy.columns[0].note.as_deref(), Some("subset of the rows"));
        let difference = comparison.difference.expect("drive is in the paper");
        assert_ne!(row(&difference, "spocc").expect("a row").cells[0].text, "–");
    }
}
