//! From rows to evidence: one pass, in as many pieces as there are cores.

use std::{borrow::Cow, ops::Range};

use crate::{
    data::{Label, LabelMatrix, Labels, MISSING, Predictions, Row, RowPacking, Table, Truth, bits_for},
    error::{Error, list},
    evidence::{
        Evidence, Level, Unlabelled,
        confusions::Confusions,
        key_counts::{Numbered, Numbers, merge_all},
        pairs::Pairs,
        tally::Tally,
    },
    parallel,
    progress::Control,
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
    /// Exactly the classes that may be decided, as they come back; by default what [`Evidence::candidate_classes`]
    /// finds, in the kind of the truths.
    pub classes: Option<Vec<Label>>,
    /// How often each row of a grouped table occurred; by default once.
    pub counts: Option<&'a [u64]>,
    /// One weight per row; by default 1. Of a row that occurred several times it is the weight of each.
    pub weights: Option<&'a [f64]>,
    /// Whether rows without truth are counted too, beside the tally, for the methods that learn from them.
    pub unlabelled: bool,
}

impl Evidence {
    /// Counts the rows whose truth is known and, if [asked](Counting::unlabelled), the others beside them.
    ///
    /// ```
    /// use spocc::{Evidence, Predictions, Truth, Control, evidence::Counting};
    /// let mut rows = Predictions::builder(["ann", "bob"])?;
    /// rows.push([Some("cat"), Some("dog")])?;
    /// rows.push([Some("dog"), Some("dog")])?;
    /// let truth = Truth::new([Some("cat"), Some("dog")])?;
    /// let evidence = Evidence::count(&rows.finish(), &truth, &Counting::default(), &Control::default())?;
    /// assert_eq!(evidence.count_of(1, "dog", "cat"), 1.0);
    /// assert_eq!(evidence.confusion_of(1), Some(vec![0.0, 0.0, 1.0, 1.0])); // rows: said, columns: true
    /// # Ok::<(), spocc::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`] if predictions, truth and weights are not equally long, [`Error::TruthNotAClass`],
    /// [`Error::BadWeight`], [`Error::MemoryLimit`], [`Error::Overflow`], [`Error::Cancelled`];
    /// [`Error::LabelId`] for a [number](crate::data::IntegerTable) that is not among the labels.
    pub fn count<'a>(
        table: impl Into<Table<'a>>,
        truth: &Truth,
        options: &Counting<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let table = table.into();
        if let Table::IntegerTable(integers) = table
            && !Rows::reads_in_place(truth, options)
        {
            return Self::count(&integers.to_predictions()?, truth, options, control);
        }
        let rows = Rows::new(table, truth, options)?;
        let (k, s, l) = (rows.n_classifiers(), rows.labels.len(), rows.labels.n_classes());
        control.allow(
            || format!("confusion of {k} classifiers, {s} answers, {l} classes"),
            &[k, s.max(rows.map.len()), l, 16],
        )?;
        // A tally holds its own marginals, in far fewer patterns than there are rows.
        let tally = (options.level == Level::Tally).then(|| rows.tally(control)).transpose()?;
        let (class_counts, confusion) = match &tally {
            Some(tally) => rows.marginals_of(tally, control)?,
            None => rows.marginals(control)?,
        };
        let unlabelled = rows.unlabelled(truth, options, control)?;
        let pairs = (options.level == Level::Pairs).then(|| rows.pairs(control)).transpose()?;
        let Rows { labels, fraction_bits, .. } = rows;
        let classifiers = table.classifiers().to_vec();
        let row_units = Vec::new();
        Self {
            classifiers,
            labels,
            fraction_bits,
            class_counts,
            confusion,
            pairs,
            tally,
            unlabelled,
            row_units,
        }
        .without_unseen_labels(control)
    }

    /// Counts with the default settings: the whole tally, classes as met, weight 1.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn new(predictions: &Predictions, truth: &Truth) -> Result<Self, Error> {
        Self::count(predictions, truth, &Counting::default(), &Control::default())
    }
}

/// Something that counts rows: all of them in one loop of its own, since a call for every row costs as much as
/// its counts.
pub(super) trait Counter {
    /// Counts rows, each with its class and so many times.
    fn add_all<'a>(&mut self, rows: impl Iterator<Item = (Row<'a>, u16, u64)>);
}

