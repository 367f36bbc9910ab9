//! How the cells of a table are read.

use spocc::{Control, Label};

/// Options of reading a table.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The delimiter of a text file; if none, it is guessed from the first lines.
    pub delimiter: Option<u8>,
    /// Texts of a missing cell, besides the empty one.
    pub na: Vec<String>,
    /// Called while a file is read.
    pub progress: Option<ReadProgress>,
    /// The memory limit in bytes, of which reading takes a share.
    pub memory: u64,
}

impl Default for ReadOptions {
    /// Guesses the delimiter; the memory limit is the engine's default.
    fn default() -> Self {
        let memory = Control::default().memory_limit();
        Self { delimiter: None, na: Vec::new(), progress: None, memory }
    }
}

/// A callback that takes how much of a file was read, in bytes or rows, and how much there is, if that is known.
pub type ReadProgress = fn(u64, Option<u64>);

impl ReadOptions {
    /// Whether a cell is missing.
    pub fn is_missing(&self, cell: Option<&[u8]>) -> bool {
        cell.is_none_or(|cell| cell.is_empty() || self.na.iter().any(|word| word.as_bytes() == cell))
    }
}

/// The type of the cells of a column. The columns of a text file are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub enum CellType {
    /// Text.
    Text,
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Booleans.
    Boolean,
}

impl CellType {
    /// The label in a cell of this type.
    pub fn label(self, text: &str) -> Label {
        let typed = match self {
            Self::Text => None,
            Self::Integer => text.parse::<i64>().ok().map(Label::from),
            Self::Float => text.parse::<f64>().ok().and_then(|value| Label::try_from(value).ok()),
            Self::Boolean => text.parse::<bool>().ok().map(Label::from),
        };
        typed.unwrap_or_else(|| Label::from(text))
    }
}
