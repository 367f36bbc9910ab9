//! From rows to evidence: one pass, in as many pieces as there are cores.

use crate::{
    error::{Error, list},
    evidence::{Evidence, Level, pairs::Pairs, tally::Tally},
    labels::{Label, Labels, MISSING},
    parallel,
    predictions::{Predictions, Truth},
    watch::Watch,
};

/// Binary digits after the point of a row's weight: sums of weights stay exact.
pub(crate) const WEIGHT_BITS: u32 = 30;

/// Rows between two reports of progress.
const BLOCK: usize = 1 << 22;

/// How rows are counted.
#[derive(Clone, Debug, Default)]
pub struct Counting<'a> {
    /// How much to keep; the tally by default.
    pub level: Level,
    /// Exactly the classes that may be decided; by default every truth and answer seen.
    pub classes: Option<Vec<Label>>,
    /// How often each row of a grouped table occurred; by default once.
    pub counts: Option<&'a [u64]>,
    /// One weight per row; by default 1. Of a row that occurred several times it is the weight of each.
    pub weights: Option<&'a [f64]>,
}

impl Evidence {
    /// Counts the rows whose truth is known.
    ///
    /// ```
    /// use spocc::{Counting, Evidence, Predictions, Truth, Watch};
    /// let mut rows = Predictions::builder(["ann", "bob"])?;
    /// rows.push([Some("cat"), Some("dog")])?;
    /// rows.push([Some("dog"), Some("dog")])?;
    /// let truth = Truth::new([Some("cat"), Some("dog")])?;
    /// let evidence = Evidence::count(&rows.finish(), &truth, &Counting::default(), &Watch::default())?;
    /// assert_eq!(evidence.count_of(1, "dog", "cat"), 1.0);
    /// # Ok::<(), spocc::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`] if predictions, truth and weights are not equally long, [`Error::TruthNotAClass`],
    /// [`Error::BadWeight`], [`Error::MemoryLimit`], [`Error::Overflow`], [`Error::Cancelled`].
    pub fn count(
        predictions: &Predictions,
        truth: &Truth,
        options: &Counting<'_>,
        watch: &Watch<'_>,
    ) -> Result<Self, Error> {
        let rows = Rows::new(predictions, truth, options)?;
        let mut evidence = rows.marginals(watch)?;
        match options.level {
            Level::Marginals => {}
            Level::Pairs => evidence.pairs = Some(rows.pairs(watch)?),
            Level::Tally => evidence.tally = Some(rows.tally(watch)?),
        }
        evidence.without_unseen_labels(watch)
    }

    /// Counts with the default settings: the whole tally, classes as met, weight 1.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn new(predictions: &Predictions, truth: &Truth) -> Result<Self, Error> {
        Self::count(predictions, truth, &Counting::default(), &Watch::default())
    }
}

/// Rows ready to be counted.
struct Rows<'a> {
    predictions: &'a Predictions,
    labels: Labels,
    /// From the predictions' own ids to `labels`.
    map: Vec<u16>,
    /// Class of each row, or [`MISSING`].
    truths: Vec<u16>,
    units: Option<Vec<u64>>,
    fraction_bits: u32,
}

