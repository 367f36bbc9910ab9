//! Severity: how strongly less accurate classifiers are discounted (paper, section 3.5).
//!
//! In: validation cases, a fusion tree and the relative accuracy of each classifier. Out: the severity.

use crate::{
    error::Error,
    fusion::FusionTree,
    math::pow,
    possibility::Discount,
    progress::Control,
    tuning::{
        Tuning, ValidationCases, grid, median_of_best,
        sweep::{Trees, sweep},
    },
};

/// Discount of a classifier with `share` of the best accuracy: `1 - share^severity`.
pub(crate) fn discount(share: f64, severity: f64) -> Result<Discount, Error> {
    Discount::try_from(1.0 - pow(share.clamp(0.0, 1.0), severity))
}

/// The plain median of the severities with the most correct decisions.
///
/// The authors' grid has no 0 and so always discounts an adversary, although its predictions are informative; ours has.
pub(crate) fn search_severity(
    validation: &ValidationCases<'_>,
    tree: &FusionTree,
    shares: &[f64],
    tuning: Tuning,
    control: &Control<'_>,
) -> Result<f64, Error> {
    let mut severities = grid(-2.0, 1.0 / 25.0, 101);
    if tuning != Tuning::Resubstitution {
        severities.insert(0, 0.0);
    }
    let at_severity = |severity: f64| {
        let discounts = |&share: &f64| discount(share, severity).unwrap_or_default();
        validation.fusion(tree.clone(), &shares.iter().map(discounts).collect::<Vec<Discount>>())
    };
    // Surprisals decrease with severity.
    let trees = Trees::new(validation, severities.len(), |at| at_severity(severities[at]));
    Ok(median_of_best(&severities, &sweep(validation, &trees, "severity", control)?))
}
