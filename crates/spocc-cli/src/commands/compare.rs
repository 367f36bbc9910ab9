//! `spocc compare`.
use crate::{args::CompareArgs, error::Error};
use spocc::Watch;
pub(crate) fn compare(_: &CompareArgs, _: &Watch<'_>) -> Result<(), Error> {
    Ok(())
}
