//! Decided rows as one JSON array, or as JSON lines; an object per line in either.

use std::io::{self, Write};

use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap},
};
use spocc::Label;

use crate::{
    args::Column,
    decided::{Block, Heading, Sheet, texts},
};

/// A JSON file being written.
pub(super) struct JsonSheet<W: Write> {
    out: W,
    names: Names,
    lines: bool,
    is_empty: bool,
}

/// What the columns of the output are.
struct Names {
    ids: Vec<String>,
    columns: Vec<Column>,
    classes: Vec<Label>,
    texts: Vec<String>,
}

/// One row as an object, in the order of the columns.
struct Row<'a> {
    names: &'a Names,
    block: &'a Block<'a>,
    at: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { names, block, at } = self;
        let mut object = serializer.serialize_map(None)?;
        for (name, ids) in names.ids.iter().zip(block.ids) {
            object.serialize_entry(name, &ids.get(block.first + at))?;
        }
        object.serialize_entry("decision", &block.class(*at).map(|class| &names.classes[class]))?;
        let labels = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<&Label> {
            numbers.map(|class| &names.classes[class]).collect()
        };
        for column in &names.columns {
            match (column, block.decisions.get(*at)) {
                (Column::Decision, _) => {}
                (Column::Set, _) => object.serialize_entry("set", &labels(&mut block.set(*at)))?,
                (Column::SetSize, _) => object.serialize_entry("set_size", &block.set(*at).len())?,
                (_, None) => return Err(S::Error::custom("no decision in full")),
                (Column::Margin, Some(decision)) => object.serialize_entry("margin", &decision.margin)?,
                (Column::Possibility, Some(decision)) => {
                    let degrees = names.texts.iter().zip(decision.possibility.degrees());
                    object.serialize_entry("possibility", &Object(degrees.collect()))?;
                }
                (Column::Probability, Some(decision)) => {
                    let shares = names.texts.iter().zip(decision.probability.iter().flatten());
                    object.serialize_entry("probability", &Object(shares.collect()))?;
                }
                (Column::Ties, Some(decision)) => {
                    let mut tied = decision.ties.iter().copied().filter(|_| decision.is_tie());
                    object.serialize_entry("ties", &labels(&mut tied))?;
                }
                (Column::Answered, Some(decision)) => {
                    object.serialize_entry("answered", &decision.answered)?;
                }
            }
        }
        object.end()
    }
}

/// Names and values that keep their order.
pub(crate) struct Object<'a, T>(pub(crate) Vec<(&'a String, T)>);

impl<T: Serialize> Serialize for Object<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<W: Write> JsonSheet<W> {
    /// Opens the array, unless only lines are wanted.
    pub(super) fn new(mut out: W, heading: &Heading<'_>, lines: bool) -> io::Result<Self> {
        out.write_all(if lines { b"" } else { b"[" })?;
        let names = Names {
            ids: heading.ids.to_vec(),
            columns: heading.columns.to_vec(),
            classes: heading.classes.to_vec(),
            texts: texts(heading.classes),
        };
        Ok(Self { out, names, lines, is_empty: true })
    }
}

impl<W: Write> Sheet for JsonSheet<W> {
    fn write(&mut self, block: &Block<'_>) -> io::Result<()> {
        for at in 0..block.rulings.len() {
            if !self.lines {
                self.out.write_all(if self.is_empty { b"\n" } else { b",\n" })?;
            }
            self.is_empty = false;
            serde_json::to_writer(&mut self.out, &Row { names: &self.names, block, at })?;
            self.out.write_all(if self.lines { b"\n" } else { b"" })?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(if self.lines { b"" } else { b"\n]\n" })?;
        self.out.flush()
    }
}
