//! Experiments on real datasets (paper, section 4.3): six classifiers, each trained on its own part of the training half,
//! cut along the first principal component of every class, and two noisy copies of the first.

use std::{collections::BTreeMap, fs, path::PathBuf};

use ndarray::Axis;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::{
    contest::Contest,
    coverage,
    datasets::Dataset,
    draw,
    error::Error,
    experiments::{Run, Unit, hold_out, n_held},
    learners::{Classifier, Learner, Logistic, first_component},
    panel::{Answers, Corruption},
    results::{Heading, Outcome, Results},
    setting::Setting,
};

/// Parts of the training half.
pub(crate) const N_PARTS: usize = 6;
/// Noisy copies of the first classifier, and how noisy.
const N_COPIES: u64 = 2;
pub(crate) const COPY_NOISE: f64 = 0.01;
const N_FOLDS: u32 = 2;

/// Purposes of random draws.
const STREAM: u64 = 0x4ea1;
const FOLDS: u64 = 1;
const HOLDING_OUT: u64 = 2;

/// What the classifiers of one fold say.
pub(crate) struct Prepared {
    /// Of the rows that the combination is learned on.
    pub(crate) validation: Answers,
    /// Of the half that nobody saw.
    pub(crate) test: Answers,
}

/// Repetitions of a cross-validation.
pub(crate) fn units(reps: u32, points: &[Vec<f64>]) -> Vec<Unit> {
    let unit = |rep: u32, fold: u32| Unit { rep, fold, points: points.to_vec() };
    (0..reps)
        .flat_map(|rep| (0..N_FOLDS).map(move |fold| (rep, fold)))
        .map(|(rep, fold)| unit(rep, fold))
        .collect()
}

/// Validation rows that every fold has at least.
pub(crate) fn n_validation(dataset: &Dataset) -> usize {
    let of_class = |class: usize| match rows_of(dataset, class).count() / 2 / N_PARTS {
        0 => 0,
        size => N_PARTS * n_held(size),
    };
    (0..dataset.n_classes).map(of_class).sum()
}

/// Runs the paper's protocol on a dataset, or what is left of it.
pub(crate) fn run(run: &Run<'_>, dataset: &Dataset) -> Result<Results, Error> {
    let heading = heading(run, dataset, format!("real-{}", dataset.name));
    let work = |unit: &Unit| {
        let Prepared { validation, test } = prepare(run, dataset, unit);
        let contest = Contest::new(run.setting, &validation, validation.columns.len())?;
        let mut confusion = BTreeMap::new();
        contest.judge(&test, &mut confusion)?;
        let sets = match run.setting {
            Setting::Honest => {
                coverage::judge(run.setting, &validation, &test, spoiler(dataset, unit, 0) ^ run.seed)?
            }
            // Classifiers that are trained again do not answer as those that were calibrated with.
            Setting::Authors => BTreeMap::new(),
        };
        let best = (0..N_PARTS).map(|column| test.accuracy(column)).fold(0.0, f64::max);
        let references = BTreeMap::from([
            ("best-base".to_owned(), best),
            ("centralised".to_owned(), centralised(run, dataset, unit)),
        ]);
        let outcome = Outcome {
            rep: unit.rep,
            fold: unit.fold,
            at: 0.0,
            confusion,
            references,
            log_loss: contest.log_loss(&test)?,
            fit_seconds: contest.fit_seconds,
            sets,
        };
        Ok(vec![vec![outcome]])
    };
    let mut results = run.complete(vec![heading], &units(run.reps, &[vec![0.0]]), work)?;
    Ok(results.remove(0))
}

/// Trains the classifiers of one fold and asks them.
pub(crate) fn prepare(run: &Run<'_>, dataset: &Dataset, unit: &Unit) -> Prepared {
    let [train, test] = halves(run.seed, dataset, unit);
    let path = [STREAM, name_of(dataset), u64::from(unit.rep), u64::from(unit.fold), HOLDING_OUT];
    let mut draws = draw::stream(run.seed, &path);
    let split = |part: Vec<usize>| hold_out(&part, &dataset.classes, dataset.n_classes, &mut draws);
    let parts: Vec<(Vec<usize>, Vec<usize>)> = parts(dataset, &train).into_iter().map(split).collect();
    let mut validation: Vec<usize> = parts.iter().flat_map(|(held, _)| held.iter().copied()).collect();
    validation.sort_unstable();
    let asked: Vec<(Vec<u16>, Vec<u16>)> = parts
        .par_iter()
        .map(|(held, left)| {
            let classifier = fit(dataset, left);
            let validated = ask(&*classifier, dataset, &validation);
            let tested = match run.setting {
                Setting::Honest => ask(&*classifier, dataset, &test),
                Setting::Authors => ask(&*fit(dataset, &[held.as_slice(), left].concat()), dataset, &test),
            };
            (validated, tested)
        })
        .collect();
    let (validated, tested) = asked.into_iter().unzip();
    let answers = |rows: &[usize], columns: Vec<Vec<u16>>| {
        let mut answers = Answers {
            n_classes: dataset.n_classes,
            truth: rows.iter().map(|&row| dataset.classes[row]).collect(),
            ids: rows.iter().map(|&row| row as u64).collect(),
            columns,
        };
        for copy in 0..N_COPIES {
            answers.add_spoiled(0, Corruption::Noisy(COPY_NOISE), run.seed, spoiler(dataset, unit, copy));
        }
        answers
    };
    Prepared { validation: answers(&validation, validated), test: answers(&test, tested) }
}

