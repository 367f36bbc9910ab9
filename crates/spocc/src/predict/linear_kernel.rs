//! Clear decisions, in single precision and of several classes at once.
//!
//! Most methods judge a class by a sum of costs, one for each answer given, and decide for the class that costs
//! least. Here the sums are made in single precision, of answers taken several at a time from a table, and a row
//! is decided only if the winner leads by far more than any rounding; every other row is left to the careful
//! way, so that the two never differ.

use wide::f32x4;

use crate::{
    data::{CellQuads, MISSING, Row, bits_for},
    methods::CostTable,
};

/// Who stands in which column, and what their ids mean to the rule.
pub(crate) struct Reading<'a> {
    /// Classifier of each column, or `u32::MAX`.
    pub(crate) place: &'a [u32],
    /// From the table's ids to the rule's answers.
    pub(crate) map: &'a [u16],
    /// What a gap of each classifier says.
    pub(crate) silence: &'a [u16],
    pub(crate) n_labels: usize,
    pub(crate) n_classes: usize,
    pub(crate) n_rows: usize,
    pub(crate) is_dense: bool,
}

/// The costs of a table's own ids, ready to be added.
pub(crate) struct LinearKernel {
    lanes: usize,
    start: Vec<f32x4>,
    /// CostTable of `size` neighbouring columns at a time, by the code of what they say.
    entries: Vec<f32x4>,
    size: usize,
    bits: u32,
    /// Entries of one quad (or of one column, if they go one by one), in codes.
    stride: usize,
    /// Factor and distance by which the winner leads.
    clear: f32,
    lead: f32,
    start_counts: bool,
}

/// Classes in one register.
const LANE: usize = 4;
/// Stands for the winner of a row that is not clear.
pub(crate) const UNCLEAR: u16 = u16::MAX;
/// Below this a cost is taken for 0: numbers that are nearly zero are slow to add.
const TINY: f64 = 1e-30;

impl LinearKernel {
    /// None where a table would not pay.
    pub(crate) fn new(costs: &CostTable<'_>, reading: &Reading<'_>) -> Option<Self> {
        const MOST_BYTES: usize = 1 << 26;
        let n_columns = reading.place.len();
        let lanes = reading.n_classes.div_ceil(LANE).next_power_of_two();
        // Who starts with costs must be heard: an unknown label would be taken for an answer.
        let unheard = costs.start.is_some() && reading.map.contains(&MISSING);
        let sparse_gaps_speak =
            !reading.is_dense && reading.silence.iter().any(|silence| *silence != MISSING);
        if lanes > 32 || reading.n_classes < 2 || unheard || sparse_gaps_speak {
            return None;
        }
        let bits = bits_for(reading.map.len());
        let joins = reading.is_dense && bits <= CellQuads::MAX_BITS && n_columns >= 4;
        let pays = |size: usize, most_bytes: usize| {
            let codes = if joins { 1 << (bits as usize * size) } else { usize::MAX };
            joins
                && codes * lanes * LANE * 4 <= most_bytes
                && reading.n_rows >= 4 * n_columns.div_ceil(size) * codes
        };
        let size = if pays(4, 1 << 18) {
            4
        } else if pays(2, 1 << 15) {
            2
        } else {
            1
        };
        let stride = match size {
            1 => reading.map.len() + 1,
            _ => (4 / size) << (bits as usize * size),
        };
        let n_codes = stride * if size == 1 { n_columns } else { n_columns.div_ceil(4) };
        if n_codes > reading.n_rows.saturating_mul(n_columns) || n_codes * lanes * LANE * 4 > MOST_BYTES {
            return None;
        }
        let mut quick = Self {
            lanes,
            start: lanes_of(costs.start.as_deref().unwrap_or_default(), reading.n_classes, lanes),
            entries: Vec::with_capacity(n_codes * lanes),
            size,
            bits,
            stride,
            // Every addition and every rounding to single precision is off by at most half of this.
            clear: costs.tolerance as f32 * (1.0 + (n_columns + 4) as f32 * f32::EPSILON),
            lead: (costs.lead + n_columns as f64 * TINY) as f32,
            start_counts: costs.start.is_some(),
        };
        quick.fill(costs, reading);
        Some(quick)
    }

    fn fill(&mut self, costs: &CostTable<'_>, reading: &Reading<'_>) {
        let (s, l, n) = (reading.n_labels, reading.n_classes, reading.place.len());
        let cost = |column: usize, code: usize| {
            let k = reading.place[column] as usize;
            let gap = reading.silence.get(k).copied().unwrap_or(MISSING);
            let answer = reading.map.get(code).copied().unwrap_or(gap);
            let at = (k * s + usize::from(answer)) * l;
            let is_heard = reading.place[column] != u32::MAX && answer != MISSING;
            let costs = if is_heard { &costs.table[at..at + l] } else { &[] };
            lanes_of(costs, l, self.lanes)
        };
        if self.size == 1 {
            self.entries =
                (0..n).flat_map(|column| (0..self.stride).flat_map(move |code| cost(column, code))).collect();
            return;
        }
        let (codes, size) = (1 << self.bits, self.size);
        for group in 0..n.div_ceil(4) * 4 / size {
            // The last quad of a row is its last four cells, of which some were added before.
            let owed = group * size / 4 * 4;
            let first = owed.min(n - 4) + group * size % 4;
            let single = |member: usize| {
                let new = first + member >= owed;
                let cost = |code| if new { cost(first + member, code) } else { lanes_of(&[], l, self.lanes) };
                (0..codes).flat_map(cost).collect::<Vec<f32x4>>()
            };
            let members: Vec<Vec<f32x4>> = (0..size).map(single).collect();
            for code in 0..1usize << (self.bits as usize * size) {
                let said = |member: usize| code >> ((size - 1 - member) * self.bits as usize) & (codes - 1);
                for lane in 0..self.lanes {
                    let sum = (0..size).map(|member| members[member][said(member) * self.lanes + lane]);
                    self.entries.push(sum.fold(f32x4::ZERO, |sum, cost| sum + cost));
                }
            }
        }
    }

