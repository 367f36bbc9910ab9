//! Fitting a model together with the nonconformity scores behind its prediction sets.
//!
//! In: a combiner and a tally. Out: a model with a [`Calibration`]. The score of a class on a row is its normalised
//! surprisal, which is `-ln p` where the method gives probabilities. The scores come from the true classes of rows
//! whose truths the scoring model was not fitted to: a held-out quarter (split conformal), or every row out of fold
//! (cross-conformal).

use crate::{
    conformal::{self, Calibration, ConformalScheme, ConformalSettings, Score},
    data::Row,
    decision::{self, Basis},
    error::Error,
    evidence::{Evidence, RowSubset},
    methods::{Combiner, Scratch},
    model::{self, Model, Options},
    parallel,
    progress::Control,
    tuning::Tuning,
};

/// Split conformal holds out one of this many parts of the rows.
const SPLIT_PARTS: usize = 4;

impl Model {
    /// Fits a model and calibrates its prediction sets.
    pub(super) fn fit_calibrated<C: Combiner + ?Sized>(
        combiner: &C,
        evidence: &Evidence,
        options: &Options,
        settings: ConformalSettings,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        const WHAT: &str = "calibration";
        let n_rows = evidence.total();
        let plain = Options { calibrate: None, ..options.clone() };
        // Every fit has the candidate classes and the labels of all rows, so that the label ids of held-out rows agree;
        // each model stores the evidence at the level its method needs.
        let classes = evidence.candidate_classes();
        let fit = |rows: &Evidence| {
            let rows = rows.at_level(combiner.needs(), control)?;
            Self::fit_among(combiner, &rows, Some(&classes), &plain, control)
        };
        let n_parts = match settings.scheme {
            ConformalScheme::Split => SPLIT_PARTS,
            ConformalScheme::Cross => n_rows.min(Tuning::FOLDS.into()) as usize,
        };
        let parts = evidence.split(WHAT, n_parts.max(1), settings.seed)?;
        if n_rows < 2 {
            let (what, found) = ("rows to learn from and to calibrate with", n_rows as f64);
            return Err(Error::OutOfRange { what, expected: "at least 2", found });
        }
        let mut scores = vec![Vec::new(); if settings.per_class { classes.len() } else { 1 }];
        // With unlabelled rows, the rule of a split sees the predictions of calibration rows as it sees those of the
        // unlabelled rows, so that these can be exchanged: the guarantee holds for them.
        let hides_truths = settings.scheme == ConformalScheme::Split && evidence.unlabelled_rows().is_some();
        let mut score_held_out = |part: &RowSubset| {
            let training =
                if hides_truths { evidence.hiding_truths(part)? } else { evidence.without(part)? };
            let model = fit(&training)?;
            model.add_true_class_scores(&evidence.subset(part)?, &mut scores, control)?;
            Ok::<Self, Error>(model)
        };
        let model = match settings.scheme {
            ConformalScheme::Split => score_held_out(&parts[0])?,
            ConformalScheme::Cross => {
                parts.iter().try_for_each(|part| score_held_out(part).map(drop))?;
                fit(evidence)?
            }
        };
        Ok(Self { calibration: Some(Calibration::new(settings, scores)), ..model })
    }

    /// Adds the scores of the true classes of some rows: to the one list, or to the list of the true class.
    fn add_true_class_scores(
        &self,
        rows: &Evidence,
        scores: &mut [Vec<Score>],
        control: &Control<'_>,
    ) -> Result<(), Error> {
        // Coverage is a share of rows, so class weights do not apply here.
        let as_read = model::read(rows, self.classes(), &self.missing_is_answer, &[], control)?;
        let tally = as_read.tally_for("calibration")?;
        control.allow(
            || format!("scores of {} cells", tally.n_cells()),
            &[tally.n_cells(), 4 * size_of::<Score>()],
        )?;
        let found = parallel::map_ranges(tally.n_patterns(), 1024, |patterns| {
            let mut work = Scratch::default();
            let mut found = Vec::new();
            for p in patterns {
                self.class_scores(tally.pattern(p), &mut work);
                let outcomes = tally.outcomes(p);
                found.extend(outcomes.map(|(class, count)| (class, (work.out[usize::from(class)], count))));
            }
            found
        });
        for (class, score) in found.into_iter().flatten() {
            let list = if scores.len() == 1 { 0 } else { usize::from(class) };
            scores[list].push(score);
        }
        Ok(())
    }

    /// Writes the score of every class, its normalised surprisal, into `work.out` and returns the decided class.
    pub(crate) fn class_scores(&self, row: Row<'_>, work: &mut Scratch) -> usize {
        let mut basis = Basis::Panel;
        if !self.rule.surprisals(row, work) {
            self.prior_surprisals(&mut work.out);
            basis = Basis::Prior;
        }
        let (class, _) = self.decide_class(&work.out, decision::tolerance(1.0), basis, row);
        conformal::normalise(&mut work.out);
        class
    }
}
