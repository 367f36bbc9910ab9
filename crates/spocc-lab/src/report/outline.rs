//! The order of the report: which tables and pictures are shown, and the text above each.

use super::{
    confusion_matrix,
    document::{Document, PictureSize, ReportSection},
    findings::findings,
    line_chart, paired_tests,
    paper_comparison::{self, PaperComparison},
    probabilities,
    ranking::MethodRanking,
    robustness,
    scatter::{self, ClassPoint},
    violin, win_counts,
};
use crate::{
    aggregate::{ResultSet, repetitions, shared},
    paper::Paper,
    results::Results,
};

/// A synthetic experiment that is drawn as violins.
struct ViolinExperiment {
    name: &'static str,
    /// Label of the axis.
    varied: &'static str,
    title: &'static str,
    explanation: &'static str,
}

const VIOLINS: [ViolinExperiment; 5] = [
    ViolinExperiment {
        name: "adversaries",
        varied: "number of adversaries",
        title: "Adversaries (Figure 4)",
        explanation: "Up to ten adversaries are added to four decision trees. Each predicts what the first tree predicts, but half of its predictions are replaced by another class, drawn at random. In the paper the accuracies of the weighted vote and of Bayes fall and spread as adversaries are added.",
    },
    ViolinExperiment {
        name: "faults",
        varied: "number of noisy classifiers",
        title: "Faults (Figure 5)",
        explanation: "Up to ten noisy classifiers are added; each replaces nine in ten of the first tree's predictions by random ones. In the paper the weighted vote and Bayes lose accuracy and the others do not.",
    },
    ViolinExperiment {
        name: "redundancy",
        varied: "number of copies",
        title: "Redundancy (Figure 6)",
        explanation: "Up to ten copies of the first tree are added. Votes and naive Bayes treat each copy as independent evidence and fall towards that tree's accuracy. Bayes does not: exact copies add no new combination of predictions.",
    },
    ViolinExperiment {
        name: "heterogeneous",
        varied: "number of copies",
        title: "Different learners (Figure 8)",
        explanation: "The four classifiers are a logistic regression, nearest neighbours, a support vector machine and a tree; copies of the first are added.",
    },
    ViolinExperiment {
        name: "imbalance",
        varied: "share of the first class",
        title: "Imbalance (Figure 9)",
        explanation: "The first class is rarer at the left. All accuracies rise there, because predicting the frequent class is mostly correct; the order of the methods is what matters.",
    },
];

/// Arranges all results as a report.
pub(super) fn arrange(results: &[Results], points: &[ClassPoint], curve: &[(f64, [f64; 3])]) -> Document {
    let (all, paper) = (ResultSet::new(results), Paper::read());
    let synthetic = PaperComparison::new(&all, &paper_comparison::synthetic_columns(&all), &paper.synthetic);
    let real = PaperComparison::new(&all, &paper_comparison::real_columns(&all, &paper), &paper.real);
    let ranking = MethodRanking::new(&all, &paper);
    let mut sections = vec![overview(&all, &synthetic, &real)];
    let findings = findings(&all, &paper, &synthetic, &real, ranking.as_ref());
    sections.extend(synthetic_sections(&all, &paper, points, synthetic));
    sections.extend(real_sections(&all, real, ranking));
    sections.extend(robustness::sections(&all));
    sections.push(example(curve));
    sections.push(methodology());
    Document {
        title: "SPOCC: the paper's experiments, reproduced".into(),
        settings: settings(&all, &paper),
        findings,
        sections,
    }
}

fn settings(all: &ResultSet<'_>, paper: &Paper) -> Vec<(&'static str, String)> {
    let Some(header) = all.results.first().map(|results| &results.header) else {
        return vec![("results", "No experiment has results yet.".into())];
    };
    let protocol = match header.protocol.as_str() {
        "authors" => "authors: as in the paper's own program".to_owned(),
        "honest" => "honest: tuning on held-out rows, no validation row used in training".to_owned(),
        other => other.to_owned(),
    };
    let counts = || all.results.iter().map(repetitions);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let counts = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let listed = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(", ") };
    let datasets = all.named("real-").into_iter();
    let subsets = datasets.filter(|(_, results)| results.header.is_subset).map(|(name, _)| name);
    let columns = paper.real.columns.iter().map(String::as_str);
    let absent = columns.filter(|name| all.experiment(&format!("real-{name}")).is_none());
    vec![
        ("protocol", protocol),
        ("seed", header.seed.to_string()),
        ("repetitions", counts),
        ("engine version", header.version.clone()),
        ("subsets of the paper's data", listed(subsets.collect())),
        ("datasets of the paper without results", listed(absent.collect())),
    ]
}

