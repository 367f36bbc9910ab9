//! The file of a model or of evidence: versioned, checksummed, validated when read.
//!
//! `docs/model-format.md` describes the bytes: a header, then named sections in the postcard encoding. Nothing in a file
//! can name code to run. To store one more thing, give it a section of its own in `model.rs` or `evidence.rs`: its name in
//! `SECTIONS`, a line that writes it and a line that reads it. A released section never changes; what replaces it gets
//! another name.

mod container;
mod evidence;
mod model;
mod rules;
mod sections;
mod version2;

use crate::{error::Error, evidence::Evidence, model::Model};
use container::{Kind, Payload};

impl Model {
    /// The bytes of a model file: the same model, the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        container::write(Kind::Model, |bytes| model::write(self, bytes))
    }

    /// Reads a model file.
    ///
    /// # Errors
    ///
    /// [`Error::NotOurs`], [`Error::WrongKind`], [`Error::FutureVersion`], [`Error::Truncated`],
    /// [`Error::Oversized`], [`Error::Checksum`], [`Error::UnknownSection`], [`Error::Inconsistent`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let model = match container::read(Kind::Model, bytes)? {
            Payload::Version2(payload) => version2::read_model(payload)?,
            Payload::Version3(payload) => model::read(payload)?,
        };
        model.check()?;
        Ok(model)
    }
}

impl Evidence {
    /// The bytes of an evidence file, a tally to be merged elsewhere: the same rows, the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        container::write(Kind::Evidence, |bytes| evidence::write(self, bytes))
    }

    /// Reads an evidence file.
    ///
    /// # Errors
    ///
    /// As [`Model::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let evidence = match container::read(Kind::Evidence, bytes)? {
            Payload::Version2(payload) => version2::read_evidence(payload)?,
            Payload::Version3(payload) => evidence::read(payload)?,
        };
        evidence.check()?;
        Ok(evidence.with_sample())
    }
}
