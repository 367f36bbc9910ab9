//! Delimited text files: numbers, then the class.

use std::path::Path;

use ndarray::Array2;

use super::{Dataset, file::DataFile};
use crate::{error::Error, learners::standardise};

/// The layout of a dataset and its preprocessing in the paper.
pub(super) struct DelimitedTable {
    pub(super) dataset: &'static str,
    pub(super) features: usize,
    pub(super) delimiter: Delimiter,
    pub(super) header: Option<&'static str>,
    /// Whether every feature gets zero mean and unit variance over all rows.
    pub(super) is_standardised: bool,
    pub(super) is_subset: bool,
    pub(super) parts: &'static [DelimitedFile],
}

/// One file and its expected classes.
pub(super) struct DelimitedFile {
    pub(super) file: &'static str,
    pub(super) labels: &'static [ClassLabel],
}

/// A class in the file, its number here, and its expected count of rows.
pub(super) struct ClassLabel {
    pub(super) word: &'static str,
    pub(super) class: u16,
    pub(super) rows: usize,
}

/// The delimiter of a line.
#[derive(Clone, Copy)]
pub(super) enum Delimiter {
    Blanks,
    Sign(char),
}

/// The expected and the found content of a line.
pub(super) struct BadCell {
    expected: String,
    found: String,
}

impl BadCell {
    pub(super) fn at(self, line: usize, file: &DataFile) -> Error {
        file.refuse_line(line, self.expected, self.found)
    }
}

impl DelimitedTable {
    /// Reads all parts, one after another.
    pub(super) fn load(&self, dir: &Path) -> Result<Dataset, Error> {
        let n_rows = self.parts.iter().flat_map(|part| part.labels).map(|label| label.rows).sum();
        let mut values = Vec::with_capacity(n_rows * self.features);
        let mut classes = Vec::with_capacity(n_rows);
        for part in self.parts {
            self.read(
                &DataFile::read(dir, part.file, self.dataset)?,
                part.labels,
                &mut values,
                &mut classes,
            )?;
        }
        let mut rows = Array2::from_shape_vec((classes.len(), self.features), values)
            .expect("every line read has added one class and as many values as there are features");
        if self.is_standardised {
            standardise(&mut rows);
        }
        Ok(Dataset {
            name: self.dataset,
            rows,
            classes,
            n_classes: self.n_classes(),
            is_subset: self.is_subset,
        })
    }

    pub(super) fn n_classes(&self) -> usize {
        let classes =
            self.parts.iter().flat_map(|part| part.labels).map(|label| usize::from(label.class) + 1);
        classes.max().unwrap_or(0)
    }

    fn read(
        &self,
        file: &DataFile,
        labels: &[ClassLabel],
        values: &mut Vec<f64>,
        classes: &mut Vec<u16>,
    ) -> Result<(), Error> {
        let mut lines = file.lines()?;
        if let Some(header) = self.header {
            let (line, found) = lines.next().unwrap_or((1, ""));
            if found != header {
                return Err(file.refuse_line(line, format!("the header {header}"), shown(found)));
            }
        }
        let mut counts = vec![0; labels.len()];
        for (line, text) in lines {
            let refuse = |refusal: BadCell| refusal.at(line, file);
            let [word] = self.delimiter.cells(text, self.features, values).map_err(refuse)?;
            let label = labels.iter().position(|label| label.word == word).ok_or_else(|| {
                let known: Vec<&str> = labels.iter().map(|label| label.word).collect();
                file.refuse_line(line, format!("a class among {}", known.join(", ")), shown(word))
            })?;
            counts[label] += 1;
            classes.push(labels[label].class);
        }
        for (label, found) in labels.iter().zip(counts) {
            if found != label.rows {
                return Err(
                    file.refuse(format!("{} rows of class {}", label.rows, label.word), found.to_string())
                );
            }
        }
        Ok(())
    }
}

impl Delimiter {
    /// Reads a line of `n_numbers` finite numbers, which are added to `values`, and `N` words, which are returned.
    pub(super) fn cells<'a, const N: usize>(
        self,
        line: &'a str,
        n_numbers: usize,
        values: &mut Vec<f64>,
    ) -> Result<[&'a str; N], BadCell> {
        match self {
            Self::Blanks => cells(line.split_ascii_whitespace(), n_numbers, values),
            Self::Sign(sign) => cells(line.split(sign).map(str::trim), n_numbers, values),
        }
    }
}

