//! Real crowds, nine cells in ten empty: read from the directory in `SPOCC_DATA`, skipped without it.

use std::{
    collections::{HashMap, HashSet},
    env, fs,
    path::Path,
};

use spocc::{
    Control, Evidence, Fit, Label, Method, Predictions, Truth,
    evidence::{Counting, Level},
};

/// A long table `item,worker,label` and its truths `item,truth`.
struct Crowd {
    workers: Vec<String>,
    labels: Vec<Label>,
    /// (item, worker, position of the label)
    cells: Vec<(usize, usize, usize)>,
    truth: Vec<Option<String>>,
}

fn number(names: &mut HashMap<String, usize>, name: &str) -> usize {
    let next = names.len();
    *names.entry(name.to_owned()).or_insert(next)
}

fn read(directory: &Path, name: &str) -> Crowd {
    let lines = |file: String| -> Vec<Vec<String>> {
        let text =
            fs::read_to_string(directory.join(file)).expect("the data directory holds the crowd files");
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (mut items, mut workers, mut labels) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut cells = Vec::new();
    let mut asked = HashSet::new();
    for line in lines(format!("{name}.label.csv")) {
        let (item, worker) = (number(&mut items, &line[0]), number(&mut workers, &line[1]));
        // Some workers of zencrowd were asked twice; their first answer counts.
        if asked.insert((item, worker)) {
            cells.push((item, worker, number(&mut labels, &line[2])));
        }
    }
    let mut truth = vec![None; items.len()];
    for line in lines(format!("{name}.truth.csv")) {
        if let Some(&item) = items.get(&line[0]) {
            truth[item] = Some(line[1].clone());
        }
    }
    let labels = in_order(labels).into_iter().map(Label::from).collect();
    Crowd { workers: in_order(workers), labels, cells, truth }
}

fn in_order(numbers: HashMap<String, usize>) -> Vec<String> {
    let mut names: Vec<(String, usize)> = numbers.into_iter().collect();
    names.sort_by_key(|name| name.1);
    names.into_iter().map(|name| name.0).collect()
}

impl Crowd {
    fn table(&self) -> Predictions {
        let cells = self.cells.iter().copied();
        Predictions::from_cells(self.workers.iter().cloned(), self.truth.len(), &self.labels, cells)
            .expect("one label per worker and item")
    }
}

#[test]
fn crowds_are_counted_sparsely_and_decided_well() {
    let Some(data) = env::var_os("SPOCC_DATA") else {
        eprintln!("skipped: SPOCC_DATA names no directory with real data");
        return;
    };
    // Floors are a little below what half the gold gives; a majority vote has 89, 81 and 84.
    let floors = [("rte", 0.88), ("dog", 0.78), ("zencrowd", 0.80)];
    for (name, floor) in floors {
        let crowd = read(&Path::new(&data).join("crowd"), name);
        let n = crowd.truth.len();
        let table = crowd.table();
        assert!(
            table.bytes() < crowd.cells.len() * 6 + (n + 1) * 8 + 1,
            "{name} takes {} bytes",
            table.bytes()
        );
        // Every other item is gold.
        let gold = crowd.truth.iter().enumerate().map(|(t, truth)| truth.as_deref().filter(|_| t % 2 == 0));
        let truth = Truth::new(gold).expect("few labels");
        let evidence = Evidence::new(&table, &truth).expect("rows");
        for method in
            [Method::Majority, Method::WeightedVote, Method::NaiveBayes, Method::Spocc, Method::AdaSpocc]
        {
            let model = method.combiner().fit(&evidence).expect("gold");
            let decided = model.predict(&table).expect("all workers");
            let is_held_out = |t: &usize| t % 2 == 1 && crowd.truth[*t].is_some();
            let rows: Vec<usize> = (0..n).filter(is_held_out).collect();
            let labels: Vec<String> = decided.labels().map(ToString::to_string).collect();
            let right =
                rows.iter().filter(|&&t| crowd.truth[t].as_deref() == Some(labels[t].as_str())).count();
            let accuracy = right as f64 / rows.len() as f64;
            eprintln!("{name} {method}: {:.1} % of {} items", accuracy * 100.0, rows.len());
            let needed = if method == Method::Spocc || method == Method::AdaSpocc { 0.6 } else { floor };
            assert!(accuracy > needed, "{name} {method}: {accuracy}");
        }
        let level = Counting { level: Level::Marginals, ..Counting::default() };
        Evidence::count(&table, &truth, &level, &Control::default()).expect("marginals of a crowd");
    }
}

#[test]
fn a_crowd_is_decided_without_a_single_truth() {
    let Some(data) = env::var_os("SPOCC_DATA") else {
        eprintln!("skipped: SPOCC_DATA names no directory with real data");
        return;
    };
    let mut n_won = 0;
    // Least accuracies of dawid-skene, one-coin and ladder; zencrowd's many workers who agree in their errors mislead all but
    // the second.
    for (name, floors) in [("rte", [0.92; 3]), ("dog", [0.83; 3]), ("zencrowd", [0.78, 0.84, 0.78])] {
        let crowd = read(&Path::new(&data).join("crowd"), name);
        let table = crowd.table();
        let unknown = Truth::new(vec![None::<&str>; table.n_rows()]).expect("no labels");
        let all = Counting { unlabelled: true, ..Counting::default() };
        let evidence = Evidence::count(&table, &unknown, &all, &Control::default()).expect("rows");
        let methods = [Method::Majority, Method::DawidSkene, Method::OneCoin, Method::Ladder];
        let [majority, dawid_skene, one_coin, ladder] = methods.map(|method| {
            let start = std::time::Instant::now();
            let model = method.combiner().fit(&evidence).expect("answers enough");
            let spent = start.elapsed();
            let decided = model.predict(&table).expect("all workers");
            let labels = decided.labels().map(|label| Some(label.to_string()));
            let right = crowd.truth.iter().zip(labels).filter(|(truth, label)| *truth == label).count();
            let accuracy = right as f64 / crowd.truth.iter().flatten().count() as f64;
            eprintln!("{name} {method}, no truth known: {:.1} %, fitted in {spent:.1?}", accuracy * 100.0);
            accuracy
        });
        n_won += usize::from(dawid_skene > majority);
        for (accuracy, floor) in [dawid_skene, one_coin, ladder].iter().zip(floors) {
            assert!(*accuracy > floor, "{name}: {accuracy}");
        }
    }
    assert!(n_won >= 2, "dawid-skene beats the vote on {n_won} of 3");
}
