//! Writes decided rows as a JSON array or as JSON lines, with one object per line.

use std::io::{self, Write};

use serde::{Serialize, Serializer, ser::SerializeMap};
use spocc::Label;

use crate::{
    args::OutputColumn,
    write::{DecidedBlock, DecisionWriter, OutputHeader, texts},
};

/// Writes a JSON file.
pub(super) struct JsonWriter<W: Write> {
    out: W,
    names: JsonColumns,
    lines: bool,
    is_empty: bool,
}

/// The columns of the output.
struct JsonColumns {
    ids: Vec<String>,
    columns: Vec<OutputColumn>,
    classes: Vec<Label>,
    texts: Vec<String>,
}

/// One row as an object, in the order of the columns.
struct JsonRow<'a> {
    names: &'a JsonColumns,
    block: &'a DecidedBlock<'a>,
    at: usize,
}

impl Serialize for JsonRow<'_> {
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
            let of_classes = |values: &'_ Option<Vec<f64>>| -> Vec<(&String, f64)> {
                names.texts.iter().zip(block.values(values, *at).iter().copied()).collect()
            };
            let decisions = block.decisions;
            match column {
                OutputColumn::Decision => {}
                OutputColumn::Set => object.serialize_entry("set", &labels(&mut block.set(*at)))?,
                OutputColumn::SetSize => object.serialize_entry("set_size", &block.set(*at).len())?,
                OutputColumn::Margin => {
                    object.serialize_entry("margin", &decisions.margin.as_ref().map(|margin| margin[*at]))?;
                }
                OutputColumn::Possibility => {
                    object
                        .serialize_entry("possibility", &OrderedObject(of_classes(&decisions.possibility)))?;
                }
                OutputColumn::Probability => {
                    object
                        .serialize_entry("probability", &OrderedObject(of_classes(&decisions.probability)))?;
                }
                OutputColumn::Ties => object.serialize_entry("ties", &labels(&mut block.ties(*at)))?,
                OutputColumn::Answered => {
                    object.serialize_entry("answered", &decisions.n_answered.as_ref().map(|n| n[*at]))?;
                }
            }
        }
        object.end()
    }
}

/// Names and values that are written in their order.
pub(crate) struct OrderedObject<'a, T>(pub(crate) Vec<(&'a String, T)>);

impl<T: Serialize> Serialize for OrderedObject<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<W: Write> JsonWriter<W> {
    /// Writes the start of the array, except for JSON lines.
    pub(super) fn new(mut out: W, header: &OutputHeader<'_>, lines: bool) -> io::Result<Self> {
        out.write_all(if lines { b"" } else { b"[" })?;
        let names = JsonColumns {
            ids: header.ids.to_vec(),
            columns: header.columns.to_vec(),
            classes: header.classes.to_vec(),
            texts: texts(header.classes),
        };
        Ok(Self { out, names, lines, is_empty: true })
    }
}

impl<W: Write> DecisionWriter for JsonWriter<W> {
    fn write(&mut self, block: &DecidedBlock<'_>) -> io::Result<()> {
        for at in 0..block.decisions.len() {
            if !self.lines {
                self.out.write_all(if self.is_empty { b"\n" } else { b",\n" })?;
            }
            self.is_empty = false;
            serde_json::to_writer(&mut self.out, &JsonRow { names: &self.names, block, at })?;
            self.out.write_all(if self.lines { b"\n" } else { b"" })?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(if self.lines { b"" } else { b"\n]\n" })?;
        self.out.flush()
    }
}
