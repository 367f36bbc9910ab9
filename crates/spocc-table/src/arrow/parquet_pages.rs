//! Checks the pages of the selected columns of a Parquet file before the parquet crate unpacks them.
//!
//! parquet 59 allocates the unpacked size and the number of values that the header of a page claims. This module reads
//! all headers first: the pages that are in memory at the same time must fit into a share of the memory limit.

use bytes::Bytes;
use parquet::{
    basic::Compression,
    file::{metadata::ParquetMetaData, reader::ChunkReader},
};

use super::{
    ColumnFileError,
    column_limits::ColumnLimits,
    thrift::{STOP, STRUCT, ThriftReader},
    unpacked_size,
};

/// Bytes of a header that are read first. Most headers are shorter; some have long statistics.
const HEADER: u64 = 256;

/// Bytes of the longest header.
const MAX_HEADER: u64 = 1 << 24;

/// Bytes of the shortest page with its header: more pages in a file overlap.
const MIN_PAGE: u64 = 8;

/// Bytes in memory for a value of an encoding that is decoded as a whole.
const DECODED_VALUE: u64 = 16;

/// The codes of encodings that are decoded as a whole, and of one in which a value can repeat the start of another.
const DELTA_LENGTH: u64 = 6;
const DELTA_PREFIX: u64 = 7;

/// What the header of a page claims.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageHeader {
    /// Length of the header itself.
    length: u64,
    is_dictionary: bool,
    unpacked: u64,
    packed: u64,
    n_values: u64,
    encoding: u64,
}

/// Checks the pages of the selected root columns. Returns how many rows can be read at a time.
pub(super) fn check(
    file: &impl ChunkReader,
    metadata: &ParquetMetaData,
    wanted: &[usize],
    limits: &ColumnLimits,
) -> Result<usize, ColumnFileError> {
    let schema = metadata.file_metadata().schema_descr();
    let mut n_left = file.len() / MIN_PAGE;
    let mut longest = 1;
    for group in metadata.row_groups() {
        let mut total = 0u64;
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if wanted.binary_search(&schema.get_column_root_idx(leaf)).is_err() {
                continue;
            }
            let (start, length) = chunk.byte_range();
            let mut pages = Pages { file, at: start, end: start.saturating_add(length) };
            let (mut dictionary, mut largest) = (0, 0);
            while let Some(header) = pages.next_header()? {
                n_left =
                    n_left.checked_sub(1).ok_or_else(|| ColumnFileError::damaged("its pages overlap"))?;
                let needed = header.needed(&pages, chunk.compression())?;
                let kind = if header.is_dictionary { &mut dictionary } else { &mut largest };
                *kind = needed.max(*kind);
                limits.allow_in_memory(total.saturating_add(dictionary).saturating_add(largest))?;
                if header.encoding == DELTA_PREFIX {
                    longest = longest.max(header.unpacked);
                }
                pages.at += header.packed;
            }
            total = total.saturating_add(dictionary).saturating_add(largest);
        }
    }
    Ok((limits.batch_bytes() / longest).max(1) as usize)
}

/// The pages of a chunk of a column.
struct Pages<'a, F> {
    file: &'a F,
    at: u64,
    end: u64,
}

impl<F: ChunkReader> Pages<'_, F> {
    /// The header of the next page, after which `at` is the start of its bytes.
    fn next_header(&mut self) -> Result<Option<PageHeader>, ColumnFileError> {
        let left = self.end.saturating_sub(self.at);
        if left == 0 {
            return Ok(None);
        }
        let mut length = HEADER.min(left);
        let header = loop {
            match PageHeader::read(&self.bytes(self.at, length)?) {
                Some(header) => break header,
                None if length < left.min(MAX_HEADER) => length = (16 * length).min(left),
                None => return Err(ColumnFileError::damaged("the header of a page cannot be read")),
            }
        };
        self.at += header.length;
        if header.packed > self.end.saturating_sub(self.at) {
            return Err(ColumnFileError::damaged("a page is beyond the end of its column"));
        }
        Ok(Some(header))
    }

    fn bytes(&self, start: u64, length: u64) -> Result<Bytes, ColumnFileError> {
        Ok(self.file.get_bytes(start, length as usize)?)
    }
}

impl PageHeader {
    /// Reads a header; none if it is malformed or incomplete.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (mut reader, mut header, mut id) = (ThriftReader(bytes), Self::default(), 0);
        loop {
            match (reader.field(&mut id)?, id) {
                (STOP, _) => break,
                (4..=6, 2) => header.unpacked = reader.whole()?,
                (4..=6, 3) => header.packed = reader.whole()?,
                // A data page, a dictionary page, a data page of version 2.
                (STRUCT, 5) => header.read_values(&mut reader, 2)?,
                (STRUCT, 7) => {
                    header.is_dictionary = true;
                    header.read_values(&mut reader, 2)?;
                }
                (STRUCT, 8) => header.read_values(&mut reader, 4)?,
                (kind, _) => reader.skip_field(kind)?,
            }
        }
        header.length = (bytes.len() - reader.0.len()) as u64;
        Some(header)
    }

    /// Reads the number of values, the first field, and the encoding.
    fn read_values(&mut self, reader: &mut ThriftReader<'_>, encoding: u64) -> Option<()> {
        let mut id = 0;
        loop {
            match (reader.field(&mut id)?, id) {
                (STOP, _) => return Some(()),
                (4..=6, 1) => self.n_values = reader.whole()?,
                (4..=6, found) if found == encoding => self.encoding = reader.whole()?,
                (kind, _) => reader.skip_field(kind)?,
            }
        }
    }

    /// Bytes in memory for the page.
    fn needed(
        &self,
        pages: &Pages<'_, impl ChunkReader>,
        codec: Compression,
    ) -> Result<u64, ColumnFileError> {
        if self.is_dictionary && self.n_values > self.unpacked {
            return Err(ColumnFileError::damaged("a dictionary has more values than bytes"));
        }
        let unpacked = match codec {
            Compression::GZIP(_) => unpacked_size::gzip(&pages.bytes(pages.at, self.packed)?, self.unpacked),
            Compression::LZ4 => unpacked_size::lz4_frame(&pages.bytes(pages.at, self.packed)?, self.unpacked),
            _ => self.unpacked,
        };
        let decoded = match self.encoding {
            DELTA_LENGTH | DELTA_PREFIX => self.n_values.saturating_mul(DECODED_VALUE),
            _ if self.is_dictionary => self.n_values.saturating_mul(DECODED_VALUE),
            _ => 0,
        };
        Ok(unpacked.saturating_add(decoded))
    }
}

impl ThriftReader<'_> {
    /// A whole number from 0; zigzag encoding doubles a positive number.
    fn whole(&mut self) -> Option<u64> {
        self.number().filter(|number| number % 2 == 0).map(|number| number / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_page_is_read() {
        // Type 0, sizes 300 and 5, and a struct of 7 values in encoding 8.
        let data = [0x15, 0, 0x15, 0xd8, 4, 0x15, 10, 0x2c, 0x15, 14, 0x15, 16, STOP, STOP, 99];
        let header = PageHeader {
            length: 14,
            unpacked: 300,
            packed: 5,
            n_values: 7,
            encoding: 8,
            ..PageHeader::default()
        };
        assert_eq!(PageHeader::read(&data), Some(header));
        assert_eq!((0..14).find_map(|end| PageHeader::read(&data[..end])), None);
    }
}
