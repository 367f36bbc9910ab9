//! SPOCC: all possibility distributions fused by one t-norm (paper §3.2 and §3.3, algorithms 1 and 2).

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    error::Error,
    evidence::{Evidence, Level},
    fusion::{Exponent, Fusion, FusionStep, FusionTree, surprisal},
    methods::{
        ClassSums, Combiner, FittedRule, Learn, Method, Rule, Scratch, SumKind, check_numbers, check_sum,
        largest_of_parts,
    },
    possibility::{Discount, Transform},
    progress::Control,
    tuning::{Search, Tuning, ValidationCases, median_of_best},
};

/// SPOCC: possibility distributions from confusion counts, fused by one Aczel-Alsina t-norm (paper §3.2 and §3.3,
/// algorithms 1 and 2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spocc {
    /// The exponent of the one t-norm.
    pub exponent: SpoccExponent,
}

/// How the exponent of SPOCC is set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpoccExponent {
    /// A given exponent; 5 by default, as in the paper.
    Fixed(Exponent),
    /// The median of the most accurate exponents on a grid from 1 to 10.
    Tuned(Tuning),
}

impl Default for SpoccExponent {
    fn default() -> Self {
        Self::Fixed(Exponent::try_from(5.0).expect("5 is at least 1"))
    }
}

impl Combiner for Spocc {
    fn method(&self) -> Method {
        Method::Spocc
    }

    fn needs(&self) -> Level {
        match self.exponent {
            SpoccExponent::Fixed(_) => Level::Marginals,
            SpoccExponent::Tuned(_) => Level::Tally,
        }
    }
}

impl Learn for Spocc {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        let exponent = match self.exponent {
            SpoccExponent::Fixed(exponent) => exponent,
            SpoccExponent::Tuned(tuning) => {
                tuning.check()?;
                let cases =
                    ValidationCases::new(evidence, evidence.tally_for(Method::Spocc)?, tuning, control)?;
                let search = Search::new(&cases, control);
                let (grid, correct) = search.flat(control)?;
                Exponent::try_from(median_of_best(grid, &correct))?
            }
        };
        let tree = FusionTree::flat(evidence.n_classifiers(), exponent);
        let discounts = vec![Discount::default(); evidence.n_classifiers()];
        Ok(Rule::Spocc(PossibilityTable::new(evidence, tree, &discounts, control)?))
    }
}

/// The possibility distribution of every prediction of every classifier, and the tree that fuses them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "StoredPossibilityTable", try_from = "StoredPossibilityTable")]
pub(crate) struct PossibilityTable {
    n_labels: usize,
    n_classes: usize,
    fusion: Fusion,
}

/// The table as stored in a model file.
#[derive(Clone, Serialize, Deserialize)]
struct StoredPossibilityTable {
    n_labels: usize,
    n_classes: usize,
    tree: FusionTree,
    surprisals: Vec<f64>,
}

impl PossibilityTable {
    /// Transforms every row of the confusions and discounts it.
    pub(crate) fn new(
        evidence: &Evidence,
        tree: FusionTree,
        discounts: &[Discount],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
        control.allow(|| format!("possibilities of {n} classifiers on {l} classes"), &[n, s, l, 16])?;
        let mut surprisals = vec![0.0; n * s * l];
        for (k, table) in surprisals.chunks_mut((s * l).max(1)).enumerate() {
            prediction_surprisals(evidence, k, discounts[k], table);
        }
        Ok(Self::from_table(s, l, tree, surprisals))
    }

    pub(crate) fn from_table(
        n_labels: usize,
        n_classes: usize,
        tree: FusionTree,
        surprisals: Vec<f64>,
    ) -> Self {
        let fusion = Fusion::new(tree, n_classes, surprisals, |row| row / n_labels);
        Self { n_labels, n_classes, fusion }
    }

    /// The distribution of one prediction: a surprisal per class.
    pub(crate) fn distribution(&self, k: usize, j: u16) -> &[f64] {
        self.fusion.distribution(k * self.n_labels + usize::from(j))
    }

    pub(crate) fn tree(&self) -> &FusionTree {
        self.fusion.tree()
    }

