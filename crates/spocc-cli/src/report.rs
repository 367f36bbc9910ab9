//! Reports on standard output: text, coloured on a terminal, or JSON.

use std::{fmt::Write as _, io::Write as _};

use serde::Serialize;
use spocc::{
    audit::{Audit, Verdict},
    evaluate::Comparison,
};

use crate::error::{Error, Location};

const BOLD: &str = "\x1b[1m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// Prints a report as JSON or as text.
///
/// # Errors
///
/// [`Error::Table`] if standard output cannot be written.
pub(crate) fn print<T: Serialize>(
    as_json: bool,
    report: &T,
    text: impl FnOnce() -> String,
) -> Result<(), Error> {
    if as_json {
        let json = serde_json::to_string_pretty(report).map_err(std::io::Error::from);
        return json.map_err(standard_output).and_then(|json| print_exactly(&(json + "\n")));
    }
    print_text(&text())
}

/// Prints a text that programs read.
///
/// # Errors
///
/// [`Error::Table`] if standard output cannot be written.
pub(crate) fn print_exactly(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(standard_output)
}

/// Prints a text, with its colours only on a terminal and only without `NO_COLOR`.
///
/// # Errors
///
/// [`Error::Table`] if standard output cannot be written.
pub(crate) fn print_text(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(standard_output)
}

fn standard_output(source: std::io::Error) -> Error {
    Location::file("-".as_ref(), "standard output").io("permission to write", source).into()
}

/// A heading in bold, 80 columns wide.
pub(crate) fn heading(title: &str) -> String {
    format!("\n{BOLD}== {title} {}{PLAIN}\n\n", "=".repeat(76usize.saturating_sub(title.len())))
}

/// An audit as text with coloured verdicts: green for useful classifiers, red for adversaries and copies, yellow for
/// the rest.
pub(crate) fn audit(audit: &Audit) -> String {
    let text = audit.to_string();
    let mut verdicts = audit.classifiers.iter().peekable();
    let mut painted = String::with_capacity(text.len() + 10 * audit.classifiers.len());
    for line in text.lines() {
        let entry = verdicts.next_if(|entry| {
            line.starts_with(&*spocc::printable(&entry.name))
                && line.ends_with(&format!("  {}", entry.verdict))
        });
        let _ = match entry {
            Some(entry) => {
                let verdict = entry.verdict.to_string();
                let figures = &line[..line.len() - verdict.len()];
                writeln!(painted, "{figures}{}{verdict}{PLAIN}", colour(&entry.verdict))
            }
            None if line.starts_with("classifier ") => writeln!(painted, "{BOLD}{line}{PLAIN}"),
            None => writeln!(painted, "{line}"),
        };
    }
    painted
}

/// A comparison as text with a bold table header.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let text = comparison.to_string();
    let paint = |line: &str| {
        if line.starts_with("method ") { format!("{BOLD}{line}{PLAIN}\n") } else { format!("{line}\n") }
    };
    text.lines().map(paint).collect()
}

fn colour(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Useful => GREEN,
        Verdict::Adversary | Verdict::CopyOf(_) => RED,
        _ => YELLOW,
    }
}
