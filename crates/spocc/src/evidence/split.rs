//! Splitting rows into parts at random.
//!
//! In: a key and a count for every cell of a tally; the rows of a cell have equal predictions and equal truth. Out: how
//! many rows of each cell every part receives. The draws are hashes of the keys and never of positions, so a split
//! depends neither on the order of the rows nor on files, threads or machines. Conformal scores, the ladder, tuning and
//! [`evaluate`](crate::evaluate) share this splitter; each brings its own keys and draws.

use crate::{
    error::Error,
    evidence::{Evidence, Tally},
    hash,
};

/// Up to this many rows are shuffled into parts of equal size; of more rows, each draws its part.
const MAX_SHUFFLED: u64 = 1 << 16;

/// Of a cell with more rows than this, only the counts per part are drawn.
const MAX_DRAWN: u64 = 4096;

/// Some of the rows: cells by their position in the tally, ascending, and how many rows of each.
pub(crate) type RowSubset = Vec<(usize, u64)>;

/// Splits rows into parts by hashes.
#[derive(Clone, Copy)]
pub(crate) struct Splitter {
    pub(crate) n_parts: usize,
    /// A random word, from the key of a cell and the number of a row within it.
    pub(crate) draw: fn(u64, u64) -> u64,
    /// A number from 0 to below 1, from a random word.
    pub(crate) uniform: fn(u64) -> f64,
}

impl Splitter {
    pub(crate) fn new(n_parts: usize, draw: fn(u64, u64) -> u64) -> Self {
        Self { n_parts, draw, uniform: hash::unit }
    }

    /// The part that a row draws.
    pub(crate) fn part_of(&self, key: u64, row: u64) -> usize {
        ((self.draw)(key, row) % self.n_parts as u64) as usize
    }

    /// Assigns every row to exactly one part, independently of equal rows. Cells are (key, count).
    ///
    /// Equal rows are not spread evenly over the parts. Duplicates must share a part as often as they do by chance;
    /// otherwise each held-out row has its duplicate among the training rows, and held-out accuracy is too high.
    pub(crate) fn split(&self, cells: &[(u64, u64)]) -> Vec<RowSubset> {
        let n_rows = cells.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        if n_rows <= MAX_SHUFFLED { self.shuffle(cells) } else { self.draw_all(cells) }
    }

    /// Assigns the rows of one cell in turn, beginning with the part `start`: (part, count) of the parts that receive
    /// any. One row counts `unit`; what is less than a row comes last.
    pub(crate) fn take_turns(
        self,
        start: usize,
        count: u64,
        unit: u64,
    ) -> impl Iterator<Item = (usize, u64)> {
        let (rows, rest, n_parts) = (count / unit, count % unit, self.n_parts);
        let (each, more) = (rows / n_parts as u64, (rows % n_parts as u64) as usize);
        let rows = move |turn: usize| (each + u64::from(turn < more)) * unit;
        let part =
            move |turn: usize| ((start + turn) % n_parts, rows(turn) + if turn == more { rest } else { 0 });
        (0..n_parts).map(part).filter(|(_, count)| *count > 0)
    }

    /// Shuffles the rows and cuts them into parts that differ by at most one row.
    fn shuffle(&self, cells: &[(u64, u64)]) -> Vec<RowSubset> {
        let mut rows: Vec<(u64, usize)> = Vec::new();
        for (cell, &(key, count)) in cells.iter().enumerate() {
            rows.extend((0..count).map(|row| ((self.draw)(key, row), cell)));
        }
        rows.sort_unstable();
        let mut parts = vec![Vec::new(); self.n_parts];
        rows.iter().enumerate().for_each(|(place, (_, cell))| parts[place % self.n_parts].push(*cell));
        let count = |mut part: Vec<usize>| {
            part.sort_unstable();
            part.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
        };
        parts.into_iter().map(count).collect()
    }

    /// Draws the part of every row.
    fn draw_all(&self, cells: &[(u64, u64)]) -> Vec<RowSubset> {
        let mut parts: Vec<RowSubset> = vec![Vec::new(); self.n_parts];
        let mut counts = vec![0; self.n_parts];
        for (cell, &(key, count)) in cells.iter().enumerate() {
            counts.fill(0);
            if count <= MAX_DRAWN {
                (0..count).for_each(|row| counts[self.part_of(key, row)] += 1);
            } else {
                self.draw_counts(key, count, &mut counts);
            }
            let drawn = counts.iter().zip(&mut parts).filter(|(count, _)| **count > 0);
            drawn.for_each(|(count, part)| part.push((cell, *count)));
        }
        parts
    }

