//! Memory and cancelling.

use super::*;

#[test]
fn a_tally_over_the_limit_is_refused_with_its_estimate() {
    let shape = Shape {
        n_classifiers: 10,
        n_classes: 5,
        n_others: 0,
        n_rows: 4_000,
        missing_share: 0.0,
        weighted: false,
        seed: 4,
    };
    let panel = Panel::new(shape);
    let (table, truth) = (panel.predictions(), panel.truths());
    let count = |level, limit| {
        let control = quiet().with_memory_limit(limit);
        Evidence::count(&table, &truth, &panel.counting(level), &control)
    };
    let refused = count(Level::Tally, 20_000).expect_err("thousands of patterns");
    let Error::MemoryLimit { what, needed, limit } = &refused else { panic!("{refused}") };
    assert!(what.starts_with("tally of ") && *limit == 20_000 && *needed > 20_000, "{refused}");
    assert!(count(Level::Marginals, 20_000).is_ok(), "marginals do not grow with the rows");
    let refused = count(Level::Marginals, 100).expect_err("a hundred bytes");
    assert_eq!(
        refused.to_string(),
        "confusion of 10 classifiers, 5 labels, 5 classes: expected at most 100 bytes of memory, found a need of \
         about 4000"
    );
    let refused = count(Level::Pairs, 8_000).expect_err("forty-five tables");
    assert!(matches!(refused, Error::MemoryLimit { needed: 9_000, .. }), "{refused}");
    let tally = count(Level::Tally, 1 << 30).expect("a gigabyte is enough");
    let control = quiet().with_memory_limit(10_000);
    assert!(matches!(tally.merge(&tally, &control), Err(Error::MemoryLimit { .. })));
    for method in Method::ALL {
        let fit = Model::fit(
            method.combiner().as_ref(),
            &tally,
            &Options::default(),
            &quiet().with_memory_limit(64),
        );
        if matches!(method, Method::Spocc | Method::AdaSpocc | Method::NaiveBayes) {
            assert!(matches!(fit, Err(Error::MemoryLimit { .. })), "{method}");
        }
    }
}

/// Runs some work again and again, cancelled at its first, second, .. report; returns the stages it went through.
fn assert_cancels(what: &str, work: impl Fn(&Control<'_>) -> Option<Error>) -> Vec<&'static str> {
    let stages = std::sync::Mutex::new(Vec::new());
    let note = |at: spocc::progress::Progress| {
        stages.lock().expect("no thread panicked").push(at.stage);
        assert!(at.done <= at.total, "{what}: {} of {}", at.done, at.total);
        ControlFlow::Continue(())
    };
    assert_eq!(work(&Control::new(&note)), None, "{what}");
    let stages = stages.into_inner().expect("no thread panicked");
    // Long work reports often: the first report of each stage and a dozen in between will do.
    let step = stages.len() / 12 + 1;
    let is_first = |at: usize| at == 0 || stages[at] != stages[at - 1];
    for stop in (0..stages.len()).filter(|&at| is_first(at) || at % step == 0) {
        let calls = AtomicUsize::new(0);
        let cancel = |_: spocc::progress::Progress| {
            if calls.fetch_add(1, Ordering::SeqCst) == stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        assert_eq!(work(&Control::new(&cancel)), Some(Error::Cancelled), "{what} at {}", stages[stop]);
    }
    stages
}

#[test]
fn every_long_stage_can_be_stopped() {
    let shape = Shape {
        n_classifiers: 5,
        n_classes: 3,
        n_others: 0,
        n_rows: 60,
        missing_share: 0.1,
        weighted: false,
        seed: 8,
    };
    let panel = Panel::new(shape);
    let (table, truth, tally) = (panel.predictions(), panel.truths(), panel.tally());
    let mut stages = Vec::new();
    for level in [Level::Marginals, Level::Pairs, Level::Tally] {
        stages.extend(assert_cancels("counting", |control| {
            Evidence::count(&table, &truth, &panel.counting(level), control).err()
        }));
    }
    for method in [Method::AdaSpocc, Method::ExpVote, Method::Stacking] {
        let seen = assert_cancels(&method.to_string(), |control| {
            Model::fit(method.combiner().as_ref(), &tally, &Options::default(), control).err()
        });
        assert!(!seen.is_empty(), "{method} says how far it is");
        stages.extend(seen);
    }
    let tuned = Spocc { exponent: SpoccExponent::Tuned(Tuning::LeaveOneOut) };
    stages.extend(assert_cancels("spocc", |control| {
        Model::fit(&tuned, &tally, &Options::default(), control).err()
    }));
    stages.extend(assert_cancels("dependence", |control| Dissimilarities::new(&tally, control).err()));
    let model = Majority.fit(&tally).expect("rows");
    let aligned = model.align(&table).expect("columns");
    stages.extend(assert_cancels("deciding", |control| {
        aligned.decide_all(spocc::predict::DecisionColumns::default(), control).err()
    }));
    for expected in ["counting", "tallying", "pairs", "exponents", "severity", "rate", "exponent", "deciding"]
    {
        assert!(stages.contains(&expected), "{expected} is reported");
    }
    assert_eq!(Error::Cancelled.to_string(), "stopped on request");
}
