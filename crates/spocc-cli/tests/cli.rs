//! The command as a user meets it: run in a fresh directory, judged by what it prints and how it ends.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// A panel of three on two classes: ann is right, bob is right but once, eve always lies.
const GOLD: &str = "\
item,ann,bob,eve,truth
1,cat,cat,dog,cat
2,dog,dog,cat,dog
3,cat,dog,dog,cat
4,dog,dog,cat,dog
5,cat,cat,dog,cat
6,dog,,cat,
";

struct Run {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

/// A fresh directory to run the command in.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    /// A desk with the small panel in `gold.csv`, and a model of it in `panel.spocc`.
    fn with_model() -> Self {
        let desk = Self::new();
        desk.write("gold.csv", GOLD);
        desk.done("fit gold.csv --label truth --id item -o panel.spocc");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("room in the temporary directory");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file that was written")
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spocc"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command
    }

    fn run_with_input(&self, arguments: &str, input: &[u8]) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command is built");
        // The command may end before it has read everything.
        let _ = child.stdin.take().expect("piped").write_all(input);
        let output = child.wait_with_output().expect("the command ends");
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Run { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    fn run(&self, arguments: &str) -> Run {
        self.run_with_input(arguments, b"")
    }

    /// Runs what must succeed.
    fn done(&self, arguments: &str) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
        run
    }

    /// Runs what must be refused with exactly this line.
    fn refused(&self, arguments: &str, message: &str) {
        let run = self.run(arguments);
        assert_eq!((run.stderr.as_str(), run.code), (format!("spocc: {message}\n").as_str(), Some(1)));
        assert_eq!(run.stdout, "", "{arguments}");
    }

