//! The story: which tables and pictures stand where, with plain words above each.

use super::{
    confusion, differences, duels,
    headlines::headlines,
    lines,
    page::{Page, Section, Size, Table},
    probabilities, robustness,
    scatter::{self, Point},
    standing::Standing,
    tables::{self, Comparison},
    violin,
};
use crate::{
    measured::{Measured, repetitions, shared},
    paper::Paper,
    results::Results,
};

/// Experiments with violins: name, axis, heading, and what to look for.
const VIOLINS: [(&str, &str, &str, &str); 5] = [
    (
        "adversaries",
        "number of adversaries",
        "Adversaries (Figure 4)",
        "Up to ten adversaries join four decision trees. Each answers as the first tree does, but half of its answers are turned into another class, drawn at random. Look for violins that sink or widen to the right: in the paper those of the weighted vote and of Bayes do.",
    ),
    (
        "faults",
        "number of noisy classifiers",
        "Faults (Figure 5)",
        "Up to ten noisy classifiers join; each replaces nine in ten of the first tree's answers by random ones. The paper sees the weighted vote and Bayes suffer, the others stay.",
    ),
    (
        "redundancy",
        "number of copies",
        "Redundancy (Figure 6)",
        "Up to ten copies of the first tree join. Votes and naive Bayes count every copy as a new witness and sink towards that tree's accuracy; Bayes does not: these copies are exact and add no pattern.",
    ),
    (
        "heterogeneous",
        "number of copies",
        "Different learners (Figure 8)",
        "The four classifiers are a logistic regression, nearest neighbours, a support vector machine and a tree; copies of the first join.",
    ),
    (
        "imbalance",
        "share of the first class",
        "Imbalance (Figure 9)",
        "The first class becomes rare towards the left. Accuracies rise there for a dull reason: deciding for the common class is mostly right. Look at which methods lose their advantage.",
    ),
];

/// What stands in the cells of a table of accuracies.
const FIGURES: &str = "Mean accuracy in %; ± is the half-width of the mean's 95 % interval (– below three repetitions), sd the standard deviation of single outcomes (repetitions, folds and points together)";

/// What stands there of the paper.
const BESIDE: &str =
    "below stand the paper's figure and the difference (≈ intervals overlap, ≠ they do not).";

/// Puts everything that was measured in order.
pub(super) fn tell(results: &[Results], points: &[Point], curve: &[(f64, [f64; 3])]) -> Page {
    let (measured, paper) = (Measured::new(results), Paper::read());
    let synthetic = {
        let caption = format!("{FIGURES}; {BESIDE}");
        Comparison::new(&measured, &tables::synthetic_sides(&measured), &paper.synthetic, &caption)
    };
    let real = {
        let caption = format!("{FIGURES}, over repeated 2-fold cross-validation; {BESIDE}");
        Comparison::new(&measured, &tables::real_sides(&measured, &paper), &paper.real, &caption)
    };
    let standing = Standing::new(&measured, &paper);
    let mut sections = vec![overview(&measured, &synthetic, &real)];
    let findings = headlines(&measured, &paper, &synthetic, &real, standing.as_ref());
    sections.extend(synthetic_sections(&measured, &paper, points, synthetic));
    sections.extend(real_sections(&measured, real, standing));
    sections.extend(robustness::sections(&measured));
    sections.push(example(curve));
    sections.push(how());
    Page {
        title: "SPOCC: the paper's experiments, run again".into(),
        settings: settings(&measured, &paper),
        findings,
        sections,
    }
}

fn settings(measured: &Measured<'_>, paper: &Paper) -> Vec<(&'static str, String)> {
    let Some(heading) = measured.results.first().map(|results| &results.heading) else {
        return vec![("results", "No experiment has results yet.".into())];
    };
    let setting = match heading.setting.as_str() {
        "authors" => "authors: as the authors' program did it".to_owned(),
        "honest" => "honest: as one would do it today".to_owned(),
        other => other.to_owned(),
    };
    let counts = || measured.results.iter().map(repetitions);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let counts = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let listed = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(", ") };
    let datasets = measured.named("real-").into_iter();
    let subsets = datasets.filter(|(_, results)| results.heading.is_subset).map(|(name, _)| name);
    let columns = paper.real.columns.iter().map(String::as_str);
    let absent = columns.filter(|name| measured.experiment(&format!("real-{name}")).is_none());
    vec![
        ("setting", setting),
        ("seed", heading.seed.to_string()),
        ("repetitions found", counts),
        ("engine version", heading.version.clone()),
        ("subsets of the paper's data", listed(subsets.collect())),
        ("datasets of the paper not run or absent", listed(absent.collect())),
    ]
}

