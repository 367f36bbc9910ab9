//! Counting: from rows to evidence, in one pass, in parallel.
//!
//! In: a table of predictions, truths, counts and weights of rows. Out: [`Evidence`] at the level asked for.

use std::ops::Range;

use crate::{
    data::{Label, MISSING, PredictionTable, Predictions, Row, RowPacking, Truth, bits_for},
    error::Error,
    evidence::{
        Evidence, Level, Unlabelled,
        confusion_counter::ConfusionCounter,
        confusions::{ConfusionCell, Confusions},
        counted_rows::{CountedRows, Counter},
        key_counts::{KeyCount, KeyCounts, merge_all},
        pairs::Pairs,
        tally::Tally,
        unlabelled_sample::{MAX_PATTERNS, PatternHash},
    },
    parallel,
    progress::Control,
};

/// Fraction bits of the weight of a row: sums of weights are exact.
pub(crate) const WEIGHT_BITS: u32 = 30;

/// Rows between two reports of progress.
const BLOCK: usize = 1 << 22;

/// Cells of the unlabelled rows that are counted before a sample is taken.
const UNLABELLED_CELLS: usize = 1 << 24;

/// How rows are counted.
#[derive(Clone, Debug)]
pub struct Counting<'a> {
    /// How much to hold of the rows; the tally by default.
    pub level: Level,
    /// The classes that may be decided, as a model returns them; by default those of
    /// [`Evidence::candidate_classes`], in the kind of the truths.
    pub classes: Option<Vec<Label>>,
    /// The count of each row of a grouped table; by default 1.
    pub counts: Option<&'a [u64]>,
    /// One weight per row; by default 1. For a row with a count it is the weight of each of them.
    pub weights: Option<&'a [f64]>,
    /// Whether unlabelled rows are counted with a tally, for the methods that learn from them; true by default.
    pub unlabelled: bool,
}

impl Default for Counting<'_> {
    fn default() -> Self {
        Self { level: Level::default(), classes: None, counts: None, weights: None, unlabelled: true }
    }
}

impl Evidence {
    /// Counts labelled and, for a tally, [unlabelled](Counting::unlabelled) rows.
    ///
    /// ```
    /// use spocc::{Evidence, Predictions, Truth, Control, evidence::Counting};
    /// let mut rows = Predictions::builder(["ann", "bob"])?;
    /// rows.push([Some("cat"), Some("dog")])?;
    /// rows.push([Some("dog"), Some("dog")])?;
    /// let truth = Truth::new([Some("cat"), Some("dog")])?;
    /// let evidence = Evidence::count(&rows.finish(), &truth, &Counting::default(), &Control::default())?;
    /// assert_eq!(evidence.count_of(1, "dog", "cat"), 1.0);
    /// assert_eq!(evidence.confusion_of(1), Some(vec![0.0, 0.0, 1.0, 1.0])); // rows: predicted, columns: true
    /// # Ok::<(), spocc::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`] if predictions, truth and weights are not equally long, [`Error::TruthNotAClass`],
    /// [`Error::BadWeight`], [`Error::MemoryLimit`], [`Error::Overflow`], [`Error::Cancelled`];
    /// [`Error::LabelId`] for an [integer](crate::data::IntegerTable) that is not among the labels.
    pub fn count<'a>(
        table: impl Into<PredictionTable<'a>>,
        truth: &Truth,
        options: &Counting<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let table = table.into();
        if let PredictionTable::IntegerTable(integers) = table
            && !CountedRows::reads_in_place(truth, options)
        {
            return Self::count(&integers.to_predictions()?, truth, options, control);
        }
        let rows = CountedRows::new(table, truth, options)?;
        let (k, s, l) = (rows.n_classifiers(), rows.labels.len(), rows.labels.n_classes());
        let counted = [k, s.max(rows.map.len()), l];
        if ConfusionCounter::has_every_cell(counted) {
            let what = || format!("confusion of {k} classifiers, {s} labels, {l} classes");
            control.allow(what, &[&counted[..], &[16]].concat())?;
        }
        // Marginals are counted from the tally, which has far fewer patterns than there are rows.
        let n = table.n_rows();
        let tally = (options.level == Level::Tally).then(|| rows.tally(0..n, control)).transpose()?;
        let (class_counts, confusions) = match &tally {
            Some(tally) => rows.marginals_of(tally, control)?,
            None => rows.marginals(control)?,
        };
        let unlabelled = rows.unlabelled(truth, options, control)?;
        let pairs = (options.level == Level::Pairs).then(|| rows.pairs(control)).transpose()?;
        let CountedRows { labels, fraction_bits, .. } = rows;
        let is_weighted = |weights: &[f64]| weights.iter().any(|weight| *weight != 0.0 && *weight != 1.0);
        let whole_weights = fraction_bits == 0 && options.weights.is_some_and(is_weighted);
        let classifiers = table.classifiers().to_vec();
        let row_units = Vec::new();
        let evidence = Self {
            classifiers,
            labels,
            fraction_bits,
            whole_weights,
            class_counts,
            confusions,
            pairs,
            tally,
            unlabelled,
            row_units,
        };
        // Labels of patterns that a sample drops stay: whether another part keeps them is not known here.
        if evidence.samples_unlabelled() { Ok(evidence) } else { evidence.without_unseen_labels(control) }
    }

    /// Counts with the default settings: the tally, classes as they occur, weight 1.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn new(predictions: &Predictions, truth: &Truth) -> Result<Self, Error> {
        Self::count(predictions, truth, &Counting::default(), &Control::default())
    }
}