    /// Runs what must be wrong usage, with this in the message.
    fn misused(&self, arguments: &str, message: &str) {
        let run = self.run(arguments);
        assert_eq!((run.stdout.as_str(), run.code), ("", Some(2)), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
    }

    /// The names in the directory.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

/// The text with every number of seconds and bytes blotted out.
fn without_numbers_that_vary(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace).collect::<Vec<&str>>();
    let varies = |at: usize| {
        let unit = words.get(at + 1).map(|unit| unit.trim_end());
        unit.is_some_and(|unit| unit == "s" || unit == "bytes)")
    };
    (0..words.len()).map(|at| if varies(at) { "# " } else { words[at] }).collect()
}

#[test]
fn a_table_becomes_a_model_and_the_model_decides_a_table() {
    let desk = Desk::new();
    desk.write("gold.csv", GOLD);
    let fitted = desk.done("fit gold.csv --label truth --id item -o panel.spocc");
    assert_eq!(fitted.stdout, "");
    assert_eq!(
        without_numbers_that_vary(&fitted.stderr),
        "fitted adaspocc to 5 rows: 3 classifiers, 2 classes (cat, dog), # s\n\
         skipped 1 row without truth\n\
         wrote panel.spocc # bytes)\n"
    );

    let decided = desk.done("predict panel.spocc gold.csv --id item");
    assert_eq!(decided.stdout, "item,decision\n1,cat\n2,dog\n3,cat\n4,dog\n5,cat\n6,dog\n");
    assert_eq!(decided.stderr, "decided 6 rows by adaspocc: 0 tied, 0 by the prior alone\n");

    let to_file = desk.done("predict panel.spocc gold.csv --id item -o decided.csv");
    assert_eq!((to_file.stdout.as_str(), desk.read("decided.csv")), ("", decided.stdout.into_bytes()));
    assert_eq!(desk.names(), ["decided.csv", "gold.csv", "panel.spocc"]);
}

#[test]
fn standard_input_is_a_table_too() {
    let desk = Desk::with_model();
    let fitted = desk.run_with_input("fit - --label truth --id item -o again.spocc", GOLD.as_bytes());
    assert_eq!(fitted.code, Some(0), "{}", fitted.stderr);
    assert_eq!(desk.read("again.spocc"), desk.read("panel.spocc"));
    let decided = desk.run_with_input("predict panel.spocc - -o -", b"eve,ann,bob\ndog,cat,cat\n");
    assert_eq!(decided.stdout, "decision\ncat\n");
}

#[test]
fn every_method_and_option_fits_and_decides() {
    let desk = Desk::new();
    desk.write("gold.csv", GOLD);
    let choices = [
        "--method spocc --exponent inf",
        "--method spocc --exponent 1.5 --missing symbol",
        "--method spocc --exponent tuned --tuning resubstitution",
        "--method adaspocc --tuning k-fold --ties random --seed 7",
        "--method selection --slim",
        "--method majority --classes dog,cat",
        "--method weighted-vote --ignore eve",
        "--method exp-vote --tuning leave-one-out",
        "--method naive-bayes --classifiers bob,ann",
        "--method bayes --threads 1",
        "--method stacking --inputs ordinal --tuning resubstitution",
    ];
    for choice in choices {
        desk.done(&format!("fit gold.csv --label truth --id item {choice} -o m.spocc"));
        let decided = desk.done("predict m.spocc gold.csv --id item");
        assert_eq!(decided.stdout.lines().count(), 7, "{choice}");
    }
}

#[test]
fn slim_models_are_smaller_and_decide_alike() {
    let desk = Desk::with_model();
    desk.done("fit gold.csv --label truth --id item --slim -o slim.spocc");
    assert!(desk.read("slim.spocc").len() < desk.read("panel.spocc").len());
    let decided = |model: &str| desk.done(&format!("predict {model} gold.csv")).stdout;
    assert_eq!(decided("slim.spocc"), decided("panel.spocc"));
}

#[test]
fn columns_say_more_about_each_decision() {
    let desk = Desk::new();
    desk.write("gold.csv", "a,b,t\nx,x,x\ny,y,y\n");
    desk.done("fit gold.csv --label t --method majority -o m.spocc");
    desk.write("new.csv", "n,part,a,b\n1,\"p, q\",x,y\n2,r,y,y\n3,s,,null\n");
    let run =
        desk.done("predict m.spocc new.csv --id n,part --columns decision,ties,answered,margin,possibility");
    assert_eq!(
        run.stdout,
        "n,part,decision,ties,answered,margin,possibility:x,possibility:y\n\
         1,\"p, q\",x,x|y,2,0.0,1.0,1.0\n\
         2,r,y,,2,1.0,0.0,1.0\n\
         3,s,x,x|y,0,0.0,1.0,1.0\n"
    );
    assert_eq!(run.stderr, "decided 3 rows by majority: 2 tied, 1 by the prior alone\n");
}

#[test]
fn labels_come_back_as_they_were_written() {
    let desk = Desk::new();
    let cases = [("1", "0"), ("1.0", "0.0"), ("True", "False"), ("true", "false"), ("a b", "é"), ("01", "1")];
    for (yes, no) in cases {
        desk.write("gold.csv", format!("a,t\n{yes},{yes}\n{no},{no}\n{yes},{yes}\n"));
        desk.done("fit gold.csv --label t -o m.spocc");
        let decided = desk.done("predict m.spocc gold.csv").stdout;
        assert_eq!(decided, format!("decision\n{yes}\n{no}\n{yes}\n"));
    }
    // A model fitted to whole numbers understands a data frame's floats.
    desk.write("gold.csv", "a,t\n1,1\n0,0\n");
    desk.done("fit gold.csv --label t -o m.spocc");
    desk.write("new.csv", "a\n1.0\n0.0\n");
    assert_eq!(desk.done("predict m.spocc new.csv").stdout, "decision\n1\n0\n");
}

#[test]
fn neither_the_order_of_the_rows_nor_the_threads_change_the_model() {
    let desk = Desk::new();
    let rows: Vec<String> = (0..2000u32)
        .map(|row| {
            let noise = |k: u32| (row * 7 + k * 13 + row * row * (k + 3) % 11) % 17;
            let said = |k: u32| if noise(k) < 11 { row % 3 } else { noise(k) % 3 };
            format!("{},{},{},{},{}\n", said(1), said(2), said(3), said(4), row % 3)
        })
        .collect();
    let header = "a,b,c,d,truth\n".to_owned();
    desk.write("there.csv", header.clone() + &rows.concat());
    desk.write("back.csv", header + &rows.iter().rev().cloned().collect::<String>());
    desk.done("fit there.csv --label truth --threads 1 -o one.spocc");
    desk.done("fit there.csv --label truth --threads 2 -o two.spocc");
    desk.done("fit back.csv --label truth --threads 2 -o back.spocc");
    assert_eq!(desk.read("one.spocc"), desk.read("two.spocc"));
    assert_eq!(desk.read("one.spocc"), desk.read("back.spocc"));
    let decided =
        |threads: u32| desk.done(&format!("predict one.spocc there.csv --threads {threads}")).stdout;
    assert_eq!(decided(1), decided(2));
}

#[test]
fn a_grouped_table_counts_as_its_rows_do() {
    let desk = Desk::new();
    desk.write("rows.csv", "a,b,t\nx,x,x\nx,x,x\ny,x,y\nx,y,y\n");
    desk.write("grouped.csv", "n,a,b,t\n2,x,x,x\n1,y,x,y\n1,x,y,y\n0,y,y,x\n");
    desk.done("fit rows.csv --label t -o rows.spocc");
    desk.done("fit grouped.csv --label t --count n -o grouped.spocc");
    desk.done("fit grouped.csv --label t --weight n -o weighted.spocc");
    assert_eq!(desk.read("rows.spocc"), desk.read("grouped.spocc"));
    assert_eq!(desk.read("rows.spocc"), desk.read("weighted.spocc"));
}

#[test]
fn golden_decisions_come_through_the_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/case_39.json");
    let text = fs::read_to_string(path).expect("golden files are part of the repository");
    let golden: serde_json::Value = serde_json::from_str(&text).expect("golden files are JSON");
    let numbers = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().expect("a list").iter().map(ToString::to_string).collect()
    };
    let columns = |value: &serde_json::Value| -> Vec<Vec<String>> {
        value.as_array().expect("a list").iter().map(numbers).collect()
    };
    let csv = |columns: &[Vec<String>], names: &[String]| {
        let row =
            |t: usize| columns.iter().map(|column| column[t].as_str()).collect::<Vec<_>>().join(",") + "\n";
        names.join(",") + "\n" + &(0..columns[0].len()).map(row).collect::<String>()
    };
    let mut names: Vec<String> =
        (0..golden["K"].as_u64().expect("a number")).map(|k| format!("c{k}")).collect();
    let desk = Desk::new();
    desk.write("test.csv", csv(&columns(&golden["preds_test"]), &names));
    let mut labelled = columns(&golden["preds_val"]);
    labelled.push(numbers(&golden["y_val"]));
    names.push("truth".into());
    desk.write("val.csv", csv(&labelled, &names));

    let classes: Vec<String> = (0..golden["l"].as_u64().expect("a number")).map(|i| i.to_string()).collect();
    desk.done(&format!(
        "fit val.csv --label truth --method adaspocc --tuning resubstitution --classes {} -o m.spocc",
        classes.join(",")
    ));
    let decided = desk.done("predict m.spocc test.csv").stdout;
    let reference = &golden["ref"]["adaspocc"];
    assert_eq!(reference["tied_rows"], serde_json::json!([]), "no row of this case may be decided otherwise");
    let decided: Vec<&str> = decided.lines().skip(1).collect();
    assert_eq!(decided, numbers(&reference["pred_test"]));
}

