//! The text of each cell of a column.
//!
//! In: Arrow arrays. Out: the text of each cell as a CSV file would have it: whole floats keep their `.0`, times with a
//! zone are in UTC, and NaN is missing. The kernels of arrow-cast do most of this, but depending on them makes the
//! build half as long again.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
    cast::AsArray as _,
    downcast_integer, downcast_temporal,
    temporal_conversions::{as_date, as_datetime, as_time},
    types::{
        Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type,
        Float64Type,
    },
};
use arrow_schema::{ArrowError, DataType};

use crate::CellType;

/// Widest range of integers whose texts are listed once: labels are mostly small integers that repeat.
const SPAN: i64 = 1024;

/// The cell type of an Arrow type; none if its values have no text.
pub(super) fn cell_type(data_type: &DataType) -> Option<CellType> {
    use DataType as T;
    match data_type {
        T::Dictionary(_, values) => cell_type(values).filter(|_| !matches!(**values, T::Dictionary(..))),
        T::RunEndEncoded(..) | T::Interval(_) | T::Duration(_) => None,
        _ if data_type.is_nested() => None,
        T::Boolean => Some(CellType::Boolean),
        _ if data_type.is_integer() => Some(CellType::Integer),
        _ if data_type.is_floating() => Some(CellType::Float),
        T::Decimal32(_, scale)
        | T::Decimal64(_, scale)
        | T::Decimal128(_, scale)
        | T::Decimal256(_, scale) => Some(if *scale > 0 { CellType::Float } else { CellType::Integer }),
        _ => Some(CellType::Text),
    }
}

/// Texts, in the form in which they were read: a view may refer to a long text that others refer to too.
#[derive(Clone)]
enum TextList {
    Strings(StringArray),
    LongStrings(LargeStringArray),
    Views(StringViewArray),
}

impl TextList {
    fn len(&self) -> usize {
        match self {
            Self::Strings(list) => list.len(),
            Self::LongStrings(list) => list.len(),
            Self::Views(list) => list.len(),
        }
    }

    /// The text of an entry; none if it is null or not in the list.
    #[inline]
    fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Strings(list) => (at < list.len() && list.is_valid(at)).then(|| list.value(at).as_bytes()),
            Self::LongStrings(list) => {
                (at < list.len() && list.is_valid(at)).then(|| list.value(at).as_bytes())
            }
            Self::Views(list) => (at < list.len() && list.is_valid(at)).then(|| list.value(at).as_bytes()),
        }
    }

    /// Bytes of the first `n` texts.
    fn n_bytes(&self, n: usize) -> u64 {
        match self {
            Self::Strings(list) => (list.value_offsets()[n] - list.value_offsets()[0]) as u64,
            Self::LongStrings(list) => (list.value_offsets()[n] - list.value_offsets()[0]) as u64,
            Self::Views(list) => list.lengths().take(n).map(u64::from).sum(),
        }
    }
}

impl FromIterator<Option<String>> for TextList {
    fn from_iter<I: IntoIterator<Item = Option<String>>>(texts: I) -> Self {
        Self::Strings(texts.into_iter().collect())
    }
}

/// The texts of some cells of a column.
#[derive(Clone)]
pub(crate) struct CellTexts {
    list: TextList,
    /// Index in the list of the text of each cell; without keys, the index is the row.
    keys: Option<Vec<u32>>,
    /// The dictionary whose texts are in the list.
    dictionary: Option<ArrayRef>,
}

impl CellTexts {
    /// No cells.
    pub(super) fn new() -> Self {
        Self { list: TextList::Strings(StringArray::new_null(0)), keys: None, dictionary: None }
    }

    /// Replaces the cells by those of an array.
    ///
    /// # Errors
    ///
    /// A cell without a text, such as bytes that are not UTF-8.
    pub(super) fn read(&mut self, array: &ArrayRef) -> Result<(), ArrowError> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            return self.read_dictionary(dictionary.keys(), dictionary.values());
        }
        self.dictionary = None;
        (self.list, self.keys) = match listed(array) {
            Some((list, keys)) => (list, Some(keys)),
            None => (texts(array)?, None),
        };
        Ok(())
    }

    fn read_dictionary(&mut self, keys: &dyn Array, values: &ArrayRef) -> Result<(), ArrowError> {
        if !self.dictionary.as_ref().is_some_and(|known| Arc::ptr_eq(known, values)) {
            self.list = texts(values)?;
            self.dictionary = Some(Arc::clone(values));
        }
        // No entry: the index of cells without a key.
        let none = self.list.len() as u32;
        let keys = numbers(keys).ok_or(ArrowError::DictionaryKeyOverflowError)?;
        let key =
            |key: Option<i64>| key.and_then(|key| u32::try_from(key).ok()).map_or(none, |key| key.min(none));
        self.keys = Some(keys.into_iter().map(key).collect());
        Ok(())
    }

    /// The text of a cell; none if it is null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        let at = self.keys.as_ref().map_or(row, |keys| keys[row] as usize);
        self.list.get(at)
    }

    /// Bytes of the texts of the first `n` cells.
    pub(super) fn n_bytes(&self, n: usize) -> u64 {
        match &self.keys {
            None => self.list.n_bytes(n),
            Some(keys) => {
                let length = |key: &u32| self.list.get(*key as usize).map_or(0, |text| text.len() as u64);
                keys[..n].iter().map(length).sum()
            }
        }
    }
}

