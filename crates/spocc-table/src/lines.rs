//! The places of rows, kept as runs of consecutive lines.

use std::ops::Range;

use crate::error::{At, Error, Place};

/// Where some rows of one file are.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    n_rows: usize,
    /// First row and where it is, wherever that is not behind the row before.
    runs: Vec<(usize, At)>,
}

impl Runs {
    /// Where one more row is.
    #[inline]
    pub fn push(&mut self, at: At) {
        if self.runs.last().is_none_or(|(first, start)| start.after(self.n_rows - first) != at) {
            self.runs.push((self.n_rows, at));
        }
        self.n_rows += 1;
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn at(&self, row: usize) -> Option<At> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, at) = self.runs[run];
        Some(at.after(row - first))
    }

    /// Where a row of this file is.
    pub fn place(&self, file: &Place, row: usize) -> Place {
        self.at(row).map_or_else(|| file.clone(), |at| file.at(at))
    }
}

/// The place of every row.
#[derive(Debug, Default)]
pub struct Lines {
    n_rows: usize,
    /// First row and its place, wherever that is not the one after that of the row before.
    runs: Vec<(usize, Place)>,
}

impl Lines {
    /// Adds the places of some rows of a file.
    pub fn extend(&mut self, file: &Place, runs: &Runs, rows: Range<usize>) {
        let Some(start) = runs.at(rows.start).filter(|_| !rows.is_empty()) else { return };
        self.begin(file.at(start));
        for (first, at) in runs.runs.iter().filter(|(first, _)| rows.start < *first && *first < rows.end) {
            self.runs.push((self.n_rows + first - rows.start, file.at(*at)));
        }
        self.n_rows += rows.len();
    }

    /// The place of one more row.
    pub fn push(&mut self, place: Place) {
        self.begin(place);
        self.n_rows += 1;
    }

    fn begin(&mut self, place: Place) {
        if self.runs.last().is_none_or(|(first, start)| start.after(self.n_rows - first) != place) {
            self.runs.push((self.n_rows, place));
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The place of a row counted from 0.
    pub fn place(&self, row: usize) -> Option<Place> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, place) = &self.runs[run];
        Some(place.after(row - first))
    }

    /// An engine's complaint about a row as a complaint about a line of the table.
    pub fn blame(&self, table: &Place, error: spocc::Error) -> Error {
        use spocc::Error::{BadWeight, RepeatedCell, TruthNotAClass, UnseenLabel};
        let place = |row: usize| self.place(row - 1).unwrap_or_else(|| table.clone());
        match error {
            TruthNotAClass { row, found, classes } => {
                place(row).refused(format!("a truth among the classes {classes}"), format!("`{found}`"))
            }
            BadWeight { row, expected, found } => place(row).refused(expected, format!("{found:?}")),
            UnseenLabel { row, classifier, found } => place(row)
                .refused(format!("`{classifier}` to say a label known to the model"), format!("`{found}`")),
            RepeatedCell { row, classifier } => {
                place(row).refused(format!("one answer of `{classifier}`"), "two")
            }
            other => table.engine(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn lines_are_kept_as_runs_and_cut_anywhere() {
        let file = |name: &str| Place::file(Path::new(name), "");
        let given = [("a", 2), ("a", 3), ("a", 4), ("a", 7), ("a", 8), ("b", 9), ("b", 10)];
        let runs = |name: &str| {
            let mut runs = Runs::default();
            given.iter().filter(|row| row.0 == name).for_each(|row| runs.push(At::Line(row.1)));
            runs
        };
        let (a, b) = (runs("a"), runs("b"));
        for cut in 0..=a.n_rows() {
            let mut lines = Lines::default();
            lines.extend(&file("a"), &a, 0..cut);
            lines.extend(&file("a"), &a, cut..a.n_rows());
            lines.extend(&file("b"), &b, 0..b.n_rows());
            for (row, (name, line)) in given.into_iter().enumerate() {
                assert_eq!(lines.place(row), Some(file(name).at(At::Line(line))), "cut at {cut}");
            }
            assert_eq!((lines.runs.len(), lines.n_rows()), (3, given.len()));
        }
    }
}