    /// Draws multinomial counts, as if every row had drawn its part. Equal shares would make parts more similar than
    /// random parts are, and intervals across parts too narrow.
    fn draw_counts(&self, key: u64, count: u64, counts: &mut [u64]) {
        let mut rest = count;
        for (at, part) in counts.iter_mut().enumerate() {
            let share = 1.0 / (self.n_parts - at) as f64;
            let is_last = at + 1 == self.n_parts;
            *part = if is_last { rest } else { self.binomial(rest, share, (self.draw)(key, at as u64)) };
            rest -= *part;
        }
    }

    /// A binomial number of many trials, by its normal approximation. The normal is a sum of uniform numbers, which is
    /// the same on every machine.
    fn binomial(&self, trials: u64, share: f64, key: u64) -> u64 {
        let normal = (0..12).map(|at| (self.uniform)((self.draw)(key, at))).sum::<f64>() - 6.0;
        let mean = trials as f64 * share;
        ((mean + normal * (mean * (1.0 - share)).sqrt()).round() as u64).min(trials)
    }
}

/// How many rows of each of `n_cells` cells a subset has.
pub(crate) fn dense_counts(subset: &RowSubset, n_cells: usize) -> Vec<u64> {
    let mut counts = vec![0; n_cells];
    subset.iter().for_each(|&(cell, count)| counts[cell] = count);
    counts
}

impl Evidence {
    /// Splits the labelled rows. The keys depend on the frequency ranks of labels and not on their names, so renamed
    /// labels give the same split as long as no two labels are equally frequent; the order of the columns has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`], [`Error::Weighted`].
    pub(crate) fn split(
        &self,
        what: &'static str,
        n_parts: usize,
        seed: u64,
    ) -> Result<Vec<RowSubset>, Error> {
        let tally = self.tally_for(what)?;
        if self.is_weighted() {
            return Err(Error::Weighted { what });
        }
        let cells: Vec<(u64, u64)> = self.split_keys(tally, seed).into_iter().zip(tally.counts()).collect();
        let draw = |key: u64, row: u64| hash::mix(hash::mix(key, row), 0xdea1);
        Ok(Splitter::new(n_parts, draw).split(&cells))
    }

    /// The evidence of some of the rows. All labels stay.
    pub(crate) fn subset(&self, rows: &RowSubset) -> Result<Self, Error> {
        let tally = self.tally_for("a part of the rows")?;
        let counts = dense_counts(rows, tally.n_cells());
        Ok(self.with_tally(tally.keeping(|cell, _| counts[cell])))
    }

    /// The evidence without some of the rows. All labels and the rows without truth stay.
    pub(crate) fn without(&self, rows: &RowSubset) -> Result<Self, Error> {
        let tally = self.tally_for("a part of the rows")?;
        let counts = dense_counts(rows, tally.n_cells());
        Ok(self.with_labelled(tally.keeping(|cell, count| count - counts[cell])))
    }

    /// A hash of the predictions and the truth of each cell.
    fn split_keys(&self, tally: &Tally, seed: u64) -> Vec<u64> {
        let names: Vec<u64> = self.classifiers().iter().map(|name| hash::text(seed, name)).collect();
        let ranks = self.frequency_ranks();
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

    /// The rank of every label by frequency, the most frequent first.
    fn frequency_ranks(&self) -> Vec<u64> {
        let mut predicted = vec![0u128; self.n_labels()];
        for k in 0..self.n_classifiers() {
            predicted
                .iter_mut()
                .zip(self.predicted_counts(k))
                .for_each(|(sum, count)| *sum += u128::from(count));
        }
        let true_count = |j: usize| self.class_counts().get(j).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..self.n_labels()).collect();
        order.sort_by_key(|&j| std::cmp::Reverse((true_count(j), predicted[j])));
        let mut ranks = vec![0; order.len()];
        (0..).zip(order).for_each(|(rank, j)| ranks[j] = rank);
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Predictions, Truth, evidence::Counting};

    /// Evidence of rows of two predictions and a truth, each with its count.
    fn counted(names: [&str; 2], rows: &[([&str; 3], u64)]) -> Evidence {
        let mut predictions = Predictions::builder(names).expect("two names");
        let mut truth = Truth::default();
        for ([a, b, class], _) in rows {
            predictions.push([Some(*a), Some(*b)]).expect("two predictions");
            truth.push(Some(*class)).expect("few labels");
        }
        let counts: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let counting = Counting { counts: Some(&counts), ..Counting::default() };
        Evidence::count(&predictions.finish(), &truth, &counting, &Control::default()).expect("rows")
    }

    fn sizes(parts: &[RowSubset]) -> Vec<u64> {
        parts.iter().map(|part| part.iter().map(|cell| cell.1).sum()).collect()
    }

    /// The rows of a cell in each part.
    fn of_cell(parts: &[RowSubset], cell: usize) -> Vec<u64> {
        parts
            .iter()
            .map(|part| part.iter().find(|(at, _)| *at == cell).map_or(0, |(_, count)| *count))
            .collect()
    }

