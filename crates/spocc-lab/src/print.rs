//! The printed summary of a run: accuracy of every method beside the paper's, log-loss and prediction sets.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::PathBuf,
};

use serde::Serialize;

use crate::{
    aggregate::{self, ResultSet},
    coverage::SetCounts,
    error::Error,
    experiments::example3,
    paper::Paper,
    results::{Results, ResultsHeader},
    statistics::mean,
};

/// The summary of one experiment; accuracies are in percent.
#[derive(Debug, Serialize)]
struct ExperimentSummary {
    experiment: String,
    #[serde(rename = "as")]
    protocol: String,
    seed: u64,
    version: String,
    subset: bool,
    /// Number of finished repetitions.
    reps: usize,
    means: BTreeMap<String, f64>,
    /// 95 % bootstrap intervals of the means over repetitions; none below three repetitions.
    intervals: BTreeMap<String, [f64; 2]>,
    deviations: BTreeMap<String, f64>,
    /// Mean accuracies of the references.
    references: BTreeMap<String, f64>,
    /// Mean log-loss of the methods that give probabilities.
    log_loss: BTreeMap<String, f64>,
    /// Mean fit time in seconds, on one core.
    fit_seconds: BTreeMap<String, f64>,
    /// Prediction sets by method and requested coverage.
    sets: BTreeMap<String, BTreeMap<String, SetFigures>>,
    /// Means printed in the paper.
    paper: BTreeMap<String, f64>,
    /// Means by method at every point of the varied quantity.
    by_point: Vec<PointMeans>,
}

#[derive(Debug, Serialize)]
struct SetFigures {
    /// Share of test rows in percent whose set contains the true class.
    coverage: f64,
    /// Mean number of classes in a set.
    size: f64,
}

#[derive(Debug, Serialize)]
struct PointMeans {
    at: f64,
    means: BTreeMap<String, f64>,
}

impl ExperimentSummary {
    fn new(results: &Results) -> Self {
        let header = &results.header;
        let (all, paper) = (ResultSet::new(std::slice::from_ref(results)), Paper::read());
        let mut figures = Self {
            experiment: header.experiment.clone(),
            protocol: header.protocol.clone(),
            seed: header.seed,
            version: header.version.clone(),
            subset: header.is_subset,
            reps: aggregate::repetitions(results),
            means: BTreeMap::new(),
            intervals: BTreeMap::new(),
            deviations: BTreeMap::new(),
            references: BTreeMap::new(),
            log_loss: BTreeMap::new(),
            fit_seconds: BTreeMap::new(),
            sets: aggregate::sets(results).into_iter().map(set_figures).collect(),
            paper: BTreeMap::new(),
            by_point: by_point(&all, results),
        };
        for (name, is_reference) in all.rows(&[results]) {
            let Some(summary) = all.summary(results, &name) else { continue };
            let means = if is_reference { &mut figures.references } else { &mut figures.means };
            means.insert(name.clone(), summary.mean);
            figures.intervals.extend(summary.interval.map(|interval| (name.clone(), interval)));
            figures.deviations.insert(name.clone(), summary.deviation);
            figures.log_loss.extend(aggregate::log_loss(results, &name).map(|loss| (name.clone(), loss)));
            figures
                .fit_seconds
                .extend(aggregate::fit_seconds(results, &name).map(|time| (name.clone(), time)));
            let printed = printed(&paper, &header.experiment, &name).filter(|_| !header.is_subset);
            figures.paper.extend(printed.map(|printed| (name, printed)));
        }
        figures
    }
}

fn set_figures(
    (method, by_coverage): (String, BTreeMap<String, SetCounts>),
) -> (String, BTreeMap<String, SetFigures>) {
    let figures =
        |counts: SetCounts| SetFigures { coverage: 100.0 * counts.coverage(), size: counts.mean_size() };
    (method, by_coverage.into_iter().map(|(coverage, counts)| (coverage, figures(counts))).collect())
}

/// Means at each point, if there are several.
fn by_point(all: &ResultSet<'_>, results: &Results) -> Vec<PointMeans> {
    let points = aggregate::points(results);
    if points.len() < 2 {
        return Vec::new();
    }
    let point = |at: f64| {
        let mean = |(name, _): (String, bool)| {
            all.summary_at(results, &name, at).map(|summary| (name, summary.mean))
        };
        PointMeans { at, means: all.rows(&[results]).into_iter().filter_map(mean).collect() }
    };
    points.into_iter().map(point).collect()
}

/// The paper's mean for a method in an experiment.
fn printed(paper: &Paper, experiment: &str, name: &str) -> Option<f64> {
    let (kind, column) = experiment.split_once('-')?;
    let table = match kind {
        "synthetic" => &paper.synthetic,
        "real" => &paper.real,
        _ => return None,
    };
    table.figure(name, column).map(|figure| figure.0)
}

