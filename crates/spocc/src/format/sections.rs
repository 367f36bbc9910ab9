//! Sections: the named parts of a payload, one after the other.
//!
//! A section is the length of its name (one byte), its name, the length of its content (eight bytes, little-endian), its
//! content. Names ascend bytewise, so that no name comes twice. A name that begins with a capital letter is critical: a
//! reader that does not know it refuses the file. Any other unknown section is skipped, and lost when the file is written
//! again, since it may describe what has changed since.

use serde::{Serialize, de::DeserializeOwned};

use crate::error::Error;

const MAX_NAME: usize = 32;

/// Appends sections to a file; their names must ascend.
pub(super) struct SectionWriter<'a> {
    bytes: &'a mut Vec<u8>,
    last: &'static str,
}

impl<'a> SectionWriter<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, last: "" }
    }

    /// A section whose content is one value.
    pub(super) fn value<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.content(name, |bytes| {
            let written = postcard::to_extend(value, std::mem::take(bytes));
            *bytes = written.expect("writing to memory, of types that all have a size");
        });
    }

    /// A section whose content is a value that may be absent, and the section with it.
    pub(super) fn optional<T: Serialize>(&mut self, name: &'static str, value: Option<&T>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    /// A section whose content is written by `write`.
    pub(super) fn content(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(is_name(name.as_bytes()) && self.last < name, "`{name}` after `{}`", self.last);
        self.last = name;
        self.bytes.push(name.len() as u8);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend([0; 8]);
        let start = self.bytes.len();
        write(self.bytes);
        let length = (self.bytes.len() - start) as u64;
        self.bytes[start - 8..start].copy_from_slice(&length.to_le_bytes());
    }
}

/// The known sections of a payload.
pub(super) struct Sections<'a>(Vec<(&'a str, &'a [u8])>);

impl<'a> Sections<'a> {
    /// Splits a payload into sections, and skips those that are not known.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownSection`] for an unknown critical section, [`Error::Inconsistent`] for bytes that are no sections.
    pub(super) fn split(mut payload: &'a [u8], is_known: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let mut sections = Vec::new();
        let mut last = "";
        while !payload.is_empty() {
            let (name, content, rest) = first(payload)?;
            if name <= last {
                let found = format!("`{name}` after `{last}`");
                return Err(Error::Inconsistent { expected: "sections with ascending names", found });
            }
            if is_known(name) {
                sections.push((name, content));
            } else if name.starts_with(|first: char| first.is_ascii_uppercase()) {
                return Err(Error::UnknownSection { name: name.to_owned() });
            }
            (last, payload) = (name, rest);
        }
        Ok(Self(sections))
    }

    /// The content of a section, if the section is there.
    pub(super) fn content(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|section| section.0 == name).map(|section| section.1)
    }

    /// The value of a section, if the section is there.
    pub(super) fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        self.content(name).map(|content| decode(&format!("section `{name}`"), content)).transpose()
    }

    /// The value of a section that must be there.
    pub(super) fn value<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let missing =
            || Error::Inconsistent { expected: "every section it needs", found: format!("no `{name}`") };
        self.optional(name)?.ok_or_else(missing)
    }
}

/// Name and content of the first section, and what follows it.
fn first(payload: &[u8]) -> Result<(&str, &[u8], &[u8]), Error> {
    let (&length, rest) = payload.split_first().expect("asked only while bytes are left");
    let name = rest.get(..usize::from(length)).filter(|name| is_name(name));
    let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) else {
        let shown = &rest[..rest.len().min(usize::from(length)).min(MAX_NAME)];
        return Err(Error::Inconsistent {
            expected: "a section name of 1 to 32 letters, digits and hyphens",
            found: match shown {
                [] => "none".to_owned(),
                _ => format!("{length} bytes that begin with `{}`", shown.escape_ascii()),
            },
        });
    };
    let rest = &rest[name.len()..];
    let too_long = |length: &dyn std::fmt::Display, left: usize| Error::Inconsistent {
        expected: "sections that end where the file does",
        found: format!("`{name}` of {length} bytes where {left} are left"),
    };
    let Some((length, rest)) = rest.split_first_chunk() else {
        return Err(too_long(&"unknown", rest.len()));
    };
    let length = u64::from_le_bytes(*length);
    let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let (content, rest) = split.ok_or_else(|| too_long(&length, rest.len()))?;
    Ok((name, content, rest))
}

fn is_name(name: &[u8]) -> bool {
    name.len() <= MAX_NAME
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|letter| letter.is_ascii_alphanumeric() || *letter == b'-')
}

/// The value that the bytes of `what` hold, to the last byte.
pub(super) fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Error> {
    decode_with(what, bytes, postcard::take_from_bytes)
}

/// As [`decode`], with the function that reads the value and returns the bytes after it.
pub(super) fn decode_with<'a, T>(
    what: &str,
    bytes: &'a [u8],
    read: impl Fn(&'a [u8]) -> postcard::Result<(T, &'a [u8])>,
) -> Result<T, Error> {
    let (value, rest) = read(bytes).map_err(|error| broken(what, &error))?;
    if rest.is_empty() {
        return Ok(value);
    }
    let found = format!("{} bytes after the end of the {what}", rest.len());
    Err(Error::Inconsistent { expected: "content of this version", found })
}

/// The error for bytes that are not what they should be.
pub(super) fn broken(what: &str, error: &postcard::Error) -> Error {
    Error::Inconsistent { expected: "content of this version", found: format!("another {what} ({error})") }
}
