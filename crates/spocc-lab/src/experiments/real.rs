//! Experiments on real datasets (paper, section 4.3): six classifiers, each trained on one part of the training half,
//! split along the first principal component of every class, and two noisy copies of the first.

use std::{collections::BTreeMap, fs, path::PathBuf};

use ndarray::Axis;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::{
    coverage,
    datasets::Dataset,
    error::Error,
    evaluation::FittedMethods,
    experiments::{ExperimentSettings, Unit, hold_out, n_held_out},
    learners::{Classifier, Learner, Logistic, first_component},
    panel::{Corruption, PanelPredictions},
    protocol::Protocol,
    random,
    results::{Results, ResultsHeader, RunOutcome},
};

/// Parts of the training half.
pub(crate) const N_PARTS: usize = 6;
/// Noisy copies of the first classifier, and the share of their predictions that is redrawn.
const N_COPIES: u64 = 2;
pub(crate) const COPY_NOISE: f64 = 0.01;
const N_FOLDS: u32 = 2;

/// Purposes of random draws.
const STREAM: u64 = 0x4ea1;
const FOLDS: u64 = 1;
const HOLDING_OUT: u64 = 2;

/// The predictions of the classifiers of one fold.
pub(crate) struct FoldPredictions {
    /// On the rows that the methods are fitted to.
    pub(crate) validation: PanelPredictions,
    /// On the test half.
    pub(crate) test: PanelPredictions,
}

/// The units of a repeated cross-validation.
pub(crate) fn units(reps: u32, points: &[Vec<f64>]) -> Vec<Unit> {
    let unit = |rep: u32, fold: u32| Unit { rep, fold, points: points.to_vec() };
    (0..reps)
        .flat_map(|rep| (0..N_FOLDS).map(move |fold| (rep, fold)))
        .map(|(rep, fold)| unit(rep, fold))
        .collect()
}

/// The number of validation rows of every fold, at least.
pub(crate) fn n_validation(dataset: &Dataset) -> usize {
    let of_class = |class: usize| match rows_of(dataset, class).count() / 2 / N_PARTS {
        0 => 0,
        size => N_PARTS * n_held_out(size),
    };
    (0..dataset.n_classes).map(of_class).sum()
}

/// Runs the missing repetitions of the paper's experiment on a dataset.
pub(crate) fn run(run: &ExperimentSettings<'_>, dataset: &Dataset) -> Result<Results, Error> {
    let header = header(run, dataset, format!("real-{}", dataset.name));
    let work = |unit: &Unit| {
        let FoldPredictions { validation, test } = prepare(run, dataset, unit);
        let methods = FittedMethods::new(run.protocol, &validation, validation.columns.len())?;
        let mut confusion = BTreeMap::new();
        methods.count_confusion(&test, &mut confusion)?;
        let sets = match run.protocol {
            Protocol::Honest => coverage::evaluate_sets(
                run.protocol,
                &validation,
                &test,
                corruption_stream(dataset, unit, 0) ^ run.seed,
            )?,
            // Retrained classifiers are not exchangeable with those used for calibration.
            Protocol::Authors => BTreeMap::new(),
        };
        let best = (0..N_PARTS).map(|column| test.accuracy(column)).fold(0.0, f64::max);
        let references = BTreeMap::from([
            ("best-base".to_owned(), best),
            ("centralised".to_owned(), centralised(run, dataset, unit)),
        ]);
        let outcome = RunOutcome {
            rep: unit.rep,
            fold: unit.fold,
            at: 0.0,
            confusion,
            references,
            log_loss: methods.log_loss(&test)?,
            fit_seconds: methods.fit_seconds,
            sets,
            ..RunOutcome::default()
        };
        Ok(vec![vec![outcome]])
    };
    let mut results = run.complete(vec![header], &units(run.reps, &[vec![0.0]]), work)?;
    Ok(results.remove(0))
}