#[test]
fn tables_that_are_none_are_refused() {
    let desk = Desk::with_model();
    let fit = "--label truth -o m.spocc";
    desk.refused(&format!("fit absent.csv {fit}"), "absent.csv: expected a table, found none");
    desk.write("empty.csv", "");
    desk.refused(
        &format!("fit empty.csv {fit}"),
        "empty.csv: expected a table with a header line, found an empty file",
    );
    desk.write("blank.csv", "\n\n");
    desk.refused(
        &format!("fit blank.csv {fit}"),
        "blank.csv: expected a table with a header line, found an empty file",
    );
    desk.refused(
        &format!("fit - {fit}"),
        "standard input: expected a table with a header line, found an empty file",
    );
    fs::create_dir(desk.path("folder")).expect("a fresh name");
    desk.refused(&format!("fit folder {fit}"), "folder: expected a table, found a directory");
    desk.refused(
        &format!("fit panel.spocc {fit}"),
        "panel.spocc: expected a table, found a model or a tally of spocc",
    );
    desk.refused(
        "predict panel.spocc panel.spocc",
        "panel.spocc: expected a table, found a model or a tally of spocc",
    );
    assert!(!desk.names().contains(&"m.spocc".to_owned()));
}

#[test]
fn headers_that_do_not_help_are_refused() {
    let desk = Desk::with_model();
    desk.refused(
        "fit gold.csv --label Turth -o m.spocc",
        "gold.csv: line 1: expected a column `Turth`, \
         found `item`, `ann`, `bob`, `eve`, `truth` (did you mean `truth`?)",
    );
    desk.refused(
        "predict panel.spocc gold.csv --id number",
        "gold.csv: line 1: expected a column `number`, found `item`, `ann`, `bob`, `eve`, `truth`",
    );
    desk.write("twice.csv", "ann,bob,ann,truth\n");
    desk.refused(
        "fit twice.csv --label truth -o m.spocc",
        "twice.csv: line 1: expected distinct column names, found `ann` twice",
    );
    desk.write("bytes.csv", b"ann,\xff\xfe,truth\n");
    desk.refused(
        "fit bytes.csv --label truth -o m.spocc",
        "bytes.csv: line 1: expected column names in UTF-8, found `\\xff\\xfe`",
    );
    desk.write("alone.csv", "item,truth\n1,cat\n");
    desk.refused(
        "fit alone.csv --label truth --id item -o m.spocc",
        "alone.csv: line 1: expected at least one column that is a classifier, found only `item`, `truth`",
    );
}

