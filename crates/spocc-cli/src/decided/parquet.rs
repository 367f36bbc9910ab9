//! Decided rows as Parquet: the ids with the types they came with, the rest with the types they have.
//!
//! In: blocks of decided rows. Out: a file that pandas, polars, `DuckDB` and Spark read without being told how.

use std::{
    io::{self, Write},
    sync::Arc,
};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt16Array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::take::{TakeOptions, take};
use parquet::{
    arrow::ArrowWriter, basic::Compression, errors::ParquetError, file::properties::WriterProperties,
};
use spocc::{Decision, Label, Written};

use crate::{
    args::Column,
    decided::{Block, Heading, Sheet, texts, ties},
};

/// The zone in which the texts of times are told.
const UTC: &str = "+00:00";

/// A Parquet file being written.
pub(super) struct ParquetSheet<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    n_ids: usize,
    columns: Vec<Column>,
    /// Each class as it is decided, and as text.
    classes: ArrayRef,
    names: Vec<String>,
}

impl<W: Write + Send> ParquetSheet<W> {
    /// Begins a file: the ids, the decision, then what was asked.
    pub(super) fn new(out: W, heading: &Heading<'_>) -> io::Result<Self> {
        let names = texts(heading.classes);
        let classes = decided(heading.classes, &names);
        let ids = heading.ids.iter().zip(&heading.id_types);
        let mut fields: Vec<Field> = ids.map(|(name, of)| Field::new(name, stored(of), true)).collect();
        fields.push(Field::new("decision", classes.data_type().clone(), false));
        for column in heading.columns {
            match column {
                Column::Decision => {}
                Column::Margin => fields.push(Field::new("margin", DataType::Float64, false)),
                Column::Possibility => fields.extend(
                    names
                        .iter()
                        .map(|name| Field::new(format!("possibility:{name}"), DataType::Float64, false)),
                ),
                // One text as in a CSV, not a list: it is empty in nearly every row, and any reader can show it.
                Column::Ties => fields.push(Field::new("ties", DataType::Utf8, true)),
                Column::Answered => fields.push(Field::new("answered", DataType::Int64, false)),
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            // The form in which other readers look for known faults of a writer.
            .set_created_by(concat!("spocc version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(of_parquet)?;
        Ok(Self {
            writer,
            schema,
            n_ids: heading.ids.len(),
            columns: heading.columns.to_vec(),
            classes,
            names,
        })
    }

    fn batch(&self, block: &Block<'_>) -> Result<RecordBatch, ArrowError> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (texts, field) in block.ids.iter().zip(&self.schema.fields()[..self.n_ids]) {
            let texts = texts.iter().skip(block.first).take(block.rulings.len());
            arrays.push(typed(texts.collect(), field.data_type())?);
        }
        let decided: UInt16Array = block.rulings.iter().map(|ruling| Some(ruling.class)).collect();
        arrays.push(take(&self.classes, &decided, Some(TakeOptions { check_bounds: true }))?);
        for column in &self.columns {
            self.push(*column, block.decisions, &mut arrays);
        }
        // Refuses columns of unequal length.
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }

    fn push(&self, column: Column, decisions: &[Decision], arrays: &mut Vec<ArrayRef>) {
        let rows = decisions.iter();
        match column {
            Column::Decision => {}
            Column::Margin => {
                arrays.push(Arc::new(rows.map(|row| Some(row.margin)).collect::<Float64Array>()));
            }
            Column::Possibility => {
                for class in 0..self.names.len() {
                    let degrees = rows.clone().map(|row| row.possibility.degrees().get(class).copied());
                    arrays.push(Arc::new(degrees.collect::<Float64Array>()));
                }
            }
            Column::Ties => {
                let joined = rows.map(|row| ties(row, &self.names));
                arrays.push(Arc::new(joined.collect::<StringArray>()));
            }
            Column::Answered => {
                let answered = rows.map(|row| i64::try_from(row.answered).ok());
                arrays.push(Arc::new(answered.collect::<Int64Array>()));
            }
        }
    }
}

impl<W: Write + Send> Sheet for ParquetSheet<W> {
    fn write(&mut self, block: &Block<'_>) -> io::Result<()> {
        let batch = self.batch(block).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.writer.write(&batch).map_err(of_parquet)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.finish().map_err(of_parquet)?;
        self.writer.inner_mut().flush()
    }
}

/// The classes in the type in which the user wrote all of them; as text if there is no such type.
fn decided(classes: &[Label], names: &[String]) -> ArrayRef {
    let all = |written: &Written| classes.iter().all(|class| class.written() == written);
    let wanted = match () {
        () if all(&Written::Boolean) => DataType::Boolean,
        () if all(&Written::Integer) => DataType::Int64,
        () if all(&Written::Float) => DataType::Float64,
        () => DataType::Utf8,
    };
    let texts = || StringArray::from_iter_values(names);
    typed(texts(), &wanted).unwrap_or_else(|_| Arc::new(texts()))
}

/// The type in which ids are kept: their own where every reader of Parquet knows it, else the nearest such, else
/// text.
fn stored(own: &DataType) -> DataType {
    use DataType as T;
    match own {
        T::Dictionary(_, values) => stored(values),
        T::Float16 => T::Float32,
        T::Time32(_) => T::Time32(TimeUnit::Millisecond),
        T::Date64 => T::Timestamp(TimeUnit::Millisecond, None),
        T::Timestamp(TimeUnit::Second, zone) => T::Timestamp(TimeUnit::Millisecond, zone.clone()),
        T::Decimal32(precision, scale @ 0..) | T::Decimal64(precision, scale @ 0..) => {
            T::Decimal128(*precision, *scale)
        }
        T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Boolean
        | T::LargeUtf8
        | T::Binary
        | T::LargeBinary
        | T::Date32
        | T::Time64(_)
        | T::Timestamp(..) => own.clone(),
        _ if own.is_integer()
            || own.is_floating()
            || matches!(own, T::Decimal128(_, 0..) | T::Decimal256(_, 0..)) =>
        {
            own.clone()
        }
        _ => T::Utf8,
    }
}

/// Reads values from their texts.
fn typed(texts: StringArray, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let cast = |array: &ArrayRef, to: &DataType| {
        cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })
    };
    let texts: ArrayRef = Arc::new(texts);
    match to {
        // The names of zones are not known here; the texts are in UTC, and so are the values whatever the zone.
        DataType::Timestamp(unit, Some(_)) => {
            cast(&cast(&texts, &DataType::Timestamp(*unit, Some(UTC.into())))?, to)
        }
        _ => cast(&texts, to),
    }
}

/// What the system said when a file could not be written.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => {
            source.downcast::<io::Error>().map_or_else(io::Error::other, |io| *io)
        }
        other => io::Error::other(other),
    }
}
