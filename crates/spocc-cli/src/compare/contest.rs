//! Contest: every method learns from the same rows and is judged on the same rows.

use std::ops::ControlFlow;

use spocc::{Combiner, Control, Error, Evidence, Method, Model, Options};

use crate::compare::{cells::Cells, deal::Part, risk::Certainties};

/// Told how many fits of how many are done; `Break` ends the comparison.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync);

/// Which methods were right about each cell, a bit each.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub(super) right: Vec<u64>,
    /// Methods that would not learn from these rows, and why.
    pub(super) refused: Vec<(usize, String)>,
}

/// The methods, what they are told, and what they refused.
pub(super) struct Contest<'a> {
    combiners: Vec<Box<dyn Combiner>>,
    options: &'a Options,
    pub(super) control: &'a Control<'a>,
    /// Rows without truth, for methods that learn from them.
    pub(super) unlabelled: Option<&'a Evidence>,
    pub(super) ladder_learns_all: bool,
    progress: Progress<'a>,
    /// By method, of the rows whose margins were asked for.
    pub(super) certainties: Vec<Certainties>,
    done: u64,
    total: u64,
}

impl<'a> Contest<'a> {
    /// Of these methods, each once, in `trials` trials.
    pub(super) fn new(
        methods: &[Method],
        options: &'a Options,
        trials: u64,
        control: &'a Control<'a>,
        progress: Progress<'a>,
    ) -> Self {
        let mut combiners: Vec<Box<dyn Combiner>> = Vec::new();
        for &method in methods {
            if combiners.iter().all(|known| known.method() != method) {
                combiners.push(method.combiner());
            }
        }
        let total = trials.saturating_mul(combiners.len() as u64);
        let certainties = vec![Certainties::default(); combiners.len()];
        Self {
            combiners,
            options,
            control,
            unlabelled: None,
            ladder_learns_all: false,
            progress,
            certainties,
            done: 0,
            total,
        }
    }

    /// The methods, by the number of their bit.
    pub(super) fn methods(&self) -> Vec<Method> {
        self.combiners.iter().map(|combiner| combiner.method()).collect()
    }

    /// Lets every method learn from `training` and judges it on all cells of `judged`; of those in `sure`, how certain
    /// it was counts too.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], [`Error::MissingClassifier`]; a method that refuses gets no marks instead.
    pub(super) fn hold(
        &mut self,
        training: &Evidence,
        judged: &Cells,
        sure: Option<&Part>,
    ) -> Result<Marks, Error> {
        let mut marks = Marks { right: vec![0; judged.len()], refused: Vec::new() };
        for m in 0..self.combiners.len() {
            match self.fit(m, training)? {
                Ok(model) => self.judge(m, &model, judged, sure, &mut marks)?,
                Err(reason) => marks.refused.push((m, reason)),
            }
            self.advance()?;
        }
        Ok(marks)
    }

    fn judge(
        &mut self,
        m: usize,
        model: &Model,
        judged: &Cells,
        sure: Option<&Part>,
        marks: &mut Marks,
    ) -> Result<(), Error> {
        let right = judged.judge(model, self.control)?;
        marks.give(m, &right);
        sure.map_or(Ok(()), |part| self.certainties[m].add(model, judged, part, &right))
    }