#[test]
fn rows_that_do_not_fit_are_refused_with_their_line() {
    let desk = Desk::new();
    desk.write("ragged.csv", "ann,bob,truth\ncat,cat,cat\n\ndog,dog\n");
    desk.refused("fit ragged.csv --label truth -o m.spocc", "ragged.csv: line 4: expected 3 cells, found 2");
    desk.write("ragged.csv", "ann,truth\r\n\"c\r\nat\",cat\r\ndog,dog,dog");
    desk.refused("fit ragged.csv --label truth -o m.spocc", "ragged.csv: line 4: expected 2 cells, found 3");
    desk.write("one.csv", "ann\ncat\n\ndog\n");
    desk.write("gold.csv", "ann,truth\ncat,cat\ndog,dog\n");
    desk.done("fit gold.csv --label truth -o one.spocc");
    desk.refused(
        "predict one.spocc one.csv",
        "one.csv: line 3: expected a cell, or \"\" for a missing one, found an empty line",
    );
    desk.write("one.csv", "ann\ncat\n\"\"\ndog\n\n");
    assert_eq!(desk.done("predict one.spocc one.csv").stdout.lines().count(), 4);
    desk.write("half.csv", "ann,bob,truth\ncat,cat,cat\ndog,dog,\"dog\ncat,cat,cat\n");
    desk.refused(
        "fit half.csv --label truth -o m.spocc",
        "half.csv: line 3: expected a closing quote, found the end of the table",
    );
    desk.write("bytes.csv", b"ann,bob,truth\ncat,cat,cat\ncat,c\xe9,cat\n");
    desk.refused(
        "fit bytes.csv --label truth -o m.spocc",
        "bytes.csv: line 3: expected UTF-8 text in column `bob`, found `c\\xe9`",
    );
    desk.write("classes.csv", "ann,truth\n,\ncat,cat\ncat,cow\n");
    desk.refused(
        "fit classes.csv --label truth --classes cat,dog -o m.spocc",
        "classes.csv: line 4: expected a truth among the classes cat, dog, found `cow`",
    );
    for bad in ["-1", "x", "NaN", "inf", ""] {
        desk.write("weights.csv", format!("w,ann,truth\n1,cat,cat\n{bad},cat,cat\n"));
        desk.refused(
            "fit weights.csv --label truth --weight w -o m.spocc",
            &format!("weights.csv: line 3: expected a weight from 0 in column `w`, found `{bad}`"),
        );
    }
    for bad in ["-1", "x", "0.5"] {
        desk.write("counts.csv", format!("n,ann,truth\n{bad},cat,cat\n"));
        desk.refused(
            "fit counts.csv --label truth --count n -o m.spocc",
            &format!("counts.csv: line 2: expected a whole count from 0 in column `n`, found `{bad}`"),
        );
    }
}

#[test]
fn nothing_to_learn_from_is_refused() {
    let desk = Desk::new();
    desk.write("header.csv", "ann,bob,truth\n");
    desk.refused(
        "fit header.csv --label truth -o m.spocc",
        "header.csv: expected a truth in column `truth` of some row, found no rows under the header",
    );
    desk.write("unlabelled.csv", "ann,bob,truth\ncat,cat,\ndog,dog,null\n");
    desk.refused(
        "fit unlabelled.csv --label truth -o m.spocc",
        "unlabelled.csv: expected a truth in column `truth` of some row, found none in 2 rows",
    );
}

#[test]
fn a_table_without_rows_is_decided_in_no_rows() {
    let desk = Desk::with_model();
    desk.write("header.csv", "item,ann,bob,eve\n");
    assert_eq!(desk.done("predict panel.spocc header.csv --id item").stdout, "item,decision\n");
}

