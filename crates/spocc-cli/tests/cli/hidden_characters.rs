//! Labels, names, ids and file names with hidden characters: reports and messages show them escaped, data is exact.

use std::fmt::Write as _;

use crate::test_dir::{CommandRun, TestDir};

/// A bidirectional override, a zero-width space, a terminal escape, a C1 control, a line end and right-to-left letters.
const HOSTILE: &str = "\u{202e}\u{200b}\x1b[2J\u{9b}\nשל";
const ESCAPED: &str = r"\u{202e}\u{200b}\u{1b}[2J\u{9b}\nשל";

const FILE: &str = "t\u{202e}\x1b[2J.csv";
const FILE_ESCAPED: &str = r"t\u{202e}\u{1b}[2J.csv";

/// Two hostile classifiers, one of which is a copy, and two hostile classes.
fn table() -> String {
    let mut table = format!("\"id{HOSTILE}\",\"a{HOSTILE}\",\"b{HOSTILE}\",c,truth\n");
    for row in 0..60 {
        let (truth, other) = if row % 2 == 0 { ("x", "y") } else { ("y", "x") };
        let copied = if row % 7 == 6 { other } else { truth };
        let third = if row % 3 == 2 { other } else { truth };
        let [copied, third, truth] = [copied, third, truth].map(|label| format!("\"{label}{HOSTILE}\""));
        writeln!(table, "\"{row}{HOSTILE}\",{copied},{copied},{third},{truth}").expect("a text grows");
    }
    table
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write(FILE, table());
    dir
}

impl TestDir {
    /// Runs a command whose arguments are separated by spaces; `#` stands for the hostile text, `@` for the file.
    fn hostile(&self, arguments: &str) -> CommandRun {
        let mut command = self.command("");
        command.args(arguments.split(' ').map(|argument| argument.replace('#', HOSTILE).replace('@', FILE)));
        let output = command.output().expect("the command is built");
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        CommandRun { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }
}

fn assert_shown(arguments: &str, text: &str) {
    let hidden = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    assert!(!text.contains(hidden), "{arguments}: {text:?}");
    // The line end of a name would start a line with the letters that follow it.
    assert!(!text.lines().any(|line| line.starts_with("של")), "{arguments}: {text}");
}

/// Runs what must succeed, and returns its report and messages.
fn shown(dir: &TestDir, arguments: &str) -> [String; 2] {
    let run = dir.hostile(arguments);
    assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
    assert_shown(arguments, &run.stderr);
    [run.stdout, run.stderr]
}

#[test]
fn reports_and_messages_show_hidden_characters_escaped() {
    let dir = dir();
    let ids = "--id \"id#\"";
    let [_, fitted] = shown(&dir, &format!("fit @ --label truth {ids} -o m.spocc"));
    assert!(fitted.contains(&format!("2 classes (x{ESCAPED}, y{ESCAPED})")), "{fitted}");
    let [_, written] = shown(&dir, &format!("fit @ --label truth {ids} --method selection -o o@"));
    assert!(written.contains(&format!("wrote o{FILE_ESCAPED} (")), "{written}");
    let name = format!("a{ESCAPED}");
    for arguments in [
        format!("audit @ --label truth {ids}"),
        "audit m.spocc".to_owned(),
        format!("compare @ --label truth {ids}"),
        format!("explain m.spocc @ --row 1 {ids}"),
        "inspect @".to_owned(),
        format!("inspect @ --label truth {ids}"),
        "inspect m.spocc".to_owned(),
        format!("inspect o{FILE}"),
    ] {
        let [report, _] = shown(&dir, &arguments);
        assert_shown(&arguments, &report);
        assert!(report.contains(&name), "{arguments}: {report}");
    }
    let [explained, _] = shown(&dir, &format!("explain m.spocc @ --row 1 {ids}"));
    assert!(
        explained
            .starts_with(&format!("row 1, id{ESCAPED} 0{ESCAPED}\ndecided: x{ESCAPED}, next: y{ESCAPED}"))
    );
    let [_, warned] = shown(&dir, "fit @ --label truth --no-evaluate -o w.spocc");
    assert!(warned.contains(&format!("warning: column `id{ESCAPED}` has a different label")), "{warned}");
    dir.write("new.csv", format!("\"a{HOSTILE}\",\"b{HOSTILE}\",c\n\"z{HOSTILE}\",,\n"));
    let [_, unknown] = shown(&dir, "predict m.spocc new.csv");
    assert!(unknown.contains(&format!("note: `a{ESCAPED}` predicts `z{ESCAPED}` in 1 row;")), "{unknown}");
}

#[test]
fn tables_stay_aligned_beside_escaped_names() {
    let dir = dir();
    let [report, _] = shown(&dir, "audit @ --label truth --id \"id#\"");
    let widths: Vec<usize> = report
        .lines()
        .filter(|line| line.ends_with("  useful") || line.contains("  copy of "))
        .map(|line| line.split('%').next().unwrap_or_default().chars().count())
        .collect();
    assert!(widths.len() == 3, "{report}");
    assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{report}");
}

#[test]
fn errors_show_hidden_characters_escaped() {
    let dir = dir();
    for (arguments, code, message) in [
        ("audit no@ --label truth", 1, format!("spocc: no{FILE_ESCAPED}: ")),
        ("audit @ --label t#", 1, format!("`t{ESCAPED}`")),
        ("audit @ --label truth --ignore \"z#\"", 1, format!("`z{ESCAPED}`")),
        ("audit @ --#", 2, format!("unexpected argument '--{ESCAPED}'")),
        ("#", 2, format!("unrecognized subcommand '{ESCAPED}'")),
        ("compare @ --label truth --folds #", 2, format!("invalid value '{ESCAPED}'")),
        ("sql --label # --classifiers \"#\"", 2, format!("two columns `{ESCAPED}`")),
    ] {
        let run = dir.hostile(arguments);
        assert_eq!(run.code, Some(code), "{arguments}: {}", run.stderr);
        assert_shown(arguments, &run.stderr);
        assert!(run.stderr.contains(&message), "{arguments}: {}", run.stderr);
        assert!(code == 2 || run.stderr.lines().count() == 1, "{arguments}: {}", run.stderr);
    }
}

#[test]
fn data_keeps_hidden_characters() {
    let dir = dir();
    let ids = "--id \"id#\"";
    shown(&dir, &format!("fit @ --label truth {ids} -o m.spocc"));
    let [csv, _] = shown(&dir, &format!("predict m.spocc @ {ids}"));
    assert!(
        csv.starts_with(&format!("\"id{HOSTILE}\",decision\n\"0{HOSTILE}\",\"x{HOSTILE}\"\n")),
        "{csv:?}"
    );
    let [json, _] = shown(&dir, &format!("predict m.spocc @ {ids} --format json"));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).expect("JSON");
    assert_eq!(rows[0]["decision"], format!("x{HOSTILE}"));
    assert_eq!(rows[0][format!("id{HOSTILE}")], format!("0{HOSTILE}"));
    let [json, _] = shown(&dir, &format!("audit @ --label truth {ids} --json"));
    let audit: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(audit["classifiers"][0]["name"], format!("a{HOSTILE}"));
    let [json, _] = shown(&dir, &format!("explain m.spocc @ --row 1 {ids} --json"));
    let explained: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(explained["id"][format!("id{HOSTILE}")], format!("0{HOSTILE}"));
    let [sql, _] = shown(&dir, "sql --label truth --classifiers \"a#\"");
    assert!(sql.contains(&format!("\"a{HOSTILE}\"")), "{sql:?}");
}