/// Rows ready to be counted.
struct Rows<'a> {
    table: Table<'a>,
    labels: Labels,
    /// From the table's own ids to `labels`.
    map: Vec<u16>,
    /// Class of each row, or [`MISSING`].
    truths: Cow<'a, [u16]>,
    units: Option<Vec<u64>>,
    fraction_bits: u32,
}

impl<'a> Rows<'a> {
    /// Whether numbers need not be taken over first: every row counts once, for what is counted row by row.
    fn reads_in_place(truth: &Truth, options: &Counting<'_>) -> bool {
        let once = options.weights.is_none() && options.counts.is_none();
        once && options.level != Level::Pairs && !truth.ids().contains(&MISSING)
    }

    fn new(table: Table<'a>, truth: &'a Truth, options: &Counting<'_>) -> Result<Self, Error> {
        let expected = table.n_rows();
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
        let is_known = |row: usize| truth.ids()[row] != MISSING;
        let counts = |row: usize| {
            (options.unlabelled || is_known(row))
                && units.as_ref().is_none_or(|units: &Vec<u64>| units[row] > 0)
        };
        let every_row_counts =
            !truth.ids().contains(&MISSING) && units.as_ref().is_none_or(|units| !units.contains(&0));
        // What occurs in no counted row, be it a label or a way of writing one, is not evidence.
        let mut said = vec![every_row_counts; table.labels().len()];
        let mut true_of = vec![every_row_counts; truth.labels().len()];
        if let (false, Table::Predictions(predictions)) = (every_row_counts, table) {
            for row in (0..expected).filter(|&row| counts(row)) {
                predictions.matrix().row(row).for_each(|_, id| said[usize::from(id)] = true);
                if is_known(row) {
                    true_of[usize::from(truth.ids()[row])] = true;
                }
            }
        }
        let occurring = |labels: &'a [Label], occurs: Vec<bool>| {
            labels.iter().zip(occurs).filter(|pair| pair.1).map(|pair| pair.0.clone())
        };
        let said = occurring(table.labels(), said);
        let labels = match &options.classes {
            Some(classes) => Labels::closed(classes, said)?,
            None => Labels::open(occurring(truth.labels(), true_of), said)?,
        };
        let classes = labels.translate(truth.labels());
        let is_class = |id: &u16| usize::from(*id) < labels.n_classes();
        let all_known = every_row_counts && classes.iter().all(is_class);
        let truths = if all_known && classes.iter().copied().eq(0..classes.len() as u16) {
            Cow::Borrowed(truth.ids())
        } else {
            let mut truths = vec![MISSING; expected];
            for row in (0..expected).filter(|&row| is_known(row) && counts(row)) {
                let id = usize::from(truth.ids()[row]);
                if !is_class(&classes[id]) {
                    let found = truth.labels()[id].to_string();
                    return Err(Error::TruthNotAClass {
                        row: row + 1,
                        found,
                        classes: list(labels.classes()),
                    });
                }
                truths[row] = classes[id];
            }
            Cow::Owned(truths)
        };
        let map = labels.translate(table.labels());
        Ok(Self { table, labels, map, truths, units, fraction_bits })
    }

    fn n_classifiers(&self) -> usize {
        self.table.classifiers().len()
    }

    /// The table as a grid, taken over if need be.
    fn matrix(&self) -> Result<Cow<'a, LabelMatrix>, Error> {
        match self.table {
            Table::Predictions(predictions) => Ok(Cow::Borrowed(predictions.matrix())),
            Table::IntegerTable(integers) => Ok(Cow::Owned(integers.to_predictions()?.into_matrix())),
        }
    }

    /// (row of `grid`, class, units) of the rows in a range whose truth is known.
    fn labelled<'b>(
        &'b self,
        grid: &'b LabelMatrix,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Row<'b>, u16, u64)> + 'b {
        let units = |row: usize| self.units.as_ref().map_or(1, |units| units[row]);
        let known = move |(row, &class): (usize, &u16)| {
            (class != MISSING).then(|| (grid.row(row), class, units(row)))
        };
        range.clone().zip(&self.truths[range]).filter_map(known)
    }

    /// Counts what [`labelled`](Self::labelled) gives; dense rows that count once each in a loop of their own.
    fn count_labelled(&self, range: Range<usize>, counter: &mut impl Counter) -> Result<(), Error> {
        let predictions = match self.table {
            Table::Predictions(predictions) => predictions,
            Table::IntegerTable(integers) => {
                let width = integers.width();
                let count = |rows: Range<usize>, cells: &[u16]| {
                    counter.add_all(once_each(cells, width, &self.truths[rows]));
                };
                return integers.for_each_block(range, count).ok_or_else(|| integers.unknown_label());
            }
        };
        let grid = predictions.matrix();
        match (grid.dense_cells(), &self.units) {
            (Some(cells), None) => {
                let width = grid.width();
                let cells = &cells[range.start * width..range.end * width];
                counter.add_all(once_each(cells, width, &self.truths[range]));
            }
            _ => counter.add_all(self.labelled(grid, range)),
        }
        Ok(())
    }

    /// Class counts and confusion, from the rows.
    fn marginals(&self, control: &Control<'_>) -> Result<(Vec<u64>, Vec<u64>), Error> {
        let n = self.table.n_rows();
        let is_dense = self.table.is_dense();
        self.confusions(n, &self.map, is_dense, control, |range, counting| {
            self.count_labelled(range, counting)
        })
    }

    /// Class counts and confusion, from the tally of the rows.
    fn marginals_of(&self, tally: &Tally, control: &Control<'_>) -> Result<(Vec<u64>, Vec<u64>), Error> {
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

    /// Counts `n` things whose answers `map` turns into labels; `add` counts a range of them.
    fn confusions(
        &self,
        n: usize,
        map: &[u16],
        is_dense: bool,
        control: &Control<'_>,
        add: impl Fn(Range<usize>, &mut Confusions) -> Result<(), Error> + Sync,
    ) -> Result<(Vec<u64>, Vec<u64>), Error> {
        let (k, raw, l) = (self.n_classifiers(), map.len(), self.labels.n_classes());
        let s = self.labels.len();
        let pieces = if k * raw * l <= 1 << 17 { parallel::threads() } else { 1 };
        let mut class_counts = vec![0u64; l];
        let mut confusion = vec![0u64; k * s * l];
        for start in (0..n).step_by(BLOCK) {
            control.report("counting", start, n)?;
            let block = BLOCK.min(n - start);
            let parts = parallel::map_ranges(block, block.div_ceil(pieces), |range| {
                let mut counting = Confusions::new([k, raw, l], range.len(), is_dense);
                add(start + range.start..start + range.end, &mut counting)?;
                Ok(counting.finish())
            });
            for part in parts {
                let (classes, part): (Vec<u64>, Vec<u64>) = part?;
                class_counts.iter_mut().zip(&classes).for_each(|(sum, count)| *sum += count);
                let known = part.chunks(l.max(1)).enumerate().filter(|(from, _)| map[from % raw] != MISSING);
                for (from, cells) in known {
                    let to = (from / raw * s + usize::from(map[from % raw])) * l;
                    confusion[to..to + l].iter_mut().zip(cells).for_each(|(sum, count)| *sum += count);
                }
            }
        }
        Ok((class_counts, confusion))
    }

    fn pairs(&self, control: &Control<'_>) -> Result<Pairs, Error> {
        let n = self.table.n_rows();
        let mut grid = self.matrix()?.into_owned();
        grid.relabel(&self.map);
        let mut pairs = Pairs::empty(self.n_classifiers(), self.labels.len(), control)?;
        for start in (0..n).step_by(BLOCK) {
            control.report("counting pairs", start, n)?;
            self.labelled(&grid, start..n.min(start + BLOCK))
                .for_each(|(row, _, units)| pairs.add(row, units));
        }
        Ok(pairs)
    }

    fn tally(&self, control: &Control<'_>) -> Result<Tally, Error> {
        let (n, width) = (self.table.n_rows(), self.n_classifiers());
        control.report("tallying", 0, n)?;
        let pieces = parallel::threads();
        let step = n.div_ceil(pieces);
        let truth_bits = self.truth_bits();
        let packing =
            RowPacking::new(width, &self.map, MISSING, truth_bits).filter(|_| self.table.is_dense());
        let tally = if let Some(packing) = packing {
            let parts = parallel::map_ranges(n, step, |range| self.numbers(&packing, range, pieces, control));
            let parts = parts.into_iter().collect::<Result<Vec<Vec<Numbered>>, Error>>()?;
            Tally::of_numbers(&packing, truth_bits, &merge_all(parts, truth_bits))
        } else {
            let grid = self.matrix()?;
            let parts = parallel::map_ranges(n, step, |range| {
                let length = range.len();
                Tally::of(width, self.labelled(&grid, range), length, pieces, &self.map, control)
            });
            parts.into_iter().try_fold(Tally::empty(width), |sum, part| sum.plus(&part?))?
        };
        control.allow(|| format!("tally of {} patterns", tally.n_patterns()), &[tally.bytes()])?;
        Ok(tally)
    }

    /// The rows without truth that count something, if they are asked for.
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
        rows.tally(control).map(Unlabelled::of)
    }

    fn truth_bits(&self) -> u32 {
        bits_for(self.labels.n_classes())
    }

    /// Rows and their truths as numbers, counted.
    fn numbers(
        &self,
        packing: &RowPacking,
        range: Range<usize>,
        pieces: usize,
        control: &Control<'_>,
    ) -> Result<Vec<Numbered>, Error> {
        const PIECE: usize = 1 << 16;
        let truth_bits = self.truth_bits();
        let numbers = Numbers::new(packing.row_bits() + truth_bits);
        let mut counter = Numbering { packing, truth_bits, numbers };
        for start in range.clone().step_by(PIECE) {
            let end = range.end.min(start + PIECE);
            self.count_labelled(start..end, &mut counter)?;
            control.report("tallying", end - range.start, range.len())?;
            counter.numbers.settle(end - range.start, range.len(), pieces, control)?;
        }
        Ok(counter.numbers.finish())
    }
}

