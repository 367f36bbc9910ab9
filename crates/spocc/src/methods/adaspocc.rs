//! adaSPOCC: possibility distributions fused along a dendrogram (paper §3.4 to §3.6, algorithms 3 and 4).

use serde::{Deserialize, Serialize};

use crate::{
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    error::Error,
    evidence::{Evidence, Level},
    fusion::{Exponent, FusionTree},
    methods::{Combiner, Learn, Method, PossibilityTable, Rule, check_numbers},
    possibility::Discount,
    progress::Control,
    tuning::{Search, Tuning, ValidationCases, discount, search_severity},
};

/// adaSPOCC: possibility distributions fused along a dendrogram of the classifiers, with a tuned exponent per merge and
/// tuned discounts (paper §3.4 to §3.6, algorithms 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaSpocc {
    /// The rows on which exponents and severity are evaluated.
    pub tuning: Tuning,
}

impl Default for AdaSpocc {
    fn default() -> Self {
        Self { tuning: Tuning::LeaveOneOut }
    }
}

impl Combiner for AdaSpocc {
    fn method(&self) -> Method {
        Method::AdaSpocc
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for AdaSpocc {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        self.tuning.check()?;
        let tally = evidence.tally_for(Method::AdaSpocc)?;
        let dendrogram = Dendrogram::ward(&Dissimilarities::new(evidence, control)?);
        let cases = ValidationCases::new(evidence, tally, self.tuning, control)?;
        let found = Search::new(&cases, control).run(&dendrogram, control)?;
        let tree = FusionTree::new(&dendrogram, &found.exponents);

        let accuracies = evidence.accuracies();
        let best_accuracy = accuracies.iter().copied().fold(0.0, f64::max);
        let shares: Vec<f64> =
            accuracies.iter().map(|accuracy| relative_accuracy(*accuracy, best_accuracy)).collect();
        let severity = search_severity(&cases, &tree, &shares, self.tuning, control)?;
        let discounts = shares
            .iter()
            .map(|&share| discount(share, severity))
            .collect::<Result<Vec<Discount>, Error>>()?;
        let possibilities = PossibilityTable::new(evidence, tree, &discounts, control)?;
        Ok(Rule::AdaSpocc(Box::new(FittedAdaSpocc {
            tuning: self.tuning,
            cut: dendrogram.cut_height(found.n_clusters),
            dendrogram,
            exponents: found.exponents,
            severity,
            best_accuracy,
            discounts,
            possibilities,
        })))
    }
}

/// An accuracy relative to the best one; 1 if no classifier is ever correct.
pub(crate) fn relative_accuracy(accuracy: f64, best: f64) -> f64 {
    if best > 0.0 { accuracy / best } else { 1.0 }
}

/// The fitted parameters of adaSPOCC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedAdaSpocc {
    pub(crate) tuning: Tuning,
    pub(crate) dendrogram: Dendrogram,
    /// One per merge.
    pub(crate) exponents: Vec<Exponent>,
    /// Ward distance up to which classifiers share a cluster.
    pub(crate) cut: f64,
    pub(crate) severity: f64,
    /// The accuracy that others are divided by for their discounts.
    pub(crate) best_accuracy: f64,
    pub(crate) discounts: Vec<Discount>,
    pub(crate) possibilities: PossibilityTable,
}

impl FittedAdaSpocc {
    pub(crate) fn possibilities(&self) -> &PossibilityTable {
        &self.possibilities
    }

    pub(crate) fn check(&self, [n, ..]: [usize; 3]) -> Result<(), Error> {
        self.dendrogram.check(n)?;
        let exponents: Vec<f64> = self.exponents.iter().map(|&x| x.into()).collect();
        check_numbers("an exponent from 1 for every merge", &exponents, n.checked_sub(1), |x| x >= 1.0)?;
        let discounts: Vec<f64> = self.discounts.iter().map(|&d| d.into()).collect();
        check_numbers("a discount from 0 to 1 for every classifier", &discounts, Some(n), |d| {
            (0.0..=1.0).contains(&d)
        })?;
        let rest = [self.cut, self.severity, self.best_accuracy];
        check_numbers("a cut, a severity and an accuracy", &rest, Some(3), f64::is_finite)?;
        if FusionTree::new(&self.dendrogram, &self.exponents) == *self.possibilities.tree() {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "possibilities fused along the dendrogram",
            found: "another tree".to_owned(),
        })
    }
}
