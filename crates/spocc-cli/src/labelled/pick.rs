//! Which of the names there are classifiers: those chosen by name or glob, or all without another use.

use std::collections::BTreeSet;

use glob::Pattern;

use crate::{
    args::{Names, PanelArgs},
    error::{Error, Place, list, suggestion},
};

/// The places of the classifiers among `known`, those with `other` uses left out.
///
/// # Errors
///
/// [`Error::Refused`] for a name or a glob that meets nothing, and if none is left.
pub(crate) fn pick(
    known: &[String],
    args: &PanelArgs,
    other: &[usize],
    place: &Place,
) -> Result<Vec<usize>, Error> {
    let ignored: BTreeSet<usize> = match &args.ignore {
        Some(names) => find(known, names, |name| format!("`{name}` to ignore"), place)?.into_iter().collect(),
        None => BTreeSet::new(),
    };
    let mut picked = match &args.classifiers {
        Some(names) => find(known, names, |name| format!("a classifier `{name}`"), place)?,
        None => (0..known.len()).collect(),
    };
    picked.retain(|at| !other.contains(at) && !ignored.contains(at));
    if picked.is_empty() {
        return Err(
            place.refused("at least one column that is a classifier", format!("only {}", list(known)))
        );
    }
    Ok(picked)
}

/// The places that these names and globs mean, each once, in the order they are named.
fn find(
    known: &[String],
    names: &Names,
    wanted: impl Fn(&str) -> String,
    place: &Place,
) -> Result<Vec<usize>, Error> {
    let mut found: Vec<usize> = Vec::new();
    for name in &names.0 {
        let before = found.len();
        let mut met = false;
        let pattern = Pattern::new(name).ok();
        let exact = known.iter().position(|there| there == name);
        let matches = |there: &String| match (exact, &pattern) {
            (Some(_), _) => there == name,
            (None, pattern) => pattern.as_ref().is_some_and(|pattern| pattern.matches(there)),
        };
        for at in (0..known.len()).filter(|&at| matches(&known[at])) {
            met = true;
            if !found[..before].contains(&at) {
                found.push(at);
            }
        }
        if !met {
            let there = format!("{}{}", list(known), suggestion(name, known));
            return Err(place.refused(wanted(name), there));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_come_before_globs_and_nothing_comes_twice() {
        let known = ["a*", "ab", "b", "ac"].map(str::to_owned);
        let place = Place::file(Path::new("t"), "");
        let find = |names: &str| {
            find(&known, &names.parse().expect("names"), |name| format!("a classifier `{name}`"), &place)
        };
        assert_eq!(find("a*").expect("a column has that very name"), [0]);
        assert_eq!(find("a?,ab,b").expect("all there"), [0, 1, 3, 2]);
        assert_eq!(
            find("[").err().map(|error| error.to_string()).as_deref(),
            Some("t: expected a classifier `[`, found `a*`, `ab`, `b`, `ac`")
        );
    }
}
