//! Writes panels to files: numpy arrays and CSV.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use rayon::prelude::*;
use serde_json::json;
use spocc_bench::PanelShape;

use crate::{Failure, print};

/// Rows in memory at a time.
const BLOCK: usize = 1 << 18;

/// Rows formatted by one thread at a time.
const PIECE: usize = 1 << 13;

/// Writes the panel to a directory, or its CSV alone to standard output.
pub(crate) fn write(shape: PanelShape, out: &Path) -> Result<(), Failure> {
    if out == Path::new("-") {
        return Ok(write_table(shape, &mut io::stdout().lock())?);
    }
    if shape.classes > 256 {
        return Err(
            format!("expected at most 256 classes in a file of bytes, found {}", shape.classes).into()
        );
    }
    fs::create_dir_all(out)?;
    let open = |name: &str| File::create(out.join(name)).map(BufWriter::new);
    let (mut predicted, mut truth) = (open("answers.npy")?, open("truth.npy")?);
    predicted.write_all(&header(&format!("({}, {})", shape.rows, shape.classifiers)))?;
    truth.write_all(&header(&format!("({},)", shape.rows)))?;
    for start in (0..shape.rows).step_by(BLOCK) {
        let (cells, truths) = shape.ids::<u8>(&(start..shape.rows.min(start + BLOCK)));
        predicted.write_all(&cells)?;
        truth.write_all(&truths)?;
    }
    predicted.flush()?;
    truth.flush()?;
    let mut table = open("panel.csv")?;
    write_table(shape, &mut table)?;
    table.flush()?;
    print(&json!({ "shape": shape, "out": out, "files": ["answers.npy", "truth.npy", "panel.csv"] }))
}

/// The header of a numpy file (version 1.0) of bytes in C order.
fn header(shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
    // Ten bytes precede the text, and the data starts at a multiple of 64.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(format!("{text:<width$}\n", width = length - 1).bytes());
    header
}

pub(crate) fn write_table(shape: PanelShape, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<String> = (0..shape.classifiers).map(|k| format!("c{k},")).collect();
    writeln!(out, "{}truth", names.concat())?;
    let words: Vec<String> = (0..shape.classes).map(|class| class.to_string()).collect();
    let text = |(row, truth): (&[u16], &u16), text: &mut Vec<u8>| {
        for id in row {
            text.extend(words[usize::from(*id)].bytes());
            text.push(b',');
        }
        text.extend(words[usize::from(*truth)].bytes());
        text.push(b'\n');
    };
    for start in (0..shape.rows).step_by(BLOCK) {
        let (cells, truths) = shape.ids::<u16>(&(start..shape.rows.min(start + BLOCK)));
        let pieces: Vec<Vec<u8>> = cells
            .par_chunks(PIECE * shape.classifiers)
            .zip(truths.par_chunks(PIECE))
            .map(|(cells, truths)| {
                let mut piece = Vec::with_capacity(truths.len() * 3 * (shape.classifiers + 1));
                cells.chunks(shape.classifiers).zip(truths).for_each(|row| text(row, &mut piece));
                piece
            })
            .collect();
        pieces.iter().try_for_each(|piece| out.write_all(piece))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use spocc_bench::Ease;

    #[test]
    fn arrays_start_at_a_multiple_of_64() {
        let header = header("(1000000, 10)");
        assert_eq!(header.len() % 64, 0);
        assert!(header.starts_with(b"\x93NUMPY\x01\x00") && header.ends_with(b"\n"));
    }

    #[test]
    fn the_table_has_a_column_per_classifier_and_the_truth() {
        let mut table = Vec::new();
        let shape = PanelShape { rows: 3, classifiers: 4, classes: 5, ease: Ease::Hard };
        write_table(shape, &mut table).expect("memory is writable");
        assert_eq!(table, b"c0,c1,c2,c3,truth\n0,2,1,2,2\n0,3,3,1,3\n3,3,3,3,3\n");
    }
}