fn overview(measured: &Measured<'_>, synthetic: &Comparison, real: &Comparison) -> Section {
    if measured.results.is_empty() {
        return Section::new("What was run").words("No experiment has results yet.");
    }
    let agreement = tables::agreement(&[("synthetic", synthetic), ("real", real)]);
    let section = Section::new("What was run").table(tables::runs(measured));
    if agreement.rows.is_empty() {
        return section;
    }
    section
        .heading("Does it agree with the paper?")
        .words("A figure agrees if its 95 % interval overlaps with the printed one. References (best base classifier, centralised training) involve no combining: where they differ, base classifiers or data differ, and methods will too. Subsets of the data and the global column, a mean of the other three, are shown but not counted.")
        .table(agreement)
}

fn synthetic_sections(
    measured: &Measured<'_>,
    paper: &Paper,
    points: &[Point],
    comparison: Comparison,
) -> Vec<Section> {
    let found = measured.named("synthetic-");
    if found.is_empty() {
        return Vec::new();
    }
    let mut sections = Vec::new();
    if !points.is_empty() {
        sections.push(
            Section::new("Synthetic data (Figures 2 and 3)")
                .words("Four round clouds of points, opposite ones of the same class. No rule does better than the two lines. Each of four classifiers sees three quarters of the plane, so none can be right everywhere and together they can.")
                .pictures("The data: filled dots are class 1, rings class 2, lines the optimal frontiers.", Size::Medium, vec![scatter::dataset(points)])
                .pictures("What each classifier sees.", Size::Small, scatter::subsets(points)),
        );
    }
    if !comparison.table.columns.is_empty() {
        sections.push(
            Section::new("Synthetic data: accuracies (Table 1)")
                .words("Each column averages over 0 to 10 added classifiers; global is the mean of the three. A good method is near the top in all of them. The paper's stacking reads class numbers as quantities, which does no harm with two classes.")
                .table(comparison.table),
        );
    }
    let others = tables::other_sides(measured);
    if !others.is_empty() {
        let caption = format!("{FIGURES}; the paper shows these experiments as figures only.");
        let comparison = Comparison::new(measured, &others, &paper.synthetic, &caption);
        sections.push(
            Section::new("Synthetic data: different learners and imbalance")
                .words("The means behind Figures 8 and 9, over all points of each.")
                .table(comparison.table),
        );
    }
    if let Some(table) = differences::table(measured, &found) {
        sections.push(
            Section::new("Synthetic data: differences")
                .words("Differences on the same runs are surer than differences of means. Each is averaged within a repetition, whose runs share their data, then tested over repetitions.")
                .table(table),
        );
    }
    for (name, varied, title, words) in VIOLINS {
        if let Some(results) = measured.experiment(&format!("synthetic-{name}")) {
            let rows = violin::violins(results, &measured.methods, varied);
            sections.push(Section::new(title).words(words).pictures(
                "Each violin is the spread of accuracies over repetitions: wide where many lie, with the median across and the middle half along it. Orange: SPOCC and its kin. Thin lines: the mean of the best base classifier (dashed) and of the optimal rule (solid), where known.",
                Size::Medium,
                rows,
            ));
        }
    }
    if let Some(three) = measured.all_difficulties() {
        let maps = confusion::heat_maps(&shared(&three), &measured.methods, three[0].heading.classes);
        sections.push(
            Section::new("Synthetic data: confusion (Figure 7)")
                .words("What becomes of each class, over the three difficulties together. Two equal numbers on the diagonal mean that neither class pays for the other.")
                .pictures("Shares of the true class in %, averaged over runs.", Size::Small, maps),
        );
    }
    sections
}