/// Writes what the classifiers of every fold say, as tables of a column each after the row's number and truth.
pub(crate) fn write_panels(run: &Run<'_>, dataset: &Dataset) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(run.out).map_err(Error::io(run.out))?;
    let write = |unit: &Unit| {
        let Prepared { validation, test } = prepare(run, dataset, unit);
        let name = |part: &str| format!("{}-{}-{}-{part}.csv", dataset.name, unit.rep, unit.fold);
        let paths = [run.out.join(name("validation")), run.out.join(name("test"))];
        for (path, answers) in paths.iter().zip([validation, test]) {
            fs::write(path, answers.to_csv()).map_err(Error::io(path))?;
        }
        Ok(paths)
    };
    let written: Vec<[PathBuf; 2]> =
        units(run.reps, &[vec![0.0]]).iter().map(write).collect::<Result<_, Error>>()?;
    Ok(written.into_iter().flatten().collect())
}

/// Tells the draws of an added classifier from those of all others.
pub(crate) fn spoiler(dataset: &Dataset, unit: &Unit, added: u64) -> u64 {
    draw::mix(name_of(dataset) ^ draw::mix(u64::from(unit.rep) << 1 | u64::from(unit.fold))) ^ added
}

/// A heading that knows the very data.
pub(crate) fn heading(run: &Run<'_>, dataset: &Dataset, experiment: String) -> Heading {
    let values = dataset.rows.iter().map(|value| value.to_bits());
    let classes = dataset.classes.iter().map(|&class| u64::from(class));
    let hash = values.chain(classes).fold(dataset.rows.nrows() as u64, |hash, bits| draw::mix(hash ^ bits));
    Heading { data: format!("{hash:016x}"), ..run.heading(experiment, dataset.n_classes, dataset.is_subset) }
}

/// Accuracy of one regression on the whole training half.
fn centralised(run: &Run<'_>, dataset: &Dataset, unit: &Unit) -> f64 {
    let [train, test] = halves(run.seed, dataset, unit);
    let answers = ask(&*fit(dataset, &train), dataset, &test);
    let right = answers.iter().zip(&test).filter(|(answer, row)| **answer == dataset.classes[**row]).count();
    right as f64 / test.len() as f64
}

fn fit(dataset: &Dataset, rows: &[usize]) -> Box<dyn Classifier> {
    let classes: Vec<u16> = rows.iter().map(|&row| dataset.classes[row]).collect();
    Logistic { strength: 1.0 }.fit(dataset.rows.select(Axis(0), rows).view(), &classes, dataset.n_classes)
}

fn ask(classifier: &dyn Classifier, dataset: &Dataset, rows: &[usize]) -> Vec<u16> {
    classifier.predict(dataset.rows.select(Axis(0), rows).view())
}

fn name_of(dataset: &Dataset) -> u64 {
    dataset.name.bytes().fold(0, |hash, byte| draw::mix(hash ^ u64::from(byte)))
}

/// Training and test half of a fold: every class is shuffled and dealt out in turn.
fn halves(seed: u64, dataset: &Dataset, unit: &Unit) -> [Vec<usize>; 2] {
    let mut draws = draw::stream(seed, &[STREAM, name_of(dataset), u64::from(unit.rep), FOLDS]);
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

/// Rows of each part: every class sorted along its first principal component and cut, what is left over dropped.
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
            let noise = draw::uniform(9, &[row as u64, column as u64]);
            noise + if column == usize::from(classes[row]) { 0.6 } else { 0.0 }
        };
        let rows = Array2::from_shape_fn((n, 4), value);
        Dataset { name: "digits", rows, classes, n_classes: 3, is_subset: false }
    }

    fn unit(fold: u32) -> Unit {
        Unit { rep: 0, fold, points: vec![vec![0.0]] }
    }

    #[test]
    fn halves_share_every_class_and_folds_exchange_them() {
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
    fn a_fold_gives_eight_classifiers_and_rows_that_no_training_saw() {
        let dataset = dataset(600);
        let out = std::path::Path::new("");
        for setting in [Setting::Honest, Setting::Authors] {
            let run = Run { setting, seed: 1, reps: 1, out };
            let Prepared { validation, test } = prepare(&run, &dataset, &unit(0));
            assert_eq!((validation.columns.len(), test.columns.len()), (8, 8));
            assert_eq!(test.n_rows(), 300);
            // Of each part of 16 rows a class, 3 are held out.
            assert_eq!(validation.n_rows(), N_PARTS * 3 * 3);
            assert_eq!(n_validation(&dataset), validation.n_rows());
            assert!(validation.ids.iter().all(|id| !test.ids.contains(id)));
        }
    }
}
