//! `predict/<shape>/<method>`: the label of every row. `decide/<shape>/<method>`: all columns of every decision.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use spocc::{Control, Evidence, Fit, Method, predict::DecisionColumns};
use spocc_bench::{Ease, PanelShape};

/// Rows that every model is fitted to before its predictions are timed.
const FITTED_ROWS: usize = 2_000;

fn predict(criterion: &mut Criterion) {
    for ease in [Ease::Easy, Ease::Hard] {
        let shape = PanelShape { rows: 1_000_000, classifiers: 10, classes: 5, ease };
        let (predictions, _) = shape.panel();
        let (rows, truth) = shape.with_rows(FITTED_ROWS).panel();
        let evidence = Evidence::new(&rows, &truth).expect("rows");
        for method in Method::ALL {
            let model = method.combiner().fit(&evidence).expect("rows");
            criterion.bench_function(&format!("predict/{shape}/{method}"), |bench| {
                bench.iter(|| model.predict(black_box(&predictions)));
            });
            criterion.bench_function(&format!("decide/{shape}/{method}"), |bench| {
                bench.iter(|| {
                    model.decide_all(black_box(&predictions), DecisionColumns::ALL, &Control::default())
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = predict
}
criterion_main!(benches);
