//! Names in order of appearance, and their numbers.

use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Numbering {
    pub(super) names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Numbering {
    /// The number of a name, a new one at its first appearance.
    pub(super) fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}
