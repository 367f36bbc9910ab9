//! Budgets: the accuracy of every method against the number of labelled rows.
//!
//! In: a label set. Out: for every budget and draw, the decisions on rows that were not drawn. `sets` finds and makes the
//! label sets, `draws` chooses the labelled rows, `fitting` fits every method with and without unlabelled rows, `export`
//! writes sets and draws for other programs.

mod draws;
mod export;
mod fitting;
mod sets;

use std::{fmt, path::Path, str::FromStr};

use rayon::prelude::*;

use self::{draws::Draw, fitting::MethodVariant};
use crate::{
    error::Error,
    experiments::bar,
    label_sets::LabelSet,
    results::{Results, ResultsHeader, RunOutcome, Store},
};

pub(crate) use draws::{MAX_TEST, MAX_UNLABELLED};
pub(crate) use export::write;
pub(crate) use fitting::{MIN_PROBABILITY, variants};
pub(crate) use sets::{load, names};

/// The protocol in the header of the results.
pub(crate) const PROTOCOL: &str = "budgets";

/// A number of labelled rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    Rows(usize),
    /// Half of the rows with a truth.
    Half,
}

/// How the experiment is run.
#[derive(Clone, Debug)]
pub(crate) struct BudgetSettings<'a> {
    pub(crate) seed: u64,
    pub(crate) draws: u32,
    pub(crate) budgets: &'a [Budget],
    /// Whether labels are open answers: the candidates of a row are the labels given on it.
    pub(crate) is_open: bool,
    /// Whether the default method also reports an accuracy, as it does when a user fits it.
    pub(crate) reported: bool,
    /// Folder of the results, or of the exported files.
    pub(crate) out: &'a Path,
}

impl FromStr for Budget {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let refused = || Error::Budget { found: word.to_owned() };
        match word {
            "half" => Ok(Self::Half),
            // One row has one class.
            _ => word.parse().ok().filter(|rows| *rows != 1).map(Self::Rows).ok_or_else(refused),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => rows.fmt(out),
            Self::Half => out.write_str("half"),
        }
    }
}

impl BudgetSettings<'_> {
    /// The numbers of labelled rows of a set with `n_known` truths. Budgets above half of these are left out.
    fn numbers(&self, n_known: usize) -> Vec<usize> {
        let half = n_known / 2;
        let number = |budget: &Budget| match budget {
            Budget::Rows(rows) => *rows,
            Budget::Half => half,
        };
        let mut numbers: Vec<usize> = self.budgets.iter().map(number).filter(|rows| *rows <= half).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Every number of labelled rows with every draw.
    fn units(&self, set: &LabelSet) -> Vec<(usize, u32)> {
        let numbers = self.numbers(set.known().len());
        numbers.into_iter().flat_map(|rows| (0..self.draws).map(move |draw| (rows, draw))).collect()
    }

    /// Whether a method is to report an accuracy, which takes rows to hold out.
    fn evaluates(&self, method: MethodVariant, n_labelled: usize) -> bool {
        self.reported && method.is_default() && n_labelled > 0
    }

    fn header(&self, set: &LabelSet) -> ResultsHeader {
        // Open answers are decided rightly or wrongly.
        let (open, n_classes) = if self.is_open { ("open-", 2) } else { ("", set.classes.len()) };
        let experiment = format!("{PROTOCOL}-{open}{}", set.name);
        ResultsHeader {
            data: format!("{:016x}", set.hash()),
            rows: Some(set.known().len()),
            ..ResultsHeader::new(experiment, PROTOCOL, self.seed, n_classes, false)
        }
    }
}

/// Runs the methods that the file of the set lacks, and returns the results of all.
pub(crate) fn run(
    run: &BudgetSettings<'_>,
    set: &LabelSet,
    methods: &[MethodVariant],
) -> Result<Results, Error> {
    let store = Store::open(run.out, run.header(set))?;
    let missing = |&(rows, draw): &(usize, u32)| {
        let recorded = store.get((draw, 0, (rows as f64).to_bits())).unwrap_or_default();
        let has = |method: &MethodVariant| {
            let name = method.to_string();
            let has_report = recorded.reported.contains_key(&name);
            recorded.confusion.contains_key(&name) && (has_report || !run.evaluates(*method, rows))
        };
        let open = methods.iter().filter(|method| method.can_fit(rows) && !has(method));
        let open: Vec<MethodVariant> = open.copied().collect();
        (!open.is_empty()).then_some((rows, draw, open))
    };
    let units = run.units(set);
    // The largest first, so that no long unit is left alone at the end.
    let open: Vec<(usize, u32, Vec<MethodVariant>)> = units.iter().rev().filter_map(missing).collect();
    let bar = bar(set.name.clone(), units.len(), open.len());
    open.par_iter().try_for_each(|(rows, number, methods)| {
        let draw = Draw::new(set, run.seed, *number, *rows)?;
        let evaluates = |method: MethodVariant| run.evaluates(method, *rows);
        let figures = if run.is_open {
            fitting::evaluate_open(set, &draw, methods, evaluates)?
        } else {
            fitting::evaluate(set, &draw, methods, evaluates)?
        };
        store.append(vec![RunOutcome { rep: *number, at: *rows as f64, ..figures }])?;
        bar.inc(1);
        Ok::<(), Error>(())
    })?;
    bar.finish_and_clear();
    Ok(store.finish(run.draws))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_above_half_of_the_rows_are_left_out_and_half_is_rounded_down() {
        let budgets: Vec<Budget> =
            ["half", "200", "25", "50"].map(|word| word.parse().expect("a budget")).to_vec();
        let run = BudgetSettings {
            seed: 1,
            draws: 2,
            budgets: &budgets,
            is_open: false,
            reported: false,
            out: Path::new(""),
        };
        assert_eq!(run.numbers(1000), [25, 50, 200, 500]);
        assert_eq!(run.numbers(109), [25, 50, 54]);
        assert_eq!(run.numbers(100), [25, 50]);
    }

    #[test]
    fn a_budget_is_a_number_of_rows_or_half() {
        for word in ["0", "2", "half"] {
            assert_eq!(word.parse::<Budget>().expect("a budget").to_string(), word);
        }
        for word in ["1", "-3", "a few", ""] {
            let refused = word.parse::<Budget>().expect_err("no budget").to_string();
            assert!(refused.starts_with(&format!("--budgets {word}: expected a number")), "{refused}");
        }
    }
}
