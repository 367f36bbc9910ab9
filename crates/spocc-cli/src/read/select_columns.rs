//! Selects the classifiers by name or glob, or all columns without another use.

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use glob::Pattern;
use spocc_table::{Error, Location};

use crate::{
    args::{ColumnArgs, NameList},
    error::{list, quoted, suggestion},
};

/// The indices of the classifiers among `known`, without columns that have another use.
///
/// # Errors
///
/// [`Error::Refused`] for a name or a glob without a match, and if no classifier is left.
pub(super) fn select_classifiers(
    known: &[String],
    args: &ColumnArgs,
    other: &[usize],
    place: &Location,
) -> Result<Vec<usize>, Error> {
    let mut left_out: HashSet<usize> = other.iter().copied().collect();
    let named: HashSet<&String> =
        args.ignore.iter().chain(&args.classifiers).flat_map(|names| &names.0).collect();
    let unused: Vec<&String> = (0..known.len())
        .filter(|at| !left_out.contains(at) && !named.contains(&known[*at]))
        .map(|at| &known[at])
        .collect();
    let find = |names, wanted: fn(String) -> String| find(known, &unused, names, wanted, place);
    if let Some(names) = &args.ignore {
        left_out.extend(find(names, |name| format!("a column {name} to ignore"))?);
    }
    let mut picked = match &args.classifiers {
        Some(names) => find(names, |name| format!("a classifier {name}"))?,
        None => (0..known.len()).collect(),
    };
    picked.retain(|at| !left_out.contains(at));
    if picked.is_empty() {
        return Err(place.refused("at least one column with predictions", format!("only {}", list(known))));
    }
    Ok(picked)
}

/// Refuses classifiers that differ from those of the labelled rows, and names the missing and the additional ones.
///
/// # Errors
///
/// [`Error::Refused`].
pub(super) fn refuse_other_classifiers(
    panel: &[String],
    found: &[&String],
    place: &Location,
) -> Result<(), Error> {
    let (known, here): (HashSet<_>, HashSet<_>) = (panel.iter().collect(), found.iter().copied().collect());
    let missing: Vec<&String> = panel.iter().filter(|name| !here.contains(name)).collect();
    let more: Vec<&&String> = found.iter().filter(|name| !known.contains(**name)).collect();
    let found = match (missing.is_empty(), more.is_empty()) {
        (true, true) => return Ok(()),
        (false, true) => format!("no {}", list(&missing)),
        (true, false) => format!("also {}", list(&more)),
        (false, false) => format!("no {}, but {}", list(&missing), list(&more)),
    };
    let common = panel.iter().any(|name| here.contains(name));
    let hint = if common { " (--classifiers selects those that both tables have)" } else { "" };
    Err(place.refused("the classifiers of the labelled rows", format!("{found}{hint}")))
}

/// The indices that these names and globs match, each once, in the order of the names. A name without a match is compared
/// with the `unused` names for a suggestion.
fn find(
    known: &[String],
    unused: &[&String],
    names: &NameList,
    wanted: impl Fn(String) -> String,
    place: &Location,
) -> Result<Vec<usize>, Error> {
    let places: HashMap<&String, usize> = known.iter().zip(0..).collect();
    let mut found: Vec<usize> = Vec::new();
    let mut is_found = vec![false; known.len()];
    for name in &names.0 {
        let meant: Vec<usize> = match (places.get(name), Pattern::new(name)) {
            (Some(&exact), _) => vec![exact],
            (None, Ok(pattern)) => (0..known.len()).filter(|&at| pattern.matches(&known[at])).collect(),
            (None, Err(_)) => Vec::new(),
        };
        if meant.is_empty() {
            let hint = suggestion(name, unused.iter().copied());
            return Err(place.refused_with(wanted(quoted(name)), hint, list(known)));
        }
        found.extend(meant.into_iter().filter(|&at| !mem::replace(&mut is_found[at], true)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_come_before_globs_and_no_index_comes_twice() {
        let known = ["a*", "ab", "b", "ac"].map(str::to_owned);
        let place = Location::file(Path::new("t"), "");
        let find = |names: &str| {
            find(&known, &[], &names.parse().expect("names"), |name| format!("a classifier {name}"), &place)
        };
        assert_eq!(find("a*").expect("a column has that very name"), [0]);
        assert_eq!(find("a?,ab,b").expect("all there"), [0, 1, 3, 2]);
        assert_eq!(
            find("[").err().map(|error| error.to_string()).as_deref(),
            Some("t: expected a classifier `[`, found `a*`, `ab`, `b`, `ac`")
        );
    }
}