#[test]
fn models_that_are_none_are_refused() {
    let desk = Desk::with_model();
    desk.refused("predict absent.spocc gold.csv", "absent.spocc: expected a model file, found none");
    desk.refused(
        "predict gold.csv panel.spocc",
        "gold.csv: expected a model written by `spocc fit`, found a text (is it the table? the model comes first)",
    );
    let mut model = desk.read("panel.spocc");
    let half = model.len() / 2;
    desk.write("half.spocc", &model[..half]);
    let run = desk.run("predict half.spocc gold.csv");
    assert!(run.stderr.starts_with("spocc: half.spocc: file length: expected "), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.code), (1, Some(1)));
    model[half] ^= 1;
    desk.write("flipped.spocc", &model);
    let run = desk.run("predict flipped.spocc gold.csv");
    assert!(run.stderr.starts_with("spocc: flipped.spocc: checksum: expected "), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.code), (1, Some(1)));
}

#[test]
fn columns_the_model_needs_are_asked_for_by_name() {
    let desk = Desk::with_model();
    desk.write("new.csv", "item,ann,Bob\n1,cat,cat\n");
    desk.refused(
        "predict panel.spocc new.csv",
        "new.csv: line 1: expected a column for each of the model's 3 classifiers, \
         found no `bob`, `eve` (did you mean `Bob`?)",
    );
    desk.write("other.csv", "x,y\n1,2\n");
    desk.refused(
        "predict panel.spocc other.csv",
        "other.csv: line 1: expected a column for each of the model's 3 classifiers, \
         found none of `ann`, `bob`, `eve`",
    );
}

#[test]
fn answers_the_model_never_met_are_silence_or_refused() {
    let desk = Desk::with_model();
    desk.write("new.csv", "ann,bob,eve\ncat,cat,dog\ncow,dog,cat\ncow,cow,cow\n");
    let run = desk.done("predict panel.spocc new.csv");
    assert_eq!(run.stdout, "decision\ncat\ndog\ncat\n");
    assert_eq!(
        run.stderr,
        "decided 3 rows by adaspocc: 0 tied, 1 by the prior alone\n\
         note: `ann` said `cow` in 2 of them, which the model never met: taken for silence\n\
         note: `bob` said `cow` in 1 of them, which the model never met: taken for silence\n\
         note: `eve` said `cow` in 1 of them, which the model never met: taken for silence\n"
    );
    desk.refused(
        "predict panel.spocc new.csv --strict",
        "new.csv: line 3: expected `ann` to say a label known to the model, found `cow`",
    );
}