/// Rows as numbers, while they are being counted.
struct Numbering<'a> {
    packing: &'a RowPacking,
    truth_bits: u32,
    numbers: Numbers,
}

impl Counter for Numbering<'_> {
    fn add_all<'a>(&mut self, rows: impl Iterator<Item = (Row<'a>, u16, u64)>) {
        let Self { packing, truth_bits, numbers } = self;
        rows.for_each(|(row, class, units)| {
            if let Row::Dense(cells) = row {
                numbers.add(packing.pack(cells) << *truth_bits | u64::from(class), units);
            }
        });
    }
}

/// Dense rows whose truth is known, once each.
fn once_each<'a>(
    cells: &'a [u16],
    width: usize,
    truths: &'a [u16],
) -> impl Iterator<Item = (Row<'a>, u16, u64)> {
    let known = |(row, &class): (&'a [u16], &u16)| (class != MISSING).then_some((Row::Dense(row), class, 1));
    cells.chunks_exact(width).zip(truths).filter_map(known)
}

/// Weights as whole units: ones if all weights are whole, else of 2^-30.
fn fixed_point(weights: &[f64]) -> Result<(Vec<u64>, u32), Error> {
    // The bounds are those of the code below, 2^-30, 2^33 and 2^63, rounded to numbers that are taken.
    const ANY: &str = "a weight of 0 or between 9.3e-10 and 8.5e9";
    const WHOLE: &str = "a whole weight of at most 9.2e18";
    let whole = weights.iter().all(|weight| weight.fract() == 0.0);
    let bits = if whole { 0 } else { WEIGHT_BITS };
    let unit = (1u64 << bits) as f64;
    let largest = (1u64 << (63 - bits)) as f64;
    let mut units = Vec::with_capacity(weights.len());
    for (row, &weight) in weights.iter().enumerate() {
        let scaled = (weight * unit).round();
        if !(0.0..=largest).contains(&weight) || (weight > 0.0 && scaled < 1.0) {
            // Whole weights may be larger than others.
            let expected = if whole && weight > largest { WHOLE } else { ANY };
            return Err(Error::BadWeight { row: row + 1, expected, found: weight });
        }
        units.push(scaled as u64);
    }
    Ok((units, bits))
}
