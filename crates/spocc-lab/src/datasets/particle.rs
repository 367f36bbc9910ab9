//! `MiniBooNE` particle identification: two counts, then that many rows of signal and of background.

use std::path::Path;

use ndarray::Array2;

use super::{
    Dataset,
    delimited::{Delimiter, shown},
    file::DataFile,
};
use crate::error::Error;

pub(super) const FILE: &str = "particle/MiniBooNE_PID.txt";
pub(super) const N_FEATURES: usize = 50;
/// Rows of signal and of background.
pub(super) const COUNTS: [usize; 2] = [36499, 93565];

/// Signal is class 0 and background class 1; -999, which marks what was not measured, stays as it is.
pub(super) fn load(dir: &Path) -> Result<Dataset, Error> {
    read(&DataFile::read(dir, FILE, "particle")?, COUNTS, N_FEATURES)
}

fn read(file: &DataFile, counts: [usize; 2], n_features: usize) -> Result<Dataset, Error> {
    let mut lines = file.lines()?;
    let (line, heading) = lines.next().unwrap_or((1, ""));
    let found: Vec<&str> = heading.split_ascii_whitespace().collect();
    let expected = counts.map(|count| count.to_string());
    if found != expected {
        return Err(file.refuse_line(line, format!("the counts {}", expected.join(" ")), shown(heading)));
    }
    let n_rows = counts.iter().sum();
    let mut values = Vec::with_capacity(n_rows * n_features);
    for (line, text) in lines {
        let [] = Delimiter::Blanks
            .cells(text, n_features, &mut values)
            .map_err(|refusal| refusal.at(line, file))?;
    }
    let found = values.len() / n_features;
    let rows = Array2::from_shape_vec((n_rows, n_features), values)
        .map_err(|_| file.refuse(format!("{n_rows} rows"), found.to_string()))?;
    let classes = [vec![0; counts[0]], vec![1; counts[1]]].concat();
    Ok(Dataset { name: "particle", rows, classes, n_classes: 2, is_subset: false })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parse(text: &str) -> Result<Dataset, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("particle")).unwrap();
        fs::write(dir.path().join(FILE), text).unwrap();
        let folder = format!("{}/", dir.path().display());
        DataFile::read(dir.path(), FILE, "particle")
            .and_then(|file| read(&file, [1, 2], 3))
            .map_err(|error| error.to_string().replace(&folder, ""))
    }

    #[track_caller]
    fn is_refused(text: &str, message: &str) {
        assert_eq!(parse(text).err(), Some(format!("{FILE}{message}")));
    }

    #[test]
    fn signal_comes_first_and_missing_values_stay() {
        let dataset = parse(" 1 2\n  1.5E+00 2 -0.999E+03\n 4 5 6\n 7 8 9\n").unwrap();
        assert_eq!(dataset.rows, ndarray::array![[1.5, 2.0, -999.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]);
        assert_eq!((&dataset.classes[..], dataset.n_classes), (&[0, 1, 1][..], 2));
    }

    #[test]
    fn damage_is_refused_with_its_place() {
        is_refused("2 1\n", ", line 1: expected the counts 1 2, found \"2 1\"");
        is_refused("", ", line 1: expected the counts 1 2, found \"\"");
        is_refused("1 2\n1 2 3\n4 5\n", ", line 3: expected 3 cells, found 2");
        is_refused("1 2\n1 2 3\n4 5 6 7\n", ", line 3: expected 3 cells, found 4");
        is_refused("1 2\n1 2 3\n4 x 6\n", ", line 3: expected a number in cell 2, found \"x\"");
        is_refused("1 2\n1 2 3\n4 5 6\n", ": expected 3 rows, found 2");
        is_refused("1 2\n1 2 3\n1 2 3\n1 2 3\n1 2 3\n", ": expected 3 rows, found 4");
    }
}
