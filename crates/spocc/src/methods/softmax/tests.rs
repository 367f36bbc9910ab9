//! Tests of the solver against finite differences, closed forms and its own invariances.

use crate::math::log_normalise;
use std::{convert::Infallible, sync::Arc};

use super::{newton::NewtonSolver, *};

/// Distance of two solutions that are both within the tolerance.
const CLOSE: f64 = 2.0 * newton::TOLERANCE;

/// Features and outcomes.
type WeightedPattern = (Vec<(u32, f64)>, Vec<(u16, f64)>);

fn problem(n_features: usize, n_classes: u16, rows: &[WeightedPattern]) -> SoftmaxProblem {
    let entries = |(row, (features, _)): (u32, &WeightedPattern)| {
        features.iter().map(|&(feature, value)| (row, feature, value)).collect::<Vec<_>>()
    };
    let entries: Vec<(u32, u32, f64)> = (0..).zip(rows).flat_map(entries).collect();
    let design = Arc::new(Design::new(n_features, 1, rows.len(), &entries));
    let mut problem = SoftmaxProblem::new(design, n_classes.into());
    for (row, (_, outcomes)) in (0..).zip(rows) {
        problem.push(row, outcomes.iter().copied());
    }
    problem
}

/// Two classifiers of three labels and a number, out of order; every class overlaps with others.
fn mixed_rows(n_classes: u16) -> Vec<WeightedPattern> {
    let row = |at: u16| {
        let features = [(6, f64::from(at % 5) - 1.5), (at % 3, 1.0), (3 + at / 3 % 3, 1.0)];
        let features = features.map(|(feature, value)| (u32::from(feature), value)).to_vec();
        (features, vec![(at % n_classes, f64::from(2 + at % 4)), (2 * at % n_classes, 1.0)])
    };
    (0..18).map(row).collect()
}

/// Largest entry of the gradient, from the log-probabilities alone.
fn steepest(rows: &[WeightedPattern], n_classes: u16, c: f64, model: &Softmax) -> f64 {
    let n = model.intercept.len();
    let mut gradient = [vec![0.0; n], model.coef.clone()].concat();
    let mut p = vec![0.0; n_classes.into()];
    for (features, outcomes) in rows {
        model.scores(features.iter().copied(), &mut p);
        log_normalise(&mut p);
        for (output, (class, p)) in (0..n_classes).zip(&p).skip(p.len() - n).enumerate() {
            let errors = outcomes.iter().map(|&(seen, weight)| weight * (p.exp() - f64::from(seen == class)));
            let slope = c * errors.sum::<f64>();
            gradient[output] += slope;
            for &(feature, value) in features {
                gradient[(feature as usize + 1) * n + output] += slope * value;
            }
        }
    }
    distance(&gradient, &vec![0.0; gradient.len()])
}

fn distance(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).fold(0.0, |max, (l, r)| if (l - r).abs() <= max { max } else { (l - r).abs() })
}

fn assert_close(left: &Softmax, right: &Softmax) {
    assert!(distance(&left.coef, &right.coef) < CLOSE && distance(&left.intercept, &right.intercept) < CLOSE);
}

fn assert_differences<const N: usize>(n_classes: u16) {
    const STEP: f64 = 1e-5;
    let problem = problem(7, n_classes, &mixed_rows(n_classes));
    let mut solver = NewtonSolver::<N>::new(&problem);
    solver.set_strength(0.7);
    let (n, stride) = (problem.n_outputs(), solver.stride());
    let is_output = |i: usize| i % stride < n;
    let at: Vec<f64> = (0..8 * stride).map(|i| if is_output(i) { (i as f64).sin() } else { 0.0 }).collect();
    for i in (0..at.len()).filter(|&i| is_output(i)) {
        let [before, here, after] = [-STEP, 0.0, STEP].map(|step| {
            let mut moved = at.clone();
            moved[i] += step;
            solver.evaluate(moved)
        });
        assert!(((after.objective - before.objective) / (2.0 * STEP) - here.gradient[i]).abs() < 1e-7);
        let bend: Vec<f64> =
            after.gradient.iter().zip(&before.gradient).map(|(a, b)| (a - b) / (2.0 * STEP)).collect();
        let mut unit = vec![0.0; at.len()];
        unit[i] = 1.0;
        let mut column = unit.clone();
        solver.evaluate(at.clone());
        solver.curvature_times(&unit, &mut column, &mut newton::CurvatureScratch::default());
        assert!(distance(&bend, &column) < 1e-7);
    }
}

