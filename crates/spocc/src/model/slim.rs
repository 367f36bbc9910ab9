//! Models without their evidence: the lossless form for transport, and the slim form, whose tables stand for no small
//! number of rows.

use crate::{
    conformal::Calibration,
    error::Error,
    evidence::{Evidence, Tally},
    methods::Scratch,
    model::{self, Model},
    progress::Control,
};

impl Model {
    /// The parts beside the evidence from which single rows that it was fitted to may be read: a table of patterns with their
    /// counts, or conformal scores. Most models have none, and a [slim](Self::slim) one never does.
    pub fn row_parts(&self) -> Vec<&'static str> {
        if self.min_count.is_some() { Vec::new() } else { self.counted_parts() }
    }

    /// The parts beside the evidence that hold counts of rows.
    pub fn counted_parts(&self) -> Vec<&'static str> {
        let parts = [
            ("a table of patterns", self.rule.pattern_table().is_some_and(|table| table.n_patterns() > 0)),
            ("conformal scores", self.calibration.is_some()),
        ];
        parts.into_iter().filter(|part| part.1).map(|part| part.0).collect()
    }

    /// The least number of rows that each count of a [slim](Self::slim) model stands for; none for other models, and for
    /// those that hold no such counts.
    pub fn min_count(&self) -> Option<u64> {
        self.min_count
    }

    /// The same model without its evidence: smaller, decides alike, but cannot be audited or appended to. Its
    /// [`row_parts`](Self::row_parts) stay, so it may reveal as much as the whole model; [`slim`](Self::slim) drops them.
    #[must_use]
    pub fn without_evidence(&self) -> Self {
        Self { evidence: None, ..self.clone() }
    }

    /// The model without its evidence and without any count that fewer than `min_count` rows share.
    ///
    /// Of a table of patterns only counts (of a pattern with a true class) of at least `min_count` rows stay. Conformal
    /// scores are rounded up, to fixed numbers that do not depend on the rows, until each stands for at least `min_count` rows:
    /// sets keep their guarantee and become larger. So decisions and sets may differ from those of the whole model
    /// ([`n_decided_differently`](Self::n_decided_differently)). The fitted parameters stay; they are functions of the
    /// marginal counts.
    ///
    /// # Errors
    ///
    /// [`Error::Weighted`] where counts are weights, which do not say how many rows they stand for; [`Error::NoEvidence`] for a
    /// model that has [`row_parts`](Self::row_parts) and no evidence, or was slimmed with a smaller `min_count`.
    pub fn slim(&self, min_count: u64) -> Result<Self, Error> {
        const WHAT: &str = "slim";
        if self.counted_parts().is_empty() || self.min_count.is_some_and(|least| least >= min_count) {
            return Ok(self.without_evidence());
        }
        let evidence = self.evidence.as_ref().ok_or(Error::NoEvidence { what: WHAT })?;
        if !evidence.counts_rows() {
            return Err(Error::Weighted { what: WHAT });
        }
        let units = self.row_units(evidence)?;
        let least: Vec<u64> = units.iter().map(|unit| unit.saturating_mul(min_count)).collect();
        let mut slim = Self {
            rule: self.rule.without_rare_patterns(&least),
            calibration: self.calibration.as_ref().map(|calibration| calibration.rounded(min_count)),
            ..self.without_evidence()
        };
        slim.min_count = Some(min_count).filter(|_| !slim.counted_parts().is_empty());
        Ok(slim)
    }

    /// How many of the rows that this model was fitted to the other one decides differently; none without evidence, or with
    /// less than a tally of it.
    ///
    /// # Errors
    ///
    /// As reading the evidence for this model: [`Error::MemoryLimit`], [`Error::Cancelled`].
    pub fn n_decided_differently(&self, other: &Self, control: &Control<'_>) -> Result<Option<f64>, Error> {
        let Some(evidence) = self.evidence.as_ref().filter(|evidence| evidence.tally.is_some()) else {
            return Ok(None);
        };
        let as_read = model::read(evidence, self.classes(), &self.missing_is_answer, &[], control)?;
        let mut work = Scratch::default();
        let mut is_changed = |row| self.class_scores(row, &mut work) != other.class_scores(row, &mut work);
        let mut changed = 0;
        if let Some(tally) = &as_read.tally {
            for p in 0..tally.n_patterns() {
                let row = tally.pattern(p);
                if is_changed(row) {
                    changed += tally.outcomes(p).map(|(_, count)| count).sum::<u64>();
                }
            }
        }
        for (row, count) in as_read.unlabelled_rows().iter().flat_map(|rows| rows.rows()) {
            if is_changed(row) {
                changed += count;
            }
        }
        Ok(Some(as_read.rows_of(changed)))
    }

    /// The count that one row of each class has in the rule.
    fn row_units(&self, evidence: &Evidence) -> Result<Vec<u64>, Error> {
        let control = Control::default();
        let read =
            model::read(evidence, self.classes(), &self.missing_is_answer, &self.class_weights, &control)?;
        Ok((0..self.classes().len()).map(|class| read.row_unit(class as u16)).collect())
    }

    /// Refuses a slim model with a smaller count than it states, or with its evidence; for a model read from a file.
    pub(crate) fn check_min_count(&self) -> Result<(), Error> {
        let Some(least) = self.min_count else { return Ok(()) };
        let table = self.rule.pattern_table().into_iter().flat_map(Tally::counts);
        let scores = self.calibration.iter().flat_map(Calibration::scores).map(|(_, score)| score.1);
        let is_small = table.chain(scores).any(|count| count < least);
        if least > 0 && !is_small && self.evidence.is_none() && !self.counted_parts().is_empty() {
            return Ok(());
        }
        let found = if is_small { "smaller ones" } else { "a model that has or needs none" };
        Err(Error::Inconsistent {
            expected: "counts of at least as many rows as stated",
            found: found.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Predictions, Truth,
        conformal::{ConformalScheme, ConformalSettings},
        data::{ClassWeights, MISSING, Row},
        evidence::Counting,
        methods::Method,
        model::Options,
    };

    const NAMES: [&str; 3] = ["x", "y", "z"];

    /// Rows whose truth is the sum of the predictions of the first two of four classifiers, most of the time: patterns say
    /// more than any classifier, so tables of patterns pay.
    fn panel(n: usize) -> Vec<([usize; 4], usize)> {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as usize
        };
        let row = |_| {
            let predictions = [draw(3), draw(3), draw(3), draw(3)];
            let truth = if draw(8) == 0 { draw(3) } else { (predictions[0] + predictions[1]) % 3 };
            (predictions, truth)
        };
        (0..n).map(row).collect()
    }

    fn evidence(rows: &[([usize; 4], usize)], counts: Option<&[u64]>) -> Evidence {
        let mut predictions = Predictions::builder(["a", "b", "c", "d"]).expect("four names");
        let mut truth = Truth::default();
        for (row, class) in rows {
            predictions.push(row.map(|id| Some(NAMES[id]))).expect("four predictions");
            truth.push(Some(NAMES[*class])).expect("few labels");
        }
        let options = Counting { counts, ..Counting::default() };
        Evidence::count(&predictions.finish(), &truth, &options, &Control::default()).expect("rows")
    }

    fn fit(method: Method, evidence: &Evidence, options: &Options) -> Model {
        Model::fit(method.combiner().as_ref(), evidence, options, &Control::default()).expect("rows")
    }

    /// Every method, without calibration and with both schemes, for all classes together and for each.
    fn choices() -> Vec<(Method, Options)> {
        let mut calibrations = vec![None];
        for scheme in [ConformalScheme::Split, ConformalScheme::Cross] {
            let together = ConformalSettings::new(scheme);
            calibrations.extend([together, ConformalSettings { per_class: true, ..together }].map(Some));
        }
        let options = |calibrate| Options { calibrate, ..Options::default() };
        let of_method = |method| calibrations.iter().map(move |calibrate| (method, options(*calibrate)));
        Method::ALL.into_iter().flat_map(of_method).collect()
    }

    /// The rows that a file without evidence gives away, to a reader who knows the panel: counts of a pattern with a class
    /// below `min_count`, and scores that only patterns and classes of fewer than `min_count` rows have.
    fn rows_read(model: &Model, rows: &Evidence, min_count: u64) -> u64 {
        let small = |count: &u64| *count < min_count;
        let patterns: u64 =
            model.rule.pattern_table().into_iter().flat_map(Tally::counts).filter(small).sum();
        let Some(calibration) = &model.calibration else { return patterns };
        let as_read = model::read(rows, model.classes(), &model.missing_is_answer, &[], &Control::default());
        let as_read = as_read.expect("the model's own rows");
        let tally = as_read.tally.as_ref().expect("a tally");
        let mut work = Scratch::default();
        let mut found = 0;
        for (list, (value, count)) in calibration.scores() {
            let mut behind = 0;
            for p in 0..tally.n_patterns() {
                model.class_scores(tally.pattern(p), &mut work);
                for (class, rows) in tally.outcomes(p) {
                    let is_of_list = !calibration.settings().per_class || list == usize::from(class);
                    // Infinite scores are those of the whole list, and name no row.
                    let is_alike =
                        value.is_finite() && (work.out[usize::from(class)] - value).abs() <= 1e-9 * value;
                    behind += if is_of_list && is_alike { rows } else { 0 };
                }
            }
            found += if behind > 0 && small(&behind) || small(&count) { count.min(behind) } else { 0 };
        }
        patterns + found
    }

    #[test]
    fn no_row_can_be_read_from_a_slim_model() {
        let rows = evidence(&panel(900), None);
        let mut n_read = 0;
        for (method, options) in choices() {
            let whole = fit(method, &rows, &options);
            n_read += rows_read(&whole.without_evidence(), &rows, 5);
            let slim = whole.slim(5).expect("rows of weight 1");
            let read = Model::from_bytes(&slim.to_bytes()).expect("our own bytes");
            assert_eq!(rows_read(&read, &rows, 5), 0, "{method} {options:?}");
            assert_eq!((read.row_parts(), read.counted_parts()), (Vec::new(), slim.counted_parts()));
            assert_eq!(read.min_count(), (!slim.counted_parts().is_empty()).then_some(5));
        }
        assert!(n_read > 1000, "{n_read}: the attack reads rows from models that are not slim");
    }

    #[test]
    fn a_row_alone_in_its_pattern_leaves_no_trace_in_the_table_of_a_slim_model() {
        let mut rows: Vec<([usize; 4], usize)> = panel(900);
        rows.retain(|row| row.0 != [2, 2, 2, 2]);
        let without = evidence(&rows, None);
        rows.push(([2, 2, 2, 2], 0));
        let with = evidence(&rows, None);
        let slim = |rows: &Evidence| fit(Method::Bayes, rows, &Options::default()).slim(5).expect("rows");
        let (with, without) = (slim(&with), slim(&without));
        let row = |model: &Model| {
            let id = |name: &str| model.labels.all().iter().position(|label| label.to_string() == name);
            let z = id("z").map_or(MISSING, |id| id as u16);
            let mut work = Scratch::default();
            model.rule.surprisals(Row::Dense(&[z; 4]), &mut work)
        };
        assert!(!row(&with) && !row(&without));
        let counts =
            |model: &Model| model.rule.pattern_table().map(|table| table.counts().collect::<Vec<u64>>());
        assert_eq!(counts(&with), counts(&without));
    }

    #[test]
    fn class_weights_do_not_make_rows_look_more_than_they_are() {
        let rows = evidence(&panel(300), None);
        let weights = [("x", 100.0), ("y", 1.0), ("z", 2.5)];
        let given = weights.map(|(class, weight)| (class.into(), weight)).to_vec();
        let options = Options { class_weights: ClassWeights::Given(given), ..Options::default() };
        let n_cells = |options: &Options| {
            let slim = fit(Method::Bayes, &rows, options).slim(5).expect("rows");
            slim.rule.pattern_table().map_or(0, Tally::n_cells)
        };
        assert_eq!(n_cells(&options), n_cells(&Options::default()));
        assert!(n_cells(&options) > 0);
    }

    #[test]
    fn slim_models_count_the_rows_that_they_decide_differently() {
        let rows = evidence(&panel(300), None);
        let whole = fit(Method::Bayes, &rows, &Options::default());
        let changed = |slim: &Model| whole.n_decided_differently(slim, &Control::default()).expect("room");
        assert_eq!(changed(&whole.slim(1).expect("rows")), Some(0.0));
        let few = changed(&whole.slim(3).expect("rows")).expect("a tally");
        let more = changed(&whole.slim(6).expect("rows")).expect("a tally");
        assert!(0.0 < few && few < more && more < 300.0, "{few} {more}");
        assert_eq!(changed(&whole.without_evidence()), Some(0.0));
    }

    #[test]
    fn what_cannot_be_slimmed_is_refused() {
        let rows = panel(60);
        let plain = Options::default();
        let weighted = evidence(&rows, Some(&vec![9; 60]));
        let model = fit(Method::Bayes, &weighted, &plain);
        assert!(model.slim(5).is_ok(), "counts of rows");
        let mut weighted = weighted;
        weighted.whole_weights = true;
        let model = fit(Method::Bayes, &weighted, &plain);
        assert_eq!(model.slim(5).err(), Some(Error::Weighted { what: "slim" }));
        assert!(fit(Method::NaiveBayes, &weighted, &plain).slim(5).is_ok(), "it holds no counts of patterns");
        let lossless = model.without_evidence();
        assert_eq!(lossless.slim(5).err(), Some(Error::NoEvidence { what: "slim" }));
        let slim = fit(Method::Bayes, &evidence(&panel(300), None), &plain).slim(5).expect("rows");
        assert_eq!(slim.slim(3).map(|model| model.to_bytes()), Ok(slim.to_bytes()));
        assert_eq!(slim.slim(6).err(), Some(Error::NoEvidence { what: "slim" }));
    }

    #[test]
    fn a_file_that_claims_larger_counts_than_it_has_is_refused() {
        let slim =
            fit(Method::Bayes, &evidence(&panel(300), None), &Options::default()).slim(3).expect("rows");
        let refused =
            |model: Model| Model::from_bytes(&model.to_bytes()).map_err(|error| error.to_string()).err();
        assert_eq!(refused(slim.clone()), None);
        let expected = "file content: expected counts of at least as many rows as stated, found ";
        assert_eq!(
            refused(Model { min_count: Some(300), ..slim.clone() }),
            Some(format!("{expected}smaller ones"))
        );
        let other = Some(format!("{expected}a model that has or needs none"));
        assert_eq!(refused(Model { min_count: Some(0), ..slim.clone() }), other);
        assert_eq!(refused(Model { evidence: Some(evidence(&panel(300), None)), ..slim }), other);
    }
}