fn overview(all: &ResultSet<'_>, synthetic: &PaperComparison, real: &PaperComparison) -> ReportSection {
    if all.results.is_empty() {
        return ReportSection::new("What was run").paragraph("No experiment has results yet.");
    }
    let agreement = paper_comparison::agreement(&[("synthetic", synthetic), ("real", real)]);
    let section = ReportSection::new("What was run").table(paper_comparison::runs(all));
    if agreement.rows.is_empty() {
        return section;
    }
    section
        .heading("Agreement with the paper")
        .paragraph("A figure agrees with the paper's if the two 95 % intervals overlap. References (best base classifier, centralised training) involve no combination: where they differ, the base classifiers or the data differ, and so will the methods. Subsets of the data and the global column, the mean of the other three, are not counted.")
        .table(agreement)
}

fn synthetic_sections(
    all: &ResultSet<'_>,
    paper: &Paper,
    points: &[ClassPoint],
    comparison: PaperComparison,
) -> Vec<ReportSection> {
    let found = all.named("synthetic-");
    if found.is_empty() {
        return Vec::new();
    }
    let mut sections = Vec::new();
    if !points.is_empty() {
        sections.push(
            ReportSection::new("Synthetic data (Figures 2 and 3)")
                .paragraph("Four Gaussian clusters; opposite clusters have the same class. The two axes are the optimal decision boundaries. Each of the four classifiers is trained without one quadrant, so that none is accurate everywhere.")
                .pictures("The data: filled dots are class 1, rings class 2, dashed lines the optimal boundaries.", PictureSize::Medium, vec![scatter::dataset(points)])
                .pictures("The training points of each classifier.", PictureSize::Small, scatter::subsets(points)),
        );
    }
    if !comparison.accuracy.columns.is_empty() {
        sections.push(
            ReportSection::new("Synthetic data: accuracies (Table 1)")
                .paragraph("Each column averages over 0 to 10 added classifiers; global is the mean of the three. The paper's stacking reads class numbers as quantities, which does no harm with two classes.")
                .tables(comparison.into_tables()),
        );
    }
    let others = paper_comparison::figure_columns(all);
    if !others.is_empty() {
        let comparison = PaperComparison::new(all, &others, &paper.synthetic);
        sections.push(
            ReportSection::new("Synthetic data: different learners and imbalance")
                .paragraph("The means behind Figures 8 and 9, over all points of each. The paper prints no numbers for them.")
                .tables(comparison.into_tables()),
        );
    }
    if let Some(tables) = paired_tests::tables(all, &found) {
        sections.push(
            ReportSection::new("Synthetic data: differences")
                .paragraph("Paired t tests over repetitions. The points of a repetition share their data, so their differences are averaged first.")
                .tables(tables),
        );
    }
    sections.extend(VIOLINS.iter().filter_map(|experiment| violin_section(all, experiment)));
    if let Some(three) = all.all_difficulties() {
        let maps = confusion_matrix::heat_maps(&shared(&three), &all.methods, three[0].header.classes);
        sections.push(
            ReportSection::new("Synthetic data: confusion (Figure 7)")
                .paragraph("Confusion matrices over the three difficulties pooled. Equal numbers on the diagonal mean that both classes are recognised equally well.")
                .pictures("Share of each true class in %, averaged over runs.", PictureSize::Small, maps),
        );
    }
    sections
}

fn violin_section(all: &ResultSet<'_>, experiment: &ViolinExperiment) -> Option<ReportSection> {
    let results = all.experiment(&format!("synthetic-{}", experiment.name))?;
    let violins = violin::violins(results, &all.methods, experiment.varied);
    let caption = "Each violin is the distribution of accuracies over repetitions, with the median (horizontal) and the middle half (vertical). Orange: SPOCC, adaSPOCC and the ladder. Thin lines: mean accuracy of the best base classifier (dashed) and of the optimal rule (solid), where known.";
    Some(ReportSection::new(experiment.title).paragraph(experiment.explanation).pictures(
        caption,
        PictureSize::Medium,
        violins,
    ))
}

