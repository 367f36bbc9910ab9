//! Appending: one more classifier joins a fitted model (paper, section 3.8).
//!
//! In: a model and the evidence of the rows it was fitted to, with one more column. Out: a model with one more leaf. SPOCC
//! and adaSPOCC keep their parameters: SPOCC gains the possibility distributions of the classifier, adaSPOCC these, one row
//! of dissimilarities, one merge and at most one searched exponent. The ladder, a function of the counts alone, is refitted.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    data::{Labels, Missing},
    dependence::dissimilarities_of_last,
    error::{Error, list},
    evidence::Evidence,
    fusion::{Exponent, FusionTree},
    methods::{
        FittedAdaSpocc, Ladder, Learn, Method, PossibilityTable, Rule, prediction_surprisals,
        relative_accuracy,
    },
    model::{self, Model},
    possibility::Discount,
    progress::Control,
    tuning::{Trees, ValidationCases, choose, discount, exponent_grid, sweep},
};

impl Model {
    /// Adds the one classifier that `evidence` knows and the model does not.
    ///
    /// The evidence must hold the rows the model was fitted to: without the new classifier it must be the model's own. Rows
    /// without truth are looked at only if the model learned from some.
    /// Labels that only the new classifier predicts never become classes. The new model has no held-out accuracy.
    ///
    /// # Errors
    ///
    /// [`Error::NoEvidence`]; [`Error::CannotAppend`] for other methods, a calibrated model, more or fewer than one new classifier, or other rows;
    /// [`Error::MissingClassifier`] if an old column is missing; [`Error::LevelTooLow`].
    pub fn append(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Self, Error> {
        const ROWS: &str = "the rows the model was fitted to";
        let refuse = |expected, found: String| Err(Error::CannotAppend { expected, found });
        let Some(known) = &self.evidence else {
            return Err(Error::NoEvidence { what: "append" });
        };
        if let Some(calibration) = &self.calibration {
            // Scores of the grown rule would need rows that neither it nor the old rule learned from.
            let found =
                format!("one calibrated by {} (fit the whole panel anew)", calibration.settings().scheme);
            return refuse("a model without calibration", found);
        }
        let [old, given] = [&self.classifiers[..], evidence.classifiers()]
            .map(|names| names.iter().collect::<HashSet<&String>>());
        let is_new = |name: &&String| !old.contains(name);
        let newcomers: Vec<&String> = evidence.classifiers().iter().filter(is_new).collect();
        let [newcomer] = newcomers[..] else {
            return refuse(
                "exactly one new classifier",
                if newcomers.is_empty() { "none".to_owned() } else { list(newcomers) },
            );
        };
        if let Some(name) = self.classifiers.iter().find(|name| !given.contains(name)) {
            let found = list(evidence.classifiers());
            return Err(Error::MissingClassifier { name: name.clone(), found });
        }
        evidence.require("append", known.level())?;
        let evidence = match (known.unlabelled_rows(), evidence.unlabelled_rows()) {
            (None, _) => evidence.labelled(control)?,
            (Some(_), Some(_)) => Cow::Borrowed(evidence),
            (Some(_), None) => {
                return refuse(ROWS, format!("none of the {} without truth", known.n_unlabelled()));
            }
        };
        let all_names: Vec<&String> = self.classifiers.iter().chain([newcomer]).collect();
        let grown = evidence
            .reduce_to(known.level(), control)?
            .select(&all_names, control)?
            .with_classes_of(&known.labels(), control)?;
        if !grown.select(&self.classifiers, control)?.with_labels_like(known, control)?.has_counts_of(known) {
            return refuse(ROWS, "rows with other counts".to_owned());
        }
        let mut missing_is_answer = self.missing_is_answer.clone();
        missing_is_answer.push(self.missing == Missing::Answer);
        let as_read = model::read(&grown, self.classes(), &missing_is_answer, &self.class_weights, control)?;
        let rule = match &self.rule {
            Rule::Spocc(possibilities) => {
                let tree = FusionTree::flat(all_names.len(), possibilities.tree().root_exponent());
                Rule::Spocc(self.possibilities_with(possibilities, &as_read, tree, Discount::default()))
            }
            Rule::AdaSpocc(fitted) => {
                Rule::AdaSpocc(Box::new(self.adaspocc_with(fitted, &as_read, control)?))
            }
            // The ladder is a function of the evidence: it is refitted.
            Rule::Ladder(_) | Rule::FirstLadder(_) => Ladder.learn(&as_read, control)?,
            Rule::Open(_) if self.method == Method::Ladder => Ladder.learn(&as_read, control)?,
            _ => return refuse("a spocc, adaspocc or ladder model", self.method.to_string()),
        };
        // Another classifier may give more candidates.
        let prior = if self.is_open() { as_read.class_counts().to_vec() } else { self.prior.clone() };
        Ok(Self {
            prior,
            classifiers: all_names.into_iter().cloned().collect(),
            labels: as_read.labels().into_owned(),
            missing_is_answer,
            rule,
            evidence: Some(grown.clone()),
            // That of the smaller panel.
            held_out_accuracy: None,
            ..self.clone()
        })
    }

    /// The old possibilities as they are, and those of the last classifier of the evidence.
    fn possibilities_with(
        &self,
        old: &PossibilityTable,
        evidence: &Evidence,
        tree: FusionTree,
        newcomer: Discount,
    ) -> PossibilityTable {
        let (n, s, l) = (self.classifiers.len(), evidence.n_labels(), evidence.n_classes());
        // A label that only the new classifier predicts has surprisal 0 for all others.
        let mut table = vec![0.0; (n + 1) * s * l];
        let places = evidence.labels().translate(self.labels.all());
        for k in 0..n {
            for (j, &place) in places.iter().enumerate() {
                let at = (k * s + usize::from(place)) * l;
                table[at..at + l].copy_from_slice(old.distribution(k, j as u16));
            }
        }
        prediction_surprisals(evidence, n, newcomer, &mut table[n * s * l..]);
        PossibilityTable::from_table(s, l, tree, table)
    }

    fn adaspocc_with(
        &self,
        old: &FittedAdaSpocc,
        evidence: &Evidence,
        control: &Control<'_>,
    ) -> Result<FittedAdaSpocc, Error> {
        let n = self.classifiers.len();
        let tally = evidence.tally_for(self.method)?;
        let own_discount =
            discount(relative_accuracy(evidence.accuracies()[n], old.best_accuracy), old.severity)?;
        let distances =
            old.dendrogram.distances_to_clusters(&dissimilarities_of_last(evidence, tally, control)?);
        let clusters = old.dendrogram.clusters_below(old.cut);
        let nearest = clusters.into_iter().min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let cluster = nearest.filter(|&top| distances[top] <= old.cut);
        let below = cluster.unwrap_or(old.dendrogram.root());
        let (dendrogram, joint) = old.dendrogram.with_leaf(below, distances[below]);
        let merge = joint - dendrogram.n_leaves();

        let exponent_of = |node: usize| node.checked_sub(n).map(|q| old.exponents[q]);
        let inherited = cluster.and_then(exponent_of);
        let mut exponents = old.exponents.clone();
        exponents.insert(merge, inherited.unwrap_or(Exponent::PRODUCT));
        let mut discounts = old.discounts.clone();
        discounts.push(own_discount);
        if inherited.is_none() {
            // No exponent may exceed that of a merge below it.
            let parent = dendrogram.merges().iter().position(|merge| merge.children.contains(&joint));
            let least = parent.map_or(Exponent::PRODUCT, |q| exponents[q]);
            let most = exponent_of(below).unwrap_or(Exponent::MINIMUM);
            let trials = ValidationCases::new(evidence, tally, old.tuning, control)?;
            let candidates: Vec<Exponent> = exponent_grid()
                .into_iter()
                .filter_map(|x| Exponent::try_from(x).ok())
                .filter(|x| least <= *x && *x <= most)
                .collect();
            let at_exponent = |at: usize| {
                let mut exponents = exponents.clone();
                exponents[merge] = candidates[at];
                trials.fusion(FusionTree::new(&dendrogram, &exponents), &discounts)
            };
            let trees = Trees::new(&trials, candidates.len(), at_exponent);
            exponents[merge] = match candidates.len() {
                0 => least,
                _ => candidates[choose(&sweep(&trials, &trees, "exponent", control)?).0],
            };
        }
        let tree = FusionTree::new(&dendrogram, &exponents);
        let possibilities = self.possibilities_with(&old.possibilities, evidence, tree, own_discount);
        Ok(FittedAdaSpocc { dendrogram, exponents, discounts, possibilities, ..old.clone() })
    }
}

impl Evidence {
    /// The same counts with the classes of `labels` and everything else as mere answers.
    fn with_classes_of(self, labels: &Labels, control: &Control<'_>) -> Result<Self, Error> {
        if self.is_open() || self.labels().is_identical(labels) {
            return Ok(self);
        }
        let closed = Labels::closed(labels.classes(), self.labels().all().iter().cloned())?;
        self.under(closed, control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fit, Predictions, Truth, evidence::with_at_most};

    #[test]
    fn a_model_of_a_sample_of_unlabelled_rows_is_appended_to() {
        let label = |t: usize, k: usize| Some(["x", "y", "z"][(t / 3usize.pow(k as u32) + t) % 3]);
        let count = |n_columns: usize, n_rows: usize| {
            let mut rows = Predictions::builder(["a", "b", "c", "d"][..n_columns].iter().copied())?;
            let mut truth = Truth::default();
            for t in 0..n_rows {
                rows.push((0..n_columns).map(|k| label(t, k)))?;
                truth.push(label(t, 0).filter(|_| t < 30))?;
            }
            with_at_most(5, || Evidence::new(&rows.finish(), &truth))
        };
        let [three, four, fewer] =
            [(3, 100), (4, 100), (4, 99)].map(|(columns, rows)| count(columns, rows).expect("rows"));
        assert!(three.samples_unlabelled() && four.samples_unlabelled());
        let model = Ladder.fit(&three).expect("rows");
        let grown = model.append(&four, &Control::default()).expect("the same rows");
        assert_eq!(grown.to_bytes(), Ladder.fit(&four).expect("rows").to_bytes());
        let refused = model.append(&fewer, &Control::default()).err();
        assert!(matches!(refused, Some(Error::CannotAppend { .. })), "{refused:?}");
    }
}
