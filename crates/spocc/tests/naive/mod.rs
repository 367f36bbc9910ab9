//! The method as the paper tells it, written for plainness: every row, every exponent, the whole tree, again and
//! again. It shares nothing with the engine but the numbers it is given.

// Every test file uses its own part of this module.
#![allow(dead_code)]

use spocc::dendrogram::{Dendrogram, Merge};

use crate::panels::Panel;

/// Surprisals this close to the best, relatively, are tied with it.
pub(crate) const TIE: f64 = 1e-10;
/// Two ways of rounding one number differ by less than this, relatively.
const ROUNDING: f64 = 1e-12;
/// What differs by more than this is always distinguished.
const CLEAR: f64 = 1e-9;

/// How a panel is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validation {
    Resubstitution,
    LeaveOneOut,
}

/// The counts of a panel, as tables of integers.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// What one row counts.
    pub(crate) unit: u64,
    /// Of every row.
    pub(crate) weights: Vec<u64>,
    /// Classifier, predicted, true.
    pub(crate) confusion: Vec<Vec<Vec<u64>>>,
    pub(crate) total: u64,
    pub(crate) classes: Vec<u64>,
}

impl Counts {
    pub(crate) fn new(panel: &Panel) -> Self {
        let given = panel.weights.clone().unwrap_or_else(|| vec![1.0; panel.rows.len()]);
        let whole = given.iter().all(|weight| weight.fract() == 0.0);
        let unit: u64 = if whole { 1 } else { 1 << 30 };
        let weights: Vec<u64> = given.iter().map(|weight| (weight * unit as f64).round() as u64).collect();
        let n = panel.names.len();
        let mut confusion = vec![vec![vec![0; panel.n_classes]; panel.labels.len()]; n];
        let mut classes = vec![0; panel.n_classes];
        for (t, row) in panel.rows.iter().enumerate() {
            let Some(i) = panel.truth[t] else { continue };
            classes[i] += weights[t];
            for (k, predicted) in row.iter().enumerate() {
                if let Some(j) = predicted {
                    confusion[k][*j][i] += weights[t];
                }
            }
        }
        Self { unit, weights, confusion, total: classes.iter().sum(), classes }
    }

    fn right(&self, k: usize) -> u64 {
        (0..self.classes.len()).map(|i| self.confusion[k][i][i]).sum()
    }

    fn answered(&self, k: usize) -> u64 {
        self.confusion[k].iter().flatten().sum()
    }

    /// `(right + missing * panel mean) / n`.
    pub(crate) fn accuracies(&self) -> Vec<f64> {
        let n = self.confusion.len();
        let right: u64 = (0..n).map(|k| self.right(k)).sum();
        let answered: u64 = (0..n).map(|k| self.answered(k)).sum();
        let mean = right as f64 / (answered as f64).max(1.0);
        let total = self.total as f64;
        (0..n).map(|k| (self.right(k) as f64 + (total - self.answered(k) as f64) * mean) / total).collect()
    }
}

/// Add-one smoothing and the Dubois-Prade transform, by its definition: the share of all that is no more
/// probable than the class itself, and 1 for the most probable.
pub(crate) fn possibility(counts: &[u64], unit: u64) -> Vec<f64> {
    let smoothed: Vec<u128> = counts.iter().map(|count| u128::from(*count) + u128::from(unit)).collect();
    let total: u128 = smoothed.iter().sum();
    let most = smoothed.iter().max().copied().unwrap_or(0);
    let share =
        |own: u128| smoothed.iter().filter(|other| **other <= own).sum::<u128>() as f64 / total as f64;
    smoothed.iter().map(|&own| if own == most { 1.0 } else { share(own) }).collect()
}

/// Mutual information over the rows where both answered, as a share of all rows, in plain floats.
pub(crate) fn mutual_information(panel: &Panel, a: usize, b: usize) -> f64 {
    let counts = Counts::new(panel);
    let n_labels = panel.labels.len();
    let mut joint = vec![vec![0.0; n_labels]; n_labels];
    for (t, row) in panel.rows.iter().enumerate() {
        if let (Some(_), Some(u), Some(w)) = (panel.truth[t], row[a], row[b]) {
            joint[u][w] += counts.weights[t] as f64;
        }
    }
    let both: f64 = joint.iter().flatten().sum();
    let mut sum = 0.0;
    for u in 0..n_labels {
        for w in 0..n_labels {
            if joint[u][w] > 0.0 {
                let row: f64 = joint[u].iter().sum();
                let column: f64 = joint.iter().map(|row| row[w]).sum();
                sum += joint[u][w] * (joint[u][w] * both / (row * column)).ln();
            }
        }
    }
    (sum / counts.total as f64).max(0.0)
}

