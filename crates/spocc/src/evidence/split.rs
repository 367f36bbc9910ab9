//! Dealing the rows of a tally out at random: some to learn from, others to be judged.
//!
//! Chance is a hash of a seed and of what a row says, never of where it stands: the same rows are dealt alike in any
//! order of rows and columns, and, as long as no two labels are equally frequent, whatever the labels are called.

use crate::{
    error::Error,
    evidence::{Evidence, Tally},
    hash,
};

/// Up to so many rows are dealt like cards, into parts as equal as can be; of more, each draws its part.
const SHUFFLED: u64 = 1 << 16;

/// Of a cell with more rows than this, only their numbers per part are drawn.
const DRAWN: u64 = 4096;

impl Evidence {
    /// How many rows of each cell of the tally go to each part, every row into exactly one and each on its own.
    ///
    /// Equal rows are not spread evenly: twins must sometimes end in the same part, as they would had they not been
    /// counted together, or rows that were learned look like rows that were not.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`], [`Error::Weighted`].
    pub(crate) fn deal(&self, what: &'static str, parts: usize, seed: u64) -> Result<Vec<Vec<u64>>, Error> {
        let tally = self.tally_for(what)?;
        if self.is_weighted() {
            return Err(Error::Weighted { what });
        }
        let cells: Vec<(u64, u64)> = self.keys(tally, seed).into_iter().zip(tally.counts()).collect();
        let mut dealt = vec![vec![0; cells.len()]; parts];
        if self.total() <= SHUFFLED {
            shuffle(&cells, &mut dealt);
        } else {
            draw(&cells, &mut dealt);
        }
        Ok(dealt)
    }

    /// The evidence of some of the rows: so many of each cell of the tally. All labels stay.
    pub(crate) fn part(&self, counts: &[u64]) -> Result<Self, Error> {
        Ok(self.with_tally(self.tally_for("a part of the rows")?.keeping(|cell, _| counts[cell])))
    }

    /// The evidence without so many rows of each cell of the tally. All labels and the rows without truth stay.
    pub(crate) fn without(&self, counts: &[u64]) -> Result<Self, Error> {
        let tally = self.tally_for("a part of the rows")?;
        Ok(self.with_labelled(tally.keeping(|cell, count| count - counts[cell])))
    }

    /// A hash of what each cell says.
    fn keys(&self, tally: &Tally, seed: u64) -> Vec<u64> {
        let names: Vec<u64> = self.classifiers().iter().map(|name| hash::text(seed, name)).collect();
        let ranks = self.ranks();
        let key = |(row, class, _): (crate::data::Row<'_>, u16, u64)| {
            // A sum, so that the order of the columns does not matter.
            let mut pattern = 0u64;
            row.for_each(|k, j| {
                pattern = pattern.wrapping_add(hash::mix(names[k], ranks[usize::from(j)]));
            });
            hash::mix(hash::mix(seed, pattern), ranks[usize::from(class)])
        };
        tally.cells().map(key).collect()
    }

    /// The place of every label among all, the most frequent first.
    fn ranks(&self) -> Vec<u64> {
        let mut said = vec![0u128; self.n_labels()];
        for k in 0..self.n_classifiers() {
            said.iter_mut().zip(self.predicted_counts(k)).for_each(|(sum, count)| *sum += u128::from(count));
        }
        let truly = |j: usize| self.class_counts().get(j).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..self.n_labels()).collect();
        order.sort_by_key(|&j| std::cmp::Reverse((truly(j), said[j])));
        let mut ranks = vec![0; order.len()];
        (0..).zip(order).for_each(|(rank, j)| ranks[j] = rank);
        ranks
    }
}

/// Shuffles the rows and deals them round the parts.
fn shuffle(cells: &[(u64, u64)], dealt: &mut [Vec<u64>]) {
    let mut rows: Vec<(u64, usize)> = Vec::new();
    for (cell, &(key, count)) in cells.iter().enumerate() {
        rows.extend((0..count).map(|unit| (draw_of(key, unit), cell)));
    }
    rows.sort_unstable();
    let parts = dealt.len();
    rows.iter().enumerate().for_each(|(place, (_, cell))| dealt[place % parts][*cell] += 1);
}

/// Lets every row draw its part.
fn draw(cells: &[(u64, u64)], dealt: &mut [Vec<u64>]) {
    let parts = dealt.len();
    for (cell, &(key, count)) in cells.iter().enumerate() {
        if count <= DRAWN {
            (0..count).for_each(|unit| dealt[(draw_of(key, unit) % parts as u64) as usize][cell] += 1);
            continue;
        }
        // As if each had drawn: equal shares would make the parts more alike than chance does.
        let mut left = count;
        for (at, part) in dealt.iter_mut().enumerate() {
            let share = 1.0 / (parts - at) as f64;
            part[cell] = if at + 1 == parts { left } else { binomial(left, share, draw_of(key, at as u64)) };
            left -= part[cell];
        }
    }
}

/// What the `unit`-th of equal rows draws.
fn draw_of(key: u64, unit: u64) -> u64 {
    hash::mix(hash::mix(key, unit), 0xdea1)
}

