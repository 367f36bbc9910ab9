//! `spocc completions` and `spocc man`: shell completions and manual pages.

use clap::error::ErrorKind;

use crate::{
    args::{self, CompletionsArgs, ManArgs, usage},
    error::Error,
    output::Output,
};

/// Prints completions for a shell.
///
/// # Errors
///
/// [`Error::Table`] if standard output cannot be written.
pub(crate) fn completions(asked: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut args::command(), "spocc", &mut script);
    Ok(Output::new("-".as_ref())?.write_all(&script)?)
}

/// Prints a manual page.
///
/// # Errors
///
/// [`Error::Usage`] for an unknown command, [`Error::Table`].
pub(crate) fn man(asked: &ManArgs) -> Result<(), Error> {
    let all = args::command();
    let page = match asked.of.as_ref().map(|name| (name, all.find_subcommand(name))) {
        None => clap_mangen::Man::new(all),
        Some((name, Some(found))) => {
            let title = format!("spocc-{name}");
            clap_mangen::Man::new(found.clone().display_name(title.clone())).title(title)
        }
        Some((name, None)) => {
            let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
            let message = format!("no command `{name}`; the commands are {}", names.join(", "));
            return Err(usage("man", ErrorKind::InvalidValue, &message).into());
        }
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(Output::new("-".as_ref())?.write_all(&text)?)
}
