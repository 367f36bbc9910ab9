//! What the labelled rows lack: fewer rows than classes, a class with a single row.
//!
//! In: counts. Out: one shortage each, which says what is missing and what is done instead.

use std::fmt;

use crate::{data::Label, error::list, evidence::Evidence};

/// Too few labelled rows of some classes to learn from or to evaluate on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RowShortage {
    /// There are fewer labelled rows than classes.
    FewerRowsThanClasses {
        /// Number of labelled rows.
        n_rows: u64,
        /// Number of classes.
        n_classes: usize,
        /// The classes without a labelled row.
        without: Vec<Label>,
    },
    /// Classes have a single labelled row each.
    SeenOnce {
        /// These classes.
        classes: Vec<Label>,
    },
}

impl fmt::Display for RowShortage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewerRowsThanClasses { n_rows, n_classes, without } => {
                let (class, is) = if without.len() == 1 { ("class", "is") } else { ("classes", "are") };
                write!(
                    out,
                    "fewer labelled rows ({n_rows}) than classes ({n_classes}): the {class} without a row ({}) {is} \
                     decided, if at all, by the prior assumptions of the method",
                    names(without)
                )
            }
            Self::SeenOnce { classes } if classes.len() == 1 => write!(
                out,
                "class {} has a single labelled row: it is used to fit; held out, it is decided by a fit without a row \
                 of its class",
                names(classes)
            ),
            Self::SeenOnce { classes } => write!(
                out,
                "classes {} have a single labelled row each: these are used to fit; held out, each is decided by a fit \
                 without a row of its class",
                names(classes)
            ),
        }
    }
}

/// The first few names, each shortened where it is long.
fn names(classes: &[Label]) -> String {
    const LONGEST: usize = 60;
    list(classes.iter().map(|class| {
        let name = class.to_string();
        match name.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}..", &name[..end]),
            None => name,
        }
    }))
}

impl Evidence {
    /// What the labelled rows lack. Of weighted rows, whose number is not known, nothing is said.
    pub fn row_shortages(&self) -> Vec<RowShortage> {
        if self.total() == 0 || self.is_weighted() || self.is_open() {
            return Vec::new();
        }
        let candidates = self.candidate_classes();
        let places = self.labels().translate(&candidates);
        let count = |place: &u16| self.class_counts.get(usize::from(*place)).copied().unwrap_or(0);
        let with = |n: u64| {
            let of_count = candidates.iter().zip(&places).filter(|(_, place)| count(place) == n);
            of_count.map(|(class, _)| class.clone()).collect()
        };
        let mut shortages = Vec::new();
        let (n_rows, n_classes) = (self.total(), candidates.len());
        if n_rows < n_classes as u64 {
            shortages.push(RowShortage::FewerRowsThanClasses { n_rows, n_classes, without: with(0) });
        }
        let classes: Vec<Label> = with(1);
        if !classes.is_empty() {
            shortages.push(RowShortage::SeenOnce { classes });
        }
        shortages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Predictions, Truth, evidence::Counting};

    /// The shortages of rows with these truths, where the classes are given, in words.
    fn shortages(truths: &[&str], classes: &[&str], weights: Option<&[f64]>) -> Vec<String> {
        let mut rows = Predictions::builder(["a"]).expect("a name");
        truths.iter().for_each(|truth| rows.push([Some(*truth)]).expect("a cell"));
        let truth = Truth::new(truths.iter().copied().map(Some)).expect("few labels");
        let classes = Some(classes.iter().copied().map(Label::from).collect());
        let counting = Counting { classes, weights, ..Counting::default() };
        let evidence = Evidence::count(&rows.finish(), &truth, &counting, &Control::default());
        evidence.expect("rows").row_shortages().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_rows_of_every_class_are_enough() {
        assert!(shortages(&["x", "x", "y", "y"], &["x", "y"], None).is_empty());
        assert!(shortages(&[], &["x", "y"], None).is_empty(), "nothing is known of rows without truth");
    }

    #[test]
    fn classes_with_a_single_row_are_named() {
        let one = "class y has a single labelled row: it is used to fit; held out, it is decided by a fit without a \
                   row of its class";
        assert_eq!(shortages(&["x", "x", "y"], &["x", "y"], None), [one]);
        let two = "classes x, y have a single labelled row each: these are used to fit; held out, each is decided by a \
                   fit without a row of its class";
        assert_eq!(shortages(&["x", "y"], &["x", "y"], None), [two]);
        let long = "z".repeat(1000);
        assert!(shortages(&[&long], &[&long], None)[0].len() < 200, "long names are shortened");
        assert!(shortages(&["x", "x", "y"], &["x", "y"], Some(&[0.5, 1.0, 1.0])).is_empty());
    }

    #[test]
    fn fewer_rows_than_classes_are_reported() {
        let decided = "decided, if at all, by the prior assumptions of the method";
        let one =
            format!("fewer labelled rows (2) than classes (3): the class without a row (z) is {decided}");
        assert_eq!(shortages(&["x", "y"], &["x", "y", "z"], None)[0], one);
        let two = format!(
            "fewer labelled rows (2) than classes (3): the classes without a row (y, z) are {decided}"
        );
        assert_eq!(shortages(&["x", "x"], &["x", "y", "z"], None), [two]);
    }
}