/// A binomial number of many trials, by the normal distribution; that by a sum of uniforms, which is the same on
/// every machine.
fn binomial(trials: u64, share: f64, key: u64) -> u64 {
    let normal = (0..12).map(|at| hash::unit(draw_of(key, at))).sum::<f64>() - 6.0;
    let mean = trials as f64 * share;
    ((mean + normal * (mean * (1.0 - share)).sqrt()).round() as u64).min(trials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Predictions, Truth, evidence::Counting};

    /// Rows of two classifiers and a truth, each so often.
    fn counted(names: [&str; 2], rows: &[([&str; 3], u64)]) -> Evidence {
        let mut answers = Predictions::builder(names).expect("two names");
        let mut truth = Truth::default();
        for ([a, b, class], _) in rows {
            answers.push([Some(*a), Some(*b)]).expect("two answers");
            truth.push(Some(*class)).expect("few labels");
        }
        let counts: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let counting = Counting { counts: Some(&counts), ..Counting::default() };
        Evidence::count(&answers.finish(), &truth, &counting, &Control::default()).expect("rows")
    }

    fn sizes(dealt: &[Vec<u64>]) -> Vec<u64> {
        dealt.iter().map(|part| part.iter().sum()).collect()
    }

    #[test]
    fn every_row_goes_to_exactly_one_part() {
        for counts in [[1, 2, 3], [50_000, 30_000, 7], [1 << 40, 5000, 1]] {
            let rows =
                [(["x", "x", "x"], counts[0]), (["x", "y", "y"], counts[1]), (["y", "y", "y"], counts[2])];
            let evidence = counted(["a", "b"], &rows);
            for parts in [2, 5] {
                let dealt = evidence.deal("test", parts, 1).expect("a tally");
                let sums: Vec<u64> = (0..3).map(|cell| dealt.iter().map(|part| part[cell]).sum()).collect();
                assert_eq!(sums, counts);
                let rows: f64 = dealt.iter().map(|part| evidence.part(part).expect("a tally").n_rows()).sum();
                assert_eq!(rows, evidence.n_rows());
            }
        }
    }

    #[test]
    fn few_rows_make_equal_parts() {
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 10), (["x", "y", "y"], 7)]);
        let mut sizes = sizes(&evidence.deal("test", 4, 3).expect("a tally"));
        assert_eq!(sizes[0], 5, "the first part is one of the largest");
        sizes.sort_unstable();
        assert_eq!(sizes, [4, 4, 4, 5]);
    }

    #[test]
    fn twins_share_a_part_as_often_as_chance_has_it() {
        // Of two rows among 100 dealt into halves, the second finds 49 of 99 places beside the first.
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 98), (["y", "y", "y"], 2)]);
        let n = 2000;
        let together = |seed: &u64| evidence.deal("test", 2, *seed).expect("a tally")[0][1] != 1;
        let share = (0..n).filter(together).count() as f64 / n as f64;
        // Four standard errors of 2000 trials are 0.045.
        assert!((share - 49.0 / 99.0).abs() < 0.045, "{share}");
    }

    #[test]
    fn large_counts_spread_like_drawn_rows() {
        // Of 100 000 rows a quarter is 25 000, give or take sqrt(100000 * 0.25 * 0.75) = 137.
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 100_000)]);
        let drawn: Vec<f64> =
            (0..500).map(|seed| evidence.deal("test", 4, seed).expect("a tally")[0][0] as f64).collect();
        let mean = drawn.iter().sum::<f64>() / 500.0;
        let spread = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 499.0).sqrt();
        assert!((mean - 25_000.0).abs() < 25.0 && (spread - 137.0).abs() < 18.0, "{mean} {spread}");
    }

    #[test]
    fn neither_the_order_of_columns_nor_the_names_of_classes_matter() {
        let rows = [(["x", "y", "x"], 30), (["y", "y", "y"], 50), (["x", "x", "y"], 9)];
        let parts =
            |evidence: &Evidence| sizes_by_count(evidence, &evidence.deal("test", 3, 7).expect("a tally"));
        let one = counted(["a", "b"], &rows);
        let swapped = counted(["b", "a"], &rows.map(|([a, b, class], count)| ([b, a, class], count)));
        let rename = |name: &str| if name == "x" { "z" } else { "w" };
        let renamed = counted(["a", "b"], &rows.map(|(row, count)| (row.map(rename), count)));
        assert_eq!(parts(&one), parts(&swapped));
        assert_eq!(parts(&one), parts(&renamed));
        assert_ne!(one.deal("test", 3, 7), one.deal("test", 3, 8), "another seed deals otherwise");
    }

    /// What each cell gives to each part, cells by their size, which are all different.
    fn sizes_by_count(evidence: &Evidence, dealt: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let n_cells = evidence.tally().expect("a tally").n_cells();
        let mut cells: Vec<Vec<u64>> =
            (0..n_cells).map(|cell| dealt.iter().map(|part| part[cell]).collect()).collect();
        cells.sort_by_key(|parts| parts.iter().sum::<u64>());
        cells
    }

    #[test]
    fn weights_and_marginals_are_refused() {
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 3)]);
        let marginals =
            evidence.reduce_to(crate::evidence::Level::Marginals, &Control::default()).expect("less");
        assert!(matches!(marginals.deal("test", 2, 0), Err(Error::LevelTooLow { .. })));
        let table = evidence.grouped().expect("a tally");
        let counting = Counting { weights: Some(&[0.5]), ..Counting::default() };
        let weighted = Evidence::count(&table.predictions, &table.truth, &counting, &Control::default());
        let refused = weighted.expect("a weight").deal("test", 2, 0);
        assert_eq!(refused, Err(Error::Weighted { what: "test" }));
    }
}