/// Booleans and small integers as indices into a list of their texts: several times faster than formatting each cell.
fn listed(array: &dyn Array) -> Option<(TextList, Vec<u32>)> {
    let numbers = numbers(array)?;
    let least = *numbers.iter().flatten().min()?;
    let span = numbers.iter().flatten().max()?.checked_sub(least).filter(|span| *span < SPAN)?;
    let text = |number: i64| match array.data_type() {
        DataType::Boolean => (number == 1).to_string(),
        float if float.is_floating() => format!("{number}.0"),
        _ => number.to_string(),
    };
    // The last entry is that of null cells.
    let list = (least..=least + span).map(|number| Some(text(number))).chain([None]);
    let keys = numbers.iter().map(|number| number.map_or(span + 1, |number| number - least) as u32);
    Some((list.collect(), keys.collect()))
}

/// The values of an array of booleans, integers or whole floats, else none; NaN is null.
fn numbers(array: &dyn Array) -> Option<Vec<Option<i64>>> {
    macro_rules! integers {
        ($type:ty) => {
            array.as_primitive::<$type>().iter().map(|v| v.map(i64::try_from).transpose().ok()).collect()
        };
    }
    downcast_integer! {
        array.data_type() => (integers),
        DataType::Boolean => Some(array.as_boolean().iter().map(|value| value.map(i64::from)).collect()),
        DataType::Float16 => whole(array.as_primitive::<Float16Type>()),
        DataType::Float32 => whole(array.as_primitive::<Float32Type>()),
        DataType::Float64 => whole(array.as_primitive::<Float64Type>()),
        _ => None
    }
}

fn whole<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &PrimitiveArray<T>) -> Option<Vec<Option<i64>>> {
    const LARGEST: f64 = 1e15;
    let integer = |float: f64| match float {
        _ if float.fract() == 0.0 && float.abs() < LARGEST => Some(Some(float as i64)),
        _ if float.is_nan() => Some(None),
        _ => None,
    };
    array.iter().map(|float| float.map_or(Some(None), |float| integer(float.into()))).collect()
}

/// The text of each cell.
fn texts(array: &dyn Array) -> Result<TextList, ArrowError> {
    Ok(match array.data_type() {
        DataType::LargeUtf8 => TextList::LongStrings(array.as_string().clone()),
        DataType::Utf8View => TextList::Views(array.as_string_view().clone()),
        DataType::BinaryView => {
            let views = array.as_binary_view();
            views.iter().flatten().try_for_each(|bytes| text_of(bytes).map(|_| ()))?;
            TextList::Views(views.clone().to_string_view()?)
        }
        _ => TextList::Strings(formatted(array)?),
    })
}

/// The text of each cell that is not a view.
fn formatted(array: &dyn Array) -> Result<StringArray, ArrowError> {
    use DataType as T;
    macro_rules! integers {
        ($type:ty) => {
            format_values::<$type>(array, |value| Some(value.to_string()))
        };
    }
    macro_rules! times {
        ($type:ty) => {
            format_values::<$type>(array, |value| time::<$type>(value.into(), array.data_type()))
        };
    }
    let data_type = array.data_type();
    downcast_integer! {
        data_type => (integers),
        T::Utf8 => Ok(array.as_string().clone()),
        T::Binary => decode(array.as_binary::<i32>()),
        T::LargeBinary => decode(array.as_binary::<i64>()),
        T::FixedSizeBinary(_) => decode(array.as_fixed_size_binary()),
        T::Boolean => Ok(array.as_boolean().iter().map(|v| v.map(|v| v.to_string())).collect()),
        T::Float16 => Ok(floats(array.as_primitive::<Float16Type>())),
        T::Float32 => Ok(floats(array.as_primitive::<Float32Type>())),
        T::Float64 => Ok(floats(array.as_primitive::<Float64Type>())),
        T::Decimal32(digits, scale) => decimals::<Decimal32Type>(array, *digits, *scale),
        T::Decimal64(digits, scale) => decimals::<Decimal64Type>(array, *digits, *scale),
        T::Decimal128(digits, scale) => decimals::<Decimal128Type>(array, *digits, *scale),
        T::Decimal256(digits, scale) => decimals::<Decimal256Type>(array, *digits, *scale),
        T::Null => Ok(StringArray::new_null(array.len())),
        other => downcast_temporal! {
            other => (times),
            _ => Err(ArrowError::NotYetImplemented(format!("the text of type {other}")))
        }
    }
}

