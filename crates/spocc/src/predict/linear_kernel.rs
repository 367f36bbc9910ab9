//! The linear kernel: decides rows with a clear winner in single precision, several classes at once.
//!
//! Most methods score a class by a sum of costs, one per prediction, and decide for the class of least cost. The kernel
//! adds the costs in single precision, of several predictions at a time from one table. It decides a row only if the
//! winner leads by far more than any rounding error. All other rows are decided in double precision, so the two never
//! disagree.

use wide::f32x4;

use crate::{
    data::{CellQuads, MISSING, Row, bits_for},
    methods::CostTable,
};

/// Which classifier each column of a table belongs to, and which of the rule's labels each of its ids is.
pub(crate) struct ColumnMap<'a> {
    /// Classifier of each column, or `u32::MAX`.
    pub(crate) classifier_of: &'a [u32],
    /// From the table's label ids to the rule's.
    pub(crate) map: &'a [u16],
    /// The label id of a missing prediction of each classifier, `MISSING` where it is no answer.
    pub(crate) missing: &'a [u16],
    pub(crate) n_labels: usize,
    pub(crate) n_classes: usize,
    pub(crate) n_rows: usize,
    pub(crate) is_dense: bool,
}

/// The costs of a table's own label ids, in single precision.
pub(crate) struct LinearKernel {
    lanes: usize,
    start: Vec<f32x4>,
    /// Costs of `size` neighbouring columns at a time, by the code of their label ids.
    entries: Vec<f32x4>,
    size: usize,
    bits: u32,
    /// Number of codes of a quad of columns, or of one column if columns are added one by one.
    stride: usize,
    /// Factor and distance by which a clear winner leads.
    clear: f32,
    lead: f32,
    /// Whether a row without predictions is left undecided.
    has_start: bool,
}

/// Classes in one register.
const LANE: usize = 4;
/// In place of a class: no class leads clearly.
pub(crate) const UNDECIDED: u16 = u16::MAX;
/// Costs below this are set to 0, because adding subnormal numbers is slow.
const TINY: f64 = 1e-30;

impl LinearKernel {
    /// None where filling the table of costs would take longer than deciding the rows without it.
    pub(crate) fn new(costs: &CostTable<'_>, columns: &ColumnMap<'_>) -> Option<Self> {
        const MOST_BYTES: usize = 1 << 26;
        let n_columns = columns.classifier_of.len();
        let lanes = columns.n_classes.div_ceil(LANE).next_power_of_two();
        // With start costs the kernel must see whether a row has a prediction; an unknown label would look like one.
        let hides_missing = costs.start.is_some() && columns.map.contains(&MISSING);
        // A sparse row does not list missing predictions, so their costs could not be added.
        let lacks_missing = !columns.is_dense && columns.missing.iter().any(|label| *label != MISSING);
        if lanes > 32 || columns.n_classes < 2 || hides_missing || lacks_missing {
            return None;
        }
        let bits = bits_for(columns.map.len());
        let joins = columns.is_dense && bits <= CellQuads::MAX_BITS && n_columns >= 4;
        let pays = |size: usize, most_bytes: usize| {
            let codes = if joins { 1 << (bits as usize * size) } else { usize::MAX };
            joins
                && codes * lanes * LANE * 4 <= most_bytes
                && columns.n_rows >= 4 * n_columns.div_ceil(size) * codes
        };
        let size = if pays(4, 1 << 18) {
            4
        } else if pays(2, 1 << 15) {
            2
        } else {
            1
        };
        let stride = match size {
            1 => columns.map.len() + 1,
            _ => (4 / size) << (bits as usize * size),
        };
        let n_codes = stride * if size == 1 { n_columns } else { n_columns.div_ceil(4) };
        if n_codes > columns.n_rows.saturating_mul(n_columns) || n_codes * lanes * LANE * 4 > MOST_BYTES {
            return None;
        }
        let mut kernel = Self {
            lanes,
            start: lanes_of(costs.start.as_deref().unwrap_or_default(), columns.n_classes, lanes),
            entries: Vec::with_capacity(n_codes * lanes),
            size,
            bits,
            stride,
            // Every addition and every rounding to single precision has a relative error of at most half of epsilon.
            clear: costs.tolerance as f32 * (1.0 + (n_columns + 4) as f32 * f32::EPSILON),
            lead: (costs.lead + n_columns as f64 * TINY) as f32,
            has_start: costs.start.is_some(),
        };
        kernel.fill(costs, columns);
        Some(kernel)
    }

