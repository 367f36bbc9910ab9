//! The position of each row in its file, stored as runs of consecutive lines.

use std::ops::Range;

use crate::error::{Error, Location, Position};

/// The positions of some rows of one file.
#[derive(Clone, Debug, Default)]
pub struct RowPositions {
    n_rows: usize,
    /// First row of each run and its position. Rows of a run are on consecutive lines.
    runs: Vec<(usize, Position)>,
}

impl RowPositions {
    /// Appends the position of one row.
    #[inline]
    pub fn push(&mut self, position: Position) {
        if self.runs.last().is_none_or(|(first, start)| start.after(self.n_rows - first) != position) {
            self.runs.push((self.n_rows, position));
        }
        self.n_rows += 1;
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn get(&self, row: usize) -> Option<Position> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, position) = self.runs[run];
        Some(position.after(row - first))
    }

    /// The location of a row of this file.
    pub fn location(&self, file: &Location, row: usize) -> Location {
        self.get(row).map_or_else(|| file.clone(), |position| file.at(position))
    }
}

/// The location of each row of a table, which may consist of several files.
#[derive(Debug, Default)]
pub struct RowLocations {
    n_rows: usize,
    /// First row of each run and its location. Rows of a run are on consecutive lines of one file.
    runs: Vec<(usize, Location)>,
}

impl RowLocations {
    /// Appends the locations of some rows of a file.
    pub fn extend(&mut self, file: &Location, positions: &RowPositions, rows: Range<usize>) {
        let Some(start) = positions.get(rows.start).filter(|_| !rows.is_empty()) else { return };
        self.start_run(file.at(start));
        let inner = positions.runs.iter().filter(|(first, _)| rows.start < *first && *first < rows.end);
        for (first, position) in inner {
            self.runs.push((self.n_rows + first - rows.start, file.at(*position)));
        }
        self.n_rows += rows.len();
    }

    /// Appends the location of one row.
    pub fn push(&mut self, location: Location) {
        self.start_run(location);
        self.n_rows += 1;
    }

    fn start_run(&mut self, location: Location) {
        if self.runs.last().is_none_or(|(first, start)| start.after(self.n_rows - first) != location) {
            self.runs.push((self.n_rows, location));
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Bytes that the locations take in memory.
    pub fn n_bytes(&self) -> usize {
        self.runs.capacity() * size_of::<(usize, Location)>()
    }

    /// The location of a row, counted from 0.
    pub fn get(&self, row: usize) -> Option<Location> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, location) = &self.runs[run];
        Some(location.after(row - first))
    }

    /// Turns an error of the engine about a row into an error about a line of the table.
    pub fn locate(&self, table: &Location, error: spocc::Error) -> Error {
        use spocc::Error::{BadWeight, RepeatedCell, TruthNotAClass, UnseenLabel};
        let location = |row: usize| self.get(row - 1).unwrap_or_else(|| table.clone());
        match error {
            TruthNotAClass { row, found, classes } => {
                location(row).refused(format!("a truth among the classes {classes}"), format!("`{found}`"))
            }
            BadWeight { row, expected, found } => location(row).refused(expected, format!("{found:?}")),
            UnseenLabel { row, classifier, found } => location(row)
                .refused(format!("`{classifier}` to predict a label of the model"), format!("`{found}`")),
            RepeatedCell { row, classifier } => {
                location(row).refused(format!("one answer of `{classifier}`"), "two")
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
    fn positions_are_kept_as_runs_and_split_anywhere() {
        let file = |name: &str| Location::file(Path::new(name), "");
        let given = [("a", 2), ("a", 3), ("a", 4), ("a", 7), ("a", 8), ("b", 9), ("b", 10)];
        let positions = |name: &str| {
            let mut positions = RowPositions::default();
            given.iter().filter(|row| row.0 == name).for_each(|row| positions.push(Position::Line(row.1)));
            positions
        };
        let (a, b) = (positions("a"), positions("b"));
        for cut in 0..=a.n_rows() {
            let mut locations = RowLocations::default();
            locations.extend(&file("a"), &a, 0..cut);
            locations.extend(&file("a"), &a, cut..a.n_rows());
            locations.extend(&file("b"), &b, 0..b.n_rows());
            for (row, (name, line)) in given.into_iter().enumerate() {
                assert_eq!(locations.get(row), Some(file(name).at(Position::Line(line))), "cut at {cut}");
            }
            assert_eq!((locations.runs.len(), locations.n_rows()), (3, given.len()));
        }
    }
}