fn cells<'a, const N: usize>(
    mut cells: impl Iterator<Item = &'a str>,
    n_numbers: usize,
    values: &mut Vec<f64>,
) -> Result<[&'a str; N], BadCell> {
    let width =
        |found: usize| BadCell { expected: format!("{} cells", n_numbers + N), found: found.to_string() };
    for number in 0..n_numbers {
        let cell = cells.next().ok_or_else(|| width(number))?;
        let value: Option<f64> = cell.parse().ok();
        let value = value.filter(|value| value.is_finite()).ok_or_else(|| BadCell {
            expected: format!("a number in cell {}", number + 1),
            found: shown(cell),
        })?;
        values.push(value);
    }
    let mut words = [""; N];
    for (place, word) in words.iter_mut().enumerate() {
        *word = cells.next().ok_or_else(|| width(n_numbers + place))?;
    }
    match cells.count() {
        0 => Ok(words),
        more => Err(width(n_numbers + N + more)),
    }
}

/// A text, quoted and truncated.
pub(super) fn shown(text: &str) -> String {
    const ENOUGH: usize = 40;
    let start: String = text.chars().take(ENOUGH).collect();
    if start.len() == text.len() { format!("{text:?}") } else { format!("{start:?}..") }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LABELS: &[ClassLabel] =
        &[ClassLabel { word: "a", class: 0, rows: 2 }, ClassLabel { word: "b", class: 1, rows: 1 }];
    const TABLE: DelimitedTable = DelimitedTable {
        dataset: "wine",
        features: 2,
        delimiter: Delimiter::Sign(';'),
        header: Some("x;y;class"),
        is_standardised: false,
        is_subset: true,
        parts: &[DelimitedFile { file: "one.csv", labels: LABELS }],
    };

    fn load(table: &DelimitedTable, text: &str) -> Result<Dataset, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("one.csv"), text).unwrap();
        let folder = format!("{}/", dir.path().display());
        table.load(dir.path()).map_err(|error| error.to_string().replace(&folder, ""))
    }

    #[track_caller]
    fn is_refused(text: &str, message: &str) {
        assert_eq!(load(&TABLE, text).err().as_deref(), Some(message));
    }

    #[test]
    fn rows_and_classes_are_read_in_the_order_of_the_file() {
        let dataset = load(&TABLE, "x;y;class\r\n1;-2.5e-1;a\r\n3;4;b\r\n5; 6;a\r\n\r\n").unwrap();
        assert_eq!(dataset.rows, ndarray::array![[1.0, -0.25], [3.0, 4.0], [5.0, 6.0]]);
        assert_eq!(dataset.classes, [0, 1, 0]);
        assert_eq!((dataset.name, dataset.n_classes, dataset.is_subset), ("wine", 2, true));
    }

    #[test]
    fn runs_of_blanks_are_one_delimiter() {
        let table = DelimitedTable { delimiter: Delimiter::Blanks, header: None, ..TABLE };
        let dataset = load(&table, "  1   2 a\n3 4\tb \n5 6 a").unwrap();
        assert_eq!(dataset.rows, ndarray::array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    }

    #[test]
    fn a_standardised_table_has_zero_means_and_unit_variances() {
        let table = DelimitedTable { is_standardised: true, ..TABLE };
        let dataset = load(&table, "x;y;class\n1;7;a\n2;7;b\n3;7;a\n").unwrap();
        let end = 1.5_f64.sqrt();
        let expected = ndarray::array![[-end, 0.0], [0.0, 0.0], [end, 0.0]];
        assert!((dataset.rows - expected).iter().all(|difference| difference.abs() < 1e-12));
    }

    #[test]
    fn a_damaged_line_is_refused_by_file_and_number() {
        is_refused("x;y;class\n1;2;a\n3;4\n", "one.csv, line 3: expected 3 cells, found 2");
        is_refused("x;y;class\n1;2;a\n\n3;4;b\n", "one.csv, line 3: expected a number in cell 1, found \"\"");
        is_refused("x;y;class\n1\n", "one.csv, line 2: expected 3 cells, found 1");
        is_refused("x;y;class\n1;2;a;9;9\n", "one.csv, line 2: expected 3 cells, found 5");
        is_refused("x;y;class\n1;l0;a\n", "one.csv, line 2: expected a number in cell 2, found \"l0\"");
        is_refused("x;y;class\n1;nan;a\n", "one.csv, line 2: expected a number in cell 2, found \"nan\"");
        is_refused("x;y;class\n1;2;c\n", "one.csv, line 2: expected a class among a, b, found \"c\"");
        is_refused(
            "x,y,class\n1;2;a\n",
            "one.csv, line 1: expected the header x;y;class, found \"x,y,class\"",
        );
        is_refused("", "one.csv, line 1: expected the header x;y;class, found \"\"");
    }

    #[test]
    fn wrong_counts_are_refused_by_file() {
        is_refused("x;y;class\n1;2;a\n3;4;b\n", "one.csv: expected 2 rows of class a, found 1");
        is_refused("x;y;class\n1;2;a\n3;4;b\n1;2;a\n3;4;b\n", "one.csv: expected 1 rows of class b, found 2");
    }

    #[test]
    fn a_long_text_is_truncated() {
        assert_eq!(shown(&"x".repeat(50)), format!("\"{}\"..", "x".repeat(40)));
    }
}
