//! Logistic regression with an L2 penalty: one weight vector for two classes, one per class for more.
//!
//! ```text
//! 0.5 * |weights|^2 + C * sum over rows of -ln p(class | row), the intercepts free
//! ```
//!
//! The available Rust libraries take at least ten times as long as scikit-learn.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Slice};

use super::{Classifier, Learner, logistic_loss::LogisticProblem};

/// Settings of logistic regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Logistic {
    /// The weight of the losses against the penalty, the C of scikit-learn.
    pub(crate) strength: f64,
}

/// Linear scores of the classes that occurred in training.
pub(super) struct Linear {
    /// Classes that can be predicted, in order.
    classes: Vec<u16>,
    /// A row per feature; no column for one class, one for two (it favours the second), else one per class.
    pub(super) weights: Array2<f64>,
    pub(super) intercepts: Array1<f64>,
}

impl Learner for Logistic {
    fn fit(&self, rows: ArrayView2<'_, f64>, classes: &[u16], _: usize) -> Box<dyn Classifier> {
        Box::new(self.train(rows, classes))
    }
}

impl Logistic {
    pub(super) fn train(self, rows: ArrayView2<'_, f64>, classes: &[u16]) -> Linear {
        let mut present = classes.to_vec();
        present.sort_unstable();
        present.dedup();
        let n_outputs = match present.len() {
            0 | 1 => 0,
            2 => 1,
            more => more,
        };
        let mut weights = Array2::zeros((rows.ncols(), n_outputs));
        let mut intercepts = Array1::zeros(n_outputs);
        if n_outputs > 0 {
            let position = |class| present.partition_point(|&other| other < class) as u16;
            let live: Vec<usize> = (0..rows.ncols()).filter(|&column| varies(rows.column(column))).collect();
            let live_rows = rows.select(Axis(1), &live);
            let mean = live_rows.mean_axis(Axis(0)).expect("two classes have rows");
            let found = LogisticProblem {
                design: centred_with_ones(&live_rows, &mean),
                targets: classes.iter().map(|&class| position(class)).collect(),
                n_outputs,
                strength: self.strength,
            }
            .minimise();
            intercepts
                .assign(&(&found.row(live.len()) - &mean.dot(&found.slice_axis(Axis(0), Slice::from(..-1)))));
            for (&column, found) in live.iter().zip(found.outer_iter()) {
                weights.row_mut(column).assign(&found);
            }
        }
        Linear { classes: present, weights, intercepts }
    }
}

/// Whether a feature is not constant; the weight of a constant one is 0 at the minimum.
fn varies(column: ArrayView1<'_, f64>) -> bool {
    column.iter().any(|&value| value != column[0])
}

/// Centred rows with a column of ones: centring changes only the free intercepts and avoids large products.
fn centred_with_ones(rows: &Array2<f64>, mean: &Array1<f64>) -> Array2<f64> {
    let mut design = Array2::ones((rows.nrows(), rows.ncols() + 1));
    design.slice_axis_mut(Axis(1), Slice::from(..-1)).assign(&(rows - mean));
    design
}

impl Classifier for Linear {
    fn predict(&self, rows: ArrayView2<'_, f64>) -> Vec<u16> {
        let scores = rows.dot(&self.weights) + &self.intercepts;
        scores.outer_iter().map(|scores| self.decide(scores)).collect()
    }
}

impl Linear {
    fn decide(&self, scores: ArrayView1<'_, f64>) -> u16 {
        let best = match scores.len() {
            0 => 0,
            1 => usize::from(scores[0] > 0.0),
            more => (1..more).fold(0, |best, class| if scores[class] > scores[best] { class } else { best }),
        };
        self.classes.get(best).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    const C: Logistic = Logistic { strength: 1.0 };

    #[test]
    fn classes_absent_from_training_are_never_predicted() {
        let rows = array![[0.0], [1.0], [2.0], [3.0]];
        assert_eq!(C.fit(rows.view(), &[3, 3, 3, 3], 5).predict(rows.view()), [3; 4]);
        assert_eq!(C.fit(rows.view(), &[1, 1, 4, 4], 5).predict(rows.view()), [1, 1, 4, 4]);
    }

    #[test]
    fn training_without_rows_gives_the_first_class() {
        assert_eq!(C.fit(Array2::zeros((0, 2)).view(), &[], 3).predict(array![[1.0, 2.0]].view()), [0]);
    }

    #[test]
    fn a_constant_feature_has_no_weight_and_prior_odds_are_the_intercept() {
        let linear = C.train(Array2::from_elem((8, 2), 7.5).view(), &[0, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(linear.weights, array![[0.0], [0.0]]);
        assert!((linear.intercepts[0] - 3.0f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_shift_of_the_features_changes_only_the_intercept() {
        let rows = Array2::from_shape_fn((60, 3), |(row, column)| ((row * 7 + column * 13) % 17) as f64);
        let classes: Vec<u16> = (0..60).map(|row| (row * row % 5 % 3) as u16).collect();
        let (here, there) = (C.train(rows.view(), &classes), C.train((&rows + 1e4).view(), &classes));
        assert!((&here.weights - &there.weights).iter().all(|miss| miss.abs() < 1e-6));
        assert!((&here.intercepts - &there.intercepts).iter().any(|miss| miss.abs() > 1.0));
    }

    #[test]
    fn one_thread_and_several_give_the_same_bits() {
        let rows = Array2::from_shape_fn((3000, 20), |(row, column)| {
            ((row * 31 + column * 17 + row * column) % 101) as f64
        });
        let classes: Vec<u16> = (0..3000).map(|row| (row * 7 % 11 % 4) as u16).collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a few threads can be started");
            pool.install(|| C.train(rows.view(), &classes))
        };
        let (one, three) = (with(1), with(3));
        assert_eq!(one.weights, three.weights);
        assert_eq!(one.intercepts, three.intercepts);
    }
}
