//! Prints the list of datasets as a table or as JSON.

use std::io::{self, Write};

use super::{Listing, State};

/// Writes the list: an aligned table and the sources, or JSON.
pub(crate) fn print(listings: &[Listing], as_json: bool, to: &mut impl Write) -> io::Result<()> {
    if as_json {
        serde_json::to_writer_pretty(&mut *to, listings)?;
        return writeln!(to);
    }
    let width = listings.iter().map(|listing| listing.name.len()).max().unwrap_or(0).max("dataset".len());
    writeln!(to, "{:width$}  {:>6}  features  classes  state   files", "dataset", "rows")?;
    for Listing { name, rows, features, classes, state, files, .. } in listings {
        let state = match state {
            State::Whole => "whole",
            State::Subset => "subset",
            State::Absent => "absent",
        };
        let start = format!("{name:width$}  {rows:>6}  {features:>8}  {classes:>7}  {state:6}");
        let indent = start.len();
        for (line, file) in files.iter().enumerate() {
            writeln!(to, "{:indent$}  {file}", if line == 0 { &start } else { "" })?;
        }
    }
    writeln!(
        to,
        "\nRows, features and classes are those of the whole; a subset is less than the paper used."
    )?;
    writeln!(to, "Every file may be gzipped, with .gz behind its name.")?;
    writeln!(to, "\n{:width$}  from", "dataset")?;
    for Listing { name, title, doi, is_in_paper, .. } in listings {
        let doi = doi.map(|doi| format!(", https://doi.org/{doi}")).unwrap_or_default();
        let remark = if *is_in_paper { "" } else { " (not in the paper)" };
        writeln!(to, "{name:width$}  {title}{doi}{remark}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(as_json: bool) -> String {
        let listing = Listing {
            name: "wine",
            is_in_paper: true,
            rows: 6497,
            features: 11,
            classes: 2,
            state: State::Whole,
            files: vec!["wine/red.csv", "wine/white.csv"],
            title: "Wine Quality",
            doi: Some("10.1/2"),
        };
        let digits = Listing {
            name: "handwriting",
            is_in_paper: false,
            state: State::Absent,
            files: vec!["digits.csv"],
            title: "Digits",
            doi: None,
            ..listing.clone()
        };
        let mut text = Vec::new();
        print(&[listing, digits], as_json, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_table_is_aligned_and_lists_sources() {
        let expected = "\
dataset        rows  features  classes  state   files
wine           6497        11        2  whole   wine/red.csv
                                                wine/white.csv
handwriting    6497        11        2  absent  digits.csv

Rows, features and classes are those of the whole; a subset is less than the paper used.
Every file may be gzipped, with .gz behind its name.

dataset      from
wine         Wine Quality, https://doi.org/10.1/2
handwriting  Digits (not in the paper)
";
        assert_eq!(printed(false), expected);
    }

    #[test]
    fn json_has_the_same_content() {
        let list: serde_json::Value = serde_json::from_str(&printed(true)).unwrap();
        assert_eq!(list[0]["state"], "whole");
        assert_eq!(list[0]["files"][1], "wine/white.csv");
        assert_eq!(list[1]["is-in-paper"], false);
        assert_eq!(list[1]["doi"], serde_json::Value::Null);
        assert!(printed(true).ends_with("]\n"));
    }
}