    #[test]
    fn every_row_goes_to_exactly_one_part() {
        for counts in [[1, 2, 3], [50_000, 30_000, 7], [1 << 40, 5000, 1]] {
            let rows =
                [(["x", "x", "x"], counts[0]), (["x", "y", "y"], counts[1]), (["y", "y", "y"], counts[2])];
            let evidence = counted(["a", "b"], &rows);
            for parts in [2, 5] {
                let split = evidence.split("test", parts, 1).expect("a tally");
                let sums: Vec<u64> = (0..3).map(|cell| of_cell(&split, cell).iter().sum()).collect();
                assert_eq!(sums, counts);
                let rows: f64 =
                    split.iter().map(|part| evidence.subset(part).expect("a tally").n_rows()).sum();
                assert_eq!(rows, evidence.n_rows());
            }
        }
    }

    #[test]
    fn few_rows_make_equal_parts() {
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 10), (["x", "y", "y"], 7)]);
        let mut sizes = sizes(&evidence.split("test", 4, 3).expect("a tally"));
        assert_eq!(sizes[0], 5, "the first part is one of the largest");
        sizes.sort_unstable();
        assert_eq!(sizes, [4, 4, 4, 5]);
    }

    #[test]
    fn as_many_parts_as_rows_leave_one_row_out_each() {
        let cells = [(7, 2), (8, 1), (9, 1)];
        assert_eq!(sizes(&Splitter::new(4, hash::mix).split(&cells)), [1, 1, 1, 1]);
    }

    #[test]
    fn duplicates_share_a_part_as_often_as_by_chance() {
        // Of two rows among 100 split into halves, the second has 49 of 99 places beside the first.
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 98), (["y", "y", "y"], 2)]);
        let n = 2000;
        let together = |seed: &u64| of_cell(&evidence.split("test", 2, *seed).expect("a tally"), 1)[0] != 1;
        let share = (0..n).filter(together).count() as f64 / n as f64;
        // Four standard errors of 2000 trials are 0.045.
        assert!((share - 49.0 / 99.0).abs() < 0.045, "{share}");
    }

    #[test]
    fn large_counts_spread_like_drawn_rows() {
        // Of 100 000 rows a quarter is 25 000, give or take sqrt(100000 * 0.25 * 0.75) = 137.
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 100_000)]);
        let drawn: Vec<f64> = (0..500)
            .map(|seed| sizes(&evidence.split("test", 4, seed).expect("a tally"))[0] as f64)
            .collect();
        let mean = drawn.iter().sum::<f64>() / 500.0;
        let spread = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 499.0).sqrt();
        assert!((mean - 25_000.0).abs() < 25.0 && (spread - 137.0).abs() < 18.0, "{mean} {spread}");
    }

    #[test]
    fn neither_the_order_of_columns_nor_the_names_of_classes_matter() {
        let rows = [(["x", "y", "x"], 30), (["y", "y", "y"], 50), (["x", "x", "y"], 9)];
        let parts =
            |evidence: &Evidence| sizes_by_count(evidence, &evidence.split("test", 3, 7).expect("a tally"));
        let one = counted(["a", "b"], &rows);
        let swapped = counted(["b", "a"], &rows.map(|([a, b, class], count)| ([b, a, class], count)));
        let rename = |name: &str| if name == "x" { "z" } else { "w" };
        let renamed = counted(["a", "b"], &rows.map(|(row, count)| (row.map(rename), count)));
        assert_eq!(parts(&one), parts(&swapped));
        assert_eq!(parts(&one), parts(&renamed));
        assert_ne!(one.split("test", 3, 7), one.split("test", 3, 8), "another seed gives another split");
    }

    /// The rows of each cell in each part, in order of the sizes of the cells, which all differ.
    fn sizes_by_count(evidence: &Evidence, parts: &[RowSubset]) -> Vec<Vec<u64>> {
        let n_cells = evidence.tally().expect("a tally").n_cells();
        let mut cells: Vec<Vec<u64>> = (0..n_cells).map(|cell| of_cell(parts, cell)).collect();
        cells.sort_by_key(|parts| parts.iter().sum::<u64>());
        cells
    }

    #[test]
    fn weights_and_marginals_are_refused() {
        let evidence = counted(["a", "b"], &[(["x", "x", "x"], 3)]);
        let marginals =
            evidence.reduce_to(crate::evidence::Level::Marginals, &Control::default()).expect("less");
        assert!(matches!(marginals.split("test", 2, 0), Err(Error::LevelTooLow { .. })));
        let table = evidence.grouped().expect("a tally");
        let counting = Counting { weights: Some(&[0.5]), ..Counting::default() };
        let weighted = Evidence::count(&table.predictions, &table.truth, &counting, &Control::default());
        let refused = weighted.expect("a weight").split("test", 2, 0);
        assert_eq!(refused, Err(Error::Weighted { what: "test" }));
    }
}