/// Ward's chain on a full matrix, with sets of leaves for clusters.
pub(crate) fn ward_chain(matrix: &[Vec<f64>]) -> Vec<Merge> {
    let n = matrix.len();
    let mut distance = matrix.to_vec();
    let mut size: Vec<f64> = vec![1.0; n];
    let mut is_live = vec![true; n];
    let mut chain: Vec<usize> = Vec::new();
    let mut merges: Vec<(usize, usize, f64)> = Vec::new();
    while merges.len() + 1 < n {
        if chain.is_empty() {
            chain.push((0..n).find(|&slot| is_live[slot]).expect("two clusters are left"));
        }
        let x = chain[chain.len() - 1];
        let below = if chain.len() > 1 { Some(chain[chain.len() - 2]) } else { None };
        let mut candidate = below;
        for slot in 0..n {
            let is_nearer = candidate.is_none_or(|best| distance[x][slot] < distance[x][best]);
            if is_live[slot] && slot != x && is_nearer {
                candidate = Some(slot);
            }
        }
        let nearest = candidate.expect("another cluster is left");
        if Some(nearest) != below {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (low, high) = (x.min(nearest), x.max(nearest));
        let height = distance[low][high];
        for other in 0..n {
            if is_live[other] && other != low && other != high {
                let value = joined(
                    [size[low], size[high], size[other]],
                    [distance[low][other], distance[high][other], height],
                );
                distance[high][other] = value;
                distance[other][high] = value;
            }
        }
        is_live[low] = false;
        size[high] += size[low];
        merges.push((low, high, height));
    }
    merges.sort_by(|a, b| a.2.total_cmp(&b.2));
    numbered(n, &merges)
}

/// Ward's method by its definition: of all pairs of clusters the nearest is merged. For distances without ties.
pub(crate) fn ward_greedy(matrix: &[Vec<f64>]) -> Vec<Merge> {
    let n = matrix.len();
    let mut distance = matrix.to_vec();
    let mut size: Vec<f64> = vec![1.0; n];
    let mut live: Vec<usize> = (0..n).collect();
    let mut merges: Vec<(usize, usize, f64)> = Vec::new();
    while live.len() > 1 {
        let pairs = live.iter().flat_map(|&a| live.iter().map(move |&b| (a, b))).filter(|(a, b)| a < b);
        let nearest = pairs.min_by(|p, q| distance[p.0][p.1].total_cmp(&distance[q.0][q.1]));
        let (a, b) = nearest.expect("two clusters are left");
        let height = distance[a][b];
        for &other in live.iter().filter(|&&other| other != a && other != b) {
            let value =
                joined([size[a], size[b], size[other]], [distance[a][other], distance[b][other], height]);
            distance[b][other] = value;
            distance[other][b] = value;
        }
        size[b] += size[a];
        live.retain(|&slot| slot != a);
        merges.push((a, b, height));
    }
    numbered(n, &merges)
}

/// Ward's update in the order of operations that decides ties.
fn joined([nx, ny, ni]: [f64; 3], [dxi, dyi, dxy]: [f64; 3]) -> f64 {
    let t = 1.0 / (nx + ny + ni);
    ((ni + nx) * t * dxi * dxi + (ni + ny) * t * dyi * dyi - ni * t * dxy * dxy).sqrt()
}

fn numbered(n: usize, merges: &[(usize, usize, f64)]) -> Vec<Merge> {
    let mut clusters: Vec<(usize, Vec<usize>)> = (0..n).map(|leaf| (leaf, vec![leaf])).collect();
    let mut numbered = Vec::new();
    for &(x, y, height) in merges {
        let at = |leaf: usize, clusters: &[(usize, Vec<usize>)]| {
            clusters.iter().position(|(_, leaves)| leaves.contains(&leaf)).expect("every leaf is somewhere")
        };
        let (a, mut leaves) = clusters.remove(at(x, &clusters));
        let (b, others) = clusters.remove(at(y, &clusters));
        leaves.extend(others);
        numbered.push(Merge { children: [a.min(b), a.max(b)], height, size: leaves.len() });
        clusters.push((n + numbered.len() - 1, leaves));
    }
    numbered
}

/// How near the decisions came to ties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closeness {
    /// The least relative lead of any decision.
    pub(crate) nearest: f64,
    /// Whether some lead is neither a tie for all classifiers nor clear for all classifiers.
    pub(crate) is_doubtful: bool,
}

impl Default for Closeness {
    fn default() -> Self {
        Self { nearest: f64::INFINITY, is_doubtful: false }
    }
}

impl Closeness {
    /// The first class among the best, and a note of how clear that was.
    pub(crate) fn decide(&mut self, surprisals: &[f64]) -> usize {
        let least = surprisals.iter().copied().fold(f64::INFINITY, f64::min);
        let first = surprisals.iter().position(|s| *s <= least * (1.0 + TIE)).unwrap_or(0);
        for (i, &s) in surprisals.iter().enumerate() {
            if i != first {
                let lead = if s == surprisals[first] { 0.0 } else { ((s - surprisals[first]) / least).abs() };
                self.nearest = self.nearest.min(lead);
                self.is_doubtful |= lead > ROUNDING && lead < CLEAR;
            }
        }
        first
    }
}