fn real_sections(
    measured: &Measured<'_>,
    comparison: Comparison,
    standing: Option<Standing>,
) -> Vec<Section> {
    let Some(standing) = standing else {
        return Vec::new();
    };
    let found = measured.named("real-");
    let mut sections = vec![
        Section::new("Real data: accuracies")
            .words("Six softmax regressions, each trained on a slice of the data cut along its first principal component, and two near-copies of the first (one answer in a hundred drawn anew), so that Bayes meets patterns it never saw. The reference rows at the bottom do not compete: the best single classifier by its test accuracy, and one classifier trained on everything. Datasets that the paper does not have stand at the right.")
            .table(comparison.table),
    ];
    let mut section = Section::new("Real data: shortfall and rank")
        .words("The shortfall says how far a method is behind the best one where it is worst: small means safe to choose unseen. Methods without a figure rank last.")
        .table(standing.table)
        .words(standing.verdict);
    if let Some((caption, diagram)) = standing.diagram {
        section = section.pictures(caption, Size::Wide, vec![diagram]);
    }
    sections.push(section);
    if let Some(table) = differences::table(measured, &found) {
        sections.push(
            Section::new("Real data: differences")
                .words("Halves of a cross-validation share rows with those of the next, so the test uses Nadeau and Bengio's corrected variance. It is cautious: with two folds a difference must exceed about two standard deviations of a single fold.")
                .table(table),
        );
    }
    if let Some(table) = duels::table(measured, &found) {
        sections.push(
            Section::new("Real data: the ladder against each")
                .words("The test above hardly ever calls anything a difference with a few repetitions. This one takes the mean of both folds of a repetition for one value and repetitions for independent. They are not, for they cut the same rows, so it says what other cuts of these very rows would show, and is too sure of itself about new rows: Nadeau and Bengio's is the cautious one.")
                .table(table),
        );
    }
    sections.extend(probability_sections(measured, &found));
    let mut section = Section::new("Real data: confusion (Appendix C)")
        .words("What becomes of each class. A strong diagonal is good; a strong column is a class that swallows others. The number at the right of a row is the share decided rightly; every square tells its share when pointed at.");
    for (name, results) in &found {
        let outcomes: Vec<_> = results.outcomes.iter().collect();
        let maps = confusion::heat_maps(&outcomes, &measured.methods, results.heading.classes);
        section =
            section.heading(*name).pictures(format!("{name}: shares of the true class."), Size::Small, maps);
    }
    sections.push(section);
    sections
}

/// What the paper does not ask: how good probabilities are, what sets hold, what learning costs.
fn probability_sections(measured: &Measured<'_>, found: &[(&str, &Results)]) -> Vec<Section> {
    let told = [
        (
            "Real data: log-loss",
            "How good probabilities are, for methods that give some. Who is sure and wrong pays most: a truth thought impossible costs 20.7.",
            probabilities::losses(measured, found),
        ),
        (
            "Real data: sets of labels",
            "PredictionSets are asked to hold the truth as often as the row says. The promise is an average over draws of the calibration rows: a few hundred of them leave a point or two of chance. Among sets that keep it, smaller is better.",
            probabilities::coverages(found),
        ),
        (
            "Real data: time to learn",
            "All methods learn from the same counts, one after another, on one core that other work may share.",
            probabilities::times(found),
        ),
    ];
    let section = |(title, words, table): (&str, &str, Option<Table>)| {
        table.map(|table| Section::new(title).words(words).table(table))
    };
    told.into_iter().filter_map(section).collect()
}

fn example(curve: &[(f64, [f64; 3])]) -> Section {
    Section::new("Example 3: the exponent decides who is heard")
        .words("One classifier speaks strongly for class 3, two that agree speak moderately for class 2. At a small exponent witnesses add up and the two prevail; at a large one a repeated distribution counts once, and the strong one prevails. Look for the crossing.")
        .pictures("Possibility of each class after fusion, against the exponent; the axis is compressed towards the right (logarithmic).", Size::Wide, vec![lines::example3(curve)])
}

fn how() -> Section {
    Section::new("How the figures are made")
        .words("Means are over all outcomes of an experiment. Their 95 % intervals are percentile bootstraps of 2000 resamples that draw whole repetitions, because outcomes of one repetition share their data. The paper's intervals seem to draw outcomes one by one and are narrower for it.")
        .words("Differences are tested by paired t tests, p-values are corrected by Holm's method for all comparisons of a table, ranks by Friedman's test in Iman and Davenport's form and Nemenyi's critical difference, all at 5 %.")
        .words("Confusion matrices are normalised by true class in each outcome, then averaged. Violins are Gaussian kernel densities with Silverman's bandwidth, cut at the smallest and largest value.")
}
