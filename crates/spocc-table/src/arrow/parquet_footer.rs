//! Checks the footer of a Parquet file before the parquet crate reads it.
//!
//! parquet 59 reads a schema by recursion, as deep as the file says: a schema of a few thousand nested groups overflows
//! the stack and ends the process. It also allocates lists as long as the file says. This module finds the depth without
//! recursion, and refuses lists that are not there.

use parquet::file::reader::ChunkReader;

use super::{
    ColumnFileError,
    column_limits::ColumnLimits,
    thrift::{LIST, STOP, STRUCT, ThriftReader},
};
use crate::limits::{MAX_COLUMNS, MAX_SCHEMA_DEPTH as MAX_DEPTH, footer_bytes};

/// Bytes at the end of a file: the length of the footer, and `PAR1`.
const TAIL: usize = 8;

/// Groups and columns of a schema.
const MAX_ELEMENTS: u64 = 8 * MAX_COLUMNS as u64;

/// Bytes of the shortest description of a row group or of a chunk of a column.
const MIN_PART: usize = 8;

/// Refuses a footer that is too long or whose schema is too deep. Most other damage is left to the parquet crate, which
/// describes it better.
pub(super) fn check(file: &impl ChunkReader, limits: &ColumnLimits) -> Result<(), ColumnFileError> {
    let Some(end) = file.len().checked_sub(TAIL as u64) else { return Ok(()) };
    let tail = file.get_bytes(end, TAIL)?;
    let Some((length, b"PAR1")) = tail.split_first_chunk() else { return Ok(()) };
    let length = u32::from_le_bytes(*length);
    let Some(start) = end.checked_sub(length.into()) else { return Ok(()) };
    let most = footer_bytes(limits.memory);
    if u64::from(length) > most {
        let found = format!("a footer of {length} bytes, of which {most} are allowed");
        return Err(ColumnFileError::TooLarge(found));
    }
    match ThriftReader(&file.get_bytes(start, length as usize)?).depth() {
        Some(depth) if depth <= MAX_DEPTH => Ok(()),
        Some(depth) => Err(ColumnFileError::damaged(&format!("its schema is {depth} groups deep"))),
        None => Err(ColumnFileError::damaged("its footer cannot be read")),
    }
}

impl ThriftReader<'_> {
    /// The depth of the schema, the second field of a footer.
    fn depth(&mut self) -> Option<usize> {
        let (mut depth, mut id) = (0, 0);
        loop {
            match (self.field(&mut id)?, id) {
                (STOP, _) => return Some(depth),
                // A reader could use any of several such fields.
                (LIST, 2) => depth = self.depth_of_elements()?.max(depth),
                (LIST, 4) => self.skip_row_groups()?,
                (kind, _) => self.skip_field(kind)?,
            }
        }
    }

    /// The depth of a schema: a tree in depth-first order, in which each element has its number of children.
    fn depth_of_elements(&mut self) -> Option<usize> {
        let (n, STRUCT) = self.list()? else { return None };
        if n > MAX_ELEMENTS {
            return None;
        }
        // Children that are still to come, for the last element and each of its ancestors.
        let (mut depth, mut pending) = (0, Vec::new());
        for _ in 0..n {
            while pending.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = pending.last_mut() {
                *left -= 1;
            }
            pending.push(self.n_children()?);
            depth = depth.max(pending.len());
        }
        Some(depth)
    }

    /// The number of children, the fifth field of an element.
    fn n_children(&mut self) -> Option<u64> {
        let (mut n, mut id) = (0, 0);
        loop {
            match (self.field(&mut id)?, id) {
                (STOP, _) => return Some(n),
                // Zigzag encoding doubles a positive number.
                (4..=6, 5) => n = self.number()? / 2,
                (kind, _) => self.skip_field(kind)?,
            }
        }
    }

    /// Skips row groups, each of which has chunks of columns. The parquet crate allocates a description of each before
    /// it reads it, so that they must not be shorter than any real one.
    fn skip_row_groups(&mut self) -> Option<()> {
        let (n, STRUCT) = self.list()? else { return None };
        (0..n).try_for_each(|_| {
            self.skip_long(|group| {
                let mut id = 0;
                loop {
                    match (group.field(&mut id)?, id) {
                        (STOP, _) => return Some(()),
                        (LIST, 1) => group.skip_chunks()?,
                        (kind, _) => group.skip_field(kind)?,
                    }
                }
            })
        })
    }

    fn skip_chunks(&mut self) -> Option<()> {
        let (n, STRUCT) = self.list()? else { return None };
        (0..n).try_for_each(|_| self.skip_long(|chunk| chunk.skip_field(STRUCT)))
    }

    /// Skips a part that has at least [`MIN_PART`] bytes.
    fn skip_long(&mut self, skip: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let before = self.0.len();
        skip(self)?;
        (before - self.0.len() >= MIN_PART).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::arrow::ColumnFile;

    /// A file without rows whose schema is `n` nested groups.
    fn nested(n: usize) -> Bytes {
        let group = [0x35, 2, 0x18, 1, b'a', 0x15, 2, STOP];
        let leaf = [0x15, 2, 0x25, 2, 0x18, 1, b'a', STOP];
        let length = n as u32 + 1;
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        footer.extend((0..5).map(|i| (length >> (7 * i)) as u8 & 0x7f | if i < 4 { 0x80 } else { 0 }));
        footer.extend(group.repeat(n));
        footer.extend(leaf);
        footer.extend([0x16, 0, 0x19, 0x0c, STOP]);
        let length = (footer.len() as u32).to_le_bytes();
        [b"PAR1", &footer[..], &length, b"PAR1"].concat().into()
    }

    fn read(file: &Bytes) -> Result<ColumnFile, ColumnFileError> {
        ColumnFile::parquet_bytes(file.to_vec(), ColumnLimits::of_size(file.len()))
    }

    #[test]
    fn the_depth_of_a_schema_is_found() {
        for n in [1, 5, MAX_DEPTH - 1] {
            let file = nested(n);
            assert_eq!(ThriftReader(&file[4..]).depth(), Some(n + 1));
            assert!(read(&file).is_ok(), "{n}");
        }
    }

    #[test]
    fn a_huge_claimed_length_takes_no_time() {
        let endless = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        for kinds in [0x11, 0x12, 0x33, 0x9c, 0xcc] {
            let map = [&[0x1b][..], &endless, &[kinds], &[STOP; 9]].concat();
            assert_eq!(ThriftReader(&map).depth(), None, "map {kinds:x}");
            let list = [&[0x19, 0xf0 | kinds & 15][..], &endless, &[STOP; 9]].concat();
            assert_eq!(ThriftReader(&list).depth(), None, "list {kinds:x}");
        }
    }

    #[test]
    fn a_very_deep_schema_is_refused() {
        for n in [MAX_DEPTH, 100_000] {
            let error = read(&nested(n)).err().expect("too deep");
            assert_eq!(error.to_string(), format!("damaged: its schema is {} groups deep", n + 1));
        }
    }
}
