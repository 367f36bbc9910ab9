//! Comparison of the learners with scikit-learn on the cases of `testdata/lab`.

use ndarray::{Array1, Array2};
use serde::Deserialize;

use super::{
    Classifier, Learner, Logistic, Neighbours, Svm, Tree, first_component, logistic_loss::LogisticProblem,
    tree::TreeNode,
};

#[derive(Deserialize)]
struct Cases {
    logistic: Vec<LogisticCase>,
    tree: Vec<TreeCase>,
    svm: SvmCase,
    neighbours: NeighboursCase,
    principal: PrincipalCase,
}

#[derive(Deserialize)]
struct LogisticCase {
    rows: Vec<Vec<f64>>,
    classes: Vec<u16>,
    strength: f64,
    weights: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    objective: f64,
}

#[derive(Deserialize)]
struct TreeCase {
    max_depth: usize,
    rows: Vec<Vec<f64>>,
    classes: Vec<u16>,
    nodes: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    answers: Vec<u16>,
}

#[derive(Deserialize)]
struct SvmCase {
    gamma: f64,
    strength: f64,
    rows: Vec<Vec<f64>>,
    classes: Vec<u16>,
    points: Vec<Vec<f64>>,
    decisions: Vec<f64>,
    answers: Vec<u16>,
}

#[derive(Deserialize)]
struct NeighboursCase {
    k: usize,
    rows: Vec<Vec<f64>>,
    classes: Vec<u16>,
    points: Vec<Vec<f64>>,
    answers: Vec<u16>,
}

#[derive(Deserialize)]
struct PrincipalCase {
    rows: Vec<Vec<f64>>,
    component: Vec<f64>,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../../../../testdata/lab/learners.json"))
        .expect("the file was written by make.py")
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).expect("rows are of one length")
}

#[test]
fn logistic_regression_finds_the_minimum_of_scikit_learn() {
    /// Relative to the largest weight of the same feature, since their units differ by ten thousand.
    const TOLERANCE: f64 = 1e-5;
    for case in cases().logistic {
        let rows = matrix(&case.rows);
        let found = Logistic { strength: case.strength }.train(rows.view(), &case.classes);
        let expected = matrix(&case.weights);
        for (found, expected) in found.weights.outer_iter().zip(expected.outer_iter()) {
            let scale = expected.iter().fold(0.0f64, |scale, weight| scale.max(weight.abs()));
            let miss = (&found - &expected).iter().fold(0.0f64, |worst, miss| worst.max(miss.abs()));
            assert!(miss <= TOLERANCE * scale, "{found} {expected}");
        }
        for (found, expected) in found.intercepts.iter().zip(&case.intercepts) {
            assert!((found - expected).abs() <= TOLERANCE * expected.abs(), "{found} {expected}");
        }
        let objective = objective(&case, &rows, &found.weights, &found.intercepts);
        assert!((objective / case.objective - 1.0).abs() < 1e-10, "{objective} {}", case.objective);
    }
}

fn objective(
    case: &LogisticCase,
    rows: &Array2<f64>,
    weights: &Array2<f64>,
    intercepts: &Array1<f64>,
) -> f64 {
    let mut present = case.classes.clone();
    present.sort_unstable();
    present.dedup();
    let problem = LogisticProblem {
        design: rows.clone(),
        targets: case
            .classes
            .iter()
            .map(|class| present.partition_point(|other| other < class) as u16)
            .collect(),
        n_outputs: intercepts.len(),
        strength: case.strength,
    };
    let scores = rows.dot(weights) + intercepts;
    case.strength * problem.evaluate(&scores, &scores, 0.0).loss
        + 0.5 * weights.mapv(|weight| weight * weight).sum()
}

#[test]
fn trees_have_the_nodes_of_scikit_learn() {
    for case in cases().tree {
        let tree = Tree { max_depth: case.max_depth }.grow(matrix(&case.rows).view(), &case.classes, 3);
        assert_eq!(preorder(&tree), case.nodes);
        assert_eq!(tree.predict(matrix(&case.points).view()), case.answers);
    }
}

fn preorder(node: &TreeNode) -> Vec<Vec<f64>> {
    match node {
        TreeNode::Leaf(class) => vec![vec![f64::from(*class)]],
        TreeNode::Split { feature, threshold, below, above } => {
            let here = vec![vec![*feature as f64, *threshold]];
            [here, preorder(below), preorder(above)].concat()
        }
    }
}

#[test]
fn support_vector_machines_decide_like_those_of_scikit_learn() {
    let case = cases().svm;
    let svm = Svm { gamma: case.gamma, strength: case.strength };
    let machines = svm.train(matrix(&case.rows).view(), &case.classes, 2);
    let points = matrix(&case.points);
    for (found, expected) in machines.decisions(points.view()).iter().zip(&case.decisions) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
    assert_eq!(machines.predict(points.view()), case.answers);
}

#[test]
fn neighbours_vote_like_those_of_scikit_learn() {
    let case = cases().neighbours;
    let known = Neighbours { k: case.k }.fit(matrix(&case.rows).view(), &case.classes, 3);
    assert_eq!(known.predict(matrix(&case.points).view()), case.answers);
}

#[test]
fn the_first_component_is_that_of_scikit_learn() {
    let case = cases().principal;
    for (found, expected) in first_component(matrix(&case.rows).view()).iter().zip(&case.component) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}