#[test]
fn gradient_and_curvature_agree_with_finite_differences() {
    assert_differences::<1>(2);
    assert_differences::<4>(3);
    assert_differences::<4>(5);
    assert_differences::<8>(5);
}

#[test]
fn the_gradient_is_zero_at_the_optimum() {
    for (n_classes, c) in [(2, 0.01), (2, 100.0), (3, 1.0), (5, 0.01), (5, 100.0)] {
        let rows = mixed_rows(n_classes);
        let model = problem(7, n_classes, &rows).solve(c);
        assert!(steepest(&rows, n_classes, c, &model) < 1e-7);
        assert!(n_classes == 2 || model.intercept.iter().sum::<f64>().abs() < 1e-12);
    }
    // Too many features for full blocks.
    let rows: Vec<WeightedPattern> =
        (0..60).map(|i: u16| (vec![(i.into(), 1.0), (60, 0.5)], vec![(i % 3, 1.0)])).collect();
    let wide = problem(61, 3, &rows);
    assert_eq!(preconditioner::Blocks::new(&NewtonSolver::<4>::new(&wide)).side, 1);
    assert!(steepest(&rows, 3, 10.0, &wide.solve(10.0)) < 1e-7);
}

#[test]
fn small_cases_have_the_solutions_of_pen_and_paper() {
    let two = problem(0, 2, &[(vec![], vec![(0, 3.0), (1, 12.0)])]).solve(1.0);
    assert!(distance(&two.intercept, &[4_f64.ln()]) < CLOSE);
    let three = problem(0, 3, &[(vec![], vec![(0, 1.0), (1, 2.0), (2, 4.0)])]).solve(1.0);
    assert!(distance(&three.intercept, &[-2_f64.ln(), 0.0, 2_f64.ln()]) < CLOSE);
    // Mirror images: no intercept, and w = 2 C / (1 + e^w), which w = 1 solves at this C.
    let rows = [(vec![(0, 1.0)], vec![(1, 1.0)]), (vec![(0, -1.0)], vec![(0, 1.0)])];
    let mirror = problem(1, 2, &rows).solve(f64::midpoint(1.0, 1_f64.exp()));
    assert_close(&mirror, &Softmax { coef: vec![1.0], intercept: vec![0.0] });
    let mut log = [0.0; 2];
    mirror.scores([(0, 1.0)].into_iter(), &mut log);
    log_normalise(&mut log);
    assert!((log[1] + (-1_f64).exp().ln_1p()).abs() < CLOSE && (log[1] - log[0] - 1.0).abs() < CLOSE);
    let certain = problem(1, 1, &[(vec![(0, 1.0)], vec![(0, 5.0)])]).solve(1.0);
    assert_eq!(certain, Softmax { coef: vec![0.0], intercept: vec![0.0] });
}

#[test]
fn a_weight_is_a_number_of_repetitions() {
    let rows = mixed_rows(3);
    let mut repeated = Vec::new();
    for (features, outcomes) in &rows {
        for &(class, weight) in outcomes {
            repeated.extend(vec![(features.clone(), vec![(class, 1.0)]); weight as usize]);
        }
    }
    assert_close(&problem(7, 3, &rows).solve(2.0), &problem(7, 3, &repeated).solve(2.0));
}

