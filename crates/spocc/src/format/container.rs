//! The frame of a file: a mark, a version, a kind, a length, a checksum, then the payload.

use crate::error::Error;

const MARK: [u8; 8] = *b"\x89SPOCC\r\n";
/// The version that is written.
const VERSION: u32 = 3;
/// The earliest version that is read.
const EARLIEST: u32 = 2;
const HEADER: usize = 8 + 4 + 4 + 8 + 4;
/// Where the checksum is; what is between here and the kind is length.
const CHECKSUM: usize = HEADER - 4;

/// What a file can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Model = 1,
    Evidence = 2,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Evidence => "tally",
        }
    }
}

/// The payload of a file that was found whole, and the version that says how to read it.
pub(super) enum Payload<'a> {
    /// One value.
    Version2(&'a [u8]),
    /// Sections.
    Version3(&'a [u8]),
}

/// A file of the newest version around a payload. The payload is written in place: evidence can be large.
pub(super) fn write(kind: Kind, write_payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1024);
    bytes.extend(MARK);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((kind as u32).to_le_bytes());
    bytes.extend([0; 8 + 4]);
    write_payload(&mut bytes);
    let length = (bytes.len() - HEADER) as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(VERSION, &bytes);
    bytes[CHECKSUM..HEADER].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Checksum of everything behind the mark but itself. In version 2 the version is not part of it.
fn checksum(version: u32, bytes: &[u8]) -> u32 {
    let first = if version == 2 { 12 } else { 8 };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[first..CHECKSUM]);
    hasher.update(&bytes[HEADER..]);
    hasher.finalize()
}

/// The payload of a file of the kind that is wanted.
pub(super) fn read(wanted: Kind, bytes: &[u8]) -> Result<Payload<'_>, Error> {
    let expected = wanted.name();
    let common = bytes.len().min(MARK.len());
    if bytes.is_empty() || bytes[..common] != MARK[..common] {
        return Err(Error::NotOurs { expected });
    }
    let cut_short = || Error::Truncated { expected: HEADER as u64, found: bytes.len() as u64 };
    let number = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map(u32::from_le_bytes).ok_or_else(cut_short)
    };
    let version = number(8)?;
    if version > VERSION {
        return Err(Error::FutureVersion { newest: VERSION, found: version });
    }
    if version < EARLIEST {
        let found = format!("version {version}: make it again");
        return Err(Error::Inconsistent { expected: "a file of version 2 or 3", found });
    }
    let (kind, low, high, sum) = (number(12)?, number(16)?, number(20)?, number(CHECKSUM)?);
    let length = u64::from(high) << 32 | u64::from(low);
    let payload = &bytes[HEADER..];
    if (payload.len() as u64) < length {
        let expected = length.saturating_add(HEADER as u64);
        return Err(Error::Truncated { expected, found: bytes.len() as u64 });
    }
    if (payload.len() as u64) > length {
        return Err(Error::Oversized { expected: length + HEADER as u64, found: bytes.len() as u64 });
    }
    let Some(kind) = [Kind::Model, Kind::Evidence].into_iter().find(|known| *known as u32 == kind) else {
        let found = format!("content of kind {kind}");
        return Err(Error::Inconsistent { expected: "a model or a tally", found });
    };
    let found = checksum(version, bytes);
    if found != sum {
        return Err(Error::Checksum { expected: sum, found });
    }
    if kind != wanted {
        return Err(Error::WrongKind { expected, found: kind.name() });
    }
    Ok(if version == 2 { Payload::Version2(payload) } else { Payload::Version3(payload) })
}