/// Prints one experiment as a table.
pub(crate) fn print(results: &Results, out: &mut impl Write) -> Result<(), Error> {
    let figures = ExperimentSummary::new(results);
    let subset = if figures.subset { ", a subset of the data" } else { "" };
    let text = |name: &String, mean: &f64| {
        let interval = figures.intervals.get(name);
        let interval = interval.map_or(" –".into(), |[low, high]| format!("{low:6.2} to {high:5.2}"));
        let paper = figures.paper.get(name);
        let printed = paper.map_or_else(String::new, |paper| format!("{paper:8.2} {:+8.2}", mean - paper));
        let deviation = figures.deviations[name];
        let loss = figures.log_loss.get(name).map_or_else(String::new, |loss| format!("{loss:.4}"));
        let loss = if figures.log_loss.is_empty() { loss } else { format!("{loss:>9}") };
        let line = format!("{name:<16}{mean:8.2}  {interval:<15} {deviation:8.2}{loss} {printed}");
        line.trim_end().to_owned()
    };
    let mut lines = vec![format!(
        "{}, protocol {}, seed {}{subset}: {} repetition{}",
        figures.experiment,
        figures.protocol,
        figures.seed,
        figures.reps,
        if figures.reps == 1 { "" } else { "s" }
    )];
    let loss = if figures.log_loss.is_empty() { "" } else { " log-loss" };
    let heads = if figures.paper.is_empty() { "" } else { "    paper     diff" };
    lines.push(format!("{:<16}{:>8}  {:<15} {:>8}{loss}{heads}", "method", "mean", "95 % interval", "sd"));
    let order = ResultSet::new(std::slice::from_ref(results)).rows(&[results]);
    let mean_of = |name: &String| figures.means.get(name).or_else(|| figures.references.get(name));
    lines.extend(order.iter().filter_map(|(name, _)| mean_of(name).map(|mean| text(name, mean))));
    lines.extend(figures.sets.iter().map(|(method, by_coverage)| {
        let one = |(asked, sets): (&String, &SetFigures)| {
            format!("{asked} covers {:.1} %, size {:.2}", sets.coverage, sets.size)
        };
        format!("{method:<16}sets: {}", by_coverage.iter().map(one).collect::<Vec<_>>().join("; "))
    }));
    lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| writeln!(out)).map_err(stdout)
}

/// Prints one experiment, or several with the means over all of them, as JSON.
pub(crate) fn print_json(results: &[Results], out: &mut impl Write) -> Result<(), Error> {
    #[derive(Serialize)]
    struct AllSummaries<'a> {
        /// Mean over experiments of each method's mean.
        means: BTreeMap<&'a str, f64>,
        experiments: &'a [ExperimentSummary],
    }
    let figures: Vec<ExperimentSummary> = results.iter().map(ExperimentSummary::new).collect();
    let text = if let [one] = figures.as_slice() {
        serde_json::to_string_pretty(one)
    } else {
        let names: BTreeSet<&str> =
            figures.iter().flat_map(|one| one.means.keys().map(String::as_str)).collect();
        let mean_of = |name: &str| {
            mean(&figures.iter().filter_map(|one| one.means.get(name).copied()).collect::<Vec<f64>>())
        };
        let means = names.into_iter().map(|name| (name, mean_of(name))).collect();
        serde_json::to_string_pretty(&AllSummaries { means, experiments: &figures })
    };
    writeln!(out, "{}", text.expect("maps of text and numbers become JSON")).map_err(stdout)
}

/// Prints the mean accuracy in percent of every method at every number of labelled rows.
pub(crate) fn print_budgets(results: &Results, out: &mut impl Write) -> Result<(), Error> {
    let all = ResultSet::new(std::slice::from_ref(results));
    let points = aggregate::points(results);
    let ResultsHeader { experiment, seed, .. } = &results.header;
    let mut lines = vec![format!("{experiment}, seed {seed}: {} draws", aggregate::repetitions(results))];
    let heads: Vec<String> = points.iter().map(|at| format!("{at:>8}")).collect();
    lines.push(format!("{:<18}{}", "labelled rows", heads.concat()));
    for method in &all.methods {
        let mean = |at: &f64| all.summary_at(results, method, *at).map(|summary| summary.mean);
        let figure = |at: &f64| mean(at).map_or_else(|| format!("{:>8}", "–"), |mean| format!("{mean:8.2}"));
        lines.push(format!("{method:<18}{}", points.iter().map(figure).collect::<Vec<_>>().concat()));
    }
    lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| writeln!(out)).map_err(stdout)
}

/// Prints Example 3 at a few exponents, or its whole curve as JSON.
pub(crate) fn print_example(json: bool, out: &mut impl Write) -> Result<(), Error> {
    if json {
        #[derive(Serialize)]
        struct FusedPossibility {
            exponent: f64,
            possibility: [f64; 3],
        }
        let fused = |(exponent, possibility)| FusedPossibility { exponent, possibility };
        let curve: Vec<FusedPossibility> = example3::curve().into_iter().map(fused).collect();
        let text = serde_json::to_string_pretty(&curve).expect("numbers become JSON");
        return writeln!(out, "{text}").map_err(stdout);
    }
    let line = |(exponent, [a, b, c]): (f64, [f64; 3])| format!("{exponent:>8}{a:10.4}{b:10.4}{c:10.4}");
    let head = format!("{:>8}{:>10}{:>10}{:>10}", "exponent", "class 1", "class 2", "class 3");
    let lines: Vec<String> = example3::landmarks().into_iter().map(line).collect();
    writeln!(out, "{head}\n{}", lines.join("\n")).map_err(stdout)
}

/// Prints the names of written files.
pub(crate) fn print_written(paths: &[PathBuf], out: &mut impl Write) -> Result<(), Error> {
    paths.iter().try_for_each(|path| writeln!(out, "wrote {}", path.display())).map_err(stdout)
}

/// The error of a failed write to standard output.
pub(crate) fn stdout(source: io::Error) -> Error {
    Error::Io { path: "standard output".into(), source }
}
