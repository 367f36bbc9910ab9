//! What is done with tables: they are read from a file, and their cells become labels and counts.

use std::{env, fs, path::PathBuf, process, sync::LazyLock};

use libfuzzer_sys::fuzzer_mutate;
use spocc::{Evidence, Predictions, Truth};
use spocc_table::{LabelEncoder, ReadOptions, RowBlock, Table};

/// Rows of a block that become predictions: the others are only encoded.
const ROWS: usize = 64;

/// The file that holds the table of a case.
static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| env::temp_dir().join(format!("spocc-fuzz-{}", process::id())));

/// Reads a table to its end; the first column is the truth of the others.
///
/// # Panics
///
/// If the table contradicts itself: the case has failed.
pub fn exercise(bytes: &[u8]) {
    fs::write(&*FILE, bytes).expect("a temporary folder that can be written");
    let options = ReadOptions { na: vec!["NA".to_owned()], ..ReadOptions::default() };
    let Ok(table) = Table::open(std::slice::from_ref(&FILE), &options) else { return };
    let header = table.header().to_vec();
    let columns = table.columns(&header).expect("its own columns");
    let n = columns.len();
    let mut blocks = table.map_blocks(move |rows: &RowBlock| {
        let (mut encoder, mut codes) = (LabelEncoder::default(), Vec::new());
        for row in 0..rows.n_rows() {
            encoder.encode_row(rows, row, &columns, &mut codes)?;
            let _ = (rows.text(row, 0), rows.location(row).to_string());
        }
        Ok::<_, spocc_table::Error>((codes, encoder.finish()))
    });
    loop {
        match blocks.next() {
            Ok(Some(Ok((codes, labels)))) => {
                assert_eq!(codes.len() % n, 0, "whole rows");
                let label = |code: &u32| labels[*code as usize].clone();
                let Ok(mut rows) = Predictions::builder(header[1..].to_vec()) else { continue };
                let mut truth = Truth::default();
                for cells in codes.chunks_exact(n).take(ROWS) {
                    rows.push(cells[1..].iter().map(label)).expect("a whole row");
                    truth.push(label(&cells[0])).expect("few labels");
                }
                let _ = Evidence::new(&rows.finish(), &truth);
            }
            Ok(Some(Err(error))) | Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n'), "an error of more than one line: {text}");
                return;
            }
            Ok(None) => return,
        }
    }
}

/// Mutates a column file, and restores the marks by which its format is known.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, (head, tail): (usize, &[u8])) -> usize {
    let mut start = [0; 8];
    let kept = head.min(size);
    start[..kept].copy_from_slice(&data[..kept]);
    let size = fuzzer_mutate(data, size, max_size);
    if size >= head + tail.len() {
        data[..kept].copy_from_slice(&start[..kept]);
        data[size - tail.len()..size].copy_from_slice(tail);
    }
    size
}