#[test]
fn words_for_missing_are_a_choice() {
    let desk = Desk::new();
    desk.write("gold.csv", "a,b,t\nx,x,x\nNA,y,y\ny,?,y\nx,x,NA\n");
    let run = desk.done("fit gold.csv --label t --na NA,? -o m.spocc");
    assert!(run.stderr.contains("2 classes (x, y)"), "{}", run.stderr);
    assert!(run.stderr.contains("skipped 1 row without truth"), "{}", run.stderr);
    let run = desk.done("predict m.spocc gold.csv --na NA,? --columns answered");
    assert_eq!(run.stdout, "decision,answered\nx,2\ny,1\ny,1\nx,2\n");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn a_column_that_only_names_rows_is_noticed() {
    let desk = Desk::new();
    let rows: Vec<String> = (0..30).map(|row| format!("m{row},{0},{0}\n", row % 2)).collect();
    desk.write("gold.csv", format!("item,ann,truth\n{}", rows.concat()));
    let run = desk.done("fit gold.csv --label truth --method majority -o m.spocc");
    let note = "note: column `item` has 30 different answers; if it is no classifier, say so: --id item\n";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let run = desk.done("fit gold.csv --label truth --id item --method majority -o m.spocc");
    assert!(!run.stderr.contains("note"), "{}", run.stderr);
}

#[test]
fn output_that_cannot_be_written_is_refused_and_old_files_stay() {
    let desk = Desk::with_model();
    let before = desk.read("panel.spocc");
    let missing = "expected an existing directory to write to, found no directory `nowhere`";
    desk.refused("fit gold.csv --label truth -o nowhere/m.spocc", &format!("nowhere/m.spocc: {missing}"));
    desk.refused("predict panel.spocc gold.csv -o nowhere/out.csv", &format!("nowhere/out.csv: {missing}"));
    fs::create_dir(desk.path("folder")).expect("a fresh name");
    desk.refused(
        "fit gold.csv --label truth -o folder",
        "folder: expected a file to write, found a directory",
    );
    desk.write("ragged.csv", "ann,truth\ncat\n");
    desk.refused(
        "fit ragged.csv --label truth -o panel.spocc",
        "ragged.csv: line 2: expected 2 cells, found 1",
    );
    assert_eq!(desk.read("panel.spocc"), before);
    assert_eq!(desk.names(), ["folder", "gold.csv", "panel.spocc", "ragged.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_a_device_is_not_replaced() {
    let desk = Desk::with_model();
    desk.refused(
        "predict panel.spocc gold.csv -o /dev/full",
        "/dev/full: No space left on device (os error 28)",
    );
    desk.done("predict panel.spocc gold.csv -o /dev/null");
    assert!(!fs::metadata("/dev/null").expect("a device").is_file());
}

#[test]
fn wrong_usage_is_told_apart_from_refused_input() {
    let desk = Desk::new();
    let fit = "fit gold.csv --label truth -o m.spocc";
    desk.misused("", "Usage: spocc <COMMAND>");
    desk.misused("fit gold.csv -o m.spocc", "--label <COL>");
    desk.misused(&format!("{fit} --method magic"), "[possible values: spocc, adaspocc,");
    desk.misused(
        &format!("{fit} --method majority --exponent 2"),
        "--exponent is not used by --method majority",
    );
    desk.misused(&format!("{fit} --inputs ordinal"), "--inputs is not used by --method adaspocc");
    desk.misused(&format!("{fit} --method spocc --tuning k-fold"), "--tuning is not used by --method spocc");
    desk.misused(
        &format!("{fit} --method spocc --exponent 0.5"),
        "expected a number from 1, `inf` or `tuned`",
    );
    desk.misused(&format!("{fit} --method stacking --tuning leave-one-out"), "not leave-one-out");
    desk.misused(&format!("{fit} --weight w --count n"), "cannot be used with");
    desk.misused(
        &format!("{fit} --classifiers ann,truth"),
        "column `truth` is given by --label and by --classifiers",
    );
    desk.misused(&format!("{fit} --threads 0"), "0 is not in 1..");
    desk.misused("predict m.spocc new.csv --columns margin,ties,margin", "two columns `margin`");
    desk.misused("predict m.spocc new.csv --id decision", "two columns `decision`");
    desk.misused("predict m.spocc new.csv --columns size", "[possible values: decision, margin,");
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let desk = Desk::with_model();
    let rows = "1,cat,cat,dog\n".repeat(200_000);
    desk.write("long.csv", format!("item,ann,bob,eve\n{rows}"));
    for arguments in ["predict panel.spocc long.csv --id item", "demo", "help fit"] {
        let mut child = desk
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
    let desk = Desk::new();
    for (command, example) in [
        ("demo", "spocc demo"),
        ("fit", "spocc fit gold.csv --label"),
        ("predict", "spocc predict panel.spocc"),
    ] {
        for arguments in [format!("help {command}"), format!("{command} -h")] {
            let help = desk.done(&arguments).stdout;
            assert!(help.contains("Example") && help.contains(example), "{arguments}: {help}");
        }
    }
    let all = desk.done("--help").stdout;
    assert!(
        ["demo", "fit", "predict"].iter().all(|command| all.contains(&format!("spocc {command}"))),
        "{all}"
    );
}

#[test]
fn the_demo_shows_the_majority_failing() {
    let desk = Desk::new();
    let demo = desk.done("demo");
    assert_eq!(demo.stderr, "");
    assert_eq!(demo.stdout.lines().filter(|line| line.starts_with("== ")).count(), 5);
    let share = |name: &str| -> f64 {
        let line = demo.stdout.lines().find(|line| line.trim_start().starts_with(name)).expect("a line each");
        let percent = line.split('%').next().and_then(|line| line.split_whitespace().last());
        percent.and_then(|percent| percent.parse().ok()).expect("a percentage")
    };
    assert!(share("majority") < 65.0 && share("adaspocc  ") > 90.0, "{}", demo.stdout);
    assert!(share("best judge alone") > share("majority"));
    assert!(!demo.stdout.contains('\u{1b}'), "no colours where nobody looks");
    assert_eq!(demo.stdout, desk.done("demo").stdout, "the same every time");
    assert!(desk.names().is_empty());
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let readme = include_str!("../../../README.md");
    let shown =
        readme.split("<!-- demo output -->\n```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let demo = Desk::new().done("demo").stdout;
    let mut printed = demo.lines();
    for line in shown.expect("a marked block").lines().filter(|line| !line.is_empty()) {
        assert!(printed.any(|other| other == line), "the demo does not print, or not in this order: {line}");
    }
}