/// The text of each value.
fn format_values<T: ArrowPrimitiveType>(
    array: &dyn Array,
    text: impl Fn(T::Native) -> Option<String>,
) -> Result<StringArray, ArrowError> {
    let formatted = |value| {
        let unknown = || ArrowError::CastError(format!("no {} has the value {value:?}", array.data_type()));
        text(value).ok_or_else(unknown)
    };
    array.as_primitive::<T>().iter().map(|value| value.map(formatted).transpose()).collect()
}

fn decode<'a>(array: impl IntoIterator<Item = Option<&'a [u8]>>) -> Result<StringArray, ArrowError> {
    array.into_iter().map(|bytes| bytes.map(text_of).transpose()).collect()
}

fn text_of(bytes: &[u8]) -> Result<&str, ArrowError> {
    const SHOWN: usize = 100;
    let shown = || bytes[..bytes.len().min(SHOWN)].escape_ascii();
    let found = |_| ArrowError::CastError(format!("bytes that are not UTF-8: {}", shown()));
    str::from_utf8(bytes).map_err(found)
}

fn floats<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &PrimitiveArray<T>) -> StringArray {
    let text = |float: T::Native| match float.into() {
        wide if wide.is_nan() => None,
        // As the engine formats a label; adding zero turns -0.0 into 0.0.
        wide if wide.fract() == 0.0 => Some(format!("{:.1}", wide + 0.0)),
        // The shortest text that parses to the same number.
        _ => Some(format!("{float:?}")),
    };
    array.iter().map(|float| float.and_then(text)).collect()
}

fn decimals<T: DecimalType>(array: &dyn Array, digits: u8, scale: i8) -> Result<StringArray, ArrowError> {
    format_values::<T>(array, |value| Some(T::format_decimal(value, digits, scale)))
}

