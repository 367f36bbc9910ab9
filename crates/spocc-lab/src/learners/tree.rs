//! Decision trees (CART): binary cuts that minimise the Gini impurity.
//!
//! Thresholds are midway between neighbouring values, and a cut without gain is still made, as in scikit-learn: four
//! clusters in a chequerboard need it. Unlike scikit-learn, features have double precision and ties are not broken at
//! random.

use ndarray::{ArrayView1, ArrayView2, Axis};

use super::{Classifier, Learner, most_voted};

/// Settings of a decision tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tree {
    /// The largest number of cuts between the root and a leaf.
    pub(crate) max_depth: usize,
}

/// A tree or subtree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TreeNode {
    Leaf(u16),
    /// Rows whose feature is at most the threshold go to `below`.
    Split {
        feature: usize,
        threshold: f64,
        below: Box<TreeNode>,
        above: Box<TreeNode>,
    },
}

impl Learner for Tree {
    fn fit(&self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> Box<dyn Classifier> {
        Box::new(self.grow(rows, classes, n_classes))
    }
}

impl Tree {
    pub(super) fn grow(self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> TreeNode {
        let mut members: Vec<usize> = (0..rows.nrows()).collect();
        TreeTraining { rows: rows.view(), classes, n_classes }.grow(&mut members, self.max_depth)
    }
}

impl Classifier for TreeNode {
    fn predict(&self, rows: ArrayView2<'_, f64>) -> Vec<u16> {
        rows.outer_iter().map(|row| self.decide(row)).collect()
    }
}

impl TreeNode {
    fn decide(&self, row: ArrayView1<'_, f64>) -> u16 {
        let mut node = self;
        loop {
            match node {
                Self::Leaf(class) => return *class,
                Self::Split { feature, threshold, below, above } => {
                    node = if row[*feature] <= *threshold { below } else { above };
                }
            }
        }
    }
}

/// The training data of a tree.
struct TreeTraining<'a> {
    rows: ArrayView2<'a, f64>,
    classes: &'a [u16],
    n_classes: usize,
}

/// A cut and the purity of its two sides.
struct Cut {
    feature: usize,
    threshold: f64,
    purity: Purity,
}

impl TreeTraining<'_> {
    fn grow(&self, members: &mut [usize], depth_left: usize) -> TreeNode {
        let counts = self.count(members);
        let majority = most_voted(&counts);
        let is_pure = counts.iter().filter(|&&count| count > 0).count() < 2;
        if is_pure || depth_left == 0 {
            return TreeNode::Leaf(majority);
        }
        let Some(Cut { feature, threshold, .. }) = self.best_cut(members, &counts) else {
            return TreeNode::Leaf(majority);
        };
        let is_above = |row: &usize| self.rows[[*row, feature]] > threshold;
        members.sort_by_key(is_above);
        let (below, above) = members.split_at_mut(members.partition_point(|row| !is_above(row)));
        TreeNode::Split {
            feature,
            threshold,
            below: Box::new(self.grow(below, depth_left - 1)),
            above: Box::new(self.grow(above, depth_left - 1)),
        }
    }

    fn count(&self, members: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes];
        members.iter().for_each(|&row| counts[usize::from(self.classes[row])] += 1);
        counts
    }

    /// The purest cut; of equal ones the lowest feature, then the lowest threshold. None if all rows are equal.
    fn best_cut(&self, members: &[usize], counts: &[usize]) -> Option<Cut> {
        let mut best: Option<Cut> = None;
        for (feature, column) in self.rows.axis_iter(Axis(1)).enumerate() {
            let mut sorted: Vec<(f64, u16)> =
                members.iter().map(|&row| (column[row], self.classes[row])).collect();
            sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let mut sides = [CutSide::of(&vec![0; counts.len()]), CutSide::of(counts)];
            for (&(value, class), &(next, _)) in sorted.iter().zip(sorted.iter().skip(1)) {
                sides[0].add(class);
                sides[1].remove(class);
                let purity = Purity::of(&sides);
                if value < next && best.as_ref().is_none_or(|best| purity.exceeds(best.purity)) {
                    best = Some(Cut { feature, threshold: midway(value, next), purity });
                }
            }
        }
        best
    }
}

/// A threshold t with lower <= t < higher.
fn midway(lower: f64, higher: f64) -> f64 {
    let middle = lower / 2.0 + higher / 2.0;
    if lower <= middle && middle < higher { middle } else { lower }
}

/// The rows on one side of a cut.
struct CutSide {
    counts: Vec<usize>,
    n_rows: usize,
    /// Sum of the squared counts.
    squares: usize,
}

impl CutSide {
    fn of(counts: &[usize]) -> Self {
        let squares = counts.iter().map(|count| count * count).sum();
        Self { counts: counts.to_vec(), n_rows: counts.iter().sum(), squares }
    }

    fn add(&mut self, class: u16) {
        let count = &mut self.counts[usize::from(class)];
        self.squares += 2 * *count + 1;
        *count += 1;
        self.n_rows += 1;
    }

    fn remove(&mut self, class: u16) {
        let count = &mut self.counts[usize::from(class)];
        *count -= 1;
        self.squares -= 2 * *count + 1;
        self.n_rows -= 1;
    }
}

/// The sum over both sides of squared counts divided by rows; large where the Gini impurity is small.
///
/// An exact fraction, so that equal cuts compare as equal and the order of features decides.
#[derive(Clone, Copy)]
struct Purity {
    numerator: u128,
    denominator: u128,
}

impl Purity {
    fn of([below, above]: &[CutSide; 2]) -> Self {
        Self {
            numerator: (below.squares * above.n_rows + above.squares * below.n_rows) as u128,
            denominator: (below.n_rows * above.n_rows) as u128,
        }
    }

    fn exceeds(self, other: Self) -> bool {
        self.numerator * other.denominator > other.numerator * self.denominator
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    fn split(feature: usize, threshold: f64, below: TreeNode, above: TreeNode) -> TreeNode {
        TreeNode::Split { feature, threshold, below: Box::new(below), above: Box::new(above) }
    }

    #[test]
    fn equal_cuts_go_to_the_lowest_feature_and_threshold() {
        let rows = array![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]];
        let tree = Tree { max_depth: 1 }.grow(rows.view(), &[0, 1, 0], 2);
        assert_eq!(tree, split(0, 0.5, TreeNode::Leaf(0), TreeNode::Leaf(0)));
    }

    #[test]
    fn a_cut_without_gain_is_made_and_followed_by_others() {
        let rows = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
        let tree = Tree { max_depth: 2 }.fit(rows.view(), &[0, 0, 1, 1], 2);
        assert_eq!(tree.predict(rows.view()), [0, 0, 1, 1]);
    }

    #[test]
    fn equal_rows_are_not_cut_and_ties_give_the_lowest_class() {
        let rows = Array2::ones((4, 2));
        assert_eq!(Tree { max_depth: 3 }.grow(rows.view(), &[2, 1, 1, 2], 3), TreeNode::Leaf(1));
    }

    #[test]
    fn neighbouring_floats_are_separated() {
        let (lower, higher) = (1.0, 1.0f64.next_up());
        let tree = Tree { max_depth: 1 }.fit(array![[lower], [higher]].view(), &[0, 1], 2);
        assert_eq!(tree.predict(array![[lower], [higher]].view()), [0, 1]);
    }

    #[test]
    fn training_without_rows_gives_the_first_class() {
        assert_eq!(Tree { max_depth: 2 }.grow(Array2::zeros((0, 2)).view(), &[], 2), TreeNode::Leaf(0));
    }
}
