//! Parquet: texts in the type that they had in their table, labels in the type in which they are written.
//!
//! pandas, polars, `DuckDB` and Spark read the file without options.

use std::{
    io::{self, Write},
    sync::Arc,
};

use arrow_array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::{
    arrow::ArrowWriter, basic::Compression, errors::ParquetError, file::properties::WriterProperties,
};
use spocc::{Label, data::Written};

use super::{
    BlockValues, LabelLists, TableSchema, ValueType, join,
    parse_text::{parse_column, stored_type},
};

/// A Parquet file being written.
pub(super) struct ParquetWriter<'a> {
    writer: ArrowWriter<&'a mut (dyn Write + Send)>,
    output: &'a TableSchema,
    schema: SchemaRef,
    texts: Vec<String>,
}

impl<'a> ParquetWriter<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send), output: &'a TableSchema) -> io::Result<Self> {
        let schema = Arc::new(Schema::new(fields(output)));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            // Readers look for known faults of writers in this form.
            .set_created_by(concat!("spocc version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(io_error)?;
        Ok(Self { writer, output, schema, texts: output.texts() })
    }

    pub(super) fn write(&mut self, n_rows: usize, block: &[BlockValues<'_>]) -> io::Result<()> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (column, values) in self.output.columns.iter().zip(block) {
            let field = self.schema.field(arrays.len());
            match values {
                BlockValues::Text(texts, first) => {
                    let texts: Vec<Option<&str>> =
                        (*first..first + n_rows).map(|row| texts.get(row)).collect();
                    arrays.push(parse_column(&texts, field)?);
                }
                BlockValues::Label(labels) => {
                    let texts: Vec<Option<&str>> =
                        labels.iter().map(|label| label.map(|label| self.text(label))).collect();
                    arrays.push(parse_column(&texts, field)?);
                }
                BlockValues::LabelLists(lists) => match column.value_type {
                    ValueType::RareLabelList => {
                        let lists = (0..n_rows).map(|row| lists.get(row));
                        let joined = lists.map(|list| (!list.is_empty()).then(|| join(list, &self.texts)));
                        arrays.push(Arc::new(joined.collect::<StringArray>()));
                    }
                    _ => arrays.push(self.lists(lists)?),
                },
                BlockValues::TextLists(lists) => {
                    let item = Arc::new(Field::new_list_field(DataType::Utf8, false));
                    let lengths = (0..n_rows).map(|row| lists.get(row).len());
                    let texts = (0..n_rows).flat_map(|row| lists.get(row)).map(Some);
                    let values = Arc::new(texts.collect::<StringArray>());
                    let lists = ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), values, None);
                    arrays.push(Arc::new(lists.map_err(io::Error::other)?));
                }
                BlockValues::Integer(integers) => {
                    let integers = integers.iter().map(|integer| Some(i64::from(*integer)));
                    arrays.push(Arc::new(integers.collect::<Int64Array>()));
                }
                BlockValues::Float(floats) => {
                    let per_label = matches!(column.value_type, ValueType::FloatPerLabel);
                    let width = if per_label { self.texts.len() } else { 1 };
                    for label in 0..width {
                        let floats = floats.iter().skip(label).step_by(width).map(|float| Some(*float));
                        arrays.push(Arc::new(floats.collect::<Float64Array>()));
                    }
                }
            }
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(io_error)
    }

    /// Lists of labels in the type of the labels.
    fn lists(&self, lists: &LabelLists) -> io::Result<ArrayRef> {
        let item = Arc::new(Field::new_list_field(label_type(&self.output.labels), false));
        let texts: Vec<Option<&str>> = lists.labels.iter().map(|&label| Some(self.text(label))).collect();
        let lengths = (0..lists.ends.len()).map(|row| lists.get(row).len());
        let offsets = OffsetBuffer::from_lengths(lengths);
        let values = parse_column(&texts, &item)?;
        ListArray::try_new(item, offsets, values, None)
            .map(|lists| Arc::new(lists) as ArrayRef)
            .map_err(io::Error::other)
    }

    fn text(&self, label: u16) -> &str {
        &self.texts[usize::from(label)]
    }

    pub(super) fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.writer.finish().map_err(io_error)?;
        self.writer.inner_mut().flush()
    }
}

fn fields(output: &TableSchema) -> Vec<Field> {
    let labels = label_type(&output.labels);
    let mut fields = Vec::new();
    for column in &output.columns {
        let field = |data_type, nullable| Field::new(&column.name, data_type, nullable);
        match &column.value_type {
            ValueType::Text(column_type) => fields.push(field(stored_type(&column_type.arrow), true)),
            ValueType::Label { nullable } => fields.push(field(labels.clone(), *nullable)),
            ValueType::LabelList => {
                let item = Field::new_list_field(labels.clone(), false);
                fields.push(field(DataType::List(Arc::new(item)), false));
            }
            ValueType::TextList => {
                let item = Field::new_list_field(DataType::Utf8, false);
                fields.push(field(DataType::List(Arc::new(item)), false));
            }
            ValueType::RareLabelList => fields.push(field(DataType::Utf8, true)),
            ValueType::Integer => fields.push(field(DataType::Int64, false)),
            ValueType::Float => fields.push(field(DataType::Float64, false)),
            ValueType::FloatPerLabel => {
                let name = |label: &Label| format!("{}:{label}", column.name);
                let names = output.labels.iter().map(name);
                fields.extend(names.map(|name| Field::new(name, DataType::Float64, false)));
            }
        }
    }
    fields
}

/// The type in which all labels are written; text if there is no such type.
fn label_type(labels: &[Label]) -> DataType {
    let all = |written: &Written| labels.iter().all(|label| label.written() == written);
    if all(&Written::Boolean) {
        DataType::Boolean
    } else if all(&Written::Integer) && labels.iter().all(|label| label.canonical().parse::<i64>().is_ok()) {
        DataType::Int64
    } else if all(&Written::Float) {
        DataType::Float64
    } else {
        DataType::Utf8
    }
}

/// The error of the system behind an error of the writer.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => {
            source.downcast::<io::Error>().map_or_else(io::Error::other, |io| *io)
        }
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
