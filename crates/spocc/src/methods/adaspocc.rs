//! adaSPOCC: possibilities joined along a dendrogram, exponents and discounts fitted (paper, algorithms 3 and 4).

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

/// Settings of adaSPOCC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaSpocc {
    /// On which rows exponents and severity are judged.
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
        let validation = ValidationCases::new(evidence, tally, self.tuning, control)?;
        let found = Search::new(&validation, control).run(&dendrogram, control)?;
        let tree = FusionTree::new(&dendrogram, &found.exponents);

        let accuracies = evidence.accuracies();
        let best_accuracy = accuracies.iter().copied().fold(0.0, f64::max);
        let shares: Vec<f64> = accuracies.iter().map(|accuracy| share(*accuracy, best_accuracy)).collect();
        let severity = search_severity(&validation, &tree, &shares, self.tuning, control)?;
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

/// A classifier's accuracy as a share of the best one's; if nobody is ever right, nobody is worse than others.
pub(crate) fn share(accuracy: f64, best: f64) -> f64 {
    if best > 0.0 { accuracy / best } else { 1.0 }
}

/// Everything adaSPOCC learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedAdaSpocc {
    pub(crate) tuning: Tuning,
    pub(crate) dendrogram: Dendrogram,
    /// One per merge.
    pub(crate) exponents: Vec<Exponent>,
    /// Ward distance up to which classifiers share a cluster.
    pub(crate) cut: f64,
    pub(crate) severity: f64,
    /// What accuracies are divided by to find discounts.
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
        check_numbers("a discount from 0 to 1 for everyone", &discounts, Some(n), |d| {
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
