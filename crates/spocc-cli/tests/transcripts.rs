//! The documentation shows what the command prints.
//!
//! Every `console` block of the pages below is run, line by line, all blocks of a page in one fresh directory.
//! Lines after `$ ` are given to a shell; what follows must be their output. With the variable
//! `SPOCC_BLESS` set, the pages are rewritten instead.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const PAGES: [&str; 4] = ["README.md", "docs/guide.md", "docs/federated.md", "docs/reports.md"];

/// One command of a page and the lines shown below it.
#[derive(Debug)]
struct ConsoleStep {
    command: String,
    shown: Vec<String>,
}

/// A part of a page: text, or a block of commands.
enum PagePart {
    Text(String),
    Block(Vec<ConsoleStep>),
}

fn pieces(page: &str) -> Vec<PagePart> {
    let (mut pieces, mut text, mut block) = (Vec::new(), String::new(), None::<Vec<ConsoleStep>>);
    for line in page.lines() {
        match &mut block {
            Some(steps) if line == "```" => {
                pieces.push(PagePart::Block(std::mem::take(steps)));
                block = None;
                text.push_str("```\n");
            }
            Some(steps) => match (line.strip_prefix("$ "), line.strip_prefix("> "), steps.last_mut()) {
                (Some(command), _, _) => {
                    steps.push(ConsoleStep { command: command.to_owned(), shown: Vec::new() });
                }
                (None, Some(more), Some(step)) if step.shown.is_empty() && step.command.ends_with('\\') => {
                    step.command.push('\n');
                    step.command.push_str(more);
                }
                (None, _, Some(step)) => step.shown.push(line.to_owned()),
                (None, _, None) => panic!("a console block begins with a command, not with: {line}"),
            },
            None => {
                text.push_str(line);
                text.push('\n');
                if line == "```console" {
                    pieces.push(PagePart::Text(std::mem::take(&mut text)));
                    block = Some(Vec::new());
                }
            }
        }
    }
    assert!(block.is_none(), "a console block that does not end");
    pieces.push(PagePart::Text(text));
    pieces
}

fn run(command: &str, directory: &Path) -> Vec<String> {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_spocc"));
    let beside = built.parent().expect("a file is in a directory");
    let paths = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let path = env::join_paths([beside.to_owned()].into_iter().chain(paths)).expect("plain paths");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("COLUMNS", "100")
        .output()
        .expect("there is a shell");
    String::from_utf8(output.stdout).expect("output is UTF-8").lines().map(str::to_owned).collect()
}

fn is_same(shown: &[String], printed: &[String]) -> bool {
    shown.iter().map(|line| line.trim_end()).eq(printed.iter().map(|line| line.trim_end()))
}

/// Runs a page; returns it with what was printed in place of what was shown, and what differed.
fn replay(page: &str) -> (String, Vec<String>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (mut rewritten, mut differences) = (String::new(), Vec::new());
    for piece in pieces(page) {
        let steps = match piece {
            PagePart::Text(text) => {
                rewritten.push_str(&text);
                continue;
            }
            PagePart::Block(steps) => steps,
        };
        for ConsoleStep { command, shown } in steps {
            let printed = run(&command, directory.path());
            let _ = writeln!(rewritten, "$ {}", command.replace('\n', "\n> "));
            let kept = if is_same(&shown, &printed) { &shown } else { &printed };
            kept.iter().for_each(|line| rewritten.extend([line, "\n"]));
            if !is_same(&shown, &printed) {
                differences.push(format!(
                    "$ {command}\n--- shown\n{}\n--- printed\n{}",
                    shown.join("\n"),
                    printed.join("\n")
                ));
            }
        }
    }
    (rewritten, differences)
}

#[test]
fn documents_show_what_the_command_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in PAGES {
        let path = root.join(name);
        let page = fs::read_to_string(&path).expect("the page is there");
        let (rewritten, differences) = replay(&page);
        if env::var_os("SPOCC_BLESS").is_some() {
            fs::write(&path, rewritten).expect("the page can be written");
        } else {
            assert!(differences.is_empty(), "{name}:\n{}", differences.join("\n\n"));
        }
    }
}

#[test]
fn a_page_with_wrong_output_is_found() {
    let page = "text\n\n```console\n$ echo one\none\n$ echo two\nthree\n```\n\nend\n";
    let (rewritten, differences) = replay(page);
    assert_eq!(differences, ["$ echo two\n--- shown\nthree\n--- printed\ntwo"]);
    assert_eq!(rewritten, page.replace("three", "two"));
}
