//! Clear decisions, in single precision, several classes and then several rows at once.
//!
//! Most methods judge a class by a sum of costs, one for each answer given, and decide for the class that costs
//! least. Here the sums are made in single precision, of answers taken several at a time from a table, and a row
//! is decided only if the winner leads by far more than any rounding; every other row is left to the careful
//! way, so that the two never differ.

use std::borrow::Cow;

use wide::f32x4;

use crate::{
    grid::{Grid, Row},
    labels::MISSING,
    packed::{Quads, bits_for},
};

/// A rule as sums of costs that are nowhere negative.
pub(crate) struct Costs<'a> {
    /// What each class costs before anybody speaks; a row on which nobody does is none of this table's.
    pub(crate) start: Option<Cow<'a, [f64]>>,
    /// What an answer adds: classifier, answer, class.
    pub(crate) table: Cow<'a, [f64]>,
    /// The factor within which sums are tied.
    pub(crate) tolerance: f64,
    /// A distance within which they may be tied as well.
    pub(crate) lead: f64,
}

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
pub(crate) struct Quick {
    lanes: usize,
    start: Vec<f32x4>,
    /// Costs of `size` neighbouring columns at a time, by the code of what they say.
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

/// Classes in one register while costs are added, rows in one register while sums are compared.
const LANE: usize = 4;
/// Stands for the winner of a row that is not clear.
pub(crate) const UNCLEAR: u16 = u16::MAX;
/// Below this a cost is taken for 0: numbers that are nearly zero are slow to add.
const TINY: f64 = 1e-30;

impl Quick {
    /// None where a table would not pay.
    pub(crate) fn new(costs: &Costs<'_>, reading: &Reading<'_>) -> Option<Self> {
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
        let joins = reading.is_dense && bits <= Quads::BITS && n_columns >= 4;
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

    fn fill(&mut self, costs: &Costs<'_>, reading: &Reading<'_>) {
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

    /// The winners of the rows of a grid from `first` on, or [`UNCLEAR`].
    pub(crate) fn winners(&self, grid: &Grid, first: usize, winners: &mut [u16]) {
        match self.lanes {
            1 => self.winners_in::<1>(grid, first, winners),
            2 => self.winners_in::<2>(grid, first, winners),
            4 => self.winners_in::<4>(grid, first, winners),
            8 => self.winners_in::<8>(grid, first, winners),
            16 => self.winners_in::<16>(grid, first, winners),
            _ => self.winners_in::<32>(grid, first, winners),
        }
    }

    fn winners_in<const LANES: usize>(&self, grid: &Grid, first: usize, winners: &mut [u16]) {
        let (entries, _) = self.entries.as_chunks::<LANES>();
        let start: [f32x4; LANES] = std::array::from_fn(|lane| self.start[lane]);
        let silent = [f32x4::ZERO; LANES];
        let judge = Judge::new(self);
        let quads = Quads::new(self.bits.min(Quads::BITS)).filter(|_| self.size > 1);
        let mut sums = [silent; LANE];
        let (Some(cells), Some(quads)) = (grid.dense_cells(), quads) else {
            for (block, winners) in winners.chunks_mut(LANE).enumerate() {
                for (at, sums) in sums[..winners.len()].iter_mut().enumerate() {
                    let row = grid.row(first + block * LANE + at);
                    *sums = self.sum_singly(entries, start, row).unwrap_or(silent);
                }
                judge.compare(&sums, winners);
            }
            return;
        };
        let width = grid.width();
        let rows = &cells[first * width..(first + winners.len()) * width];
        for (rows, winners) in rows.chunks(LANE * width).zip(winners.chunks_mut(LANE)) {
            for (row, sums) in rows.chunks_exact(width).zip(&mut sums) {
                let (sum, is_heard) = if self.size == 4 {
                    self.sum_quads::<LANES, true>(quads, entries, start, row)
                } else {
                    self.sum_quads::<LANES, false>(quads, entries, start, row)
                };
                *sums = if is_heard { sum } else { silent };
            }
            judge.compare(&sums, winners);
        }
    }

    /// What a row's quads cost, and whether anybody spoke where that matters.
    #[expect(clippy::inline_always, reason = "a call for every row costs as much as its sums")]
    #[inline(always)]
    fn sum_quads<const LANES: usize, const WHOLE: bool>(
        &self,
        quads: Quads,
        entries: &[[f32x4; LANES]],
        mut sums: [f32x4; LANES],
        cells: &[u16],
    ) -> ([f32x4; LANES], bool) {
        let half = 2 * self.bits;
        let mut heard = u64::MAX;
        let mut quad = 0;
        let mut add = |four: &[u16; 4]| {
            let code = quads.code(*four);
            heard &= code;
            if WHOLE {
                add_to(&mut sums, &entries[quad + code as usize]);
            } else {
                add_to(&mut sums, &entries[quad + (code >> half) as usize]);
                add_to(&mut sums, &entries[quad + self.stride / 2 + (code & ((1 << half) - 1)) as usize]);
            }
            quad += self.stride;
        };
        let (fours, rest) = cells.as_chunks::<4>();
        fours.iter().for_each(&mut add);
        if let (false, Some(last)) = (rest.is_empty(), cells.last_chunk::<4>()) {
            add(last);
        }
        (sums, !self.start_counts || heard != (1 << (4 * self.bits)) - 1)
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

/// Finds the one class that costs least, if no other comes near, in [`LANE`] rows at once.
struct Judge<const LANES: usize> {
    clear: f32x4,
    lead: f32x4,
    /// Every class as a number of which the sum of two is larger than any.
    marks: [[f32x4; LANE]; LANES],
}

impl<const LANES: usize> Judge<LANES> {
    /// More than there are classes, and few enough for sums of all marks to be exact.
    const MARK: u16 = 1 << 10;

    fn new(quick: &Quick) -> Self {
        let mark = |class: usize| f32x4::splat(f32::from(Self::MARK + class as u16));
        Self {
            clear: f32x4::splat(quick.clear),
            lead: f32x4::splat(quick.lead),
            marks: std::array::from_fn(|lane| std::array::from_fn(|at| mark(lane * LANE + at))),
        }
    }

    #[expect(clippy::inline_always, reason = "its constants stay in registers")]
    #[inline(always)]
    fn compare(&self, sums: &[[f32x4; LANES]; LANE], winners: &mut [u16]) {
        let by_class: [[f32x4; LANE]; LANES] =
            std::array::from_fn(|lane| f32x4::transpose(std::array::from_fn(|row| sums[row][lane])));
        let least = |costs: &[f32x4; LANE]| costs[0].fast_min(costs[1]).fast_min(costs[2].fast_min(costs[3]));
        let least = by_class[1..].iter().fold(least(&by_class[0]), |all, lane| all.fast_min(least(lane)));
        let limit = least * self.clear + self.lead;
        let mut near = f32x4::ZERO;
        for (costs, marks) in by_class.iter().zip(&self.marks) {
            for (cost, mark) in costs.iter().zip(marks) {
                near += cost.simd_le(limit) & *mark;
            }
        }
        for (winner, near) in winners.iter_mut().zip(near.fast_trunc_int().to_array()) {
            let class = near - i32::from(Self::MARK);
            *winner = if class < i32::from(Self::MARK) { class as u16 } else { UNCLEAR };
        }
    }
}

/// Costs of every class in single precision; what is no class costs infinitely much.
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