    /// The winners of rows, or [`UNCLEAR`].
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
        // A loop that knows how many quads a row has is twice as fast.
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

    /// The winners of rows of so many quads, of any number of cells if that is 0; `WHOLE` if four neighbours share a
    /// table.
    fn winners_by<'a, const LANES: usize, const QUADS: usize, const WHOLE: bool>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        winners: &mut [u16],
    ) {
        let (entries, _) = self.entries.as_chunks::<LANES>();
        let start: [f32x4; LANES] = std::array::from_fn(|lane| self.start[lane]);
        let judge = Judge::new(self);
        let Some(quads) = CellQuads::new(self.bits).filter(|_| self.size > 1) else {
            for (row, winner) in rows.zip(winners) {
                *winner = self.sum_singly(entries, start, row).map_or(UNCLEAR, |sums| judge.winner(&sums));
            }
            return;
        };
        let (half, silent) = (2 * self.bits, (1 << (4 * self.bits)) - 1);
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
            let (mut sums, mut heard) = (start, u64::MAX);
            if QUADS == 0 {
                let (fours, rest) = cells.as_chunks::<4>();
                let last = cells.last_chunk().filter(|_| !rest.is_empty());
                for (four, table) in fours.iter().chain(last).zip(entries.chunks_exact(self.stride)) {
                    let code = quads.code(*four);
                    heard &= code;
                    add(&mut sums, table, code);
                }
            }
            for (quad, table) in first.iter().enumerate() {
                let four =
                    if quad + 1 < QUADS { cells[4 * quad..].first_chunk() } else { cells.last_chunk() };
                let code = four.map_or(silent, |four| quads.code(*four));
                heard &= code;
                add(&mut sums, table, code);
            }
            let is_heard = !self.start_counts || heard != silent;
            *winner = if is_heard { judge.winner(&sums) } else { UNCLEAR };
        }
    }

    /// What a row costs cell by cell; none if nobody spoke where that matters.
    #[inline]
    fn sum_singly<const LANES: usize>(
        &self,
        entries: &[[f32x4; LANES]],
        mut sums: [f32x4; LANES],
        row: Row<'_>,
    ) -> Option<[f32x4; LANES]> {
        let mut spoke = !self.start_counts;
        match row {
            Row::Dense(cells) => {
                for (column, &id) in cells.iter().enumerate() {
                    let entry = column * self.stride + usize::from(id).min(self.stride - 1);
                    add_to(&mut sums, &entries[entry]);
                    spoke |= id != MISSING;
                }
            }
            Row::Sparse(columns, ids) => {
                for (&column, &id) in columns.iter().zip(ids) {
                    add_to(&mut sums, &entries[column as usize * self.stride + usize::from(id)]);
                }
                spoke |= !ids.is_empty();
            }
        }
        spoke.then_some(sums)
    }
}

#[expect(clippy::inline_always, reason = "four additions")]
#[inline(always)]
fn add_to<const LANES: usize>(sums: &mut [f32x4; LANES], costs: &[f32x4; LANES]) {
    for lane in 0..LANES {
        sums[lane] += costs[lane];
    }
}

/// Finds the one class that costs least, if no other comes near.
struct Judge {
    clear: f32x4,
    lead: f32x4,
}

impl Judge {
    fn new(quick: &LinearKernel) -> Self {
        Self { clear: f32x4::splat(quick.clear), lead: f32x4::splat(quick.lead) }
    }

    #[expect(clippy::inline_always, reason = "its constants stay in registers")]
    #[inline(always)]
    fn winner<const LANES: usize>(&self, sums: &[f32x4; LANES]) -> u16 {
        // No sum is not a number, which is all that `f32::min` would look for besides.
        let less = |a: f32, b: f32| if a < b { a } else { b };
        let [a, b, c, d] = sums[1..].iter().fold(sums[0], |least, costs| least.fast_min(*costs)).to_array();
        let least = less(less(a, b), less(c, d));
        let limit = f32x4::splat(least) * self.clear + self.lead;
        let near = |lane: usize| u128::from(sums[lane].simd_le(limit).to_bitmask()) << (lane * LANE);
        // Most often the classes fit half a word, which is then all that is looked at.
        if LANES * LANE <= 32 {
            let near = (0..LANES).fold(0, |all, lane| all | near(lane) as u32);
            return if near.is_power_of_two() { near.trailing_zeros() as u16 } else { UNCLEAR };
        }
        let near = (0..LANES).fold(0, |all, lane| all | near(lane));
        if near.is_power_of_two() { near.trailing_zeros() as u16 } else { UNCLEAR }
    }
}

/// CostTable of every class in single precision; what is no class costs infinitely much.
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
