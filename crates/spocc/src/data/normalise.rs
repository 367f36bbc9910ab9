//! Normalising open answers: which texts count as the same answer.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    data::Label,
    error::{Error, choose},
};

/// Which texts count as the same open answer.
///
/// ```
/// use spocc::data::Normalise;
/// assert_eq!(Normalise::Number.apply(&"$1,000".into()), "1000");
/// assert_eq!(Normalise::Text.apply(&"  New   York. ".into()), "new york");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Normalise {
    /// Labels as everywhere: `1`, 1 and 1.0 are the same, other texts only if they are equal.
    #[default]
    None,
    /// Numbers by their value: without currency and percent signs, thousands separators and zeros that do not count, so
    /// that `$1,000`, `1000.00` and `1e3` are the same. Texts that are no numbers as in [`Normalise::Text`].
    Number,
    /// Texts without regard to case, to the amount of blank space, to quotation marks around them and to punctuation at
    /// their end.
    Text,
}

impl Normalise {
    /// The form in which an answer is compared.
    pub fn apply(self, answer: &Label) -> String {
        let canonical = answer.canonical();
        match self {
            Self::None => canonical.to_owned(),
            Self::Number => number(canonical).unwrap_or_else(|| text(canonical)),
            Self::Text => text(canonical),
        }
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::None => "none",
            Self::Number => "number",
            Self::Text => "text",
        })
    }
}

impl FromStr for Normalise {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("normalise", &[Self::None, Self::Number, Self::Text], word)
    }
}

/// Lower case, single blanks, no quotation marks around it and no punctuation at its end. A text of nothing else stays as
/// it is.
fn text(answer: &str) -> String {
    let is_quote = |c: char| c.is_whitespace() || "\"'`\u{2018}\u{2019}\u{201c}\u{201d}".contains(c);
    let is_end = |c: char| is_quote(c) || ".,;:!?".contains(c);
    let inner = answer.trim_start_matches(is_quote).trim_end_matches(is_end);
    let words: Vec<String> = inner.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() { answer.trim().to_owned() } else { words.join(" ") }
}

/// A decimal number without signs and zeros that do not count: digits are moved, never rounded.
fn number(answer: &str) -> Option<String> {
    const CURRENCIES: &str = "$\u{20ac}\u{a3}\u{a5}";
    /// Exponents beyond this are left as they are written.
    const MAX_EXPONENT: u32 = 400;
    let is_end = |c: char| c.is_whitespace() || "%.,;!?".contains(c) || CURRENCIES.contains(c);
    let is_start = |c: char| c.is_whitespace() || CURRENCIES.contains(c);
    let unsigned = answer.trim_end_matches(is_end).trim_start_matches(is_start);
    let (is_negative, unsigned) = match unsigned.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, unsigned.strip_prefix('+').unwrap_or(unsigned)),
    };
    let unsigned = unsigned.trim_start_matches(is_start);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = without_separators(whole)?;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(&whole) || !is_digits(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    if exponent.unsigned_abs() > MAX_EXPONENT {
        return None;
    }
    let point = whole.len() as i32 + exponent;
    let digits = [whole.as_str(), fraction].concat();
    let zeros = |n: i32| "0".repeat(n.max(0) as usize);
    let padded = [zeros(-point).as_str(), &digits, &zeros(point - digits.len() as i32)].concat();
    let (whole, fraction) = padded.split_at(point.max(0) as usize);
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let sign = if is_negative && !(whole.is_empty() && fraction.is_empty()) { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    Some([sign, whole, point, fraction].concat())
}

/// Digits without the commas of groups of three; none if commas are elsewhere.
fn without_separators(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or("");
    let mut digits = first.to_owned();
    for (at, group) in groups.enumerate() {
        let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
        if group.len() != 3 || (at == 0 && !is_first) {
            return None;
        }
        digits.push_str(group);
    }
    Some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        let same = |texts: &[&str]| {
            let mut forms: Vec<String> =
                texts.iter().map(|text| Normalise::Number.apply(&Label::from(*text))).collect();
            forms.dedup();
            forms
        };
        assert_eq!(
            same(&["1,000", "1000.0", "$1000", "1e3", " +1000. ", "1000 \u{20ac}", "01000"]),
            ["1000"]
        );
        assert_eq!(same(&["-0.50", "-.5", "-5e-1", "\u{2212}0.5", "-$0.5"]), ["-0.5"]);
        assert_eq!(same(&["0", "-0", "0.00", "0%", "0e9"]), ["0"]);
        assert_eq!(same(&["12,345,678.90", "12345678.9"]), ["12345678.9"]);
        assert_eq!(same(&["12.5%", "12.5"]), ["12.5"]);
        let as_text = [
            "0,001",
            ",5",
            "1,00",
            "1,0000",
            "1.2.3",
            "2024-01-05",
            "12 apples",
            "e5",
            ".",
            "1e999",
            "1e-2147483648",
            "0x10",
            "NaN",
        ];
        for text in as_text {
            assert_eq!(Normalise::Number.apply(&text.into()), Normalise::Text.apply(&text.into()), "{text}");
        }
    }

    #[test]
    fn texts_are_compared_without_case_blanks_and_marks() {
        let form = |text: &str| Normalise::Text.apply(&text.into());
        assert_eq!(form("\u{201c}New\n York\u{201d}."), "new york");
        assert_eq!(form("\u{c9}COLE!"), "\u{e9}cole");
        assert_eq!((form("C#"), form(".NET"), form("...")), ("c#".into(), ".net".into(), "...".into()));
        assert_eq!(Normalise::None.apply(&" A ".into()), " A ");
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for normalise in [Normalise::None, Normalise::Number, Normalise::Text] {
            assert_eq!(normalise.to_string().parse(), Ok(normalise));
        }
        assert!("numbers".parse::<Normalise>().is_err());
    }
}