    fn fill(&mut self, costs: &CostTable<'_>, columns: &ColumnMap<'_>) {
        let (s, l, n) = (columns.n_labels, columns.n_classes, columns.classifier_of.len());
        let cost = |column: usize, code: usize| {
            let k = columns.classifier_of[column] as usize;
            let missing = columns.missing.get(k).copied().unwrap_or(MISSING);
            let label = columns.map.get(code).copied().unwrap_or(missing);
            let at = (k * s + usize::from(label)) * l;
            let has_cost = columns.classifier_of[column] != u32::MAX && label != MISSING;
            let costs = if has_cost { &costs.table[at..at + l] } else { &[] };
            lanes_of(costs, l, self.lanes)
        };
        if self.size == 1 {
            self.entries =
                (0..n).flat_map(|column| (0..self.stride).flat_map(move |code| cost(column, code))).collect();
            return;
        }
        let (codes, size) = (1 << self.bits, self.size);
        for group in 0..n.div_ceil(4) * 4 / size {
            // The last quad of a row is its last four cells; those in the quad before it cost nothing here.
            let new_from = group * size / 4 * 4;
            let first = new_from.min(n - 4) + group * size % 4;
            let single = |member: usize| {
                let is_new = first + member >= new_from;
                let cost =
                    |code| if is_new { cost(first + member, code) } else { lanes_of(&[], l, self.lanes) };
                (0..codes).flat_map(cost).collect::<Vec<f32x4>>()
            };
            let members: Vec<Vec<f32x4>> = (0..size).map(single).collect();
            for code in 0..1usize << (self.bits as usize * size) {
                let id = |member: usize| code >> ((size - 1 - member) * self.bits as usize) & (codes - 1);
                for lane in 0..self.lanes {
                    let sum = (0..size).map(|member| members[member][id(member) * self.lanes + lane]);
                    self.entries.push(sum.fold(f32x4::ZERO, |sum, cost| sum + cost));
                }
            }
        }
    }

    /// The class of least cost of each row, or [`UNDECIDED`].
    pub(crate) fn winners<'a>(&self, rows: impl Iterator<Item = Row<'a>>, winners: &mut [u16]) {
        match self.lanes {
            1 => self.winners_in::<1>(rows, winners),
            2 => self.winners_in::<2>(rows, winners),
            4 => self.winners_in::<4>(rows, winners),
            8 => self.winners_in::<8>(rows, winners),
            16 => self.winners_in::<16>(rows, winners),
            _ => self.winners_in::<32>(rows, winners),
        }
    }

    fn winners_in<'a, const LANES: usize>(&self, rows: impl Iterator<Item = Row<'a>>, winners: &mut [u16]) {
        let n_quads = self.entries.len() / (self.lanes * self.stride);
        // A loop over a constant number of quads is twice as fast.
        match (self.size, n_quads) {
            (4, 1) => self.winners_by::<LANES, 1, true>(rows, winners),
            (4, 2) => self.winners_by::<LANES, 2, true>(rows, winners),
            (4, 3) => self.winners_by::<LANES, 3, true>(rows, winners),
            (4, 4) => self.winners_by::<LANES, 4, true>(rows, winners),
            (2, 2) => self.winners_by::<LANES, 2, false>(rows, winners),
            (2, 3) => self.winners_by::<LANES, 3, false>(rows, winners),
            _ => self.winners_by::<LANES, 0, false>(rows, winners),
        }
    }

    /// The winners of rows of `QUADS` quads, or of any number of cells if that is 0; `WHOLE` if the four columns of a
    /// quad share a table.
    fn winners_by<'a, const LANES: usize, const QUADS: usize, const WHOLE: bool>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        winners: &mut [u16],
    ) {
        let (entries, _) = self.entries.as_chunks::<LANES>();
        let start: [f32x4; LANES] = std::array::from_fn(|lane| self.start[lane]);
        let test = WinnerTest::new(self);
        let Some(quads) = CellQuads::new(self.bits).filter(|_| self.size > 1) else {
            for (row, winner) in rows.zip(winners) {
                *winner = self.sum_singly(entries, start, row).map_or(UNDECIDED, |sums| test.winner(&sums));
            }
            return;
        };
        let (half, all_missing) = (2 * self.bits, (1 << (4 * self.bits)) - 1);
        let is_whole = WHOLE || self.size == 4;
        let add = |sums: &mut [f32x4; LANES], table: &[[f32x4; LANES]], code: u64| {
            if is_whole {
                add_to(sums, &table[code as usize]);
            } else {
                add_to(sums, &table[(code >> half) as usize]);
                add_to(sums, &table[self.stride / 2 + (code & ((1 << half) - 1)) as usize]);
            }
        };
        let mut tables = entries.chunks_exact(self.stride);
        let first: [&[[f32x4; LANES]]; QUADS] = std::array::from_fn(|_| tables.next().unwrap_or_default());
        for (row, winner) in rows.zip(winners) {
            let Row::Dense(cells) = row else { continue };
            let (mut sums, mut seen) = (start, u64::MAX);
            if QUADS == 0 {
                let (fours, rest) = cells.as_chunks::<4>();
                let last = cells.last_chunk().filter(|_| !rest.is_empty());
                for (four, table) in fours.iter().chain(last).zip(entries.chunks_exact(self.stride)) {
                    let code = quads.code(*four);
                    seen &= code;
                    add(&mut sums, table, code);
                }
            }
            for (quad, table) in first.iter().enumerate() {
                let four =
                    if quad + 1 < QUADS { cells[4 * quad..].first_chunk() } else { cells.last_chunk() };
                let code = four.map_or(all_missing, |four| quads.code(*four));
                seen &= code;
                add(&mut sums, table, code);
            }
            let has_prediction = !self.has_start || seen != all_missing;
            *winner = if has_prediction { test.winner(&sums) } else { UNDECIDED };
        }
    }

    /// The costs of a row, added cell by cell; none if it has start costs and no prediction.
    #[inline]
    fn sum_singly<const LANES: usize>(
        &self,
        entries: &[[f32x4; LANES]],
        mut sums: [f32x4; LANES],
        row: Row<'_>,
    ) -> Option<[f32x4; LANES]> {
        let mut has_prediction = !self.has_start;
        match row {
            Row::Dense(cells) => {
                for (column, &id) in cells.iter().enumerate() {
                    let entry = column * self.stride + usize::from(id).min(self.stride - 1);
                    add_to(&mut sums, &entries[entry]);
                    has_prediction |= id != MISSING;
                }
            }
            Row::Sparse(columns, ids) => {
                for (&column, &id) in columns.iter().zip(ids) {
                    add_to(&mut sums, &entries[column as usize * self.stride + usize::from(id)]);
                }
                has_prediction |= !ids.is_empty();
            }
        }
        has_prediction.then_some(sums)
    }
}

