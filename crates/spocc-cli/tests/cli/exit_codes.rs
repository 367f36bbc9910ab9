//! Exit codes, closed pipes, full disks, help and the demo.

use std::{fs, io::Read, process::Stdio};

use crate::test_dir::{GOLD, TestDir};

#[test]
fn output_that_cannot_be_written_is_refused_and_old_files_stay() {
    let dir = TestDir::with_model();
    let before = dir.read("panel.spocc");
    let missing = "expected an existing directory to write to, found no directory `nowhere`";
    dir.refused("fit gold.csv --label truth -o nowhere/m.spocc", &format!("nowhere/m.spocc: {missing}"));
    dir.refused("predict panel.spocc gold.csv -o nowhere/out.csv", &format!("nowhere/out.csv: {missing}"));
    fs::create_dir(dir.path("folder")).expect("a fresh name");
    dir.refused(
        "fit gold.csv --label truth -o folder",
        "folder: expected a file to write, found a directory",
    );
    dir.write("ragged.csv", "ann,truth\ncat\n");
    dir.refused(
        "fit ragged.csv --label truth -o panel.spocc",
        "ragged.csv: line 2: expected 2 cells, found 1",
    );
    assert_eq!(dir.read("panel.spocc"), before);
    assert_eq!(dir.names(), ["folder", "gold.csv", "panel.spocc", "ragged.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_a_device_is_not_replaced() {
    let dir = TestDir::with_model();
    dir.refused(
        "predict panel.spocc gold.csv -o /dev/full",
        "/dev/full: expected room to write, found a full disk",
    );
    dir.done("predict panel.spocc gold.csv -o /dev/null");
    assert!(!fs::metadata("/dev/null").expect("a device").is_file());
}

#[test]
fn wrong_usage_has_its_own_exit_code_and_message() {
    let dir = TestDir::new();
    let fit = "fit gold.csv --label truth -o m.spocc";
    dir.misused("", "Usage: spocc [OPTIONS] <COMMAND>");
    dir.write("gold.csv", GOLD);
    dir.misused("fit gold.csv -o m.spocc", "a table needs --label COL");
    dir.misused(&format!("{fit} --method magic"), "[possible values: ladder, spocc, adaspocc,");
    dir.misused(
        &format!("{fit} --method majority --exponent 2"),
        "--exponent is not used by --method majority",
    );
    dir.misused(&format!("{fit} --inputs ordinal"), "--inputs is not used by --method ladder");
    dir.misused(&format!("{fit} --method spocc --tuning k-fold"), "--tuning is not used by --method spocc");
    dir.misused(
        &format!("{fit} --method spocc --exponent 0.5"),
        "expected a number from 1, `inf` or `tuned`",
    );
    dir.misused(&format!("{fit} --method stacking --tuning leave-one-out"), "not leave-one-out");
    dir.misused(&format!("{fit} --strength 1"), "--strength is not used by --method ladder");
    dir.misused(
        &format!("{fit} --method stacking --strength 1 --tuning k-fold"),
        "--tuning is not used by --method stacking, only by adaspocc, exp-vote, stacking with a tuned strength",
    );
    dir.misused(&format!("{fit} --method stacking --strength 0"), "expected a number above 0 or `tuned`");
    dir.misused(&format!("{fit} --weight w --count n"), "cannot be used with");
    dir.misused(
        &format!("{fit} --classifiers ann,truth"),
        "column `truth` is named by --label and by --classifiers",
    );
    for (arguments, range) in [
        (format!("{fit} --threads 0"), "from 1 to 1024"),
        (format!("{fit} --ties random --seed=-1"), "from 0"),
        (format!("{fit} --ties random --seed x"), "from 0"),
        ("explain m.spocc gold.csv --row 1.5".to_owned(), "from 1"),
        ("predict m.spocc gold.csv --coverage 0.9 --abstain-above-size 0".to_owned(), "from 1"),
        ("compare gold.csv --label truth --folds 1".to_owned(), "from 2 to 65535"),
        ("compare gold.csv --label truth --folds 70000".to_owned(), "from 2 to 65535"),
        ("compare gold.csv --label truth --rounds 0".to_owned(), "from 1 to 65535"),
    ] {
        dir.misused(&arguments, &format!(": expected a whole number {range}\n"));
    }
    dir.misused("predict m.spocc new.csv --columns margin,ties,margin", "two columns `margin`");
    dir.misused("predict m.spocc new.csv --id decision", "two columns `decision`");
    dir.misused("predict m.spocc new.csv --columns size", "[possible values: decision, margin,");
}

#[test]
fn a_closed_pipe_is_success_without_a_message() {
    let dir = TestDir::with_model();
    let rows = "1,cat,cat,dog\n".repeat(200_000);
    dir.write("long.csv", format!("item,ann,bob,eve\n{rows}"));
    for arguments in ["predict panel.spocc long.csv --id item", "demo", "help fit"] {
        let mut child = dir
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command is built");
        let mut first = [0; 5];
        child.stdout.take().expect("piped").read_exact(&mut first).expect("some output");
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
    }
}

#[test]
fn every_help_text_has_an_example() {
    let dir = TestDir::new();
    for (command, example) in [
        ("demo", "spocc demo"),
        ("fit", "spocc fit gold.csv --label"),
        ("predict", "spocc predict panel.spocc"),
    ] {
        for arguments in [format!("help {command}"), format!("{command} -h")] {
            let help = dir.done(&arguments).stdout;
            assert!(help.contains("Example") && help.contains(example), "{arguments}: {help}");
        }
    }
    let all = dir.done("--help").stdout;
    assert!(
        ["demo", "audit", "compare", "fit", "predict", "explain"]
            .iter()
            .all(|command| all.contains(&format!("spocc {command}"))),
        "{all}"
    );
}

#[test]
fn the_demo_shows_the_majority_failing() {
    let dir = TestDir::new();
    let demo = dir.done("demo");
    assert_eq!(demo.stderr, "");
    assert_eq!(demo.stdout.lines().filter(|line| line.starts_with("== ")).count(), 5);
    let share = |name: &str| -> f64 {
        let line =
            demo.stdout.lines().find(|line| line.starts_with(&format!("{name} "))).expect("a line each");
        let percent = line.split('%').next().and_then(|line| line.split_whitespace().last());
        percent.and_then(|percent| percent.parse().ok()).expect("a percentage")
    };
    assert!(share("majority") < 65.0 && share("adaspocc") > 90.0, "{}", demo.stdout);
    assert!(
        share("selection") > share("majority"),
        "one accurate classifier is better than the majority vote"
    );
    assert!(!demo.stdout.contains('\u{1b}'), "no colours outside a terminal");
    assert_eq!(demo.stdout, dir.done("demo").stdout, "the same every time");
    assert!(dir.names().is_empty());
}

#[test]
fn an_input_is_never_overwritten() {
    let dir = TestDir::with_model();
    let message = "expected an output file that is not also an input, found one of the inputs";
    for (arguments, target) in [
        ("fit gold.csv --label truth --id item -o", "gold.csv"),
        ("fit *.csv --label truth --id item -o", "./gold.csv"),
        ("fit . --label truth --id item -o", "gold.csv"),
        ("predict panel.spocc gold.csv --id item -o", "gold.csv"),
        ("predict panel.spocc gold.csv --id item -o", "panel.spocc"),
        ("tally gold.csv --label truth --id item -o", "gold.csv"),
    ] {
        dir.refused(&format!("{arguments} {target}"), &format!("{target}: {message}"));
    }
    assert_eq!(dir.read("gold.csv"), GOLD.as_bytes());
    dir.write("new.csv", "mine");
    dir.refused("demo --save .", "./gold.csv: expected a new file, found a file that would be overwritten");
    assert_eq!(dir.names(), ["gold.csv", "new.csv", "panel.spocc"]);
}