fn real_sections(
    all: &ResultSet<'_>,
    comparison: PaperComparison,
    ranking: Option<MethodRanking>,
) -> Vec<ReportSection> {
    let Some(ranking) = ranking else {
        return Vec::new();
    };
    let found = all.named("real-");
    let mut sections = vec![
        ReportSection::new("Real data: accuracies")
            .paragraph("Repeated 2-fold cross-validation. Six softmax regressions are each trained on a slice of the training half, cut along the first principal component, and two near-copies of the first are added (one prediction in a hundred is redrawn at random). The two reference rows are not combinations: the best single classifier by test accuracy, and one classifier trained on the whole training half. Datasets that the paper does not have are at the right.")
            .tables(comparison.into_tables()),
    ];
    let mut section = ReportSection::new("Real data: rank and shortfall")
        .paragraph("The worst shortfall says how far a method is behind the best one on its worst dataset. `paper, as printed` covers the paper's eight datasets; `shared datasets` the figures that both the paper and this run have.")
        .table(ranking.ranks)
        .table(ranking.shortfalls)
        .paragraph(ranking.verdict);
    if let Some((caption, diagram)) = ranking.diagram {
        section = section.pictures(caption, PictureSize::Wide, vec![diagram]);
    }
    sections.push(section);
    if let Some(tables) = paired_tests::tables(all, &found) {
        sections.push(
            ReportSection::new("Real data: differences")
                .paragraph("Training halves of different repetitions overlap, so the test uses Nadeau and Bengio's corrected variance. It is conservative: with two folds a difference must exceed about two standard deviations of a single fold.")
                .tables(tables),
        );
    }
    if let Some(table) = win_counts::table(all, &found) {
        sections.push(
            ReportSection::new("Real data: the ladder against each method")
                .paragraph("With few repetitions the corrected test above rarely rejects. This test takes the mean of both folds of a repetition as one value and treats repetitions as independent. They split the same rows, so it applies to other splits of this dataset and overstates the evidence about new rows.")
                .table(table),
        );
    }
    sections.extend(probability_sections(all, &found));
    sections.push(confusion_section(all, &found));
    sections
}

fn confusion_section(all: &ResultSet<'_>, found: &[(&str, &Results)]) -> ReportSection {
    let mut section = ReportSection::new("Real data: confusion (Appendix C)")
        .paragraph("Confusion matrices, true class in rows. A dark column is a class that is predicted too often. The number at the right of a row is the recall of that class; the share of every cell is shown on hover.");
    for (name, results) in found {
        let outcomes: Vec<_> = results.outcomes.iter().collect();
        let maps = confusion_matrix::heat_maps(&outcomes, &all.methods, results.header.classes);
        let caption = format!("{name}: share of each true class.");
        section = section.heading(*name).pictures(caption, PictureSize::Small, maps);
    }
    section
}

/// Quantities that the paper does not report: log-loss, prediction sets and fit times.
fn probability_sections(all: &ResultSet<'_>, found: &[(&str, &Results)]) -> Vec<ReportSection> {
    let losses = probabilities::losses(all, found).map(|table| {
        ReportSection::new("Real data: log-loss")
            .paragraph("The quality of the probabilities, for methods that give them. Confident errors cost most: a true class of probability 0 costs 20.7.")
            .table(table)
    });
    let sets = probabilities::coverages(found).map(|tables| {
        ReportSection::new("Real data: prediction sets")
            .paragraph("Split conformal prediction sets at the coverage named in the row. The coverage guarantee is an average over draws of the calibration rows: with a few hundred of them the realised coverage varies by a point or two. Among sets with the requested coverage, smaller is better.")
            .tables(tables)
    });
    let times = probabilities::times(found).map(|table| {
        ReportSection::new("Real data: fit time")
            .paragraph("All methods are fitted to the same counts, one after another, on one core that other work may share.")
            .table(table)
    });
    [losses, sets, times].into_iter().flatten().collect()
}

fn example(curve: &[(f64, [f64; 3])]) -> ReportSection {
    ReportSection::new("Example 3: the effect of the exponent")
        .paragraph("One classifier strongly supports class 3; two identical classifiers moderately support class 2. At a small exponent the evidence accumulates and class 2 has the largest possibility; at a large exponent the repeated distribution counts once and class 3 does.")
        .pictures("Possibility of each class after fusion, against the exponent (logarithmic axis).", PictureSize::Wide, vec![line_chart::example3(curve)])
}

fn methodology() -> ReportSection {
    ReportSection::new("How the figures are computed")
        .paragraph("Means are over all outcomes of an experiment. Their 95 % intervals are percentile bootstraps of 2000 resamples that draw whole repetitions, because outcomes of one repetition share their data. The paper's intervals appear to resample single outcomes, which makes them narrower.")
        .paragraph("Differences are tested by paired t tests with Holm's correction for all comparisons of a table; ranks by Friedman's test in Iman and Davenport's form and Nemenyi's critical difference; all at 5 %.")
        .paragraph("Confusion matrices are normalised by true class in each outcome, then averaged. Violins are Gaussian kernel densities with Silverman's bandwidth, cut at the smallest and largest value.")
}