#[test]
fn a_warm_start_leads_to_the_same_optimum() {
    for n_classes in [2, 4] {
        let problem = problem(7, n_classes, &mixed_rows(n_classes));
        let cold = problem.solve(3.0);
        for c in [0.01, 2.7, 100.0] {
            let mut path = Vec::new();
            let Ok(()) = problem.solve_path(&[c, 2.0, 9.0, 0.3, 1.0, 3.0], |softmax| {
                path.push(softmax.clone());
                Ok::<(), Infallible>(())
            });
            assert_close(&path[5], &cold);
        }
    }
}

#[test]
fn renaming_classes_renames_the_outputs() {
    let rows = mixed_rows(4);
    let mut renamed = rows.clone();
    renamed.iter_mut().flat_map(|row| &mut row.1).for_each(|outcome| outcome.0 = (outcome.0 + 1) % 4);
    let mut model = problem(7, 4, &renamed).solve(5.0);
    model.coef.chunks_exact_mut(4).for_each(|outputs| outputs.rotate_left(1));
    model.intercept.rotate_left(1);
    assert_close(&model, &problem(7, 4, &rows).solve(5.0));
}

#[test]
fn extreme_strengths_stay_finite() {
    let rows = mixed_rows(3);
    for c in [f64::MIN_POSITIVE, 1e-100, 1e15, 1e100, f64::MAX] {
        let model = problem(7, 3, &rows).solve(c);
        assert!(model.coef.iter().chain(&model.intercept).all(|value| value.is_finite()), "{c}");
    }
}

#[test]
fn extreme_problems_stay_finite() {
    for (n_classes, c) in [(2, 0.01), (2, 100.0), (3, 0.01), (3, 100.0), (40, 0.01), (40, 100.0)] {
        for weights in [[1.0, 1.0], [1e12, 1e12], [1e-9, 1e-9], [1e-9, 1e12]] {
            // A number and its copy, a constant, and a feature that never occurs; separable, then all alike.
            for spread in [1, 0] {
                let row = |class: u16| {
                    let number = f64::from(class * spread);
                    let outcome = (class, weights[usize::from(class % 2)]);
                    (vec![(0, number), (1, number), (2, 1.0)], vec![outcome])
                };
                let rows: Vec<WeightedPattern> = (0..n_classes).map(row).collect();
                let model = problem(4, n_classes, &rows).solve(c);
                assert!(model.coef.iter().chain(&model.intercept).all(|value| value.is_finite()));
                let outputs: Vec<&[f64]> = model.coef.chunks_exact(model.intercept.len()).collect();
                assert!(
                    distance(outputs[0], outputs[1]) < 1e-6 && outputs[3].iter().all(|&value| value == 0.0)
                );
                let scale = c * weights[1] * f64::from(n_classes * n_classes);
                assert!(steepest(&rows, n_classes, c, &model) < 1e-6 + 1e-13 * scale);
            }
        }
    }
}

/// Rows of 2^61 hide the penalty at every strength of a search, which is one solution then and not a hundred.
#[test]
fn strengths_at_which_the_penalty_is_lost_share_a_solution() {
    let row = |at: u16| {
        let features = [at % 3, 3 + at / 2 % 3, 6 + at / 3 % 3].map(|feature| (u32::from(feature), 1.0));
        (features.to_vec(), vec![(at % 3, 2.3e18 - f64::from(at))])
    };
    let rows: Vec<WeightedPattern> = (0..8).map(row).collect();
    let strengths: Vec<f64> = (0..101).map(|at| 0.01 * 10_f64.powf(f64::from(at) / 25.0)).collect();
    let mut path = Vec::new();
    let Ok(()) = problem(9, 3, &rows).solve_path(&strengths, |softmax| {
        path.push(softmax.clone());
        Ok::<(), Infallible>(())
    });
    assert!(path.len() == 101 && path.iter().all(|softmax| *softmax == path[0]));
    let mut scores = [0.0; 3];
    for (features, outcomes) in &rows {
        path[0].scores(features.iter().copied(), &mut scores);
        let best = (0..3).max_by(|&a, &b| scores[usize::from(a)].total_cmp(&scores[usize::from(b)]));
        assert_eq!(best, Some(outcomes[0].0), "{scores:?}");
    }
}
