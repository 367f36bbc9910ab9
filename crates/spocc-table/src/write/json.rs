//! JSON: an object per row, each on a line of its own, in one array or without.

use std::io::{self, Write};

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{BlockValues, TableSchema, ValueType};

/// A JSON file being written.
pub(super) struct JsonWriter<'a> {
    out: &'a mut (dyn Write + Send),
    schema: &'a TableSchema,
    texts: Vec<String>,
    lines: bool,
    is_empty: bool,
}

/// One row as an object, in the order of the columns.
struct JsonRow<'a> {
    schema: &'a TableSchema,
    texts: &'a [String],
    block: &'a [BlockValues<'a>],
    row: usize,
}

/// A float per label.
struct FloatObject<'a> {
    texts: &'a [String],
    floats: &'a [f64],
}

impl Serialize for FloatObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.texts.iter().zip(self.floats))
    }
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { schema, texts, block, row } = self;
        let (row, label) = (*row, |index: u16| &schema.labels[usize::from(index)]);
        let mut object = serializer.serialize_map(None)?;
        for (column, values) in schema.columns.iter().zip(*block) {
            let name = &column.name;
            match values {
                BlockValues::Text(column, first) => {
                    object.serialize_entry(name, &column.get(first + row))?;
                }
                BlockValues::Label(labels) => object.serialize_entry(name, &labels[row].map(label))?,
                BlockValues::LabelLists(lists) => {
                    let labels: Vec<_> = lists.get(row).iter().map(|&index| label(index)).collect();
                    object.serialize_entry(name, &labels)?;
                }
                BlockValues::TextLists(lists) => {
                    object.serialize_entry(name, &lists.get(row).collect::<Vec<&str>>())?;
                }
                BlockValues::Integer(integers) => object.serialize_entry(name, &integers[row])?,
                BlockValues::Float(floats) if matches!(column.value_type, ValueType::FloatPerLabel) => {
                    let floats = &floats[row * texts.len()..(row + 1) * texts.len()];
                    object.serialize_entry(name, &FloatObject { texts, floats })?;
                }
                BlockValues::Float(floats) => object.serialize_entry(name, &floats[row])?,
            }
        }
        object.end()
    }
}

impl<'a> JsonWriter<'a> {
    /// Opens the array, if there is one.
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        schema: &'a TableSchema,
        lines: bool,
    ) -> io::Result<Self> {
        out.write_all(if lines { b"" } else { b"[" })?;
        Ok(Self { out, schema, texts: schema.texts(), lines, is_empty: true })
    }

    pub(super) fn write(&mut self, n_rows: usize, block: &[BlockValues<'_>]) -> io::Result<()> {
        let Self { out, schema, texts, lines, is_empty } = self;
        for row in 0..n_rows {
            if !*lines {
                out.write_all(if *is_empty { b"\n" } else { b",\n" })?;
            }
            *is_empty = false;
            serde_json::to_writer(&mut *out, &JsonRow { schema, texts, block, row })?;
            out.write_all(if *lines { b"\n" } else { b"" })?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.out.write_all(if self.lines { b"" } else { b"\n]\n" })?;
        self.out.flush()
    }
}