impl CountedRows<'_> {
    /// Class counts and confusion, from the rows.
    fn marginals(&self, control: &Control<'_>) -> Result<(Vec<u64>, Confusions), Error> {
        let n = self.table.n_rows();
        let is_dense = self.table.is_dense();
        self.confusions(n, &self.map, is_dense, control, |range, counting| {
            self.count_labelled(range, counting)
        })
    }

    /// Class counts and confusion, from the tally of the rows.
    fn marginals_of(&self, tally: &Tally, control: &Control<'_>) -> Result<(Vec<u64>, Confusions), Error> {
        let identity: Vec<u16> = (0..self.labels.len() as u16).collect();
        self.confusions(
            tally.n_patterns(),
            &identity,
            tally.patterns().is_dense(),
            control,
            |range, counting| {
                counting.add_all(tally.cells_of(range));
                Ok(())
            },
        )
    }

    /// Counts `n` rows, of which `map` turns the ids into labels; `add` counts a range of them.
    fn confusions(
        &self,
        n: usize,
        map: &[u16],
        is_dense: bool,
        control: &Control<'_>,
        add: impl Fn(Range<usize>, &mut ConfusionCounter) -> Result<(), Error> + Sync,
    ) -> Result<(Vec<u64>, Confusions), Error> {
        let (k, raw, l) = (self.n_classifiers(), map.len(), self.labels.n_classes());
        // Tables of every thread, unless they are large.
        let is_large = k * raw * l > 1 << 17 && ConfusionCounter::has_every_cell([k, raw, l]);
        let pieces = if is_large { 1 } else { parallel::threads() };
        let mut class_counts = vec![0u64; l];
        let mut confusions = Confusions::empty(k);
        for start in (0..n).step_by(BLOCK) {
            control.report("counting", start, n)?;
            let block = BLOCK.min(n - start);
            let parts = parallel::map_ranges(block, block.div_ceil(pieces), |range| {
                let mut counting = ConfusionCounter::new([k, raw, l], range.len(), is_dense);
                add(start + range.start..start + range.end, &mut counting)?;
                Ok(counting.finish())
            });
            for part in parts {
                let (classes, part): (Vec<u64>, Confusions) = part?;
                class_counts.iter_mut().zip(&classes).for_each(|(sum, count)| *sum += count);
                confusions = confusions.plus(&part.with_predictions(map));
            }
            let n_cells = confusions.cells().len();
            control
                .allow(|| format!("confusions of {n_cells} cells"), &[n_cells, size_of::<ConfusionCell>()])?;
        }
        Ok((class_counts, confusions))
    }

    fn pairs(&self, control: &Control<'_>) -> Result<Pairs, Error> {
        let n = self.table.n_rows();
        let mut matrix = self.matrix()?.into_owned();
        matrix.relabel(&self.map);
        let mut pairs = Pairs::empty(self.n_classifiers(), self.labels.len(), control)?;
        for start in (0..n).step_by(BLOCK) {
            control.report("counting pairs", start, n)?;
            self.labelled(&matrix, start..n.min(start + BLOCK))
                .for_each(|(row, _, units)| pairs.add(row, units));
        }
        Ok(pairs)
    }

    fn tally(&self, rows: Range<usize>, control: &Control<'_>) -> Result<Tally, Error> {
        let (n, width) = (rows.len(), self.n_classifiers());
        let of_table = |range: Range<usize>| rows.start + range.start..rows.start + range.end;
        control.report("tallying", 0, n)?;
        let pieces = parallel::threads();
        let step = n.div_ceil(pieces);
        let truth_bits = self.truth_bits();
        let packing =
            RowPacking::new(width, &self.map, MISSING, truth_bits).filter(|_| self.table.is_dense());
        let tally = if let Some(packing) = packing {
            let count = |range| self.key_counts(&packing, of_table(range), pieces, control);
            let parts = parallel::map_ranges(n, step, count);
            let parts = parts.into_iter().collect::<Result<Vec<Vec<KeyCount>>, Error>>()?;
            Tally::from_keys(&packing, truth_bits, &merge_all(parts, truth_bits))
        } else {
            let matrix = self.matrix()?;
            let parts = parallel::map_ranges(n, step, |range| {
                let length = range.len();
                let rows = self.labelled(&matrix, of_table(range));
                Tally::of(width, rows, length, pieces, &self.map, control)
            });
            parts.into_iter().try_fold(Tally::empty(width), |sum, part| sum.plus(&part?))?
        };
        control.allow(|| format!("tally of {} patterns", tally.n_patterns()), &[tally.bytes()])?;
        Ok(tally)
    }

    /// The unlabelled rows, if they are to be counted.
    fn unlabelled(
        &self,
        truth: &Truth,
        options: &Counting<'_>,
        control: &Control<'_>,
    ) -> Result<Option<Unlabelled>, Error> {
        if !options.unlabelled || options.level != Level::Tally || !truth.ids().contains(&MISSING) {
            return Ok(None);
        }
        let counts = |row: usize| self.units.as_ref().is_none_or(|units| units[row] > 0);
        let one_class = |(row, &id): (usize, &u16)| if id == MISSING && counts(row) { 0 } else { MISSING };
        let rows = Self {
            table: self.table,
            labels: self.labels.clone(),
            map: self.map.clone(),
            truths: truth.ids().iter().enumerate().map(one_class).collect(),
            units: self.units.clone(),
            fraction_bits: self.fraction_bits,
        };
        // Truncated after every block, so that memory does not grow with the number of patterns.
        let n = self.table.n_rows();
        let block = (UNLABELLED_CELLS / self.n_classifiers().max(1)).clamp(MAX_PATTERNS, BLOCK);
        let hash = PatternHash::new(self.table.classifiers(), &self.labels);
        let mut sum = None;
        for start in (0..n).step_by(block) {
            let part = rows.tally(start..n.min(start + block), control)?;
            sum = Unlabelled::sum(sum, Unlabelled::of(part, &hash), &hash)?;
        }
        Ok(sum)
    }

    fn truth_bits(&self) -> u32 {
        bits_for(self.labels.n_classes())
    }

    /// The counts of keys of rows and truths.
    fn key_counts(
        &self,
        packing: &RowPacking,
        range: Range<usize>,
        pieces: usize,
        control: &Control<'_>,
    ) -> Result<Vec<KeyCount>, Error> {
        const PIECE: usize = 1 << 16;
        let truth_bits = self.truth_bits();
        let keys = KeyCounts::new(packing.row_bits() + truth_bits);
        let mut counter = KeyCounter { packing, truth_bits, keys };
        for start in range.clone().step_by(PIECE) {
            let end = range.end.min(start + PIECE);
            self.count_labelled(start..end, &mut counter)?;
            control.report("tallying", end - range.start, range.len())?;
            counter.keys.settle(end - range.start, range.len(), pieces, control)?;
        }
        Ok(counter.keys.finish())
    }
}

/// Packs rows into keys and counts them.
struct KeyCounter<'a> {
    packing: &'a RowPacking,
    truth_bits: u32,
    keys: KeyCounts,
}

impl Counter for KeyCounter<'_> {
    fn add_all<'a>(&mut self, rows: impl Iterator<Item = (Row<'a>, u16, u64)>) {
        let Self { packing, truth_bits, keys } = self;
        rows.for_each(|(row, class, units)| {
            if let Row::Dense(cells) = row {
                keys.add(packing.pack(cells) << *truth_bits | u64::from(class), units);
            }
        });
    }
}
