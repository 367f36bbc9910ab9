//! The file of a model or of evidence: versioned, checksummed, validated when read.
//!
//! The layout is written down in `docs/model-format.md`: a mark, a version, a kind, a length, a checksum, then
//! the content in the postcard encoding. Nothing in a file can name code to run.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    data::{MISSING, Missing, class_weights},
    error::{Error, list},
    evidence::Evidence,
    model::Model,
};

const MARK: [u8; 8] = *b"\x89SPOCC\r\n";
const VERSION: u32 = 2;
const HEADER: usize = 8 + 4 + 4 + 8 + 4;

/// What a file can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Model = 1,
    Evidence = 2,
}

impl Content {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Evidence => "tally",
        }
    }
}

impl Model {
    /// The bytes of a model file: the same model, the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(Content::Model, self)
    }

    /// Reads a model file.
    ///
    /// # Errors
    ///
    /// [`Error::NotOurs`], [`Error::WrongKind`], [`Error::FutureVersion`], [`Error::Truncated`],
    /// [`Error::Oversized`], [`Error::Checksum`], [`Error::Inconsistent`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let model: Self = read(Content::Model, bytes)?;
        model.check()?;
        Ok(model)
    }

    /// Refuses a model whose parts do not fit together.
    fn check(&self) -> Result<(), Error> {
        let wrong = |expected, found: String| Err(Error::Inconsistent { expected, found });
        crate::Predictions::builder(self.classifiers.iter().cloned())?;
        self.labels.check()?;
        let size = [self.classifiers.len(), self.labels.len(), self.labels.n_classes()];
        self.rule.check(size)?;
        if !self.rule.fits(self.method) {
            return wrong("the rule of the method", self.method.to_string());
        }
        let total = self.prior.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        if self.prior.len() != self.labels.n_classes() || total.is_none_or(|total| total == 0) {
            return wrong("a count per class", format!("{} counts", self.prior.len()));
        }
        class_weights::check(&self.class_weights, self.labels.n_classes())?;
        self.check_missing_label()?;
        self.calibration.as_ref().map_or(Ok(()), |calibration| calibration.check(size[2]))?;
        let Some(evidence) = &self.evidence else { return Ok(()) };
        evidence.check()?;
        if evidence.classifiers() != self.classifiers {
            return wrong("evidence about the model's classifiers", list(evidence.classifiers()));
        }
        // Labels that are no candidates are classes of the evidence and other predictions of the model.
        let classes = self.labels.classes();
        let places = self.labels.translate(evidence.labels().all());
        let truths = evidence.class_counts().iter().zip(&places).filter(|(count, _)| **count > 0);
        let has_truths = truths.into_iter().all(|(_, place)| usize::from(*place) < classes.len());
        let is_class = |id: &u16| usize::from(*id) < evidence.labels().n_classes();
        let has_classes = evidence.labels().translate(classes).iter().all(is_class);
        // A model that grew may know answers that came with a later classifier.
        if has_truths && has_classes && !places.contains(&MISSING) {
            return Ok(());
        }
        wrong("evidence about the model's labels", list(evidence.labels().all()))
    }
}

impl Model {
    /// Refuses treatments of missing predictions that contradict the setting, or that have no label.
    fn check_missing_label(&self) -> Result<(), Error> {
        let fits = match self.missing {
            Missing::Ignore => !self.missing_is_answer.contains(&true),
            Missing::Answer => !self.missing_is_answer.contains(&false),
            Missing::Auto => true,
        };
        let has_label = self.labels.missing_label() != MISSING;
        if fits
            && self.missing_is_answer.len() == self.classifiers.len()
            && has_label == self.missing_is_answer.contains(&true)
        {
            return Ok(());
        }
        let found =
            format!("{} treatments of {} classifiers", self.missing_is_answer.len(), self.classifiers.len());
        Err(Error::Inconsistent { expected: "whose silence is an answer, and a label for it", found })
    }
}

impl Evidence {
    /// The bytes of an evidence file, a tally to be merged elsewhere: the same rows, the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(Content::Evidence, self)
    }

    /// Reads an evidence file.
    ///
    /// # Errors
    ///
    /// As [`Model::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let evidence: Self = read(Content::Evidence, bytes)?;
        evidence.check()?;
        Ok(evidence)
    }
}

fn write<T: Serialize>(content: Content, value: &T) -> Vec<u8> {
    let payload = postcard::to_stdvec(value).expect("writing to memory, of types that all have a size");
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend(MARK);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((content as u32).to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(checksum(content, &payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Checksum of everything a bit could flip in: kind, length and payload.
fn checksum(content: Content, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&(content as u32).to_le_bytes());
    hasher.update(&(payload.len() as u64).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

fn read<T: DeserializeOwned>(wanted: Content, bytes: &[u8]) -> Result<T, Error> {
    let expected = wanted.name();
    let field = |at: usize, length: usize| bytes.get(at..at + length);
    let whole_mark = bytes.len() >= MARK.len();
    if bytes.is_empty() || bytes[..bytes.len().min(MARK.len())] != MARK[..bytes.len().min(MARK.len())] {
        return Err(Error::NotOurs { expected });
    }
    let cut_short = Error::Truncated { expected: HEADER as u64, found: bytes.len() as u64 };
    if !whole_mark {
        return Err(cut_short);
    }
    let number =
        |at: usize| field(at, 4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    let version = number(8).ok_or_else(|| cut_short.clone())?;
    if version > VERSION {
        return Err(Error::FutureVersion { newest: VERSION, found: version });
    }
    if version < VERSION {
        let found = format!("version {version}: make it again");
        return Err(Error::Inconsistent { expected: "a file of version 2", found });
    }
    let (Some(kind), Some(low), Some(high), Some(sum)) = (number(12), number(16), number(20), number(24))
    else {
        return Err(cut_short);
    };
    let length = u64::from(high) << 32 | u64::from(low);
    let payload = &bytes[HEADER..];
    if (payload.len() as u64) < length {
        let expected = length.saturating_add(HEADER as u64);
        return Err(Error::Truncated { expected, found: bytes.len() as u64 });
    }
    if (payload.len() as u64) > length {
        return Err(Error::Oversized { expected: length + HEADER as u64, found: bytes.len() as u64 });
    }
    let content = [Content::Model, Content::Evidence].into_iter().find(|content| *content as u32 == kind);
    let Some(content) = content else {
        return Err(Error::Inconsistent {
            expected: "a model or a tally",
            found: format!("content of kind {kind}"),
        });
    };
    let found = checksum(content, payload);
    if found != sum {
        return Err(Error::Checksum { expected: sum, found });
    }
    if content != wanted {
        return Err(Error::WrongKind { expected, found: content.name() });
    }
    let broken = |error: postcard::Error| Error::Inconsistent {
        expected: "content of this version",
        found: error.to_string(),
    };
    let (value, rest) = postcard::take_from_bytes(payload).map_err(broken)?;
    if rest.is_empty() {
        return Ok(value);
    }
    Err(Error::Inconsistent { expected: "nothing after the content", found: format!("{} bytes", rest.len()) })
}
