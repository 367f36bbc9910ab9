//! Reads and writes tables of predicted labels, in parallel and in bounded memory.
//!
//! In: files, globs, directories or standard input; CSV and the like, Parquet, Arrow; plain, gzip or zstd. Out: blocks
//! of rows, whose cells are encoded as labels and whose locations serve error messages. The module [`mod@write`] writes
//! tables. The crate prints nothing.
//!
//! A file becomes rows in these steps:
//!
//! 1. `source` expands names, opens each file, decompresses it and recognises its format by the first bytes.
//! 2. `table_file` reads the header: `text_file` that of a text file, `arrow` that of a column file. [`Table`] checks
//!    that all files have the same columns.
//! 3. `text_blocks` splits a text into [blocks](RowBlock) of whole rows; `text_cells` finds the cells of a block. Column
//!    files come in batches of decoded columns.
//! 4. `pipeline` applies a function of the caller to each block in the thread pool and returns the results in the order
//!    of the rows ([`Table::map_blocks`]).
//! 5. The function usually encodes cells with a [`LabelEncoder`], copies others to a [`TextColumn`], and keeps the
//!    [`RowPositions`] for messages about rows.
//!
//! ```
//! use spocc_table::{LabelEncoder, ReadOptions, RowBlock, Table};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("panel.csv");
//! std::fs::write(&path, "ann,bob\ncat,dog\ncat,\n")?;
//! let table = Table::open(&[path], &ReadOptions::default())?;
//! let columns = table.columns(&["ann".to_owned(), "bob".to_owned()])?;
//! let mut blocks = table.map_blocks(move |rows: &RowBlock| {
//!     let (mut encoder, mut codes) = (LabelEncoder::default(), Vec::new());
//!     for row in 0..rows.n_rows() {
//!         encoder.encode_row(rows, row, &columns, &mut codes)?;
//!     }
//!     Ok::<_, spocc_table::Error>((codes, encoder.finish()))
//! });
//! while let Some(block) = blocks.next()? {
//!     let (codes, labels) = block?;
//!     assert_eq!(codes, [0, 1, 0, 2]);
//!     assert_eq!(labels[2], None); // missing
//! }
//! # Ok(())
//! # }
//! ```

pub mod error;
pub mod limits;

mod options;
mod source;
mod table_file;
mod text_file;
mod text_blocks;
mod text_cells;
#[cfg(feature = "arrow")]
mod arrow;
mod row_block;
mod table;
mod pipeline;
mod interner;
mod label_codes;
mod text_column;
mod row_locations;
pub mod write;

pub use error::{Error, Location};
pub use interner::TextInterner;
pub use label_codes::{LabelCodes, LabelEncoder, LabelMerger};
pub use options::{CellType, ReadOptions, ReadProgress};
pub use pipeline::BlockResults;
pub use row_block::RowBlock;
pub use row_locations::{RowLocations, RowPositions};
pub use source::expand;
pub use table::{OpenedInput, Table};
pub use text_column::TextColumn;
