//! The values of options: choices of the engine by name, lists of names, numbers and sizes.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use spocc::{Method, conformal::Coverage, data::Missing};

/// A column that `spocc predict` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputColumn {
    Decision,
    Margin,
    Possibility,
    Probability,
    Ties,
    Answered,
    /// The classes of the prediction set; written with `--coverage`.
    Set,
    /// The number of classes in the set.
    SetSize,
    /// The probability of none of the open answers given on the row; written beside that of the decision.
    ProbabilityNone,
}

impl OutputColumn {
    const ALL: [(&'static str, Self); 9] = [
        ("decision", Self::Decision),
        ("margin", Self::Margin),
        ("possibility", Self::Possibility),
        ("probability", Self::Probability),
        ("ties", Self::Ties),
        ("answered", Self::Answered),
        ("set", Self::Set),
        ("set_size", Self::SetSize),
        ("probability_none", Self::ProbabilityNone),
    ];

    /// The number of columns, from the first, that `--columns` accepts.
    const CHOICES: usize = 6;

    /// The name of the column.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }
}

/// The file format of decided rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text separated by commas, or by tabs if the file name ends in .tsv
    Csv,
    /// Parquet; only in builds with the feature `arrow`
    Parquet,
    /// A JSON array with one object per line; JSON lines if the file name ends in .jsonl
    Json,
}

/// A dialect of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    Duckdb,
    Snowflake,
    Bigquery,
    Spark,
    Postgres,
}

/// Names separated by commas; a name that contains a comma is quoted as in CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameList(pub(crate) Vec<String>);

impl FromStr for NameList {
    type Err = csv::Error;

    fn from_str(text: &str) -> Result<Self, csv::Error> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let mut names = csv::StringRecord::new();
        // An empty text is one empty name: some tables have a column with an empty name.
        let any = reader.read_record(&mut names)?;
        Ok(Self(if any { names.iter().map(str::to_owned).collect() } else { vec![String::new()] }))
    }
}

/// Names, none of which is empty.
pub(crate) fn nonempty_names(text: &str) -> Result<NameList, String> {
    let names: NameList = text.parse().map_err(|error: csv::Error| error.to_string())?;
    if names.0.iter().any(String::is_empty) {
        Err("expected names, found an empty name".to_owned())
    } else {
        Ok(names)
    }
}

/// A choice among values of the engine, by their names.
pub(crate) fn choices<T>(all: impl IntoIterator<Item = T>) -> impl TypedValueParser<Value = T>
where
    T: Display + FromStr<Err = spocc::Error> + Clone + Send + Sync + 'static,
{
    let all: Vec<String> = all.into_iter().map(|choice| choice.to_string()).collect();
    PossibleValuesParser::new(all).try_map(|word| word.parse())
}

/// What a missing prediction means; the words of version 0.1 are accepted too.
pub(crate) fn missing() -> impl TypedValueParser<Value = Missing> {
    let value = |choice: Missing| {
        let (help, old) = match choice {
            Missing::Ignore => ("the classifier contributes nothing to the row", "silent"),
            Missing::Answer => ("counts as a label of its own", "symbol"),
            _ => ("counts as a label for the classifiers where it depends on the true label", "auto"),
        };
        let value = PossibleValue::new(choice.to_string()).help(help);
        if old == choice.to_string() { value } else { value.alias(old) }
    };
    PossibleValuesParser::new(Missing::ALL.map(value)).try_map(|word| word.parse())
}

/// A choice among the methods, each with a line of help.
pub(crate) fn methods() -> impl TypedValueParser<Value = Method> {
    let described =
        |method: Method| PossibleValue::new(method.to_string()).help(method.capabilities().summary);
    PossibleValuesParser::new(Method::ALL.map(described)).try_map(|word| word.parse())
}

/// A choice among the columns that `--columns` accepts.
pub(crate) fn output_columns() -> impl TypedValueParser<Value = OutputColumn> {
    let find =
        |word: String| OutputColumn::ALL.iter().find(|(name, _)| *name == word).map(|(_, column)| *column);
    PossibleValuesParser::new(OutputColumn::ALL[..OutputColumn::CHOICES].iter().map(|(name, _)| name))
        .try_map(move |word| find(word).ok_or("no such column"))
}

/// One ASCII character, or `tab`.
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

/// A whole number in this range, which must fit the type.
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

/// A value that the engine parses. clap names the option, so the message has only what was expected.
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
        let names = |text: &str| text.parse::<NameList>().expect("names").0;
        assert_eq!(names("a,b c,d"), ["a", "b c", "d"]);
        assert_eq!(names("\"Smith, J.\",ann"), ["Smith, J.", "ann"]);
        assert_eq!(names(""), [""]);
    }

    #[test]
    fn sizes_accept_units() {
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
