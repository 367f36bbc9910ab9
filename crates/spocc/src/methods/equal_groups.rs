//! Groups of classifiers with equal predictions, found by hash.

use std::{cmp::Ordering, collections::HashMap};

/// The groups of equal items, in the order of their first members. Each item comes with its hash, or none if it equals no
/// other.
///
/// Equal hashes are no proof, and items can be chosen whose hashes collide. The groups of a hash are therefore kept in the
/// order that `compare` defines: n items take n log n comparisons at most, and n where no hashes collide.
pub(super) fn equal_groups(
    items: impl Iterator<Item = (usize, Option<u64>)>,
    compare: impl Fn(usize, usize) -> Ordering,
) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for (item, hash) in items {
        if let Some(hash) = hash {
            let of_hash = by_hash.entry(hash).or_default();
            match of_hash.binary_search_by(|&group| compare(groups[group][0], item)) {
                Ok(at) => {
                    groups[of_hash[at]].push(item);
                    continue;
                }
                Err(at) => of_hash.insert(at, groups.len()),
            }
        }
        groups.push(vec![item]);
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn colliding_hashes_take_few_comparisons() {
        const N: usize = 4_096;
        // Every value but the last occurs twice, and every third item is alone.
        let value = |item: usize| item * 7 % 4_096 / 2;
        let hash = |item: usize| (!item.is_multiple_of(3)).then_some(5);
        let n_comparisons = Cell::new(0);
        let groups = equal_groups((0..N).map(|item| (item, hash(item))), |a, b| {
            n_comparisons.set(n_comparisons.get() + 1);
            value(a).cmp(&value(b))
        });
        assert!(n_comparisons.get() <= N * 12, "{} comparisons", n_comparisons.get());
        let mut expected: Vec<Vec<usize>> = Vec::new();
        for item in 0..N {
            let equal = |group: &&mut Vec<usize>| {
                let is_equal = hash(group[0]).is_some() && value(group[0]) == value(item);
                is_equal && hash(item).is_some()
            };
            match expected.iter_mut().find(equal) {
                Some(group) => group.push(item),
                None => expected.push(vec![item]),
            }
        }
        assert_eq!(groups, expected);
        assert!(groups.len() < N);
    }
}
