//! What a column file may unpack to.

use super::ColumnFileError;
use crate::limits::{Expansion, batch_bytes, unpacked_bytes};

/// The limits of a column file.
#[derive(Clone, Debug)]
pub(crate) struct ColumnLimits {
    /// What the whole file may unpack to.
    pub(crate) expansion: Expansion,
    /// The memory limit in bytes.
    pub(crate) memory: u64,
}

impl ColumnLimits {
    /// The default limits of a file of so many bytes.
    #[cfg(test)]
    pub(crate) fn of_size(bytes: usize) -> Self {
        let memory = crate::ReadOptions::default().memory;
        Self { expansion: Expansion::of_size(bytes as u64), memory }
    }

    /// Refuses what does not fit in memory at a time.
    pub(super) fn allow_in_memory(&self, bytes: u64) -> Result<(), ColumnFileError> {
        let most = unpacked_bytes(self.memory);
        if bytes <= most {
            return Ok(());
        }
        Err(ColumnFileError::TooLarge(format!(
            "{bytes} bytes to unpack at a time, of which {most} are allowed"
        )))
    }

    /// Refuses a message by the claimed length of its body.
    pub(super) fn allow_message(&self, length: i64) -> Result<(), ColumnFileError> {
        self.allow_in_memory(u64::try_from(length).unwrap_or(0))
    }

    /// Adds what is unpacked.
    pub(super) fn allow_unpacked(&mut self, bytes: u64) -> Result<(), ColumnFileError> {
        self.allow_in_memory(bytes)?;
        self.add(bytes)
    }

    /// Refuses cells that will be too much text, by their number: a cell counts as a byte at least.
    pub(super) fn allow_cells(&self, n_rows: u64, n_columns: usize) -> Result<(), ColumnFileError> {
        let n_cells = n_rows.saturating_mul(n_columns.max(1) as u64);
        if self.expansion.has_room_for(n_cells) { Ok(()) } else { Err(ColumnFileError::Expanded) }
    }

    /// Adds text that was made of unpacked columns, or unpacked bytes.
    pub(super) fn add(&mut self, bytes: u64) -> Result<(), ColumnFileError> {
        if self.expansion.add(bytes) {
            return Ok(());
        }
        Err(ColumnFileError::Expanded)
    }

    /// Bytes of text in a batch of more than one row.
    pub(super) fn batch_bytes(&self) -> u64 {
        batch_bytes(self.memory)
    }
}