impl<'a> Rows<'a> {
    fn new(predictions: &'a Predictions, truth: &'a Truth, options: &Counting<'_>) -> Result<Self, Error> {
        let expected = predictions.n_rows();
        if truth.n_rows() != expected {
            return Err(Error::RowCount { what: "truth", expected, found: truth.n_rows() });
        }
        let given =
            [("weights", options.weights.map(<[f64]>::len)), ("counts", options.counts.map(<[u64]>::len))];
        for (what, length) in given {
            if let Some(found) = length.filter(|length| *length != expected) {
                return Err(Error::RowCount { what, expected, found });
            }
        }
        let (weights, fraction_bits) = options
            .weights
            .map_or(Ok((None, 0)), |weights| fixed_point(weights).map(|(units, bits)| (Some(units), bits)))?;
        let units = match (weights, options.counts) {
            (weights, None) => weights,
            (None, Some(counts)) => Some(counts.to_vec()),
            (Some(weights), Some(counts)) => {
                let product = |(weight, count): (u64, &u64)| weight.checked_mul(*count);
                let units: Option<Vec<u64>> = weights.into_iter().zip(counts).map(product).collect();
                Some(units.ok_or(Error::Overflow { what: "weights" })?)
            }
        };
        let total = units.iter().flatten().try_fold(0u64, |sum, units| sum.checked_add(*units));
        let what = if options.weights.is_some() { "weights" } else { "counts" };
        total.ok_or(Error::Overflow { what })?;
        let counts = |row: usize| {
            truth.ids()[row] != MISSING && units.as_ref().is_none_or(|units: &Vec<u64>| units[row] > 0)
        };
        // What occurs in no counted row, be it a label or a way of writing one, is not evidence.
        let mut said = vec![true; predictions.labels().len()];
        let mut true_of = vec![true; truth.labels().len()];
        if !(0..expected).all(counts) {
            said.fill(false);
            true_of.fill(false);
            for row in (0..expected).filter(|&row| counts(row)) {
                predictions.grid().row(row).for_each(|_, id| said[usize::from(id)] = true);
                true_of[usize::from(truth.ids()[row])] = true;
            }
        }
        let occurring = |labels: &'a [Label], occurs: Vec<bool>| {
            labels.iter().zip(occurs).filter(|pair| pair.1).map(|pair| pair.0.clone())
        };
        let said = occurring(predictions.labels(), said);
        let labels = match &options.classes {
            Some(classes) => Labels::closed(classes, said)?,
            None => Labels::open(said.chain(occurring(truth.labels(), true_of)))?,
        };
        let classes = labels.translate(truth.labels());
        let mut truths = vec![MISSING; expected];
        for row in (0..expected).filter(|&row| counts(row)) {
            let id = usize::from(truth.ids()[row]);
            if usize::from(classes[id]) >= labels.n_classes() {
                let found = truth.labels()[id].to_string();
                return Err(Error::TruthNotAClass { row: row + 1, found, classes: list(labels.classes()) });
            }
            truths[row] = classes[id];
        }
        let map = labels.translate(predictions.labels());
        Ok(Self { predictions, labels, map, truths, units, fraction_bits })
    }

    /// (row number, class, units) of the rows in a range whose truth is known.
    fn labelled(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = (usize, u16, u64)> + '_ {
        let known = move |row: usize| {
            let class = self.truths[row];
            let units = self.units.as_ref().map_or(1, |units| units[row]);
            (class != MISSING).then_some((row, class, units))
        };
        range.filter_map(known)
    }

    fn marginals(&self, watch: &Watch<'_>) -> Result<Evidence, Error> {
        let n = self.predictions.n_rows();
        let (k, raw, l) = (self.predictions.n_classifiers(), self.map.len(), self.labels.n_classes());
        let s = self.labels.len();
        watch.allow(
            || format!("confusion of {k} classifiers, {s} answers, {l} classes"),
            &[k, s.max(raw), l, 16],
        )?;
        let pieces = if k * raw * l <= 1 << 17 { parallel::threads() } else { 1 };
        let grid = self.predictions.grid();
        let mut class_counts = vec![0u64; l];
        let mut confusion = vec![0u64; k * s * l];
        for start in (0..n).step_by(BLOCK) {
            watch.report("counting", start, n)?;
            let block = BLOCK.min(n - start);
            let parts = parallel::map_ranges(block, block.div_ceil(pieces), |range| {
                let mut confusion = vec![0u64; k * raw * l];
                let mut class_counts = vec![0u64; l];
                for (row, class, units) in self.labelled(start + range.start..start + range.end) {
                    let i = usize::from(class);
                    class_counts[i] += units;
                    grid.row(row).for_each(|k, j| confusion[(k * raw + usize::from(j)) * l + i] += units);
                }
                (confusion, class_counts)
            });
            for (part, classes) in &parts {
                class_counts.iter_mut().zip(classes).for_each(|(sum, count)| *sum += count);
                let known =
                    part.chunks(l.max(1)).enumerate().filter(|(from, _)| self.map[from % raw] != MISSING);
                for (from, cells) in known {
                    let to = (from / raw * s + usize::from(self.map[from % raw])) * l;
                    confusion[to..to + l].iter_mut().zip(cells).for_each(|(sum, count)| *sum += count);
                }
            }
        }
        Ok(Evidence {
            classifiers: self.predictions.classifiers().to_vec(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            class_counts,
            confusion,
            pairs: None,
            tally: None,
        })
    }

    fn pairs(&self, watch: &Watch<'_>) -> Result<Pairs, Error> {
        let n = self.predictions.n_rows();
        let mut grid = self.predictions.grid().clone();
        grid.relabel(&self.map);
        let mut pairs = Pairs::empty(self.predictions.n_classifiers(), self.labels.len(), watch)?;
        for start in (0..n).step_by(BLOCK) {
            watch.report("counting pairs", start, n)?;
            for (row, _, units) in self.labelled(start..n.min(start + BLOCK)) {
                pairs.add(grid.row(row), units);
            }
        }
        Ok(pairs)
    }

    fn tally(&self, watch: &Watch<'_>) -> Result<Tally, Error> {
        let n = self.predictions.n_rows();
        let (grid, width) = (self.predictions.grid(), self.predictions.n_classifiers());
        watch.report("tallying", 0, n)?;
        let pieces = parallel::threads();
        let parts = parallel::map_ranges(n, n.div_ceil(pieces), |range| {
            let length = range.len();
            let rows = self.labelled(range).map(|(row, class, units)| (grid.row(row), class, units));
            Tally::of(width, rows, length, pieces, &self.map, watch)
        });
        let tally = parts.into_iter().try_fold(Tally::empty(width), |sum, part| sum.plus(&part?))?;
        watch.allow(|| format!("tally of {} patterns", tally.n_patterns()), &[tally.bytes()])?;
        Ok(tally)
    }
}

/// Weights as whole units: ones if all weights are whole, else of 2^-30.
fn fixed_point(weights: &[f64]) -> Result<(Vec<u64>, u32), Error> {
    let whole = weights.iter().all(|weight| weight.fract() == 0.0);
    let bits = if whole { 0 } else { WEIGHT_BITS };
    let unit = (1u64 << bits) as f64;
    let largest = (1u64 << (63 - bits)) as f64;
    let mut units = Vec::with_capacity(weights.len());
    for (row, &weight) in weights.iter().enumerate() {
        let scaled = (weight * unit).round();
        if !(0.0..=largest).contains(&weight) || (weight > 0.0 && scaled < 1.0) {
            return Err(Error::BadWeight { row: row + 1, found: weight, smallest: 1.0 / unit, largest });
        }
        units.push(scaled as u64);
    }
    Ok((units, bits))
}
