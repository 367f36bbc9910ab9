//! The footer of a Parquet file, looked at before it is trusted.
//!
//! parquet 59 reads a schema by recursion, as deep as the file says: a few thousand groups inside one
//! another, made by hand, end the process. Here they are counted first.

use parquet::file::reader::ChunkReader;

use super::Fault;

/// Deepest nesting that is read on; a list counts as two or three.
const DEEPEST: usize = 128;

/// Bytes at the end of a file: the length of the footer before them, and a mark.
const TAIL: usize = 8;

/// Refuses a footer whose schema nests too deep. Most other faults are left to the reader, who knows more
/// words.
pub(super) fn check(file: &impl ChunkReader) -> Result<(), Fault> {
    let Some(end) = file.len().checked_sub(TAIL as u64) else { return Ok(()) };
    let tail = file.get_bytes(end, TAIL)?;
    let Some((length, b"PAR1")) = tail.split_first_chunk() else { return Ok(()) };
    let length = u32::from_le_bytes(*length);
    let Some(start) = end.checked_sub(length.into()) else { return Ok(()) };
    match Compact(&file.get_bytes(start, length as usize)?).depth() {
        Some(depth) if depth <= DEEPEST => Ok(()),
        Some(depth) => Err(Fault::damaged(&format!("its schema is {depth} groups deep"))),
        None => Err(Fault::damaged("its footer cannot be read")),
    }
}

/// What is left of a text in Thrift's compact protocol, read as far as it takes to find the schema. Every
/// reading is none if the text is not such.
struct Compact<'a>(&'a [u8]);

/// The type that ends a struct.
const STOP: u8 = 0;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Compact<'_> {
    /// How deep the schema of a footer is, which is the second field of it.
    fn depth(&mut self) -> Option<usize> {
        let (mut depth, mut id) = (0, 0);
        loop {
            match (self.field(&mut id)?, id) {
                (STOP, _) => return Some(depth),
                // A reader could take any of several.
                (LIST, 2) => depth = self.depth_of_elements()?.max(depth),
                (kind, _) => self.skip(kind, DEEPEST)?,
            }
        }
    }

    /// A schema is a tree with each element before its children, and says how many those are.
    fn depth_of_elements(&mut self) -> Option<usize> {
        let (n, STRUCT) = self.list()? else { return None };
        // For the latest element and each above it, how many children are to come.
        let (mut depth, mut to_come) = (0, Vec::new());
        for _ in 0..n {
            while to_come.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = to_come.last_mut() {
                *left -= 1;
            }
            to_come.push(self.n_children()?);
            depth = depth.max(to_come.len());
        }
        Some(depth)
    }

    /// The fifth field of an element.
    fn n_children(&mut self) -> Option<u64> {
        let (mut n, mut id) = (0, 0);
        loop {
            match (self.field(&mut id)?, id) {
                (STOP, _) => return Some(n),
                // A number is doubled so that its sign fits.
                (4..=6, 5) => n = self.number()? / 2,
                (kind, _) => self.skip(kind, DEEPEST)?,
            }
        }
    }

    fn skip(&mut self, kind: u8, levels: usize) -> Option<()> {
        let below = levels.checked_sub(1)?;
        match kind {
            // A field that is true or false says so by its type.
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.pass(8),
            8 => self.number().and_then(|n| self.pass(n)),
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
            13 => self.pass(16),
            _ => None,
        }
    }

    /// As a value of a list or map, what is true or false takes a byte, so that no value takes none.
    fn skip_element(&mut self, kind: u8, levels: usize) -> Option<()> {
        if matches!(kind, 1 | 2) { self.pass(1) } else { self.skip(kind, levels) }
    }

    /// The type of the next field; its id counts on from that of the one before.
    fn field(&mut self, id: &mut u64) -> Option<u8> {
        let byte = self.byte()?;
        match (byte & 15, byte >> 4) {
            (STOP, _) => {}
            (_, 0) => *id = self.number()? / 2,
            (_, step) => *id = id.checked_add(step.into())?,
        }
        Some(byte & 15)
    }

    /// How many elements there are, and of which type.
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
        self.pass(1)?;
        Some(byte)
    }

    fn pass(&mut self, n: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(n).ok()?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// A file without rows whose schema is `n` groups, each in the one before.
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
    fn groups_are_counted() {
        for n in [1, 5, DEEPEST - 1] {
            let file = nested(n);
            assert_eq!(Compact(&file[4..]).depth(), Some(n + 1));
            assert!(super::super::Batches::parquet_bytes(file.to_vec()).is_ok(), "{n}");
        }
    }

    #[test]
    fn a_promise_of_values_takes_no_time() {
        let endless = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        for kinds in [0x11, 0x12, 0x33, 0x9c, 0xcc] {
            let map = [&[0x1b][..], &endless, &[kinds], &[STOP; 9]].concat();
            assert_eq!(Compact(&map).depth(), None, "map {kinds:x}");
            let list = [&[0x19, 0xf0 | kinds & 15][..], &endless, &[STOP; 9]].concat();
            assert_eq!(Compact(&list).depth(), None, "list {kinds:x}");
        }
    }

    #[test]
    fn a_schema_without_a_bottom_is_refused() {
        for n in [DEEPEST, 100_000] {
            let fault = super::super::Batches::parquet_bytes(nested(n).to_vec()).err().expect("too deep");
            assert_eq!(fault.to_string(), format!("damaged: its schema is {} groups deep", n + 1));
        }
    }
}
