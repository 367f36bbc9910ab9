//! Files of datasets: found plain or gzipped, read whole, refused by name and line.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    str,
};

use flate2::read::MultiGzDecoder;

use crate::error::Error;

/// A file of a dataset, unpacked.
pub(super) struct DataFile {
    path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// Where a file is, as it is or with `.gz` behind its name.
pub(super) fn find(dir: &Path, file: &str) -> Option<PathBuf> {
    [dir.join(file), dir.join(format!("{file}.gz"))].into_iter().find(|path| path.is_file())
}

impl DataFile {
    /// Reads and unpacks a file of a dataset.
    pub(super) fn read(dir: &Path, file: &str, dataset: &'static str) -> Result<Self, Error> {
        let path = find(dir, file).ok_or_else(|| Error::MissingFile { path: dir.join(file), dataset })?;
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        if path.extension().is_none_or(|ending| ending != "gz") {
            return Ok(Self { path, bytes });
        }
        let mut unpacked = Self { path, bytes: Vec::new() };
        MultiGzDecoder::new(&bytes[..])
            .read_to_end(&mut unpacked.bytes)
            .map_err(|fault| unpacked.refuse("a whole gzip file", fault.to_string()))?;
        Ok(unpacked)
    }

    /// The lines, numbered from 1, without their ends and without blank ones at the end of the file.
    pub(super) fn lines(&self) -> Result<impl Iterator<Item = (usize, &str)>, Error> {
        let text = str::from_utf8(&self.bytes).map_err(|fault| {
            let line = self.bytes[..fault.valid_up_to()].split(|&byte| byte == b'\n').count();
            self.refuse_line(line, "text", format!("byte {:#04x}", self.bytes[fault.valid_up_to()]))
        })?;
        Ok((1..).zip(text.trim_end().lines()))
    }

    /// The refusal of the whole file.
    pub(super) fn refuse(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::BadFile { path: self.path.clone(), expected: expected.into(), found: found.into() }
    }

    /// The refusal of one of its lines.
    pub(super) fn refuse_line(
        &self,
        line: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        Error::BadLine { path: self.path.clone(), line, expected: expected.into(), found: found.into() }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    fn read(dir: &Path) -> Result<DataFile, String> {
        DataFile::read(dir, "rows.txt", "wine").map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_read_plain_or_gzipped() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name).display().to_string();
        let missing = "expected the file of wine; `spocc-lab datasets` lists its source";
        assert_eq!(read(dir.path()).err(), Some(format!("{}: {missing}", there("rows.txt"))));
        fs::write(there("rows.txt.gz"), [gzip(b"1 2\r\n"), gzip(b"3 4\n\n")].concat()).unwrap();
        let file = read(dir.path()).unwrap();
        assert_eq!(file.lines().unwrap().collect::<Vec<_>>(), [(1, "1 2"), (2, "3 4")]);
        fs::write(there("rows.txt"), "5 6").unwrap();
        assert_eq!(read(dir.path()).unwrap().bytes, b"5 6");
    }

    #[test]
    fn a_cut_gzip_file_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.txt.gz");
        let packed = gzip(b"1 2 3 4 5 6 7 8 9");
        fs::write(&path, &packed[..packed.len() - 6]).unwrap();
        let refusal = read(dir.path()).err().unwrap();
        let expected = format!("{}: expected a whole gzip file, found ", path.display());
        assert!(refusal.starts_with(&expected), "{refusal}");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_line() {
        let file = DataFile { path: "rows.txt".into(), bytes: b"1 2\n3 \xff\n".to_vec() };
        let refusal = file.lines().err().unwrap();
        assert_eq!(refusal.to_string(), "rows.txt, line 2: expected text, found byte 0xff");
    }
}