/// A row to be evaluated: the possibilities that every classifier's answer gives, none where it is missing.
pub(crate) struct NaiveCase {
    pub(crate) possibilities: Vec<Option<Vec<f64>>>,
    pub(crate) truth: usize,
    pub(crate) weight: u64,
}

/// Every labelled row with the possibilities it meets.
pub(crate) fn cases(panel: &Panel, validation: Validation) -> Vec<NaiveCase> {
    let counts = Counts::new(panel);
    let mut cases = Vec::new();
    for (t, row) in panel.rows.iter().enumerate() {
        let Some(truth) = panel.truth[t] else { continue };
        let distribution = |(k, predicted): (usize, &Option<usize>)| {
            predicted.map(|j| {
                let mut table = counts.confusion[k][j].clone();
                if validation == Validation::LeaveOneOut {
                    table[truth] -= table[truth].min(counts.unit);
                }
                possibility(&table, counts.unit)
            })
        };
        let possibilities = row.iter().enumerate().map(distribution).collect();
        cases.push(NaiveCase { possibilities, truth, weight: counts.weights[t] });
    }
    cases
}

/// The t-norm of two surprisals.
fn norm(a: f64, b: f64, x: f64) -> f64 {
    let most = a.max(b);
    if x.is_infinite() || most == 0.0 || most.is_infinite() {
        return most;
    }
    if x == 1.0 { a + b } else { most * ((a / most).powf(x) + (b / most).powf(x)).powf(1.0 / x) }
}

/// Surprisals of the panel: the whole tree, two children at a time.
pub(crate) fn fuse(tree: &[Merge], exponents: &[f64], leaves: &[Vec<f64>]) -> Vec<f64> {
    let mut values = leaves.to_vec();
    for (merge, &x) in tree.iter().zip(exponents) {
        let [a, b] = merge.children;
        values.push(values[a].iter().zip(&values[b]).map(|(&s, &t)| norm(s, t, x)).collect());
    }
    values.pop().expect("a tree has a root")
}

/// Surprisals of every leaf after discounting; a missing cell is no surprise.
fn leaves(case: &NaiveCase, discounts: &[f64], n_classes: usize) -> Vec<Vec<f64>> {
    let leaf = |(distribution, &d): (&Option<Vec<f64>>, &f64)| match distribution {
        Some(degrees) => degrees.iter().map(|degree| -((1.0 - d) * degree + d).ln() + 0.0).collect(),
        None => vec![0.0; n_classes],
    };
    case.possibilities.iter().zip(discounts).map(leaf).collect()
}

/// Which departures from the search a test wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The search as it should be.
    Right,
    /// Later groups may take the exponent of the last one.
    NotStrict,
    /// Exponents are kept from one number of clusters to the next.
    NoReset,
    /// The remaining nodes are searched parents first.
    ParentsFirst,
}

/// What the search found.
#[derive(Clone, Debug)]
pub(crate) struct NaiveExponents {
    pub(crate) exponents: Vec<f64>,
    pub(crate) severity: f64,
    pub(crate) discounts: Vec<f64>,
    pub(crate) closeness: Closeness,
}

pub(crate) fn exponent_grid() -> Vec<f64> {
    (0..=100).map(|i| 10f64.powf(f64::from(i) / 100.0)).collect()
}

/// The whole fit of adaSPOCC on a given tree.
pub(crate) fn adaspocc(
    panel: &Panel,
    tree: &Dendrogram,
    validation: Validation,
    variant: Variant,
) -> NaiveExponents {
    let cases = cases(panel, validation);
    let mut closeness = Closeness::default();
    let exponents = search(panel, tree, &cases, variant, &mut closeness);
    let counts = Counts::new(panel);
    let accuracies = counts.accuracies();
    let best = accuracies.iter().copied().fold(0.0, f64::max);
    let discounts = |severity: f64| -> Vec<f64> {
        let share = |accuracy: &f64| if best > 0.0 { accuracy / best } else { 1.0 };
        accuracies.iter().map(|accuracy| 1.0 - share(accuracy).powf(severity)).collect()
    };
    let mut grid: Vec<f64> = (0..=100).map(|i| 10f64.powf(-2.0 + f64::from(i) / 25.0)).collect();
    if validation == Validation::LeaveOneOut {
        grid.insert(0, 0.0);
    }
    let right: Vec<u64> = grid
        .iter()
        .map(|&severity| {
            let discounts = discounts(severity);
            count_correct(&cases, panel.n_classes, &mut closeness, |case| {
                fuse(tree.merges(), &exponents, &leaves(case, &discounts, panel.n_classes))
            })
        })
        .collect();
    let severity = median_of_best(&grid, &right);
    NaiveExponents { exponents, severity, discounts: discounts(severity), closeness }
}

