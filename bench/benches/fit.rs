//! `count/<shape>/<level>` and `fit/<shape>/<method>`: from rows to evidence, and from evidence to a model.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use spocc::{
    Control, Evidence, Fit, Method,
    evidence::{Counting, Level},
    methods::AdaSpocc,
    tuning::Tuning,
};
use spocc_bench::{Ease, PanelShape};

const SMALL: PanelShape = PanelShape { rows: 10_000, classifiers: 8, classes: 10, ease: Ease::Hard };
const LARGE: [PanelShape; 2] = [
    PanelShape { rows: 1_000_000, classifiers: 10, classes: 5, ease: Ease::Easy },
    PanelShape { rows: 1_000_000, classifiers: 10, classes: 5, ease: Ease::Hard },
];

fn count(criterion: &mut Criterion) {
    for shape in LARGE {
        let (predictions, truth) = shape.panel();
        for (name, level) in [("marginals", Level::Marginals), ("tally", Level::Tally)] {
            let options = Counting { level, ..Counting::default() };
            criterion.bench_function(&format!("count/{shape}/{name}"), |bench| {
                bench
                    .iter(|| Evidence::count(black_box(&predictions), &truth, &options, &Control::default()));
            });
        }
    }
}

fn fit(criterion: &mut Criterion) {
    for shape in [SMALL, PanelShape { ease: Ease::Easy, ..SMALL }] {
        let (predictions, truth) = shape.panel();
        let evidence = Evidence::new(&predictions, &truth).expect("rows");
        // Folds of regressions on thousands of patterns take minutes to measure.
        let measured = |method: &Method| *method != Method::Stacking || shape.ease == Ease::Easy;
        for method in Method::ALL.into_iter().filter(measured) {
            criterion.bench_function(&format!("fit/{shape}/{method}"), |bench| {
                bench.iter(|| method.combiner().fit(black_box(&evidence)));
            });
        }
        criterion.bench_function(&format!("fit/{shape}/adaspocc-resubstitution"), |bench| {
            let combiner = AdaSpocc { tuning: Tuning::Resubstitution };
            bench.iter(|| combiner.fit(black_box(&evidence)));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = count, fit
}
criterion_main!(benches);
