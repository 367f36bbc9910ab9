//! The memory of long labels: the engine bounds how many labels there are, not how long they are.

use std::{
    collections::HashSet,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

use spocc::Label;

/// Bytes up to which a label does not count: the engine has at most 65535 labels.
const SHORT: usize = 1 << 10;

/// Times that a label is in memory: in rows, in their counts and in sums of counts.
const COPIES: usize = 4;

/// The bytes of distinct long labels.
#[derive(Default)]
pub(super) struct LabelText {
    seen: HashSet<u64>,
    n_text: usize,
}

impl LabelText {
    /// Adds a label, unless it is short or known.
    pub(super) fn add(&mut self, label: &Label) {
        let text = label.canonical();
        if text.len() > SHORT
            && self.seen.insert(BuildHasherDefault::<DefaultHasher>::default().hash_one(text))
        {
            self.n_text += text.len();
        }
    }

    /// Bytes that the labels take in memory, about.
    pub(super) fn n_bytes(&self) -> usize {
        COPIES * self.n_text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_label_counts_once() {
        let (mut text, long) = (LabelText::default(), "x".repeat(5000));
        for label in ["cat", &long, "dog", &long] {
            text.add(&Label::from(label));
        }
        assert_eq!(text.n_bytes(), COPIES * 5000);
    }
}