/// Trains the classifiers of one fold and collects their predictions.
pub(crate) fn prepare(run: &ExperimentSettings<'_>, dataset: &Dataset, unit: &Unit) -> FoldPredictions {
    let [train, test] = halves(run.seed, dataset, unit);
    let path = [STREAM, name_of(dataset), u64::from(unit.rep), u64::from(unit.fold), HOLDING_OUT];
    let mut draws = random::stream(run.seed, &path);
    let split = |part: Vec<usize>| hold_out(&part, &dataset.classes, dataset.n_classes, &mut draws);
    let parts: Vec<(Vec<usize>, Vec<usize>)> = parts(dataset, &train).into_iter().map(split).collect();
    let mut validation: Vec<usize> =
        parts.iter().flat_map(|(held_out, _)| held_out.iter().copied()).collect();
    validation.sort_unstable();
    let predicted: Vec<(Vec<u16>, Vec<u16>)> = parts
        .par_iter()
        .map(|(held_out, rest)| {
            let classifier = fit(dataset, rest);
            let validated = predict(&*classifier, dataset, &validation);
            let tested = match run.protocol {
                Protocol::Honest => predict(&*classifier, dataset, &test),
                Protocol::Authors => {
                    predict(&*fit(dataset, &[held_out.as_slice(), rest].concat()), dataset, &test)
                }
            };
            (validated, tested)
        })
        .collect();
    let (validated, tested) = predicted.into_iter().unzip();
    let panel = |rows: &[usize], columns: Vec<Vec<u16>>| {
        let mut panel = PanelPredictions {
            n_classes: dataset.n_classes,
            truth: rows.iter().map(|&row| dataset.classes[row]).collect(),
            ids: rows.iter().map(|&row| row as u64).collect(),
            columns,
        };
        for copy in 0..N_COPIES {
            let stream = corruption_stream(dataset, unit, copy);
            panel.add_corrupted(0, Corruption::Noisy(COPY_NOISE), run.seed, stream);
        }
        panel
    };
    FoldPredictions { validation: panel(&validation, validated), test: panel(&test, tested) }
}

/// Writes the predictions of every fold as CSV: row number, truth, then one column per classifier.
pub(crate) fn write_panels(run: &ExperimentSettings<'_>, dataset: &Dataset) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(run.out).map_err(Error::io(run.out))?;
    let write = |unit: &Unit| {
        let FoldPredictions { validation, test } = prepare(run, dataset, unit);
        let name = |part: &str| format!("{}-{}-{}-{part}.csv", dataset.name, unit.rep, unit.fold);
        let paths = [run.out.join(name("validation")), run.out.join(name("test"))];
        for (path, panel) in paths.iter().zip([validation, test]) {
            fs::write(path, panel.to_csv()).map_err(Error::io(path))?;
        }
        Ok(paths)
    };
    let written: Vec<[PathBuf; 2]> =
        units(run.reps, &[vec![0.0]]).iter().map(write).collect::<Result<_, Error>>()?;
    Ok(written.into_iter().flatten().collect())
}

/// The stream of random draws of one added classifier.
pub(crate) fn corruption_stream(dataset: &Dataset, unit: &Unit, added: u64) -> u64 {
    random::mix(name_of(dataset) ^ random::mix(u64::from(unit.rep) << 1 | u64::from(unit.fold))) ^ added
}

/// A header with a hash of the data.
pub(crate) fn header(run: &ExperimentSettings<'_>, dataset: &Dataset, experiment: String) -> ResultsHeader {
    let values = dataset.rows.iter().map(|value| value.to_bits());
    let classes = dataset.classes.iter().map(|&class| u64::from(class));
    let hash = values.chain(classes).fold(dataset.rows.nrows() as u64, |hash, bits| random::mix(hash ^ bits));
    ResultsHeader {
        data: format!("{hash:016x}"),
        ..run.header(experiment, dataset.n_classes, dataset.is_subset)
    }
}

/// Accuracy of one regression trained on the whole training half.
fn centralised(run: &ExperimentSettings<'_>, dataset: &Dataset, unit: &Unit) -> f64 {
    let [train, test] = halves(run.seed, dataset, unit);
    let predicted = predict(&*fit(dataset, &train), dataset, &test);
    let correct = predicted.iter().zip(&test).filter(|(j, row)| **j == dataset.classes[**row]).count();
    correct as f64 / test.len() as f64
}

fn fit(dataset: &Dataset, rows: &[usize]) -> Box<dyn Classifier> {
    let classes: Vec<u16> = rows.iter().map(|&row| dataset.classes[row]).collect();
    Logistic { strength: 1.0 }.fit(dataset.rows.select(Axis(0), rows).view(), &classes, dataset.n_classes)
}

fn predict(classifier: &dyn Classifier, dataset: &Dataset, rows: &[usize]) -> Vec<u16> {
    classifier.predict(dataset.rows.select(Axis(0), rows).view())
}

fn name_of(dataset: &Dataset) -> u64 {
    dataset.name.bytes().fold(0, |hash, byte| random::mix(hash ^ u64::from(byte)))
}

