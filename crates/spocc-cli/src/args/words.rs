//! The values of options: the engine's words, lists of names, exponents, strengths.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use spocc::{Method, conformal::Coverage};

/// What can be written about a decided row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Decision,
    Margin,
    Possibility,
    Probability,
    Ties,
    Answered,
    /// The classes of a set; written with `--coverage`.
    Set,
    /// How many there are.
    SetSize,
}

impl Column {
    const ALL: [(&'static str, Self); 8] = [
        ("decision", Self::Decision),
        ("margin", Self::Margin),
        ("possibility", Self::Possibility),
        ("probability", Self::Probability),
        ("ties", Self::Ties),
        ("answered", Self::Answered),
        ("set", Self::Set),
        ("set_size", Self::SetSize),
    ];

    /// Those that `--columns` takes.
    const CHOICES: usize = 6;

    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }
}

/// How decided rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with commas; with tabs in files named .tsv
    Csv,
    /// Parquet, in builds with the feature `arrow`
    Parquet,
    /// One JSON array, an object per line; files named .jsonl have the lines alone
    Json,
}

/// Whose SQL is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    Duckdb,
    Snowflake,
    Bigquery,
    Spark,
    Postgres,
}

/// Names separated by commas; one that holds a comma is quoted as in CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl FromStr for Names {
    type Err = csv::Error;

    fn from_str(text: &str) -> Result<Self, csv::Error> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let mut names = csv::StringRecord::new();
        // An empty text is one empty name: some tables have a column without one.
        let any = reader.read_record(&mut names)?;
        Ok(Self(if any { names.iter().map(str::to_owned).collect() } else { vec![String::new()] }))
    }
}

/// Names none of which is empty.
pub(crate) fn names_of_something(text: &str) -> Result<Names, String> {
    let names: Names = text.parse().map_err(|error: csv::Error| error.to_string())?;
    if names.0.iter().any(String::is_empty) {
        Err("expected names, found an empty one".to_owned())
    } else {
        Ok(names)
    }
}

/// A choice among the engine's words.
pub(crate) fn words<T>(all: impl IntoIterator<Item = T>) -> impl TypedValueParser<Value = T>
where
    T: Display + FromStr<Err = spocc::Error> + Clone + Send + Sync + 'static,
{
    let all: Vec<String> = all.into_iter().map(|choice| choice.to_string()).collect();
    PossibleValuesParser::new(all).try_map(|word| word.parse())
}

/// A choice among the methods, each with a line about it.
pub(crate) fn methods() -> impl TypedValueParser<Value = Method> {
    let described =
        |method: Method| PossibleValue::new(method.to_string()).help(method.capabilities().summary);
    PossibleValuesParser::new(Method::ALL.map(described)).try_map(|word| word.parse())
}

/// A choice among the columns of a decided table.
pub(crate) fn columns() -> impl TypedValueParser<Value = Column> {
    let find = |word: String| Column::ALL.iter().find(|(name, _)| *name == word).map(|(_, column)| *column);
    PossibleValuesParser::new(Column::ALL[..Column::CHOICES].iter().map(|(name, _)| name))
        .try_map(move |word| find(word).ok_or("no such column"))
}

/// One character, or the name of one that is hard to type.
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("expected one ASCII character other than a quote, or `tab`".to_owned()),
    }
}

/// A number above 0 and below 1.
pub(crate) fn coverage(text: &str) -> Result<Coverage, String> {
    let number: Option<f64> = text.parse().ok();
    let coverage = number.and_then(|number| Coverage::try_from(number).ok());
    coverage.ok_or_else(|| "expected a number above 0 and below 1, such as 0.95".to_owned())
}

/// A number from 0 to 1.
pub(crate) fn margin(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "expected a number from 0 to 1, such as 0.5".to_owned())
}

/// A whole number in this range, whose end must fit the type.
pub(crate) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number: Option<u64> = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match (range.start(), range.end()) {
            (least, &u64::MAX) => format!("expected a whole number from {least}"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
        })
    }
}

/// A number of bytes, with K, M, G or T for powers of 1024.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a size such as 512M or 16G";
    let unit = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit);
    let power = match unit.to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(EXPECTED.to_owned()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << (10 * power)));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| EXPECTED.to_owned())
}

/// A value that the engine reads from text; the option is named by clap, so only what was expected is said.
pub(crate) fn parsed<T: FromStr<Err = spocc::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| match error {
        spocc::Error::Unreadable { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_are_quoted() {
        let names = |text: &str| text.parse::<Names>().expect("names").0;
        assert_eq!(names("a,b c,d"), ["a", "b c", "d"]);
        assert_eq!(names("\"Smith, J.\",ann"), ["Smith, J.", "ann"]);
        assert_eq!(names(""), [""]);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([memory("7"), memory("512M"), memory("2GiB")], [Ok(7), Ok(512 << 20), Ok(2 << 30)]);
        for bad in ["", "G", "-1", "1.5G", "1X", "0", "99999999999T"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn delimiters_are_single_characters() {
        assert_eq!([delimiter("tab"), delimiter("\\t"), delimiter(";")], [Ok(b'\t'), Ok(b'\t'), Ok(b';')]);
        for bad in ["", ",,", "\"", "\n", "é"] {
            assert!(delimiter(bad).is_err(), "{bad}");
        }
    }
}
