//! Panels in wide form: `item,..,gold`, then a column per classifier; an empty cell is a missing prediction.
//!
//! Every column up to `gold` identifies the row.

use std::{fs, path::Path};

use spocc::Label;

use super::{LabelSet, numbering::Numbering};
use crate::error::Error;

/// The column of the truth.
const GOLD: &str = "gold";

pub(super) fn read(name: &str, path: &Path) -> Result<LabelSet, Error> {
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    let refuse = |line: usize, expected: String, found: String| Error::BadLine {
        path: path.to_owned(),
        line,
        expected,
        found,
    };
    let mut lines = text.lines().zip(1..);
    let head: Vec<&str> = lines.next().unwrap_or_default().0.split(',').collect();
    let gold = head.iter().position(|name| *name == GOLD).filter(|gold| gold + 1 < head.len());
    let gold = gold.ok_or_else(|| {
        refuse(1, format!("a column {GOLD} and columns of classifiers after it"), head.join(","))
    })?;
    let (mut words, mut rows, mut truth) = (Numbering::default(), Vec::new(), Vec::new());
    for (line, number) in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != head.len() || line.contains('"') {
            let found = if line.contains('"') { "quotes".into() } else { fields.len().to_string() };
            return Err(refuse(number, format!("{} unquoted fields", head.len()), found));
        }
        let cells = fields[gold + 1..].iter().enumerate().filter(|(_, field)| !field.is_empty());
        rows.push(cells.map(|(k, field)| (k, words.number(field))).collect());
        truth.push((!fields[gold].is_empty()).then(|| Label::from(fields[gold])));
    }
    let classifiers = head[gold + 1..].iter().map(ToString::to_string).collect();
    let labels = words.names.iter().map(|word| Label::from(word.as_str())).collect();
    Ok(LabelSet::new(name, classifiers, labels, rows, &truth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<LabelSet, Error> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("disk space");
        read("x", file.path())
    }

    #[test]
    fn columns_after_gold_are_classifiers_and_empty_cells_are_missing() {
        let set =
            read_text("item,response,gold,a,b\n7,r1,1,8.5,1\n7,r2,0,,0\n8,r1,,8.5,\n").expect("a panel");
        assert_eq!(set.classifiers, ["a", "b"]);
        assert_eq!(set.labels, ["8.5", "1", "0"].map(Label::from));
        assert_eq!(set.rows, [vec![(0, 0), (1, 1)], vec![(1, 2)], vec![(0, 0)]]);
        assert_eq!(
            (set.classes, set.truth),
            (["0", "1"].map(Label::from).to_vec(), vec![Some(1), Some(0), None])
        );
    }

    #[test]
    fn a_table_without_gold_or_with_a_line_of_another_width_is_refused() {
        let refused = |text: &str| read_text(text).expect_err("a bad line").to_string();
        assert!(refused("item,truth,a\n").contains("line 1: expected a column gold"));
        assert!(refused("item,a,gold\n").contains("and columns of classifiers after it, found item,a,gold"));
        assert!(refused("item,gold,a\n1,0,0\n2,0\n").contains("line 3: expected 3 unquoted fields, found 2"));
        assert!(
            refused("item,gold,a\n1,0,\"x\"\n").contains("line 2: expected 3 unquoted fields, found quotes")
        );
    }
}
