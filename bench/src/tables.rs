//! Our CSV reader against one built on the csv crate, on the same files.
//!
//! Both split a file into blocks at line ends, find the cells of each block in parallel, and intern the labels of all
//! columns in the same way. The csv crate gets the easier task: its blocks are split without regard to quotes, and its
//! rows have no line numbers.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use csv_core::{ReadRecordResult, Reader};
use rayon::prelude::*;
use serde_json::json;
use spocc_bench::{Ease, PanelShape, measure};
use spocc_table::{LabelEncoder, ReadOptions, RowBlock, Table, TextInterner};

use crate::{Failure, export::write_table, print};

/// Size of a block in bytes.
const BLOCK: usize = 1 << 18;

/// Rounds in which both readers are measured in turn; the best of each counts.
const ROUNDS: usize = 5;

/// Files to read: rows, columns, and whether each cell is quoted.
const FILES: [(usize, usize, bool); 4] =
    [(1_000_000, 10, false), (1_000_000, 10, true), (10_000, 1000, false), (1000, 10, false)];

/// Prints the time of both readers on each file, and their ratio.
pub(crate) fn run() -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    for (rows, columns, quoted) in FILES {
        let path = directory.path().join(format!("{rows}x{columns}-{quoted}.csv"));
        write_file(&path, rows, columns, quoted)?;
        let (expected, found) = (read_ours(&path)?, read_csv(&path)?);
        if expected != found {
            return Err(format!("expected {expected:?} labels and cells, found {found:?}").into());
        }
        let (mut ours, mut csv) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        for _ in 0..ROUNDS {
            for (best, timing) in
                [(&mut ours, measure(|| read_ours(&path))?), (&mut csv, measure(|| read_csv(&path))?)]
            {
                *best = [best[0].min(timing.wall), best[1].min(timing.cpu)];
            }
        }
        print(&json!({
            "task": "read", "rows": rows, "columns": columns, "quoted": quoted,
            "threads": rayon::current_num_threads(),
            "ours": { "wall": ours[0], "cpu": ours[1] },
            "csv": { "wall": csv[0], "cpu": csv[1] },
            "ratio": { "wall": csv[0] / ours[0], "cpu": csv[1] / ours[1] },
        }))?;
    }
    Ok(())
}

/// A panel with its truth in the last column.
fn write_file(path: &Path, rows: usize, columns: usize, quoted: bool) -> Result<(), Failure> {
    let shape = PanelShape { rows, classifiers: columns - 1, classes: 10, ease: Ease::Hard };
    let mut text = Vec::new();
    write_table(shape, &mut text)?;
    if quoted {
        let lines = std::str::from_utf8(&text)?.lines();
        text = lines.flat_map(|line| format!("\"{}\"\n", line.replace(',', "\",\"")).into_bytes()).collect();
    }
    Ok(fs::File::create(path)?.write_all(&text)?)
}

/// Reads a file with our reader; returns the number of codes of all blocks and of their cells.
fn read_ours(path: &PathBuf) -> Result<(usize, usize), Failure> {
    let table = Table::open(std::slice::from_ref(path), &ReadOptions::default())?;
    let columns: Vec<usize> = (0..table.header().len()).collect();
    let mut blocks = table.map_blocks(move |rows: &RowBlock| {
        let (mut encoder, mut codes) = (LabelEncoder::default(), Vec::new());
        codes.reserve(rows.n_rows() * columns.len());
        let encoded =
            (0..rows.n_rows()).try_for_each(|row| encoder.encode_row(rows, row, &columns, &mut codes));
        encoded.map(|()| (encoder.finish().len(), codes))
    });
    let mut labels = 0;
    let mut cells = 0;
    while let Some(block) = blocks.next()? {
        let (n_labels, codes) = block?;
        labels = labels.max(n_labels);
        cells += codes.len();
    }
    Ok((labels, cells))
}

/// Reads a file with the csv crate.
fn read_csv(path: &PathBuf) -> Result<(usize, usize), Failure> {
    let bytes = fs::read(path)?;
    let header = bytes.iter().position(|byte| *byte == b'\n').ok_or("expected a header")? + 1;
    let width = bytes[..header].split(|byte| *byte == b',').count();
    let mut blocks = Vec::new();
    let mut rest = &bytes[header..];
    while !rest.is_empty() {
        let after = rest.iter().skip(BLOCK).position(|byte| *byte == b'\n');
        let (block, more) = rest.split_at(after.map_or(rest.len(), |at| BLOCK + at + 1));
        blocks.push(block);
        rest = more;
    }
    let read: Vec<Result<(usize, Vec<u32>), String>> =
        blocks.par_iter().map(|block| read_block(block, width)).collect();
    let mut labels = 0;
    let mut cells = 0;
    for block in read {
        let (n_labels, codes) = block?;
        labels = labels.max(n_labels);
        cells += codes.len();
    }
    Ok((labels, cells))
}

fn read_block(mut input: &[u8], width: usize) -> Result<(usize, Vec<u32>), String> {
    let mut reader = Reader::new();
    let (mut output, mut ends) = (vec![0; 16 * width.max(16)], vec![0; width + 1]);
    let (mut n_output, mut n_ends) = (0, 0);
    let (mut interner, mut codes) = (TextInterner::default(), Vec::with_capacity(input.len() / 2));
    loop {
        let (result, n_read, n_written, n_ended) =
            reader.read_record(input, &mut output[n_output..], &mut ends[n_ends..]);
        input = &input[n_read..];
        (n_output, n_ends) = (n_output + n_written, n_ends + n_ended);
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull => output.resize(2 * output.len(), 0),
            ReadRecordResult::OutputEndsFull => return Err(format!("expected {width} cells, found more")),
            ReadRecordResult::End => return Ok((interner.len(), codes)),
            ReadRecordResult::Record => {
                if n_ends != width {
                    return Err(format!("expected {width} cells, found {n_ends}"));
                }
                let mut start = 0;
                for &end in &ends[..n_ends] {
                    let cell = &output[start..end];
                    start = end;
                    codes.push(interner.find(cell).unwrap_or_else(|| {
                        let code = interner.len() as u32;
                        interner.insert(cell, code);
                        code
                    }));
                }
                (n_output, n_ends) = (0, 0);
            }
        }
    }
}
