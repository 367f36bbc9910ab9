//! Messages in Thrift's compact protocol, the metadata of Parquet files, read without trust in their lengths.

use crate::limits::MAX_SCHEMA_DEPTH as MAX_DEPTH;

/// The rest of a message in Thrift's compact protocol, read as far as the checks need. All methods return none if the
/// message is malformed.
pub(super) struct ThriftReader<'a>(pub(super) &'a [u8]);

/// The type code that ends a struct.
pub(super) const STOP: u8 = 0;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

impl ThriftReader<'_> {
    /// Skips a field of a message.
    pub(super) fn skip_field(&mut self, kind: u8) -> Option<()> {
        self.skip(kind, MAX_DEPTH)
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
    pub(super) fn field(&mut self, id: &mut u64) -> Option<u8> {
        let byte = self.byte()?;
        match (byte & 15, byte >> 4) {
            (STOP, _) => {}
            (_, 0) => *id = self.number()? / 2,
            (_, step) => *id = id.checked_add(step.into())?,
        }
        Some(byte & 15)
    }

    /// The number of elements of a list and their type.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let n = if byte >> 4 == 15 { self.number()? } else { (byte >> 4).into() };
        Some((n, byte & 15))
    }

    pub(super) fn number(&mut self) -> Option<u64> {
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
