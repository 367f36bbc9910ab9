//! Row keys: a dense row of few labels packed into one integer, so that rows are compared, sorted and looked up fast.
//!
//! A cell takes as many bits as its labels need, and one more code, all ones, for a missing cell. The first cell is in
//! the highest bits, so that keys have the order of their rows.

use crate::data::MISSING;

/// Packs four neighbouring cells of few bits with one multiplication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellQuads {
    mask: u64,
    gather: u64,
}

impl CellQuads {
    /// Largest number of bits of a cell.
    pub(crate) const MAX_BITS: u32 = 4;

    /// For cells of `bits` bits; none if they are too many.
    pub(crate) fn new(bits: u32) -> Option<Self> {
        (bits <= Self::MAX_BITS).then(|| Self {
            mask: ((1 << bits) - 1) * 0x0001_0001_0001_0001,
            gather: 1 << (48 + 3 * bits) | 1 << (32 + 2 * bits) | 1 << (16 + bits) | 1,
        })
    }

    /// The codes of four cells in one integer, the first in the highest bits.
    #[inline]
    pub(crate) fn code(self, [a, b, c, d]: [u16; 4]) -> u64 {
        let cells = u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48;
        (cells & self.mask).wrapping_mul(self.gather) >> 48
    }
}

/// Bits that hold the ids below `n` and one more code for a missing cell.
pub(crate) fn bits_for(n: usize) -> u32 {
    (n + 1).next_power_of_two().ilog2().max(1)
}

/// How the rows of a table are packed into keys.
#[derive(Clone, Debug)]
pub(crate) struct RowPacking {
    width: usize,
    bits: u32,
    /// The code of each id; none if codes are ids.
    map: Option<Vec<u16>>,
    quads: Option<CellQuads>,
    /// The codes of four packed cells; none if codes are ids.
    quad_map: Option<Vec<u16>>,
}

impl RowPacking {
    /// For rows of `width` ids, each replaced by `map[id]`, and a missing cell by `missing`. None if a row and `spare`
    /// more bits do not fit into 64.
    pub(crate) fn new(width: usize, map: &[u16], missing: u16, spare: u32) -> Option<Self> {
        let most = map.iter().chain([&missing]).filter(|id| **id != MISSING).max();
        let bits = bits_for(map.len().max(most.map_or(0, |&id| usize::from(id) + 1)));
        if bits as usize * width + spare as usize > 64 {
            return None;
        }
        let stays = |(id, to): (usize, &u16)| id == usize::from(*to);
        let stays = missing == MISSING && map.iter().enumerate().all(stays);
        let mask = mask(bits);
        let map: Option<Vec<u16>> = (!stays).then(|| {
            // Every code of `bits` bits has an entry; those that no id has are never looked up.
            let mut all = map.to_vec();
            all.resize(1 << bits, MISSING);
            all[usize::from(mask)] = missing;
            all.iter().map(|id| id & mask).collect()
        });
        let quads = CellQuads::new(bits).filter(|_| width >= 4);
        let quad_map = map.as_ref().filter(|_| quads.is_some()).map(|map| {
            let cell = |code: usize, shift: u32| map[code >> shift & usize::from(mask)] << shift;
            let quad = |code| (0..4).fold(0, |quad, place| quad | cell(code, place * bits));
            (0..1 << (4 * bits)).map(quad).collect()
        });
        Some(Self { width, bits, map, quads, quad_map })
    }

    /// Number of cells of a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Number of bits of a key.
    pub(crate) fn row_bits(&self) -> u32 {
        self.bits * self.width as u32
    }

    /// The key of a row.
    #[expect(
        clippy::inline_always,
        reason = "lets the compiler move the choice of the packing out of loops over rows"
    )]
    #[inline(always)]
    pub(crate) fn pack(&self, cells: &[u16]) -> u64 {
        debug_assert_eq!(cells.len(), self.width);
        let (fours, rest) = cells.as_chunks::<4>();
        if let (Some(quads), Some(last)) = (self.quads, cells.last_chunk::<4>()) {
            let code = |four: &[u16; 4]| {
                let code = quads.code(*four);
                self.quad_map.as_ref().map_or(code, |map| u64::from(map[code as usize]))
            };
            let key = fours.iter().fold(0, |key, four| key << (4 * self.bits) | code(four));
            // Of the last four cells, only those that are in no quad yet.
            let bits = self.bits * rest.len() as u32;
            return if bits == 0 { key } else { key << bits | code(last) & ((1 << bits) - 1) };
        }
        let mask = mask(self.bits);
        cells.iter().fold(0, |key, &id| {
            let code = id & mask;
            let code = self.map.as_ref().map_or(code, |map| map[usize::from(code)]);
            key << self.bits | u64::from(code)
        })
    }

    /// Appends the cells of the row with this key.
    #[inline]
    pub(crate) fn unpack(&self, key: u64, cells: &mut Vec<u16>) {
        let mask = mask(self.bits);
        cells.extend((0..self.width as u32).rev().map(|place| {
            let code = (key >> (place * self.bits)) as u16 & mask;
            if code == mask { MISSING } else { code }
        }));
    }
}

/// The `bits` lowest bits set; `bits` is at most 16.
fn mask(bits: u32) -> u16 {
    u16::MAX >> (16 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn rows(width: usize, labels: u64) -> Vec<Vec<u16>> {
        let cell = |t: usize, k: usize| match hash::draw(hash::mix(t as u64, k as u64), labels + 1) {
            missing if missing == labels => MISSING,
            id => id as u16,
        };
        (0..200).map(|t| (0..width).map(|k| cell(t, k)).collect()).collect()
    }

    fn unpacked(packing: &RowPacking, key: u64) -> Vec<u16> {
        let mut cells = Vec::new();
        packing.unpack(key, &mut cells);
        cells
    }

    #[test]
    fn keys_keep_the_order_of_rows_and_can_be_unpacked() {
        for (width, labels) in
            [(1, 1u16), (3, 2), (4, 3), (7, 4), (10, 5), (8, 14), (9, 15), (5, 300), (21, 6)]
        {
            let ids: Vec<u16> = (0..labels).collect();
            let packing = RowPacking::new(width, &ids, MISSING, 0).expect("few bits");
            let mut rows = rows(width, labels.into());
            rows.sort();
            assert!(rows.is_sorted_by_key(|row| packing.pack(row)), "{width} {labels}");
            for row in &rows {
                assert_eq!(&unpacked(&packing, packing.pack(row)), row);
            }
        }
    }

    #[test]
    fn ids_are_mapped_and_missing_cells_may_have_an_id() {
        for width in [2, 4, 9] {
            // Two writings of one label, one label unknown.
            let map = [2, 0, 2, MISSING, 1];
            for missing in [MISSING, 3] {
                let packing = RowPacking::new(width, &map, missing, 1).expect("few bits");
                for row in rows(width, 5) {
                    let expected: Vec<u16> = row
                        .iter()
                        .map(|id| if *id == MISSING { missing } else { map[usize::from(*id)] })
                        .collect();
                    assert_eq!(unpacked(&packing, packing.pack(&row)), expected);
                }
            }
        }
    }

    #[test]
    fn rows_of_too_many_bits_are_not_packed() {
        let ids: Vec<u16> = (0..7).collect();
        assert!(RowPacking::new(21, &ids, MISSING, 0).is_some());
        assert!(RowPacking::new(21, &ids, MISSING, 2).is_none());
        let ids: Vec<u16> = (0..8).collect();
        assert!(RowPacking::new(21, &ids, MISSING, 0).is_none());
    }
}
