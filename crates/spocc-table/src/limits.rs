//! Every limit on what is read, so that a small file cannot take much memory or time. `docs/limits.md` lists them.
//!
//! What is read at a time is bounded by constants, or by a share of the caller's memory limit
//! ([`ReadOptions::memory`](crate::ReadOptions::memory)). What a packed file may unpack to is bounded by `MAX_EXPANSION`.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Columns of a table.
pub const MAX_COLUMNS: usize = 1 << 16;

/// Bytes of a row of text, of a header, and of a cell of a column file.
pub const MAX_ROW_BYTES: usize = 1 << 24;

/// Bytes that a packed file may unpack to, whatever its size.
pub const MIN_UNPACKED: u64 = 1 << 26;

/// Bytes that each byte of a packed file may unpack to, besides [`MIN_UNPACKED`]: about the most that
/// gzip reaches.
pub const MAX_EXPANSION: u64 = 1 << 10;

/// The binary logarithm of the window of a zstd file, which is in memory: 128 MiB, the most that `zstd` unpacks itself
/// without an option.
pub const MAX_ZSTD_WINDOW_LOG: u32 = 27;

/// Depth of a Parquet schema; a list counts as two or three.
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// Text blocks that may be under way: about as many as the command counts in one go, fewer for a small memory.
pub(crate) fn blocks_ahead(memory: u64) -> usize {
    (memory >> 25).clamp(4, 128) as usize
}

/// Batches of a column file that may be under way.
#[cfg(feature = "arrow")]
pub(crate) fn batches_ahead(memory: u64) -> usize {
    (memory >> 26).clamp(2, 16) as usize
}

/// Bytes of text in a batch of a column file, if it has more than one row.
#[cfg(feature = "arrow")]
pub(crate) fn batch_bytes(memory: u64) -> u64 {
    (memory >> 6).clamp(1 << 20, 1 << 26)
}

/// Bytes that one message of an Arrow file, or one page per column of a Parquet file, may unpack to.
#[cfg(feature = "arrow")]
pub(crate) fn unpacked_bytes(memory: u64) -> u64 {
    memory >> 1
}

/// Bytes of the footer of a Parquet file. Its description in memory is larger.
#[cfg(feature = "arrow")]
pub(crate) fn footer_bytes(memory: u64) -> u64 {
    memory >> 5
}

/// Compares what was unpacked with what was read.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    /// Bytes read, or the size of the file.
    packed: Arc<AtomicU64>,
    unpacked: u64,
}

impl Expansion {
    /// For a file of known size.
    pub(crate) fn of_size(bytes: u64) -> Self {
        Self { packed: Arc::new(bytes.into()), unpacked: 0 }
    }

    /// For a stream whose bytes are counted while they are read.
    pub(crate) fn of_stream(n_read: &Arc<AtomicU64>) -> Self {
        Self { packed: Arc::clone(n_read), unpacked: 0 }
    }

    /// Adds unpacked bytes; false if there are too many.
    #[must_use]
    pub(crate) fn add(&mut self, bytes: u64) -> bool {
        self.unpacked = self.unpacked.saturating_add(bytes);
        self.has_room_for(0)
    }

    /// Whether so many bytes could be added.
    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        let packed = self.packed.load(Ordering::Relaxed);
        let most = packed.saturating_mul(MAX_EXPANSION).saturating_add(MIN_UNPACKED);
        self.unpacked.saturating_add(bytes) <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowance_grows_with_the_packed_bytes() {
        let n_read = Arc::default();
        let mut expansion = Expansion::of_stream(&n_read);
        assert!(expansion.add(MIN_UNPACKED));
        assert!(!expansion.clone().add(1));
        n_read.store(1, Ordering::Relaxed);
        assert!(expansion.add(MAX_EXPANSION));
        assert!(!expansion.add(u64::MAX));
    }
}
