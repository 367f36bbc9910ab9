//! What a run prints: accuracies of every method, beside the paper's, its log-loss and its sets.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::PathBuf,
};

use serde::Serialize;

use crate::{
    coverage::Held,
    error::Error,
    experiments::example3,
    measured::{self, Measured},
    paper::Paper,
    results::Results,
    statistics::mean,
};

/// One experiment in figures; accuracies are in percent.
#[derive(Debug, Serialize)]
struct Figures {
    experiment: String,
    #[serde(rename = "as")]
    setting: String,
    seed: u64,
    version: String,
    subset: bool,
    /// Repetitions done.
    reps: usize,
    means: BTreeMap<String, f64>,
    /// 95 % bootstrap intervals of the means; repetitions are resampled, and fewer than three give none.
    intervals: BTreeMap<String, [f64; 2]>,
    deviations: BTreeMap<String, f64>,
    /// The same of what is shown for reference.
    references: BTreeMap<String, f64>,
    /// Mean log-loss of methods that give probabilities.
    log_loss: BTreeMap<String, f64>,
    /// Mean seconds to learn, on one core.
    fit_seconds: BTreeMap<String, f64>,
    /// By method and coverage: the share of test rows whose set holds the truth, and the mean size of sets.
    sets: BTreeMap<String, BTreeMap<String, Kept>>,
    /// Means that the paper printed, where it did.
    paper: BTreeMap<String, f64>,
    /// Means by method at every point of what is varied.
    by_point: Vec<Point>,
}

#[derive(Debug, Serialize)]
struct Kept {
    held: f64,
    size: f64,
}

#[derive(Debug, Serialize)]
struct Point {
    at: f64,
    means: BTreeMap<String, f64>,
}

impl Figures {
    fn new(results: &Results) -> Self {
        let heading = &results.heading;
        let (measured, paper) = (Measured::new(std::slice::from_ref(results)), Paper::read());
        let mut figures = Self {
            experiment: heading.experiment.clone(),
            setting: heading.setting.clone(),
            seed: heading.seed,
            version: heading.version.clone(),
            subset: heading.is_subset,
            reps: measured::repetitions(results),
            means: BTreeMap::new(),
            intervals: BTreeMap::new(),
            deviations: BTreeMap::new(),
            references: BTreeMap::new(),
            log_loss: BTreeMap::new(),
            fit_seconds: BTreeMap::new(),
            sets: measured::sets(results).into_iter().map(kept).collect(),
            paper: BTreeMap::new(),
            by_point: by_point(&measured, results),
        };
        for (name, is_reference) in measured.rows(&[results]) {
            let Some(summary) = measured.summary(results, &name) else { continue };
            let means = if is_reference { &mut figures.references } else { &mut figures.means };
            means.insert(name.clone(), summary.mean);
            figures.intervals.extend(summary.interval.map(|interval| (name.clone(), interval)));
            figures.deviations.insert(name.clone(), summary.deviation);
            figures.log_loss.extend(measured::log_loss(results, &name).map(|loss| (name.clone(), loss)));
            figures
                .fit_seconds
                .extend(measured::fit_seconds(results, &name).map(|time| (name.clone(), time)));
            let printed = printed(&paper, &heading.experiment, &name).filter(|_| !heading.is_subset);
            figures.paper.extend(printed.map(|printed| (name, printed)));
        }
        figures
    }
}

fn kept((method, by_coverage): (String, BTreeMap<String, Held>)) -> (String, BTreeMap<String, Kept>) {
    let kept = |held: Held| Kept { held: 100.0 * held.share(), size: held.mean_size() };
    (method, by_coverage.into_iter().map(|(coverage, held)| (coverage, kept(held))).collect())
}

/// Means at each point, where there are several.
fn by_point(measured: &Measured<'_>, results: &Results) -> Vec<Point> {
    let points = measured::points(results);
    if points.len() < 2 {
        return Vec::new();
    }
    let point = |at: f64| {
        let mean = |(name, _): (String, bool)| {
            measured.summary_at(results, &name, at).map(|summary| (name, summary.mean))
        };
        Point { at, means: measured.rows(&[results]).into_iter().filter_map(mean).collect() }
    };
    points.into_iter().map(point).collect()
}