fn search(
    panel: &Panel,
    tree: &Dendrogram,
    cases: &[NaiveCase],
    variant: Variant,
    closeness: &mut Closeness,
) -> Vec<f64> {
    let (n, grid) = (panel.names.len(), exponent_grid());
    let nothing = vec![0.0; n];
    let mut exponents = vec![1.0; n.saturating_sub(1)];
    let mut kept = exponents.clone();
    let mut best = 0;
    for n_clusters in 2..=n {
        if variant != Variant::NoReset {
            exponents.fill(1.0);
        }
        let mut end = grid.len();
        let mut last = 0;
        for group in groups(tree, n_clusters, variant) {
            if end == 0 {
                break;
            }
            let mut right = Vec::new();
            for &x in &grid[..end] {
                group.iter().for_each(|&node| exponents[node - n] = x);
                right.push(count_correct(cases, panel.n_classes, closeness, |case| {
                    fuse(tree.merges(), &exponents, &leaves(case, &nothing, panel.n_classes))
                }));
            }
            last = right.iter().copied().max().unwrap_or(0);
            let tied: Vec<usize> = (0..end).filter(|&at| right[at] == last).collect();
            let chosen = if tied[0] == 0 {
                0
            } else if tied[tied.len() - 1] == end - 1 {
                end - 1
            } else {
                tied[tied.len() / 2]
            };
            group.iter().for_each(|&node| exponents[node - n] = grid[chosen]);
            end = if variant == Variant::NotStrict { chosen + 1 } else { chosen };
        }
        if n_clusters > 2 && last <= best {
            break;
        }
        best = last;
        kept.clone_from(&exponents);
    }
    kept
}

/// Groups of nodes that share an exponent: clusters of two or more as a walk from the root meets them, then
/// every other node alone.
fn groups(tree: &Dendrogram, n_clusters: usize, variant: Variant) -> Vec<Vec<usize>> {
    let n = tree.n_leaves();
    let merges = tree.merges();
    let clusters: Vec<Vec<usize>> = if n_clusters >= n {
        (0..n).map(|leaf| vec![leaf]).collect()
    } else {
        let left = |height: f64| n - merges.iter().filter(|merge| merge.height <= height).count();
        let heights = merges.iter().map(|merge| merge.height);
        let cut = heights.filter(|&height| left(height) <= n_clusters).fold(f64::INFINITY, f64::min);
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|leaf| vec![leaf]).collect();
        for (q, merge) in merges.iter().enumerate().filter(|(_, merge)| merge.height <= cut) {
            let joined = tree.leaves(n + q);
            assert_eq!(joined.len(), merge.size, "a node holds the leaves below it");
            clusters.retain(|cluster| !joined.contains(&cluster[0]));
            clusters.push(joined);
        }
        clusters
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for leaf in tree.leaves(n + merges.len() - 1) {
        let cluster = clusters.iter().find(|cluster| cluster.contains(&leaf)).expect("every leaf is in one");
        let within = |node: &usize| tree.leaves(*node).iter().all(|leaf| cluster.contains(leaf));
        let nodes: Vec<usize> = (n..n + merges.len()).filter(within).collect();
        if cluster.len() > 1 && !groups.contains(&nodes) {
            groups.push(nodes);
        }
    }
    let grouped: Vec<usize> = groups.concat();
    let mut others: Vec<usize> = (n..n + merges.len()).filter(|node| !grouped.contains(node)).collect();
    if variant == Variant::ParentsFirst {
        others.reverse();
    }
    groups.extend(others.into_iter().map(|node| vec![node]));
    groups
}

fn count_correct(
    cases: &[NaiveCase],
    n_classes: usize,
    closeness: &mut Closeness,
    surprisals: impl Fn(&NaiveCase) -> Vec<f64>,
) -> u64 {
    let mut right = 0;
    for case in cases {
        let surprisals = surprisals(case);
        assert_eq!(surprisals.len(), n_classes, "one surprisal per class");
        right += if closeness.decide(&surprisals) == case.truth { case.weight } else { 0 };
    }
    right
}

/// Mean of the middle two of an even number of tied values.
pub(crate) fn median_of_best(grid: &[f64], right: &[u64]) -> f64 {
    let best = right.iter().max().copied().unwrap_or(0);
    let tied: Vec<f64> = grid.iter().zip(right).filter(|(_, r)| **r == best).map(|(x, _)| *x).collect();
    let (low, high) = (tied[(tied.len() - 1) / 2], tied[tied.len() / 2]);
    f64::midpoint(low, high)
}