    /// A model, or why there is none.
    fn fit(&self, m: usize, training: &Evidence) -> Result<Result<Model, String>, Error> {
        // Some of the rows may know fewer classes than all of them.
        let class_weights = training.applicable_weights(&self.options.class_weights);
        let options = Options { class_weights, ..self.options.clone() };
        let combiner = self.combiners[m].as_ref();
        let fit = |evidence: &Evidence| Model::fit(combiner, evidence, &options, self.control);
        let learns_all = combiner.uses_unlabelled(training)
            && (self.ladder_learns_all || combiner.method() != Method::Ladder);
        let fitted = match self.unlabelled.filter(|_| learns_all) {
            Some(more) => training.merge(more, self.control).and_then(|all| fit(&all)),
            None => fit(training),
        };
        match fitted {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            fitted => Ok(fitted.map_err(|error| error.to_string())),
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.done += 1;
        match (self.progress)(self.done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

impl Marks {
    fn give(&mut self, m: usize, right: &[bool]) {
        self.right.iter_mut().zip(right).for_each(|(who, right)| *who |= u64::from(*right) << m);
    }
}

#[cfg(test)]
mod tests {
    use spocc::{
        data::{ClassWeights, Missing},
        decision::TieBreak,
    };

    use super::*;
    use crate::compare::panels::{drawn, evidence};

    fn panel() -> Evidence {
        evidence(["a", "b", "c"], &drawn::<3, 4>(60, &["x", "y"], [1.0, 0.5, 0.5], 1))
    }

    fn contest<'a>(methods: &[Method], control: &'a Control<'a>, progress: Progress<'a>) -> Contest<'a> {
        const USUAL: &Options = &Options {
            missing: Missing::Ignore,
            ties: TieBreak::First,
            class_weights: ClassWeights::Equal,
            calibrate: None,
        };
        Contest::new(methods, USUAL, 2, control, progress)
    }

    const GO_ON: Progress<'static> = &|_, _| ControlFlow::Continue(());

    #[test]
    fn each_method_takes_part_once_and_has_its_own_bit() {
        let (evidence, control) = (panel(), Control::default());
        let cells = Cells::new(&evidence, &ClassWeights::Equal).expect("a tally");
        let methods = [Method::Selection, Method::Majority, Method::Selection];
        let mut contest = contest(&methods, &control, GO_ON);
        assert_eq!(contest.methods(), methods[..2]);
        let marks = contest.hold(&evidence, &cells, None).expect("a tally");
        assert!(marks.right.iter().all(|who| who & 1 == 1), "the first classifier is always right");
        assert!(marks.right.iter().any(|who| who & 2 == 0), "the majority is not");
    }

    #[test]
    fn the_ladder_learns_from_rows_without_truth_where_it_is_told_to() {
        let (evidence, control) = (panel(), Control::default());
        let rows = spocc::Predictions::builder(["a", "b", "c"]).and_then(|mut rows| {
            rows.push(["x", "x", "y"].map(Some))?;
            Ok(rows.finish())
        });
        let counting = spocc::evidence::Counting { unlabelled: true, ..spocc::evidence::Counting::default() };
        let nobody = spocc::Truth::new([None::<&str>]).expect("a row");
        let more = Evidence::count(&rows.expect("a row"), &nobody, &counting, &control).expect("a row");
        let mut contest = contest(&[Method::Ladder, Method::DawidSkene], &control, GO_ON);
        contest.unlabelled = Some(&more);
        let unlabelled = |contest: &Contest<'_>, m: usize| {
            let model = contest.fit(m, &evidence).expect("no wish to stop").expect("a tally");
            model.evidence().expect("counts").n_unlabelled()
        };
        assert_eq!([unlabelled(&contest, 0), unlabelled(&contest, 1)], [0.0, 1.0]);
        contest.ladder_learns_all = true;
        assert_eq!(unlabelled(&contest, 0), 1.0);
    }

    #[test]
    fn a_method_that_refuses_says_why_and_the_others_go_on() {
        let evidence = panel();
        let cells = Cells::new(&evidence, &ClassWeights::Equal).expect("a tally");
        let control = Control::default().with_memory_limit(200);
        let mut contest = contest(&[Method::Stacking, Method::Majority], &control, GO_ON);
        let marks = contest.hold(&evidence, &cells, None).expect("one method goes on");
        assert!(marks.right.iter().any(|who| who & 2 == 2) && marks.right.iter().all(|who| who & 1 == 0));
        assert!(
            matches!(&marks.refused[..], [(0, reason)] if reason.contains("bytes")),
            "{:?}",
            marks.refused
        );
    }

    #[test]
    fn whoever_watches_can_stop_it() {
        let evidence = panel();
        let cells = Cells::new(&evidence, &ClassWeights::Equal).expect("a tally");
        let stop = |_: spocc::progress::Progress| ControlFlow::Break(());
        let (calm, hasty) = (Control::default(), Control::new(&stop));
        let half_way: Progress<'_> =
            &|done, total| if done * 2 < total { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        for (control, progress) in [(&calm, half_way), (&hasty, GO_ON)] {
            let mut contest = contest(&[Method::Majority, Method::Stacking], control, progress);
            assert!(matches!(contest.hold(&evidence, &cells, None), Err(Error::Cancelled)));
        }
    }
}
