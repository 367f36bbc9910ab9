//! Nearest neighbours: the majority class of the k closest rows.

use ndarray::{Array2, ArrayView2};

use super::{Classifier, Learner, most_voted};

/// Settings of nearest neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbours {
    /// The number of neighbours; of equally distant ones the lower row counts.
    pub(crate) k: usize,
}

/// The training rows.
struct NeighbourRows {
    k: usize,
    rows: Array2<f64>,
    classes: Vec<u16>,
    n_classes: usize,
}

impl Learner for Neighbours {
    fn fit(&self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> Box<dyn Classifier> {
        Box::new(NeighbourRows { k: self.k, rows: rows.to_owned(), classes: classes.to_vec(), n_classes })
    }
}

impl Classifier for NeighbourRows {
    fn predict(&self, rows: ArrayView2<'_, f64>) -> Vec<u16> {
        let mut nearest = Vec::with_capacity(self.k + 1);
        let mut votes = vec![0; self.n_classes];
        rows.outer_iter()
            .map(|row| {
                nearest.clear();
                for (known, &class) in self.rows.outer_iter().zip(&self.classes) {
                    let distance = known.iter().zip(&row).map(|(a, b)| (a - b) * (a - b)).sum();
                    keep_nearest(&mut nearest, self.k, distance, class);
                }
                votes.fill(0);
                nearest.iter().for_each(|&(_, class)| votes[usize::from(class)] += 1);
                most_voted(&votes)
            })
            .collect()
    }
}

/// Inserts a neighbour into a list sorted by distance, after equally distant ones, and keeps the first `k`.
fn keep_nearest(nearest: &mut Vec<(f64, u16)>, k: usize, distance: f64, class: u16) {
    let place = nearest.partition_point(|&(other, _)| other <= distance);
    if place < k {
        nearest.insert(place, (distance, class));
        nearest.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn equally_distant_rows_are_taken_in_their_order() {
        let rows = array![[1.0], [-1.0], [1.0], [-1.0]];
        let predict =
            |k, classes: &[u16]| Neighbours { k }.fit(rows.view(), classes, 3).predict(array![[0.0]].view());
        assert_eq!(predict(1, &[2, 1, 0, 0]), [2]);
        assert_eq!(predict(3, &[2, 1, 1, 2]), [1]);
        assert_eq!(predict(2, &[2, 1, 0, 0]), [1], "tied votes take the lowest class");
    }

    #[test]
    fn all_rows_vote_if_there_are_fewer_than_k() {
        let known = Neighbours { k: 5 }.fit(array![[0.0], [9.0], [9.5]].view(), &[0, 1, 1], 2);
        assert_eq!(known.predict(array![[0.0]].view()), [1]);
    }
}
