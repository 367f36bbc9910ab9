//! `spocc completions` and `spocc man`: what the shell and the reader want to know.

use clap::error::ErrorKind;

use crate::{
    args::{self, CompletionsArgs, ManArgs, usage},
    error::{Error, list},
    output::Output,
};

/// Prints completions for a shell.
///
/// # Errors
///
/// [`Error::Io`] if standard output does not take it.
pub(crate) fn completions(asked: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut args::command(), "spocc", &mut script);
    Output::new("-".as_ref())?.write_all(&script)
}

/// Prints a manual page.
///
/// # Errors
///
/// [`Error::Usage`] for an unknown command, [`Error::Io`].
pub(crate) fn man(asked: &ManArgs) -> Result<(), Error> {
    let all = args::command();
    let page = match &asked.of {
        None => clap_mangen::Man::new(all),
        Some(name) => match all.find_subcommand(name) {
            Some(found) => {
                let title = format!("spocc-{name}");
                clap_mangen::Man::new(found.clone().display_name(title.clone())).title(title)
            }
            None => {
                let names = all.get_subcommands().map(clap::Command::get_name);
                let message = format!("no command `{name}`; there are {}", list_all(names));
                return Err(usage("man", ErrorKind::InvalidValue, &message).into());
            }
        },
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    Output::new("-".as_ref())?.write_all(&text)
}

fn list_all<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.len() < 20 { names.join(", ") } else { list(names) }
}