#[expect(clippy::inline_always, reason = "four additions")]
#[inline(always)]
fn add_to<const LANES: usize>(sums: &mut [f32x4; LANES], costs: &[f32x4; LANES]) {
    for lane in 0..LANES {
        sums[lane] += costs[lane];
    }
}

/// Finds the class of least cost, if no other comes near.
struct WinnerTest {
    clear: f32x4,
    lead: f32x4,
}

impl WinnerTest {
    fn new(kernel: &LinearKernel) -> Self {
        Self { clear: f32x4::splat(kernel.clear), lead: f32x4::splat(kernel.lead) }
    }

    #[expect(clippy::inline_always, reason = "its constants stay in registers")]
    #[inline(always)]
    fn winner<const LANES: usize>(&self, sums: &[f32x4; LANES]) -> u16 {
        // No sum is NaN, which `f32::min` would check for.
        let less = |a: f32, b: f32| if a < b { a } else { b };
        let [a, b, c, d] = sums[1..].iter().fold(sums[0], |least, costs| least.fast_min(*costs)).to_array();
        let least = less(less(a, b), less(c, d));
        let limit = f32x4::splat(least) * self.clear + self.lead;
        let near = |lane: usize| u128::from(sums[lane].simd_le(limit).to_bitmask()) << (lane * LANE);
        // The masks of up to 32 classes, the usual case, fit into 32 bits.
        if LANES * LANE <= 32 {
            let near = (0..LANES).fold(0, |all, lane| all | near(lane) as u32);
            return if near.is_power_of_two() { near.trailing_zeros() as u16 } else { UNDECIDED };
        }
        let near = (0..LANES).fold(0, |all, lane| all | near(lane));
        if near.is_power_of_two() { near.trailing_zeros() as u16 } else { UNDECIDED }
    }
}

/// The cost of every class in single precision; lanes beyond the last class cost infinitely much.
fn lanes_of(costs: &[f64], n_classes: usize, lanes: usize) -> Vec<f32x4> {
    let cost = |class: usize| match costs.get(class) {
        _ if class >= n_classes => f32::INFINITY,
        Some(&cost) if cost >= TINY => cost as f32,
        _ => 0.0,
    };
    (0..lanes)
        .map(|lane| f32x4::from(std::array::from_fn::<f32, LANE, _>(|at| cost(lane * LANE + at))))
        .collect()
}
