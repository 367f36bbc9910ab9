//! Crowds in long form: `item,worker,label` and `item,truth`, each with a header line.
//!
//! If a worker labelled an item more than once, the first label counts. An item with a truth and no label is left out.

use std::{collections::HashSet, fs, path::Path};

use spocc::Label;

use super::{LabelSet, numbering::Numbering};
use crate::error::Error;

pub(super) fn read(name: &str, labels: &Path, truth: &Path) -> Result<LabelSet, Error> {
    let [mut items, mut workers, mut words] = [(); 3].map(|()| Numbering::default());
    let (mut rows, mut seen) = (Vec::new(), HashSet::new());
    for_each_line(labels, |[item, worker, label]| {
        let (item, worker, label) = (items.number(item), workers.number(worker), words.number(label));
        rows.resize(items.names.len(), Vec::new());
        if seen.insert((item, worker)) {
            rows[item].push((worker, label));
        }
        Ok(())
    })?;
    let mut truths: Vec<Option<Label>> = vec![None; rows.len()];
    for_each_line(truth, |[item, label]| {
        let Some(at) = items.find(item) else { return Ok(()) };
        let label = Label::from(label);
        match &truths[at] {
            Some(other) if *other != label => {
                Err((format!("one truth of item {item}"), format!("{other} and {label}")))
            }
            _ => {
                truths[at] = Some(label);
                Ok(())
            }
        }
    })?;
    let labels = words.names.iter().map(|word| Label::from(word.as_str())).collect();
    Ok(LabelSet::new(name, workers.names, labels, rows, &truths))
}

/// Calls `take` with the fields of every line below the header; it returns expected and found to refuse one.
fn for_each_line<const N: usize>(
    path: &Path,
    mut take: impl FnMut([&str; N]) -> Result<(), (String, String)>,
) -> Result<(), Error> {
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    for (line, number) in text.lines().zip(1..).skip(1) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let taken = match <[&str; N]>::try_from(fields) {
            Ok(fields) if fields.iter().all(|field| !field.is_empty()) => take(fields),
            Ok(_) => Err((format!("{N} fields"), "an empty one".to_owned())),
            Err(fields) => Err((format!("{N} fields"), fields.len().to_string())),
        };
        taken.map_err(|(expected, found)| Error::BadLine {
            path: path.to_owned(),
            line: number,
            expected,
            found,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_texts(labels: &str, truth: &str) -> Result<LabelSet, Error> {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = ["x.label.csv", "x.truth.csv"].map(|name| dir.path().join(name));
        fs::write(&paths[0], labels).expect("disk space");
        fs::write(&paths[1], truth).expect("disk space");
        read("x", &paths[0], &paths[1])
    }

    #[test]
    fn labels_become_cells_and_an_item_without_truth_is_a_row_without_truth() {
        let labels = "item,worker,label\nq1,ann,b\nq2,bob,a\nq1,bob,a\nq1,ann,a\nq3,ann,c\n";
        let set = read_texts(labels, "item,truth\nq1,b\nq2,a\nq9,a\n").expect("a crowd");
        assert_eq!(
            (set.classifiers.as_slice(), set.rows.len()),
            (["ann".to_owned(), "bob".to_owned()].as_slice(), 3)
        );
        // Of two labels by ann the first counts; labels are numbered as they appear: b, a, c.
        assert_eq!(set.rows, [vec![(0, 0), (1, 1)], vec![(1, 1)], vec![(0, 2)]]);
        assert_eq!(set.classes, ["a", "b"].map(Label::from));
        assert_eq!(set.truth, [Some(1), Some(0), None]);
        assert_eq!(set.known(), [0, 1]);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        let refused =
            |labels: &str, truth: &str| read_texts(labels, truth).expect_err("a bad line").to_string();
        let short = refused("item,worker,label\nq1,ann,b\nq2,bob\n", "item,truth\nq1,b\n");
        assert!(short.ends_with("x.label.csv, line 3: expected 3 fields, found 2"), "{short}");
        let empty = refused("item,worker,label\nq1,ann,\n", "item,truth\n");
        assert!(empty.ends_with("line 2: expected 3 fields, found an empty one"), "{empty}");
        let twice = refused("item,worker,label\nq1,ann,b\n", "item,truth\nq1,b\nq1,a\n");
        assert!(
            twice.ends_with("x.truth.csv, line 3: expected one truth of item q1, found b and a"),
            "{twice}"
        );
    }
}