/// A date, a time of day, or both. A type with a zone stores UTC, so its text ends with `Z`.
fn time<T: ArrowPrimitiveType>(value: i64, data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::Date32 => Some(as_date::<T>(value)?.to_string()),
        DataType::Time32(_) | DataType::Time64(_) => Some(as_time::<T>(value)?.to_string()),
        DataType::Timestamp(_, Some(_)) => Some(format!("{:?}Z", as_datetime::<T>(value)?)),
        _ => Some(format!("{:?}", as_datetime::<T>(value)?)),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
        Int8Array, Int64Array, NullArray, StringViewArray, TimestampMicrosecondArray, UInt64Array,
    };
    use arrow_schema::{Field, TimeUnit};

    use super::*;

    fn read(array: impl Array + 'static) -> Vec<Option<String>> {
        let array: ArrayRef = Arc::new(array);
        let mut texts = CellTexts::new();
        texts.read(&array).expect("text");
        let text = |row| texts.get(row).map(|text| String::from_utf8(text.to_vec()).expect("text"));
        (0..array.len()).map(text).collect()
    }

    fn some<const N: usize>(texts: [&str; N]) -> Vec<Option<String>> {
        texts.map(|text| (text != "-").then(|| text.to_owned())).to_vec()
    }

    #[test]
    fn cells_read_as_they_would_be_written() {
        assert_eq!(read(StringArray::from(vec![Some("a"), None, Some("")])), some(["a", "-", ""]));
        assert_eq!(read(StringViewArray::from(vec![Some("a longer word than twelve"), None])).len(), 2);
        assert_eq!(read(UInt64Array::from(vec![Some(u64::MAX), None])), some(["18446744073709551615", "-"]));
        assert_eq!(
            read(Int64Array::from(vec![i64::MIN, i64::MAX])),
            some(["-9223372036854775808", "9223372036854775807"])
        );
        assert_eq!(read(Date32Array::from(vec![Some(0), None])), some(["1970-01-01", "-"]));
        assert_eq!(read(NullArray::new(2)), some(["-", "-"]));
        assert_eq!(read(BinaryArray::from(vec![&b"a"[..]])), some(["a"]));
        let money = Decimal128Array::from(vec![150, -5]).with_precision_and_scale(9, 2).expect("a scale");
        assert_eq!(read(money), some(["1.50", "-0.05"]));
    }

    #[test]
    fn floats_read_as_labels() {
        let floats = [1.0, -0.0, f64::NAN, 1e16, 0.1, -2.5e-7, f64::INFINITY];
        let texts = some(["1.0", "0.0", "-", "10000000000000000.0", "0.1", "-2.5e-7", "inf"]);
        assert_eq!(read(Float64Array::from(floats.to_vec())), texts);
        for (float, text) in floats.iter().zip(texts) {
            assert_eq!(read(Float64Array::from(vec![*float])).first(), Some(&text));
            let label = spocc::Label::try_from(*float).ok();
            assert!(label.is_none_or(|label| Some(label) == text.map(spocc::Label::from)), "{float}");
        }
        assert_eq!(read(Float32Array::from(vec![0.1, 16_777_216.0])), some(["0.1", "16777216.0"]));
    }

    #[test]
    fn times_with_a_zone_are_formatted_in_utc() {
        let time = TimestampMicrosecondArray::from(vec![Some(1_000_001), None]);
        assert_eq!(read(time.clone()), some(["1970-01-01T00:00:01.000001", "-"]));
        for zone in ["UTC", "Europe/Paris", "+02:00", "nowhere"] {
            assert_eq!(read(time.clone().with_timezone(zone)), some(["1970-01-01T00:00:01.000001Z", "-"]));
        }
    }

    #[test]
    fn small_integers_read_as_others_do() {
        let reference = |array: &dyn Array| -> Vec<Option<String>> {
            formatted(array).expect("text").iter().map(|text| text.map(str::to_owned)).collect()
        };
        for shift in [0, -128, i64::MIN, i64::MAX - 255] {
            let numbers: Int64Array = (0..256).map(|n| (n % 5 > 0).then_some(n + shift)).collect();
            assert!(listed(&(Arc::new(numbers.clone()) as ArrayRef)).is_some());
            assert_eq!(read(numbers.clone()), reference(&numbers));
        }
        let wide = Int64Array::from(vec![0, SPAN]);
        assert!(listed(&(Arc::new(wide.clone()) as ArrayRef)).is_none());
        assert_eq!(read(wide.clone()), reference(&wide));
        let floats = Float64Array::from(vec![Some(3.0), None, Some(f64::NAN), Some(-2.0)]);
        assert!(listed(&(Arc::new(floats.clone()) as ArrayRef)).is_some());
        assert_eq!(read(floats.clone()), reference(&floats));
        let booleans = BooleanArray::from(vec![Some(true), None, Some(false)]);
        assert_eq!(read(booleans.clone()), reference(&booleans));
        assert_eq!(read(Int64Array::from(vec![None, None])), some(["-", "-"]));
    }

    #[test]
    fn dictionaries_may_have_nulls_in_both_places_or_be_empty() {
        let keys = Int8Array::from(vec![Some(1), None, Some(2), Some(0)]);
        let values: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), Some(7.0), None]));
        let coded = DictionaryArray::new(keys, values);
        assert_eq!(cell_type(coded.data_type()), Some(CellType::Float));
        assert_eq!(read(coded), some(["7.0", "-", "-", "0.5"]));
        let empty: ArrayRef = Arc::new(StringArray::new_null(0));
        assert_eq!(read(DictionaryArray::new(Int8Array::from(vec![None, None]), empty)), some(["-", "-"]));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        let array: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff"[..]]));
        assert!(CellTexts::new().read(&array).is_err());
    }

    #[test]
    fn types_without_a_text_have_no_cell_type() {
        let item = || Arc::new(Field::new("item", DataType::Int32, true));
        let list = DataType::List(item());
        let coded_list = DataType::Dictionary(Box::new(DataType::Int8), Box::new(list.clone()));
        for refused in [list, coded_list, DataType::Struct(vec![item()].into())] {
            assert_eq!(cell_type(&refused), None, "{refused}");
        }
        assert_eq!(cell_type(&DataType::Timestamp(TimeUnit::Second, None)), Some(CellType::Text));
        assert_eq!(cell_type(&DataType::Decimal128(9, 0)), Some(CellType::Integer));
    }
}