/// Training and test half of a fold, stratified: every class is shuffled and its rows alternate between the halves.
fn halves(seed: u64, dataset: &Dataset, unit: &Unit) -> [Vec<usize>; 2] {
    let mut draws = random::stream(seed, &[STREAM, name_of(dataset), u64::from(unit.rep), FOLDS]);
    let mut halves = [Vec::new(), Vec::new()];
    let mut turn = unit.fold as usize;
    for class in 0..dataset.n_classes {
        let mut rows: Vec<usize> = rows_of(dataset, class).collect();
        rows.shuffle(&mut draws);
        for row in rows {
            halves[turn].push(row);
            turn = 1 - turn;
        }
    }
    halves.iter_mut().for_each(|half| half.sort_unstable());
    halves
}

fn rows_of(dataset: &Dataset, class: usize) -> impl Iterator<Item = usize> + '_ {
    let is_own = move |row: &usize| usize::from(dataset.classes[*row]) == class;
    (0..dataset.classes.len()).filter(is_own)
}

/// Rows of each part: every class is sorted along its first principal component and cut into equal parts; the
/// remainder is dropped.
fn parts(dataset: &Dataset, train: &[usize]) -> Vec<Vec<usize>> {
    let mut parts = vec![Vec::new(); N_PARTS];
    for class in 0..dataset.n_classes {
        let own: Vec<usize> =
            train.iter().copied().filter(|&row| usize::from(dataset.classes[row]) == class).collect();
        let features = dataset.rows.select(Axis(0), &own);
        let projected = features.dot(&first_component(features.view()));
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by(|&a, &b| projected[a].total_cmp(&projected[b]).then(a.cmp(&b)));
        let size = own.len() / N_PARTS;
        for (part, rows) in parts.iter_mut().zip(order.chunks(size.max(1))).filter(|_| size > 0) {
            part.extend(rows.iter().map(|&at| own[at]));
        }
    }
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    fn dataset(n: usize) -> Dataset {
        let classes: Vec<u16> = (0..n).map(|row| (row % 3) as u16).collect();
        let value = |(row, column): (usize, usize)| {
            let noise = random::uniform(9, &[row as u64, column as u64]);
            noise + if column == usize::from(classes[row]) { 0.6 } else { 0.0 }
        };
        let rows = Array2::from_shape_fn((n, 4), value);
        Dataset { name: "digits", rows, classes, n_classes: 3, is_subset: false }
    }

    fn unit(fold: u32) -> Unit {
        Unit { rep: 0, fold, points: vec![vec![0.0]] }
    }

    #[test]
    fn halves_are_stratified_and_folds_exchange_them() {
        let dataset = dataset(601);
        let [train, test] = halves(1, &dataset, &unit(0));
        let [other_train, other_test] = halves(1, &dataset, &unit(1));
        assert_eq!((&train, &test), (&other_test, &other_train));
        let of = |rows: &[usize], class| rows.iter().filter(|&&row| dataset.classes[row] == class).count();
        for class in 0..3 {
            assert!(of(&train, class).abs_diff(of(&test, class)) <= 1);
        }
        let mut all = [train, test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..601).collect::<Vec<usize>>());
    }

    #[test]
    fn parts_are_equal_disjoint_and_ordered_along_the_component() {
        let dataset = dataset(300);
        let train: Vec<usize> = (0..300).collect();
        let parts = parts(&dataset, &train);
        assert_eq!(parts.len(), N_PARTS);
        let mut seen = parts.concat();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 3 * (100 / 6) * 6);
        let own: Vec<usize> = rows_of(&dataset, 1).collect();
        let component = first_component(dataset.rows.select(Axis(0), &own).view());
        let along = |part: &[usize]| -> Vec<f64> {
            let rows = part.iter().filter(|&&row| dataset.classes[row] == 1);
            rows.map(|&row| dataset.rows.row(row).dot(&component)).collect()
        };
        for pair in parts.windows(2) {
            let last = along(&pair[0]).into_iter().fold(f64::MIN, f64::max);
            let first = along(&pair[1]).into_iter().fold(f64::MAX, f64::min);
            assert!(last <= first, "{last} {first}");
        }
    }

    #[test]
    fn a_fold_has_eight_classifiers_and_validation_rows_apart_from_test_rows() {
        let dataset = dataset(600);
        let out = std::path::Path::new("");
        for protocol in [Protocol::Honest, Protocol::Authors] {
            let run = ExperimentSettings { protocol, seed: 1, reps: 1, out };
            let FoldPredictions { validation, test } = prepare(&run, &dataset, &unit(0));
            assert_eq!((validation.columns.len(), test.columns.len()), (8, 8));
            assert_eq!(test.n_rows(), 300);
            // Of each part of 16 rows a class, 3 are held out.
            assert_eq!(validation.n_rows(), N_PARTS * 3 * 3);
            assert_eq!(n_validation(&dataset), validation.n_rows());
            assert!(validation.ids.iter().all(|id| !test.ids.contains(id)));
        }
    }
}
