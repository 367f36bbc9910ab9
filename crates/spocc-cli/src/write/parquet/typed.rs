//! Parses the cells of a table back into the type of their column.
//!
//! In: the texts of a column and its type. Out: an array of that type, or of the nearest type that all readers of
//! Parquet support.

use std::{io, str::FromStr, sync::Arc};

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, LargeBinaryArray, LargeStringArray,
    PrimitiveArray, StringArray, downcast_integer,
    temporal_conversions::{time_to_time32ms, time_to_time64ns, time_to_time64us},
    types::{
        ArrowTimestampType, Date32Type, Decimal128Type, DecimalType as _, Float32Type, Float64Type,
        Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
        TimestampMillisecondType, TimestampNanosecondType,
    },
};
use arrow_schema::{DataType, Field, TimeUnit};
use chrono::NaiveDateTime;

/// The largest number of decimal digits that polars and `DuckDB` support.
const DIGITS: u8 = 38;

/// The type in which values of a type are written: the same type, the nearest one, or text.
pub(super) fn stored(own: &DataType) -> DataType {
    use DataType as T;
    match own {
        T::Dictionary(_, values) => stored(values),
        T::Float16 => T::Float32,
        T::Time32(_) => T::Time32(TimeUnit::Millisecond),
        T::Date64 => T::Timestamp(TimeUnit::Millisecond, None),
        T::Timestamp(TimeUnit::Second, zone) => T::Timestamp(TimeUnit::Millisecond, zone.clone()),
        T::Decimal32(digits @ ..=DIGITS, scale @ 0..)
        | T::Decimal64(digits @ ..=DIGITS, scale @ 0..)
        | T::Decimal128(digits @ ..=DIGITS, scale @ 0..)
        | T::Decimal256(digits @ ..=DIGITS, scale @ 0..) => T::Decimal128(*digits, *scale),
        T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Boolean
        | T::LargeUtf8
        | T::Binary
        | T::LargeBinary
        | T::Date32
        | T::Time64(_)
        | T::Timestamp(..) => own.clone(),
        _ if own.is_integer() || own.is_floating() => own.clone(),
        _ => T::Utf8,
    }
}

/// Parses the values of a column with a type that [`stored`] returns.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`] for a text that is not a value of the type.
pub(super) fn typed(texts: &[Option<&str>], column: &Field) -> io::Result<ArrayRef> {
    use DataType as T;
    let bytes = || texts.iter().map(|text| text.map(str::as_bytes));
    let cells = TypedColumn { texts, column };
    macro_rules! integers {
        ($type:ty) => {
            cells.values::<$type>(parse)
        };
    }
    downcast_integer! {
        column.data_type() => (integers),
        T::Utf8 => Ok(Arc::new(texts.iter().collect::<StringArray>())),
        T::LargeUtf8 => Ok(Arc::new(texts.iter().collect::<LargeStringArray>())),
        T::Binary => Ok(Arc::new(bytes().collect::<BinaryArray>())),
        T::LargeBinary => Ok(Arc::new(bytes().collect::<LargeBinaryArray>())),
        T::Boolean => Ok(Arc::new(BooleanArray::from(cells.read(parse)?))),
        T::Float32 => cells.values::<Float32Type>(parse),
        T::Float64 => cells.values::<Float64Type>(parse),
        T::Decimal128(digits, scale) => cells.values::<Decimal128Type>(|text| decimal(text, *digits, *scale)),
        T::Date32 => cells.values::<Date32Type>(|text| parse(text).map(Date32Type::from_naive_date)),
        T::Time32(_) => cells.values::<Time32MillisecondType>(|text| parse(text).map(time_to_time32ms)),
        T::Time64(TimeUnit::Nanosecond) => {
            cells.values::<Time64NanosecondType>(|text| parse(text).map(time_to_time64ns))
        }
        T::Time64(_) => cells.values::<Time64MicrosecondType>(|text| parse(text).map(time_to_time64us)),
        T::Timestamp(TimeUnit::Nanosecond, _) => cells.timestamps::<TimestampNanosecondType>(),
        T::Timestamp(TimeUnit::Microsecond, _) => cells.timestamps::<TimestampMicrosecondType>(),
        T::Timestamp(..) => cells.timestamps::<TimestampMillisecondType>(),
        other => Err(io::Error::new(io::ErrorKind::Unsupported, format!("values of type {other}")))
    }
}

/// The texts and the type of a column.
struct TypedColumn<'a> {
    texts: &'a [Option<&'a str>],
    column: &'a Field,
}

impl TypedColumn<'_> {
    fn values<T: ArrowPrimitiveType>(
        &self,
        value: impl Fn(&str) -> Option<T::Native>,
    ) -> io::Result<ArrayRef> {
        let values: PrimitiveArray<T> = self.read(value)?.into_iter().collect();
        // Keep the time zone or the scale.
        Ok(Arc::new(values.with_data_type(self.column.data_type().clone())))
    }

    /// Timestamps, in UTC if the type has a time zone.
    fn timestamps<T: ArrowTimestampType>(&self) -> io::Result<ArrayRef> {
        self.values::<T>(|text| {
            let time: NaiveDateTime = parse(text.strip_suffix('Z').unwrap_or(text))?;
            T::from_naive_datetime(time, None)
        })
    }

    fn read<V>(&self, value: impl Fn(&str) -> Option<V>) -> io::Result<Vec<Option<V>>> {
        let read = |text: &str| value(text).ok_or_else(|| self.refuse(text));
        self.texts.iter().map(|text| text.map(read).transpose()).collect()
    }

    fn refuse(&self, text: &str) -> io::Error {
        let (name, expected) = (self.column.name(), self.column.data_type());
        let message = format!("column `{name}`: expected a value of type {expected}, found `{text}`");
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

fn parse<V: FromStr>(text: &str) -> Option<V> {
    text.parse().ok()
}

/// The digits of a decimal as an integer, without the decimal point.
fn decimal(text: &str, digits: u8, scale: i8) -> Option<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let scale = usize::try_from(scale).ok().filter(|scale| part.len() <= *scale)?;
    let value = format!("{whole}{part:0<scale$}").parse().ok()?;
    Decimal128Type::validate_decimal_precision(value, digits, scale as i8).ok()?;
    Some(value)
}
