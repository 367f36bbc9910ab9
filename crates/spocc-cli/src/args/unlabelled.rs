//! The option about unlabelled rows, the same in every command that counts rows.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use crate::args::usage;

/// Which unlabelled rows are counted.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct UnlabelledArgs {
    /// Further table of unlabelled rows with the same columns, whose true labels are not read. Rows that are also in
    /// the input, by --id or the item of --long, are skipped. `none`: use no unlabelled rows, not even of the input
    #[arg(long = "unlabelled", value_name = "TABLE|none", help_heading = "Table")]
    names: Vec<PathBuf>,
}

impl UnlabelledArgs {
    /// The further tables.
    ///
    /// # Errors
    ///
    /// A usage error if `none` is not the only name.
    pub(crate) fn tables(&self, command: &str) -> Result<&[PathBuf], clap::Error> {
        let n_none = self.names.iter().filter(|name| is_none(name)).count();
        match (n_none, self.names.len()) {
            (0, _) => Ok(&self.names),
            (1, 1) => Ok(&[]),
            _ => {
                let message = "--unlabelled none cannot be used with another --unlabelled";
                Err(usage(command, ErrorKind::ArgumentConflict, message))
            }
        }
    }

    /// Whether unlabelled rows are to be counted; none for the default.
    pub(crate) fn asked(&self) -> Option<bool> {
        self.names.first().map(|name| !is_none(name))
    }
}

fn is_none(name: &Path) -> bool {
    name.as_os_str() == "none"
}
