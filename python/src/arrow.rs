//! Arrow columns: chunks of booleans, numbers, texts and dictionaries.

use std::ops::Range;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType,
    cast::AsArray,
    types::{
        Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
        UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::DataType;
use spocc::data::IntegerSlice;

use crate::{
    columns::{CellError, LabelColumn, NumericLabel, write},
    error::BindingError,
    labels::{LabelId, ValueInterner},
};

/// An Arrow column in chunks.
pub(crate) struct ArrowColumn<I> {
    arrays: Vec<ArrayRef>,
    n_rows: usize,
    /// The chunk whose dictionary is cached, and the ids of its entries met so far.
    entries: (usize, Vec<Option<I>>),
}

impl<I: LabelId> ArrowColumn<I> {
    /// # Errors
    ///
    /// [`BindingError::Type`] for chunks of a type that cannot hold labels.
    pub(crate) fn new(chunks: Vec<ArrayRef>) -> Result<Self, BindingError> {
        if let Some(chunk) = chunks.iter().find(|chunk| !is_readable(chunk.data_type())) {
            let found = chunk.data_type();
            return Err(BindingError::Type(format!(
                "expected labels that are texts, whole numbers or booleans, found {found}"
            )));
        }
        let n_rows = chunks.iter().map(Array::len).sum();
        Ok(Self { arrays: chunks, n_rows, entries: (usize::MAX, Vec::new()) })
    }
}

/// The values of an integer chunk without nulls.
pub(crate) fn integers(chunk: &dyn Array) -> Option<IntegerSlice<'_>> {
    macro_rules! values {
        ($kind:ty) => {
            Some(IntegerSlice::from(&chunk.as_primitive::<$kind>().values()[..]))
        };
    }
    if chunk.null_count() > 0 {
        return None;
    }
    match chunk.data_type() {
        DataType::Int8 => values!(Int8Type),
        DataType::Int16 => values!(Int16Type),
        DataType::Int32 => values!(Int32Type),
        DataType::Int64 => values!(Int64Type),
        DataType::UInt8 => values!(UInt8Type),
        DataType::UInt16 => values!(UInt16Type),
        DataType::UInt32 => values!(UInt32Type),
        DataType::UInt64 => values!(UInt64Type),
        _ => None,
    }
}

fn is_readable(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_readable(values),
        DataType::Boolean | DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            true
        }
        other => other.is_integer() || other.is_floating(),
    }
}

impl<I: LabelId> LabelColumn<I> for ArrowColumn<I> {
    fn len(&self) -> usize {
        self.n_rows
    }

    fn fill(
        &mut self,
        rows: Range<usize>,
        out: &mut [I],
        width: usize,
        labels: &mut ValueInterner<I>,
    ) -> Result<(), CellError> {
        let mut start = 0;
        for (number, chunk) in self.arrays.iter().enumerate() {
            let end = start + chunk.len();
            let here = rows.start.max(start)..rows.end.min(end);
            if !here.is_empty() {
                if self.entries.0 != number {
                    self.entries = (number, Vec::new());
                }
                let out = &mut out[(here.start - rows.start) * width..];
                let within = here.start - start..here.end - start;
                fill(chunk, within, out, width, labels, &mut self.entries.1)
                    .map_err(|(row, error)| (start + row, error))?;
            }
            start = end;
        }
        Ok(())
    }
}

fn fill<I: LabelId>(
    chunk: &dyn Array,
    rows: Range<usize>,
    out: &mut [I],
    width: usize,
    labels: &mut ValueInterner<I>,
    entries: &mut Vec<Option<I>>,
) -> Result<(), CellError> {
    macro_rules! each {
        ($array:expr, $id:expr) => {{
            let array = $array;
            let first = rows.start;
            if array.null_count() == 0 {
                write(first, out, width, rows.map(|row| $id(labels, array.value(row))))
            } else {
                let id =
                    |row| if array.is_null(row) { Ok(I::MISSING) } else { $id(labels, array.value(row)) };
                write(first, out, width, rows.map(id))
            }
        }};
    }
    macro_rules! numbers {
        ($kind:ty) => {
            each!(
                chunk.as_primitive::<$kind>(),
                |labels: &mut ValueInterner<I>, value: <$kind as ArrowPrimitiveType>::Native| value
                    .id(labels)
            )
        };
    }
    let text = |labels: &mut ValueInterner<I>, value: &str| labels.text(value);
    match chunk.data_type() {
        DataType::Boolean => {
            each!(chunk.as_boolean(), |labels: &mut ValueInterner<I>, value| labels.boolean(value))
        }
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Float16 => {
            each!(chunk.as_primitive::<Float16Type>(), |labels: &mut ValueInterner<I>, value| {
                labels.single(f32::from(value))
            })
        }
        DataType::Float32 => numbers!(Float32Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Utf8 => each!(chunk.as_string::<i32>(), text),
        DataType::LargeUtf8 => each!(chunk.as_string::<i64>(), text),
        DataType::Utf8View => each!(chunk.as_string_view(), text),
        DataType::Dictionary(_, _) => dictionary(chunk, rows, out, width, labels, entries),
        // A column of the null type holds only nulls.
        _ => write(rows.start, out, width, rows.map(|_| Ok(I::MISSING))),
    }
}

fn dictionary<I: LabelId>(
    chunk: &dyn Array,
    rows: Range<usize>,
    out: &mut [I],
    width: usize,
    labels: &mut ValueInterner<I>,
    entries: &mut Vec<Option<I>>,
) -> Result<(), CellError> {
    let Some(dictionary) = chunk.as_any_dictionary_opt() else { return Ok(()) };
    let values = dictionary.values();
    entries.resize(values.len(), None);
    let first = rows.start;
    let keys = DictionaryKeys::of(dictionary.keys());
    let id = |row: usize| {
        let Some(at) = keys.get(row) else { return Ok(I::MISSING) };
        match entries.get(at) {
            Some(Some(id)) => Ok(*id),
            Some(None) => {
                let mut one = [I::MISSING];
                fill(values, at..at + 1, &mut one, 1, labels, &mut Vec::new()).map_err(|(_, error)| error)?;
                entries[at] = Some(one[0]);
                Ok(one[0])
            }
            None => Err(BindingError::Value(format!(
                "dictionary: expected a key below {}, found {at}",
                values.len()
            ))),
        }
    };
    write(first, out, width, rows.map(id))
}

/// The keys of a dictionary array, of any integer type.
struct DictionaryKeys<'a> {
    keys: &'a dyn Array,
    read: fn(&dyn Array, usize) -> usize,
}

impl<'a> DictionaryKeys<'a> {
    fn of(keys: &'a dyn Array) -> Self {
        macro_rules! read {
            ($kind:ty) => {
                // A negative key becomes a number past the end of any dictionary.
                |keys, row| keys.as_primitive::<$kind>().value(row) as usize
            };
        }
        let read: fn(&dyn Array, usize) -> usize = match keys.data_type() {
            DataType::Int8 => read!(Int8Type),
            DataType::Int16 => read!(Int16Type),
            DataType::Int32 => read!(Int32Type),
            DataType::Int64 => read!(Int64Type),
            DataType::UInt8 => read!(UInt8Type),
            DataType::UInt16 => read!(UInt16Type),
            DataType::UInt32 => read!(UInt32Type),
            _ => read!(UInt64Type),
        };
        Self { keys, read }
    }

    fn get(&self, row: usize) -> Option<usize> {
        (!self.keys.is_null(row)).then(|| (self.read)(self.keys, row))
    }
}
