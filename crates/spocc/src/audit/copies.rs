//! Copies: which classifiers repeat a more accurate one.

use crate::{
    audit::{statistics::PairStatistics, verdict::is_constant},
    evidence::Evidence,
};

/// For every copy, the most accurate classifier that it repeats, which is not a copy itself.
///
/// Accuracies are those of [`Evidence::accuracies`], so that a classifier with few predictions is not an original. Of equal
/// ones the alphabetically first is the original, so that the order of the columns does not matter.
pub(super) fn originals(evidence: &Evidence, pairs: Option<&PairStatistics>) -> Vec<Option<usize>> {
    let Some(pairs) = pairs else { return vec![None; evidence.n_classifiers()] };
    let is_copy = |original: usize, k: usize| pairs.is_copy(evidence, original, k);
    originals_by(evidence, |k| is_constant(evidence, k), is_copy)
}

/// The same by any test of a copy; classifiers that are `excluded` are neither.
pub(super) fn originals_by(
    evidence: &Evidence,
    excluded: impl Fn(usize) -> bool,
    is_copy: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let mut originals = vec![None; evidence.n_classifiers()];
    let (accuracies, names) = (evidence.accuracies(), evidence.classifiers());
    let mut order: Vec<usize> =
        (0..names.len()).filter(|&k| evidence.answered(k) > 0 && !excluded(k)).collect();
    order.sort_by(|&a, &b| accuracies[b].total_cmp(&accuracies[a]).then_with(|| names[a].cmp(&names[b])));
    let mut leaders: Vec<usize> = Vec::new();
    for k in order {
        originals[k] = leaders.iter().copied().find(|&original| is_copy(original, k));
        if originals[k].is_none() {
            leaders.push(k);
        }
    }
    originals
}

/// The names of every group of copies, the most accurate first, in the order of the columns of the originals.
pub(super) fn families(evidence: &Evidence, originals: &[Option<usize>]) -> Vec<Vec<String>> {
    let name = |k: usize| evidence.classifiers()[k].clone();
    let accuracies = evidence.accuracies();
    let mut order: Vec<usize> = (0..originals.len()).collect();
    order.sort_by(|&a, &b| accuracies[b].total_cmp(&accuracies[a]));
    let copies = |original: usize| order.iter().copied().filter(move |&k| originals[k] == Some(original));
    let family = |original: usize| std::iter::once(original).chain(copies(original)).map(name).collect();
    (0..originals.len()).filter(|&k| copies(k).next().is_some()).map(family).collect()
}
