//! Errors, with the messages that users see.

use std::{io, path::PathBuf};

/// Every error of the laboratory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{what} {found:?}: expected one of {known}{}", suggestion(.nearest.as_deref()))]
    Unknown { what: &'static str, found: String, known: String, nearest: Option<String> },
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {source}", .path.display())]
    Write { path: PathBuf, source: spocc_file::Error },
    #[error("{}: expected the file of {dataset}; `spocc-lab datasets` lists its source", .path.display())]
    MissingFile { path: PathBuf, dataset: &'static str },
    #[error("{}, line {line}: expected {expected}, found {found}", .path.display())]
    BadLine { path: PathBuf, line: usize, expected: String, found: String },
    #[error("{}: expected {expected}, found {found}", .path.display())]
    BadFile { path: PathBuf, expected: String, found: String },
    #[error("{}: expected results of {expected}, found {found}; name another folder, or remove the file", .path.display())]
    OtherRun { path: PathBuf, expected: String, found: String },
    #[error("--budgets {found}: expected a number of labelled rows, 0 or 2 and more, or half")]
    Budget { found: String },
    #[error("{set}: expected two classes among {rows} labelled rows, found one in each of 1000 draws")]
    OneClass { set: String, rows: usize },
    #[error("--threads {threads}: {error}")]
    Threads { threads: u16, error: String },
    #[error(transparent)]
    Engine(#[from] spocc::Error),
}

fn suggestion(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// The error for an unknown word, with the most similar known one.
    pub(crate) fn unknown(what: &'static str, found: &str, known: &[&str]) -> Self {
        let wanted = found.to_lowercase();
        // Half of the letters may differ: the lists are short, and a wrong suggestion does no harm.
        let tolerated = wanted.chars().count() / 2;
        let nearest = known
            .iter()
            .map(|name| (strsim::damerau_levenshtein(&wanted, name), name))
            .filter(|(distance, _)| *distance <= tolerated)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, name)| (*name).to_owned());
        Self::Unknown { what, found: found.to_owned(), known: known.join(", "), nearest }
    }
}

/// The position of a word among those known.
pub(crate) fn choose(what: &'static str, known: &[impl AsRef<str>], found: &str) -> Result<usize, Error> {
    let names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    names.iter().position(|name| *name == found).ok_or_else(|| Error::unknown(what, found, &names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_and_all_known() {
        let known = ["wine", "spam", "20newsgroup"];
        assert_eq!(
            Error::unknown("dataset", "20newsgroups", &known).to_string(),
            "dataset \"20newsgroups\": expected one of wine, spam, 20newsgroup; did you mean 20newsgroup?"
        );
        assert_eq!(
            Error::unknown("dataset", "iris", &known).to_string(),
            "dataset \"iris\": expected one of wine, spam, 20newsgroup"
        );
    }
}
