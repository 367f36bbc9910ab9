//! An input file by its content: a table, a tally or a model.

use std::path::{Path, PathBuf};

use spocc::{Control, Evidence, Model};
use spocc_table::{Error, Location, OpenedInput, ReadOptions, Table};

/// An opened input.
pub(crate) enum Input {
    /// Rows.
    Table(Box<Table>),
    /// Counts.
    Tally(Location, Box<Evidence>),
    /// A fitted model.
    Model(Location, Box<Model>),
}

impl Input {
    /// Opens the named files; several files are read as one table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], [`Error::Engine`] for a damaged model or tally, [`Error::Io`].
    pub(crate) fn open(names: &[PathBuf], reading: &ReadOptions) -> Result<Self, Error> {
        let (place, bytes) = match OpenedInput::new(names, reading)? {
            OpenedInput::Table(table) => return Ok(Self::Table(table)),
            OpenedInput::SpoccFile(place, bytes) => (place, bytes),
        };
        match Evidence::from_bytes(&bytes) {
            Ok(evidence) => Ok(Self::Tally(place, Box::new(evidence))),
            Err(spocc::Error::WrongKind { .. }) => match Model::from_bytes(&bytes) {
                Ok(model) => Ok(Self::Model(place, Box::new(model))),
                Err(error) => Err(place.engine(error)),
            },
            Err(error) => Err(place.engine(error)),
        }
    }

    /// Opens a model.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); [`Error::Refused`] for another kind of file.
    pub(crate) fn model(path: &Path, control: &Control<'_>) -> Result<(Location, Model), Error> {
        let expected = "a model written by `spocc fit`";
        match Self::open_one(path, expected, control)? {
            Self::Model(place, model) => Ok((place, *model)),
            Self::Tally(place, _) => Err(place.refused(expected, "a tally")),
            Self::Table(table) => {
                Err(table.location().refused(expected, "a table (the first argument is the model)"))
            }
        }
    }

    /// Opens a tally.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); [`Error::Refused`] for another kind of file.
    pub(crate) fn tally(path: &Path, control: &Control<'_>) -> Result<(Location, Evidence), Error> {
        let expected = "a tally written by `spocc tally`";
        match Self::open_one(path, expected, control)? {
            Self::Tally(place, evidence) => Ok((place, *evidence)),
            Self::Model(place, _) => Err(place.refused(expected, "a model")),
            Self::Table(table) => Err(table.location().refused(expected, "a table")),
        }
    }

    /// Opens one file that should be a model or a tally; an unreadable file is reported as not being one.
    fn open_one(path: &Path, expected: &str, control: &Control<'_>) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Location::file(path, "").refused(expected, "a directory"));
        }
        let reading = ReadOptions {
            progress: Some(crate::progress::show_reading),
            memory: control.memory_limit(),
            ..ReadOptions::default()
        };
        Self::open(&[path.to_owned()], &reading).map_err(|error| match error {
            // Omit the advice in parentheses: it is about tables.
            Error::Refused { location: place, found, .. } => {
                place.refused(expected, found.split(" (").next().unwrap_or_default())
            }
            other => other,
        })
    }
}
