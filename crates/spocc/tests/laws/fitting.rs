//! Fitting; threads.

use super::*;
use spocc::predict::DecisionColumns;

/// Every method with its default settings, and those that have a choice of tuning with every choice that the
/// panel allows: folds need whole counts.
pub(crate) fn combiners(panel: &Panel) -> Vec<Box<dyn Combiner>> {
    let mut all: Vec<Box<dyn Combiner>> =
        Method::ALL.into_iter().filter(|method| *method != Method::Stacking).map(Method::combiner).collect();
    let folds = panel.weights.is_none().then_some(Tuning::KFold(3));
    for tuning in [Tuning::Resubstitution, Tuning::LeaveOneOut].into_iter().chain(folds) {
        all.push(Box::new(AdaSpocc { tuning }));
        all.push(Box::new(ExpVote { tuning }));
        all.push(Box::new(Spocc { exponent: SpoccExponent::Tuned(tuning) }));
    }
    all
}

pub(crate) fn fitted(combiner: &dyn Combiner, evidence: &Evidence, options: &Options) -> Model {
    Model::fit(combiner, evidence, options, &quiet()).expect("labelled rows")
}

pub(crate) fn choices() -> [Options; 3] {
    let random = Options { missing: Missing::Answer, ties: TieBreak::Random(7), ..Options::default() };
    let class_weights = ClassWeights::Balanced;
    let found_out = Options { missing: Missing::Auto, class_weights, ..Options::default() };
    [Options::default(), random, found_out]
}

#[test]
fn fitting_a_merge_is_fitting_the_whole() {
    proptest!(config(40), |(panel in panels(4, 3, 40), n_parts in 2..4usize, seed: u64)| {
        prop_assume!(panel.has_truth());
        let whole = panel.tally();
        let sum = merged(&parts(&panel, n_parts, Level::Tally, &mut Random(seed)));
        for combiner in combiners(&panel) {
            for options in choices() {
                let model = fitted(combiner.as_ref(), &whole, &options);
                let other = fitted(combiner.as_ref(), &sum, &options);
                prop_assert_eq!(model.to_bytes(), other.to_bytes(), "{}", combiner.method());
            }
        }
    });
}

#[test]
fn stacking_a_merge_is_stacking_the_whole() {
    proptest!(config(4), |(panel in plain_panels(3, 3, 40), seed: u64)| {
        let sum = merged(&parts(&panel, 3, Level::Tally, &mut Random(seed)));
        let stacking = Method::Stacking.combiner();
        let model = fitted(stacking.as_ref(), &panel.tally(), &Options::default());
        prop_assert_eq!(model.to_bytes(), fitted(stacking.as_ref(), &sum, &Options::default()).to_bytes());
    });
}

#[test]
fn a_method_needs_no_more_evidence_than_it_declares() {
    proptest!(config(30), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        for combiner in combiners(&panel) {
            let enough = panel.evidence(combiner.needs());
            let decided = |evidence: &Evidence| {
                let model = fitted(combiner.as_ref(), evidence, &Options::default());
                model.predict(&panel.predictions()).expect("the same columns")
            };
            prop_assert_eq!(decided(&enough), decided(&panel.tally()), "{}", combiner.method());
            for level in LEVELS.into_iter().filter(|level| *level < combiner.needs()) {
                let refused = combiner.fit(&panel.evidence(level)).expect_err("too little");
                let expected = Error::LevelTooLow {
                    what: combiner.method().to_string(),
                    needs: combiner.needs().to_string(),
                    found: level.to_string(),
                };
                prop_assert_eq!(refused, expected);
            }
        }
    });
}

/// Which rows are remembered and which the kernel decides depends on how the rows are shared out; the values do not.
#[test]
fn values_do_not_depend_on_the_number_of_threads() {
    let shape = Shape {
        n_classifiers: 9,
        n_classes: 5,
        n_others: 1,
        n_rows: 40_000,
        missing_share: 0.1,
        weighted: false,
        seed: 3,
    };
    let panel = Panel::new(shape);
    let (first, table) = (
        Panel { rows: panel.rows[..300].to_vec(), truth: panel.truth[..300].to_vec(), ..panel.clone() },
        panel.predictions(),
    );
    let columns = DecisionColumns { scores: false, ..DecisionColumns::ALL };
    for method in [Method::Ladder, Method::NaiveBayes, Method::WeightedVote, Method::AdaSpocc] {
        let model = method.combiner().fit(&first.tally()).expect("labelled rows");
        let decided = [1, 2, 3, 7].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| model.decide_all(&table, columns, &Control::default()).expect("the same columns"))
        });
        assert!(decided.iter().all(|other| *other == decided[0]), "{method}");
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let pools = [1, 2, 3].map(|threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had")
    });
    // Rows enough for every stage to be cut into pieces.
    for (seed, missing_share) in [(1, 0.0), (2, 0.4)] {
        let shape = Shape {
            n_classifiers: 6,
            n_classes: 4,
            n_others: 1,
            n_rows: 3_000,
            missing_share,
            weighted: seed == 2,
            seed,
        };
        let panel = Panel::new(shape);
        for level in LEVELS {
            let bytes = pools.each_ref().map(|pool| pool.install(|| panel.evidence(level).to_bytes()));
            assert!(bytes.iter().all(|other| *other == bytes[0]), "{level}");
        }
        let (evidence, table) = (panel.tally(), panel.predictions());
        let results = pools.each_ref().map(|pool| {
            pool.install(|| {
                let decide = |combiner: Box<dyn Combiner>| {
                    let model = combiner.fit(&evidence).expect("labelled rows");
                    (model.method(), model.to_bytes(), model.predict(&table).expect("the same columns"))
                };
                combiners(&panel).into_iter().map(decide).collect::<Vec<_>>()
            })
        });
        for other in &results[1..] {
            for (a, b) in other.iter().zip(&results[0]) {
                assert!(a == b, "{}", a.0);
            }
        }
    }
}
