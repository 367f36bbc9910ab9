//! How severely the less accurate are discounted (paper, section 3.5).

use std::sync::OnceLock;

use crate::{
    error::Error,
    fusion::{Fusion, FusionTree, Work},
    possibility::Discount,
    tuning::{
        Trials, Tuning, grid, median_of_best,
        sweep::{Sweep, sweep},
    },
    watch::Watch,
};

/// Discount of a classifier whose accuracy is `share` of the best one's: `1 - share^severity`.
pub(crate) fn discount(share: f64, severity: f64) -> Result<Discount, Error> {
    Discount::try_from(1.0 - share.clamp(0.0, 1.0).powf(severity))
}

/// The plain median of the severities that decide most rows rightly.
///
/// The authors' grid has no 0, so it must discount an adversary whose opinion is informative; ours has.
pub(crate) fn search_severity(
    trials: &Trials,
    tree: &FusionTree,
    shares: &[f64],
    tuning: Tuning,
    watch: &Watch<'_>,
) -> Result<f64, Error> {
    let mut severities = grid(-2.0, 1.0 / 25.0, 101);
    if tuning != Tuning::Resubstitution {
        severities.insert(0, 0.0);
    }
    let all_tables = trials.degrees.len() as u64 * 16 * severities.len() as u64;
    if all_tables <= watch.memory_limit() / 4 {
        let tables = severities.iter().map(|_| OnceLock::new()).collect();
        let right = sweep(
            trials,
            &Severities { trials, tree, shares, grid: &severities, tables },
            "severity",
            watch,
        )?;
        return Ok(median_of_best(&severities, &right));
    }
    // Too many opinions to hold them at every severity: one severity after another.
    let mut right = Vec::with_capacity(severities.len());
    for severity in &severities {
        let one = Severities { trials, tree, shares, grid: &[*severity], tables: vec![OnceLock::new()] };
        right.extend(sweep(trials, &one, "severity", watch)?);
    }
    Ok(median_of_best(&severities, &right))
}

/// The whole tree at each severity: the more severe, the smaller every surprisal.
struct Severities<'a> {
    trials: &'a Trials,
    tree: &'a FusionTree,
    shares: &'a [f64],
    grid: &'a [f64],
    tables: Vec<OnceLock<Fusion>>,
}

impl Severities<'_> {
    fn fusion(&self, at: usize) -> &Fusion {
        self.tables[at].get_or_init(|| {
            let at_severity = |&share: &f64| discount(share, self.grid[at]).unwrap_or_default();
            let discounts: Vec<Discount> = self.shares.iter().map(at_severity).collect();
            self.trials.fusion(self.tree.clone(), &discounts)
        })
    }
}

impl Sweep for Severities<'_> {
    type State = Work;

    fn state(&self) -> Work {
        Work::default()
    }

    fn len(&self) -> usize {
        self.grid.len()
    }

    fn start(&self, _case: usize, _work: &mut Work) {}

    fn evaluate(&self, case: usize, at: usize, work: &mut Work, out: &mut [f64]) {
        self.fusion(at).evaluate(self.trials.opinions(case), work);
        out.copy_from_slice(&work.out);
    }
}
