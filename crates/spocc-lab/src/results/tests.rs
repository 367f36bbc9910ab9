use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
};

use super::*;

fn header(seed: u64) -> ResultsHeader {
    ResultsHeader::new("synthetic-faults".to_owned(), "honest", seed, 2, false)
}

fn outcome(rep: u32, at: f64) -> RunOutcome {
    let confusion = BTreeMap::from([("spocc".to_owned(), vec![3, 1, 0, 4])]);
    RunOutcome { rep, at, confusion, ..RunOutcome::default() }
}

#[test]
fn outcomes_without_losses_times_and_sets_are_read_and_written_unchanged() {
    let old = br#"{"rep":0,"fold":1,"at":0.0,"confusion":{"spocc":[3,1,0,4]},"references":{"optimal":0.5}}"#;
    let outcome: RunOutcome = serde_json::from_slice(old).expect("an outcome");
    assert!(outcome.log_loss.is_empty() && outcome.fit_seconds.is_empty() && outcome.sets.is_empty());
    assert_eq!(line_of(&outcome), [old, &b"\n"[..]].concat());
}

#[test]
fn the_same_outcome_with_another_fit_time_is_accepted_and_impossible_sets_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("synthetic-faults.jsonl");
    let with = |seconds: f64, counts: [u64; 3]| {
        let of = BTreeMap::from([("0.9".to_owned(), SetCounts::from(counts))]);
        RunOutcome {
            fit_seconds: BTreeMap::from([("spocc".to_owned(), seconds)]),
            sets: BTreeMap::from([("spocc".to_owned(), of)]),
            ..outcome(0, 0.0)
        }
    };
    let written = |outcomes: [RunOutcome; 2]| {
        let lines = [line_of(&header(1)), line_of(&outcomes[0]), line_of(&outcomes[1])].concat();
        fs::write(&path, lines).expect("disk space");
        read_all(dir.path()).map(|(results, _)| results[0].outcomes.len()).map_err(|error| error.to_string())
    };
    assert_eq!(written([with(1.0, [8, 7, 9]), with(2.0, [8, 7, 9])]), Ok(1));
    for impossible in [[0, 0, 0], [8, 9, 9], [8, 7, 7], [8, 7, 17]] {
        let error = written([with(1.0, [8, 7, 9]), with(1.0, impossible)]).expect_err("refused");
        assert!(error.contains("line 3: expected rows, covered rows"), "{error}");
    }
}

#[test]
fn appended_outcomes_are_read_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(dir.path(), header(1)).expect("creates the file");
    store.append(vec![outcome(1, 0.0), outcome(0, 2.0)]).expect("disk space");
    drop(store);
    let store = Store::open(dir.path(), header(1)).expect("opens the file");
    assert!(store.has(outcome(0, 2.0).key()) && !store.has(outcome(0, 0.0).key()));
    store.append(vec![outcome(0, 2.0), outcome(0, 0.0), outcome(1, 2.0)]).expect("disk space");
    let results = store.finish(2);
    let expected = [outcome(0, 0.0), outcome(1, 0.0), outcome(0, 2.0), outcome(1, 2.0)];
    assert_eq!(results.outcomes, expected);
    assert_eq!(read_all(dir.path()).expect("one file"), (vec![results], 0));
}

#[test]
fn compressed_results_are_read_and_continued() {
    let dir = tempfile::tempdir().expect("a folder");
    Store::open(dir.path(), header(1))
        .expect("creates the file")
        .append(vec![outcome(0, 0.0)])
        .expect("disk space");
    let path = dir.path().join("synthetic-faults.jsonl");
    let compressed = File::create(path.with_extension("jsonl.gz")).expect("disk space");
    let mut encoder = flate2::write::GzEncoder::new(compressed, flate2::Compression::best());
    encoder.write_all(&fs::read(&path).expect("the file")).expect("disk space");
    encoder.finish().expect("disk space");
    fs::remove_file(&path).expect("the file");
    assert_eq!(read_all(dir.path()).expect("one file").0[0].outcomes, [outcome(0, 0.0)]);
    let store = Store::open(dir.path(), header(1)).expect("opens the file");
    store.append(vec![outcome(1, 0.0)]).expect("disk space");
    assert_eq!(store.finish(2).outcomes.len(), 2);
    assert_eq!(read_all(dir.path()).expect("the plain file").0[0].outcomes.len(), 2);
}

#[test]
fn an_incomplete_line_is_dropped_and_a_damaged_one_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    Store::open(dir.path(), header(1))
        .expect("creates the file")
        .append(vec![outcome(0, 0.0)])
        .expect("disk space");
    let path = dir.path().join("synthetic-faults.jsonl");
    let whole = fs::read(&path).expect("the file");
    for cut in 1..whole.len() {
        fs::write(&path, &whole[..cut]).expect("disk space");
        let results = Store::open(dir.path(), header(1)).expect("opens the file").finish(1);
        assert_eq!(results.outcomes.len(), 0, "{cut}");
        assert!(fs::read(&path).expect("the file").ends_with(b"}\n"), "{cut}");
    }
    let broken: Vec<u8> = whole.iter().map(|&byte| if byte == b'[' { b'(' } else { byte }).collect();
    fs::write(&path, broken).expect("disk space");
    let error = Store::open(dir.path(), header(1)).err().expect("refused").to_string();
    assert!(error.contains("line 2: expected an outcome"), "{error}");
}

