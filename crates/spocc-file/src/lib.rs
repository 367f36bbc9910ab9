//! Writes files that are replaced as a whole or not at all; used by every interface that writes files.
//!
//! In: a path. Out: the [`Target`] that it names, which is a file, a stream or standard output. A file is written in
//! these steps:
//!
//! 1. [`PartFile::create`] removes the part files that killed writers of the same target have left, and creates a part
//!    file beside the target that only its owner can read. A lock on it shows other writers that it is in use.
//! 2. The content is written to the part file.
//! 3. [`PartFile::finish`] gives it its final mode and syncs it.
//! 4. [`FinishedFile::replace`] renames it to the target and syncs the directory.
//!
//! An error before the rename removes the part file and leaves the old file as it was.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("panel.spocc");
//! spocc_file::write(&path, b"a model")?;
//! assert_eq!(std::fs::read(&path)?, b"a model");
//! # Ok(())
//! # }
//! ```

mod error;
mod target;
mod system_call;
mod part;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use part::{FinishedFile, PartFile};
pub use target::{FileTarget, Target};

use std::{
    io::{self, Write},
    path::Path,
};

/// Writes these bytes to a file, which is replaced as a whole, or to a stream.
///
/// # Errors
///
/// [`Error::Refused`], [`Error::Io`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    match Target::new(path)? {
        Target::StandardOutput => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            Ok(out.flush()?)
        }
        Target::Stream(stream) => Ok(Target::open_stream(&stream)?.write_all(bytes)?),
        Target::File(target) => {
            let mut part = PartFile::create(&target)?;
            part.write_all(bytes)?;
            part.flush()?;
            part.finish()?.replace()
        }
    }
}
