//! Checks the footer of a Parquet file before the parquet crate reads it.
//!
//! parquet 59 reads a schema by recursion, as deep as the file says: a schema of a few thousand nested groups overflows
//! the stack and ends the process. This module finds the depth without recursion.

use parquet::file::reader::ChunkReader;

use super::ColumnFileError;

/// Maximal depth of a schema; a list counts as two or three.
const MAX_DEPTH: usize = 128;

/// Bytes at the end of a file: the length of the footer, and `PAR1`.
const TAIL: usize = 8;

/// Refuses a footer whose schema is too deep. Most other damage is left to the parquet crate, which describes it better.
pub(super) fn check(file: &impl ChunkReader) -> Result<(), ColumnFileError> {
    let Some(end) = file.len().checked_sub(TAIL as u64) else { return Ok(()) };
    let tail = file.get_bytes(end, TAIL)?;
    let Some((length, b"PAR1")) = tail.split_first_chunk() else { return Ok(()) };
    let length = u32::from_le_bytes(*length);
    let Some(start) = end.checked_sub(length.into()) else { return Ok(()) };
    match ThriftReader(&file.get_bytes(start, length as usize)?).depth() {
        Some(depth) if depth <= MAX_DEPTH => Ok(()),
        Some(depth) => Err(ColumnFileError::damaged(&format!("its schema is {depth} groups deep"))),
        None => Err(ColumnFileError::damaged("its footer cannot be read")),
    }
}

/// The rest of a message in Thrift's compact protocol, read as far as the schema needs. All methods return none if the
/// message is malformed.
struct ThriftReader<'a>(&'a [u8]);

/// The type code that ends a struct.
const STOP: u8 = 0;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl ThriftReader<'_> {
    /// The depth of the schema, the second field of a footer.
    fn depth(&mut self) -> Option<usize> {
        let (mut depth, mut id) = (0, 0);
        loop {
            match (self.field(&mut id)?, id) {
                (STOP, _) => return Some(depth),
                // A reader could use any of several such fields.
                (LIST, 2) => depth = self.depth_of_elements()?.max(depth),
                (kind, _) => self.skip(kind, MAX_DEPTH)?,
            }
        }
    }

    /// The depth of a schema: a tree in depth-first order, in which each element has its number of children.
    fn depth_of_elements(&mut self) -> Option<usize> {
        let (n, STRUCT) = self.list()? else { return None };
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
                (kind, _) => self.skip(kind, MAX_DEPTH)?,
            }
        }
    }

    fn skip(&mut self, kind: u8, levels: usize) -> Option<()> {
        let below = levels.checked_sub(1)?;
        match kind {
            // The type code of a boolean field is its value.
            1 | 2 => Some(()),
            3 => self.skip_bytes(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.skip_bytes(8),
            8 => self.number().and_then(|n| self.skip_bytes(n)),
            LIST | 10 => {
                let (n, kind) = self.list()?;
                (0..n).try_for_each(|_| self.skip_element(kind, below))
            }
            11 => {
                let n = self.number()?;
                let kinds = if n == 0 { 0 } else { self.byte()? };
                (0..n).try_for_each(|_| {
                    self.skip_element(kinds >> 4, below)?;
                    self.skip_element(kinds & 15, below)
                })
            }
            STRUCT => {
                let mut id = 0;
                loop {
                    match self.field(&mut id)? {
                        STOP => return Some(()),
                        kind => self.skip(kind, below)?,
                    }
                }
            }
            13 => self.skip_bytes(16),
            _ => None,
        }
    }

    /// A boolean in a list or map takes a byte, so that no element takes none.
    fn skip_element(&mut self, kind: u8, levels: usize) -> Option<()> {
        if matches!(kind, 1 | 2) { self.skip_bytes(1) } else { self.skip(kind, levels) }
    }

    /// The type of the next field. Its id is stored as the difference to the previous one.
    fn field(&mut self, id: &mut u64) -> Option<u8> {
        let byte = self.byte()?;
        match (byte & 15, byte >> 4) {
            (STOP, _) => {}
            (_, 0) => *id = self.number()? / 2,
            (_, step) => *id = id.checked_add(step.into())?,
        }
        Some(byte & 15)
    }

    /// The number of elements of a list and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let n = if byte >> 4 == 15 { self.number()? } else { (byte >> 4).into() };
        Some((n, byte & 15))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.0.first()?;
        self.skip_bytes(1)?;
        Some(byte)
    }

    fn skip_bytes(&mut self, n: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(n).ok()?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

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

    #[test]
    fn the_depth_of_a_schema_is_found() {
        for n in [1, 5, MAX_DEPTH - 1] {
            let file = nested(n);
            assert_eq!(ThriftReader(&file[4..]).depth(), Some(n + 1));
            assert!(crate::arrow::ColumnFile::parquet_bytes(file.to_vec()).is_ok(), "{n}");
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
            let error = crate::arrow::ColumnFile::parquet_bytes(nested(n).to_vec()).err().expect("too deep");
            assert_eq!(error.to_string(), format!("damaged: its schema is {} groups deep", n + 1));
        }
    }
}