    /// All surprisals: classifier, predicted, class.
    pub(crate) fn table(&self) -> &[f64] {
        self.fusion.table()
    }

    /// Every t-norm applied to one row, the lowest first.
    pub(crate) fn trace(&self, row: Row<'_>) -> Vec<FusionStep> {
        let mut possibilities = Vec::new();
        row.for_each(|k, j| possibilities.push((k, k * self.n_labels + usize::from(j))));
        self.fusion.trace(&possibilities.into_iter())
    }

    #[inline]
    pub(crate) fn surprisals_monotone(&self, row: Row<'_>, scratch: &mut Scratch) -> Option<f64> {
        let s = self.n_labels;
        let Scratch { fusion: scratch, out, .. } = scratch;
        match row {
            Row::Dense(cells) => {
                let answered = cells.iter().enumerate().filter(|(_, j)| **j != MISSING);
                let any = answered.clone().next().is_some();
                any.then(|| {
                    let predictions = answered.map(|(k, &j)| (k, k * s + usize::from(j)));
                    self.fusion.evaluate_monotone(predictions, scratch, out)
                })
            }
            Row::Sparse(columns, ids) => {
                let predictions =
                    columns.iter().zip(ids).map(|(&k, &j)| (k as usize, k as usize * s + usize::from(j)));
                (!ids.is_empty()).then(|| self.fusion.evaluate_monotone(predictions, scratch, out))
            }
        }
    }
}

/// The surprisals of classifier `k`, by predicted label and class.
pub(crate) fn prediction_surprisals(evidence: &Evidence, k: usize, discount: Discount, table: &mut [f64]) {
    let l = evidence.n_classes().max(1);
    let mut transform = Transform::default();
    let mut counts = vec![0; evidence.n_classes()];
    for (j, distribution) in table.chunks_mut(l).enumerate() {
        evidence.classes_of_prediction(k, j as u16, &mut counts);
        transform.smoothed(&counts, evidence.unit(), distribution);
        distribution.iter_mut().for_each(|degree| *degree = surprisal(discount.apply(*degree)));
    }
}

impl FittedRule for PossibilityTable {
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        let s = self.n_labels;
        self.fusion.surprisals(row, |k, j| k * s + usize::from(j), &mut scratch.fusion, &mut scratch.out);
        row.n_answered() > 0
    }

    /// With a single t-norm the sums of powers can be compared without taking the root.
    fn sums(&self, _n_labels: usize) -> Option<ClassSums<'_>> {
        let table = self.fusion.flat_powers()?.into();
        let kind = SumKind::Surprisals(self.tree().root_exponent().into());
        Some(ClassSums { start: None, table, kind })
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        if (self.n_labels, self.n_classes) != (s, l) {
            return Err(Error::Inconsistent {
                expected: "possibilities on the model's labels",
                found: "others".to_owned(),
            });
        }
        self.tree().check(n)?;
        let size = n.checked_mul(s).and_then(|size| size.checked_mul(l));
        check_numbers("surprisals from 0 to infinity", self.table(), size, |s| s >= 0.0)?;
        // No norm exceeds the sum.
        check_sum(largest_of_parts(self.table(), n))
    }
}

impl From<PossibilityTable> for StoredPossibilityTable {
    fn from(possibilities: PossibilityTable) -> Self {
        let (n_labels, n_classes) = (possibilities.n_labels, possibilities.n_classes);
        Self {
            n_labels,
            n_classes,
            tree: possibilities.tree().clone(),
            surprisals: possibilities.table().to_vec(),
        }
    }
}

impl TryFrom<StoredPossibilityTable> for PossibilityTable {
    type Error = Error;

    fn try_from(stored: StoredPossibilityTable) -> Result<Self, Error> {
        // The table must fit the tree before powers are taken of it.
        let n = stored.tree.n_leaves();
        stored.tree.check(n)?;
        let size = n.checked_mul(stored.n_labels).and_then(|size| size.checked_mul(stored.n_classes));
        check_numbers("surprisals from 0 to infinity", &stored.surprisals, size, |s| s >= 0.0)?;
        Ok(Self::from_table(stored.n_labels, stored.n_classes, stored.tree, stored.surprisals))
    }
}