#[test]
fn another_seed_is_refused_and_the_file_left_unchanged() {
    let dir = tempfile::tempdir().expect("a folder");
    Store::open(dir.path(), header(1))
        .expect("creates the file")
        .append(vec![outcome(0, 0.0)])
        .expect("disk space");
    let path = dir.path().join("synthetic-faults.jsonl");
    let before = fs::read(&path).expect("the file");
    let error = Store::open(dir.path(), header(2)).err().expect("refused").to_string();
    assert!(error.contains("seed 2") && error.contains("seed 1"), "{error}");
    assert_eq!(fs::read(&path).expect("the file"), before);
}

#[test]
fn an_experiment_with_other_settings_is_refused_in_the_same_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(Store::open(dir.path(), header(1)).expect("creates the file"));
    let other = ResultsHeader { experiment: "synthetic-imbalance".to_owned(), ..header(2) };
    let error = Store::open(dir.path(), other).err().expect("refused").to_string();
    assert!(error.contains("synthetic-faults.jsonl") && error.contains("seed 2"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).expect("the file").count(), 1);
}

#[test]
fn a_file_that_holds_no_results_is_refused_and_left_unchanged() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("synthetic-faults.jsonl");
    fs::write(&path, "my notes").expect("disk space");
    let error = Store::open(dir.path(), header(1)).err().expect("refused").to_string();
    assert!(error.contains("found something else"), "{error}");
    assert_eq!(fs::read(&path).expect("the file"), b"my notes");
}

#[test]
fn unfinished_repetitions_are_dropped_and_counted() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(dir.path(), header(1)).expect("creates the file");
    store.append(vec![outcome(0, 0.0), outcome(0, 1.0), outcome(1, 0.0)]).expect("disk space");
    let (results, unfinished) = read_all(dir.path()).expect("one file");
    assert_eq!((results[0].outcomes.len(), unfinished), (2, 1));
}

#[test]
fn impossible_numbers_of_classes_and_contradictions_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("synthetic-faults.jsonl");
    let with =
        |classes: usize| String::from_utf8(line_of(&ResultsHeader { classes, ..header(1) })).expect("text");
    for classes in [0, 1, 1 << 32] {
        fs::write(&path, with(classes)).expect("disk space");
        let error = read_all(dir.path()).expect_err("refused").to_string();
        assert!(error.contains("expected 2 classes or more"), "{error}");
    }
    let mut other = outcome(0, 0.0);
    other.confusion.insert("spocc".to_owned(), vec![4, 0, 0, 4]);
    let lines = [line_of(&header(1)), line_of(&outcome(0, 0.0)), line_of(&other)].concat();
    fs::write(&path, lines).expect("disk space");
    let error = read_all(dir.path()).expect_err("refused").to_string();
    assert!(error.contains("line 3: expected one outcome"), "{error}");
}

#[test]
fn two_runs_cannot_write_one_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let _first = Store::open(dir.path(), header(1)).expect("creates the file");
    let error = Store::open(dir.path(), header(1)).err().expect("refused").to_string();
    assert!(error.contains("another run"), "{error}");
}

#[test]
fn lines_of_other_methods_add_to_an_outcome_and_other_figures_of_the_same_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let with = |method: &str, correct: u64| RunOutcome {
        confusion: BTreeMap::from([(method.to_owned(), vec![correct, 10 - correct, 0, 0])]),
        log_loss: BTreeMap::from([(method.to_owned(), 0.5)]),
        ..outcome(0, 25.0)
    };
    let header = || ResultsHeader::new("budgets-x".to_owned(), "budgets", 1, 2, false);
    let key = with("a", 1).key();
    let store = Store::open(dir.path(), header()).expect("a file");
    store.append(vec![with("a", 7)]).expect("disk space");
    store.append(vec![with("b", 8)]).expect("disk space");
    store.append(vec![with("a", 7)]).expect("nothing to write");
    store.append(vec![with("a", 8)]).expect_err("other figures of a");
    let recorded = store.get(key).expect("an outcome");
    assert_eq!(recorded.confusion.into_keys().collect::<Vec<_>>(), ["a", "b"]);
    drop(store);
    let path = dir.path().join("budgets-x.jsonl");
    assert_eq!(std::fs::read_to_string(&path).expect("results").lines().count(), 3);
    // A second file of the same experiment, as another program writes it.
    let rivals = dir.path().join("budgets-x.rivals.jsonl");
    let text = |outcome: &RunOutcome| [super::line_of(&header()), super::line_of(outcome)].concat();
    std::fs::write(&rivals, text(&with("c", 9))).expect("disk space");
    let (all, unfinished) = read_all(dir.path()).expect("results");
    assert_eq!((all.len(), all[0].outcomes.len(), unfinished), (1, 1, 0));
    let outcome = &all[0].outcomes[0];
    assert_eq!(["a", "b", "c"].map(|method| outcome.accuracy(method)), [Some(0.7), Some(0.8), Some(0.9)]);
    assert_eq!(outcome.log_loss.len(), 3);
    std::fs::write(&rivals, text(&with("a", 9))).expect("disk space");
    let refused = read_all(dir.path()).expect_err("other figures of a").to_string();
    assert!(refused.contains("budgets-x.rivals.jsonl") && refused.contains("same methods"), "{refused}");
}