/// What the paper printed for a method in an experiment.
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
    let figures = Figures::new(results);
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
        "{}, as {}, seed {}{subset}: {} repetition{}",
        figures.experiment,
        figures.setting,
        figures.seed,
        figures.reps,
        if figures.reps == 1 { "" } else { "s" }
    )];
    let loss = if figures.log_loss.is_empty() { "" } else { " log-loss" };
    let heads = if figures.paper.is_empty() { "" } else { "    paper     diff" };
    lines.push(format!("{:<16}{:>8}  {:<15} {:>8}{loss}{heads}", "method", "mean", "95 % interval", "sd"));
    let order = Measured::new(std::slice::from_ref(results)).rows(&[results]);
    let mean_of = |name: &String| figures.means.get(name).or_else(|| figures.references.get(name));
    lines.extend(order.iter().filter_map(|(name, _)| mean_of(name).map(|mean| text(name, mean))));
    lines.extend(figures.sets.iter().map(|(method, by_coverage)| {
        let one =
            |(coverage, kept): (&String, &Kept)| format!("{coverage} {:.1} % {:.2}", kept.held, kept.size);
        format!("{method:<16}sets: {}", by_coverage.iter().map(one).collect::<Vec<_>>().join(", "))
    }));
    lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| writeln!(out)).map_err(stdout)
}

/// Prints one experiment, or several with the means over all of them, as JSON.
pub(crate) fn print_json(results: &[Results], out: &mut impl Write) -> Result<(), Error> {
    #[derive(Serialize)]
    struct All<'a> {
        /// Means of the experiments' means.
        means: BTreeMap<&'a str, f64>,
        experiments: &'a [Figures],
    }
    let figures: Vec<Figures> = results.iter().map(Figures::new).collect();
    let text = if let [one] = figures.as_slice() {
        serde_json::to_string_pretty(one)
    } else {
        let names: BTreeSet<&str> =
            figures.iter().flat_map(|one| one.means.keys().map(String::as_str)).collect();
        let mean_of = |name: &str| {
            mean(&figures.iter().filter_map(|one| one.means.get(name).copied()).collect::<Vec<f64>>())
        };
        let means = names.into_iter().map(|name| (name, mean_of(name))).collect();
        serde_json::to_string_pretty(&All { means, experiments: &figures })
    };
    writeln!(out, "{}", text.expect("maps of text and numbers become JSON")).map_err(stdout)
}

/// Prints Example 3 at a few exponents, or its whole curve as JSON.
pub(crate) fn print_example(json: bool, out: &mut impl Write) -> Result<(), Error> {
    if json {
        #[derive(Serialize)]
        struct Fused {
            exponent: f64,
            possibility: [f64; 3],
        }
        let fused = |(exponent, possibility)| Fused { exponent, possibility };
        let curve: Vec<Fused> = example3::curve().into_iter().map(fused).collect();
        let text = serde_json::to_string_pretty(&curve).expect("numbers become JSON");
        return writeln!(out, "{text}").map_err(stdout);
    }
    let line = |(exponent, [a, b, c]): (f64, [f64; 3])| format!("{exponent:>8}{a:10.4}{b:10.4}{c:10.4}");
    let head = format!("{:>8}{:>10}{:>10}{:>10}", "exponent", "class 1", "class 2", "class 3");
    let lines: Vec<String> = example3::landmarks().into_iter().map(line).collect();
    writeln!(out, "{head}\n{}", lines.join("\n")).map_err(stdout)
}

/// Says what was written.
pub(crate) fn print_written(paths: &[PathBuf], out: &mut impl Write) -> Result<(), Error> {
    paths.iter().try_for_each(|path| writeln!(out, "wrote {}", path.display())).map_err(stdout)
}

/// Nobody takes what is printed.
pub(crate) fn stdout(source: io::Error) -> Error {
    Error::Io { path: "standard output".into(), source }
}
