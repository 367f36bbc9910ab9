//! Rows that repeat the id of another row: most are counted twice by mistake, and held-out rows among them are not new.
//!
//! In: the ids of counted rows. Out: how many of them repeat an earlier one.

use std::{
    collections::HashSet,
    fmt,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

/// Finds rows that repeat the id of another row, among the first million distinct ids.
#[derive(Default)]
pub struct RepeatedIds {
    /// Hashes: of a million ids, two are confused once in thirty million tables.
    seen: HashSet<u64>,
}

impl RepeatedIds {
    /// Number of distinct ids that later ids are compared to.
    pub const MAX_IDS: usize = 1 << 20;

    /// Whether an id occurred before.
    pub fn is_repeated(&mut self, id: &[u8]) -> bool {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(id);
        if self.seen.len() < Self::MAX_IDS { !self.seen.insert(hash) } else { self.seen.contains(&hash) }
    }
}

/// Rows that repeat the id of another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedRows(pub u64);

impl fmt::Display for RepeatedRows {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.0 == 1 { "row repeats" } else { "rows repeat" };
        write!(
            out,
            "{} {rows} the id of another row; all of them count, and a held-out accuracy is too high if they are duplicates",
            self.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_repeated_from_its_second_row_on() {
        let mut ids = RepeatedIds::default();
        let repeated = ["a", "b", "a", "", "a", ""].map(|id| ids.is_repeated(id.as_bytes()));
        assert_eq!(repeated, [false, false, true, false, true, true]);
    }

    #[test]
    fn later_ids_are_compared_to_the_first_million() {
        let mut ids = RepeatedIds::default();
        let repeats = |ids: &mut RepeatedIds, at: usize| ids.is_repeated(&at.to_le_bytes());
        assert!((0..=RepeatedIds::MAX_IDS).all(|at| !repeats(&mut ids, at)));
        assert!(repeats(&mut ids, 7));
        assert!(!repeats(&mut ids, RepeatedIds::MAX_IDS));
    }

    #[test]
    fn the_warning_says_what_is_done() {
        let rest = "the id of another row; all of them count, and a held-out accuracy is too high if they are duplicates";
        assert_eq!(RepeatedRows(1).to_string(), format!("1 row repeats {rest}"));
        assert_eq!(RepeatedRows(20).to_string(), format!("20 rows repeat {rest}"));
    }
}
