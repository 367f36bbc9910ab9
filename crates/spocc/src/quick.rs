//! Clear decisions, in single precision and several classes at once.
//!
//! Most methods judge a class by a sum of costs, one for each answer given, and decide for the class that costs
//! least. Here the sums are made in single precision, of answers taken several at a time from a table, and a row
//! is decided only if the winner leads by far more than any rounding; every other row is left to the careful
//! way, so that the two never differ.

use std::borrow::Cow;

use wide::f32x8;

use crate::{
    grid::Row,
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
    /// What a gap says.
    pub(crate) silence: u16,
    pub(crate) n_labels: usize,
    pub(crate) n_classes: usize,
    pub(crate) n_rows: usize,
    pub(crate) is_dense: bool,
}

/// The costs of a table's own ids, ready to be added.
pub(crate) struct Quick {
    lanes: usize,
    start: Vec<f32x8>,
    /// Costs of `size` neighbouring columns at a time, by the code of what they say.
    entries: Vec<f32x8>,
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
const LANE: usize = 8;
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
        let sparse_gaps_speak = !reading.is_dense && reading.silence != MISSING;
        if lanes > 16 || reading.n_classes < 2 || unheard || sparse_gaps_speak {
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
            let answer = reading.map.get(code).copied().unwrap_or(reading.silence);
            let k = reading.place[column] as usize;
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
                (0..codes).flat_map(cost).collect::<Vec<f32x8>>()
            };
            let members: Vec<Vec<f32x8>> = (0..size).map(single).collect();
            for code in 0..1usize << (self.bits as usize * size) {
                let said = |member: usize| code >> ((size - 1 - member) * self.bits as usize) & (codes - 1);
                for lane in 0..self.lanes {
                    let sum = (0..size).map(|member| members[member][said(member) * self.lanes + lane]);
                    self.entries.push(sum.fold(f32x8::ZERO, |sum, cost| sum + cost));
                }
            }
        }
    }

    /// Shows `rule(at, class)` for `n` rows, the class only if it is clear.
    pub(crate) fn decide<'a>(
        &self,
        n: usize,
        row: impl Fn(usize) -> Row<'a>,
        rule: impl FnMut(usize, Option<u16>),
    ) {
        match self.lanes {
            1 => self.decide_in::<1>(n, row, rule),
            2 => self.decide_in::<2>(n, row, rule),
            4 => self.decide_in::<4>(n, row, rule),
            8 => self.decide_in::<8>(n, row, rule),
            _ => self.decide_in::<16>(n, row, rule),
        }
    }

    fn decide_in<'a, const LANES: usize>(
        &self,
        n: usize,
        row: impl Fn(usize) -> Row<'a>,
        mut rule: impl FnMut(usize, Option<u16>),
    ) {
        let (entries, _) = self.entries.as_chunks::<LANES>();
        let start: [f32x8; LANES] = std::array::from_fn(|lane| self.start[lane]);
        let quads = Quads::new(self.bits.min(Quads::BITS)).filter(|_| self.size > 1);
        let (is_whole, half) = (self.size == 4, 2 * self.bits as usize);
        for at in 0..n {
            let mut sums = start;
            let mut add = |entry: usize| {
                let costs = &entries[entry];
                for lane in 0..LANES {
                    sums[lane] += costs[lane];
                }
            };
            let mut spoke = !self.start_counts;
            match (row(at), quads) {
                (Row::Dense(cells), Some(quads)) => {
                    let (fours, rest) = cells.as_chunks::<4>();
                    let mut heard = u64::MAX;
                    let mut quad = 0;
                    let mut add_quad = |four: &[u16; 4]| {
                        let code = quads.code(*four);
                        heard &= code;
                        if is_whole {
                            add(quad + code as usize);
                        } else {
                            add(quad + (code as usize >> half));
                            add(quad + self.stride / 2 + (code as usize & ((1 << half) - 1)));
                        }
                        quad += self.stride;
                    };
                    fours.iter().for_each(&mut add_quad);
                    if let (false, Some(last)) = (rest.is_empty(), cells.last_chunk::<4>()) {
                        add_quad(last);
                    }
                    spoke |= heard != (1 << (4 * self.bits)) - 1;
                }
                (Row::Dense(cells), None) => {
                    for (column, &id) in cells.iter().enumerate() {
                        add(column * self.stride + usize::from(id).min(self.stride - 1));
                        spoke |= id != MISSING;
                    }
                }
                (Row::Sparse(columns, ids), _) => {
                    columns.iter().zip(ids).for_each(|(&column, &id)| {
                        add(column as usize * self.stride + usize::from(id));
                    });
                    spoke |= !ids.is_empty();
                }
            }
            rule(at, if spoke { self.winner(&sums) } else { None });
        }
    }

    /// The one class that costs least, if no other comes near.
    #[inline]
    fn winner<const LANES: usize>(&self, sums: &[f32x8; LANES]) -> Option<u16> {
        let least = sums.iter().skip(1).fold(sums[0], |least, &lane| least.fast_min(lane)).to_array();
        let smaller = |a: f32, b: f32| if a < b { a } else { b };
        let [a, b, c, d, e, f, g, h] = least;
        let least = smaller(smaller(smaller(a, e), smaller(c, g)), smaller(smaller(b, f), smaller(d, h)));
        let limit = f32x8::splat(least * self.clear + self.lead);
        let near = |lane: usize| sums[lane].simd_le(limit).to_bitmask();
        if LANES == 1 {
            let near = near(0);
            return near.is_power_of_two().then(|| near.trailing_zeros() as u16);
        }
        let near = (0..LANES).fold(0u128, |all, lane| all | u128::from(near(lane)) << (LANE * lane));
        near.is_power_of_two().then(|| near.trailing_zeros() as u16)
    }
}

/// Costs of every class in single precision; what is no class costs infinitely much.
fn lanes_of(costs: &[f64], n_classes: usize, lanes: usize) -> Vec<f32x8> {
    let cost = |class: usize| match costs.get(class) {
        _ if class >= n_classes => f32::INFINITY,
        Some(&cost) if cost >= TINY => cost as f32,
        _ => 0.0,
    };
    (0..lanes)
        .map(|lane| f32x8::from(std::array::from_fn::<f32, LANE, _>(|at| cost(lane * LANE + at))))
        .collect()
}
