//! Commands that cannot complete: interrupted, without a reader, without disk space, or with random input.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::PermissionsExt,
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::test_dir::{GOLD, TestDir};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// More rows than `predict` decides at a time, so that it writes before it has read everything.
pub(crate) const MANY: usize = 300_000;

/// Waits for something; `None` if it does not come.
pub(crate) fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(found) = what() {
            return Some(found);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

pub(crate) fn unfinished(dir: &TestDir) -> Vec<String> {
    dir.names().into_iter().filter(|name| name.starts_with(".spocc-")).collect()
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &pid]).status().expect("kill is everywhere");
    assert!(sent.success());
}

/// How it ends, and what it says on standard error.
pub(crate) fn end(mut child: Child) -> (ExitStatus, String) {
    let status = wait_for(|| child.try_wait().expect("a child of ours"));
    if status.is_none() {
        child.kill().expect("a child of ours");
    }
    let mut printed = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut printed).expect("text");
    (status.expect("it ends by itself"), printed)
}

/// The command with default signal handling. A test run in the background ignores interruptions, and its children inherit
/// that; where `env` cannot reset it, the tests must run in the foreground.
fn with_default_signals(dir: &TestDir, arguments: &str) -> Command {
    const RESET: &str = "--default-signal=INT,TERM,HUP";
    let plain = dir.command(arguments);
    let can_reset = Command::new("env").args([RESET, "true"]).stderr(Stdio::null()).status();
    if !can_reset.is_ok_and(|status| status.success()) {
        return plain;
    }
    let mut command = Command::new("env");
    command.arg(RESET).arg(plain.get_program()).args(plain.get_args()).current_dir(dir.path("."));
    command
}

pub(crate) fn start(mut command: Command, stdout: Stdio) -> Child {
    command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
    command.spawn().expect("the command is built")
}

#[test]
fn an_interrupted_command_leaves_the_old_file_and_nothing_else() {
    for (signal, number, target) in
        [("INT", 2, "out.csv"), ("TERM", 15, "out.csv.gz"), ("HUP", 1, "out.json")]
    {
        let dir = TestDir::with_model();
        dir.write(target, "old");
        let before = dir.names();
        let mut child =
            start(with_default_signals(&dir, &format!("predict panel.spocc - -o {target}")), Stdio::null());
        let mut input = child.stdin.take().expect("piped");
        let rows = "cat,cat,dog\n".repeat(MANY);
        input.write_all(format!("ann,bob,eve\n{rows}").as_bytes()).expect("it reads on");
        // It now waits for more rows; the first of them are decided and on their way to the file.
        wait_for(|| (!unfinished(&dir).is_empty()).then_some(())).expect("a file being written");
        send(signal, &child);
        let (status, printed) = end(child);
        assert_eq!((status.code(), printed.as_str()), (Some(128 + number), ""), "{signal}");
        assert_eq!(dir.read(target), b"old", "{signal}");
        assert_eq!(dir.names(), before, "{signal}");
        drop(input);
    }
}

#[test]
fn an_interruption_before_anything_is_written_leaves_nothing() {
    let dir = TestDir::with_model();
    let before = dir.names();
    for arguments in [
        "predict panel.spocc - -o out.csv",
        "fit - --label truth -o m.spocc",
        "tally - --label truth -o m.tally",
        "explain panel.spocc - --row 1000000",
        "inspect -",
    ] {
        let mut child = start(with_default_signals(&dir, arguments), Stdio::null());
        let mut input = child.stdin.take().expect("piped");
        // More than a pipe holds: once all of it is gone, the command is reading and will heed a signal.
        let rows = "7,cat,cat,dog,cat\n".repeat(20_000);
        input.write_all(format!("item,ann,bob,eve,truth\n{rows}").as_bytes()).expect("it reads on");
        send("INT", &child);
        let (status, printed) = end(child);
        assert_eq!((status.code(), printed.as_str()), (Some(130), ""), "{arguments}");
        assert_eq!(dir.names(), before, "{arguments}");
        drop(input);
    }
}

#[test]
fn an_error_in_the_middle_leaves_the_old_file_and_nothing_else() {
    let dir = TestDir::with_model();
    dir.write("out.csv", "old");
    let rows = "cat,cat,dog\n".repeat(MANY);
    dir.write("long.csv", format!("ann,bob,eve\n{rows}dog,dog\n"));
    let before = dir.names();
    dir.refused(
        "predict panel.spocc long.csv -o out.csv",
        &format!("long.csv: line {}: expected 3 cells, found 2", MANY + 2),
    );
    assert_eq!((dir.read("out.csv"), dir.names()), (b"old".to_vec(), before));
}

#[test]
fn a_reader_that_closes_the_pipe_is_not_a_failure() {
    let dir = TestDir::with_model();
    let rows = "7,cat,cat,dog\n".repeat(MANY);
    dir.write("long.csv", format!("item,ann,bob,eve\n{rows}"));
    for options in ["--id item", "--format json", "--id item --columns margin,possibility,ties"] {
        let predict = || {
            let command = dir.command(&format!("predict panel.spocc long.csv {options}"));
            let mut child = start(command, Stdio::piped());
            let output = child.stdout.take().expect("piped");
            (child, output)
        };
        let (child, output) = predict();
        drop(output);
        let (status, printed) = end(child);
        assert_eq!((status.code(), printed.as_str()), (Some(0), ""), "{options}: nothing read");
        let (child, output) = predict();
        let head: Vec<String> = BufReader::new(output).lines().take(2).map_while(Result::ok).collect();
        assert_eq!(head.len(), 2, "{options}: head -2");
        let (status, printed) = end(child);
        assert_eq!((status.code(), printed.as_str()), (Some(0), ""), "{options}: head -2");
    }
}

#[test]
fn files_without_permission_are_reported() {
    let dir = TestDir::with_model();
    dir.write("locked.csv", "ann,truth\n");
    fs::create_dir(dir.path("locked")).expect("a fresh name");
    fs::set_permissions(dir.path("locked.csv"), fs::Permissions::from_mode(0o000)).expect("ours");
    fs::set_permissions(dir.path("locked"), fs::Permissions::from_mode(0o555)).expect("ours");
    if fs::read(dir.path("locked.csv")).is_ok() {
        eprintln!("skipped: nothing is locked to the superuser");
        return;
    }
    dir.refused(
        "fit locked.csv --label truth -o m.spocc",
        "locked.csv: expected a file to read, found no permission",
    );
    dir.refused(
        "predict panel.spocc gold.csv -o locked/out.csv",
        "locked/out.csv: expected permission to write, found no permission",
    );
}

#[test]
fn a_replaced_file_keeps_its_permissions() {
    let dir = TestDir::with_model();
    dir.write("out.csv", "old");
    fs::set_permissions(dir.path("out.csv"), fs::Permissions::from_mode(0o662)).expect("ours");
    dir.done("predict panel.spocc gold.csv -o out.csv");
    let mode = fs::metadata(dir.path("out.csv")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o662);
}

/// Runs in a shell that limits files to one block.
#[cfg(target_os = "linux")]
fn run_with_file_limit(dir: &TestDir, arguments: &str) -> (String, Option<i32>) {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_spocc")]);
    let output =
        command.args(arguments.split_whitespace()).current_dir(dir.path("")).output().expect("a shell");
    (String::from_utf8(output.stderr).expect("text"), output.status.code())
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_room_keeps_its_old_content() {
    let dir = TestDir::with_model();
    dir.write("many.csv", format!("ann,bob,eve\n{}", "cat,cat,dog\n".repeat(5000)));
    dir.write("out.csv", "old");
    dir.write("out.json.zst", "old");
    let before = dir.names();
    for arguments in [
        "predict panel.spocc many.csv -o out.csv",
        "predict panel.spocc many.csv --id ann,bob,eve -o out.csv",
    ] {
        let (printed, code) = run_with_file_limit(&dir, arguments);
        assert!(printed.starts_with("spocc: out.csv: ") && printed.lines().count() == 1, "{printed}");
        assert_eq!((code, dir.read("out.csv"), dir.names()), (Some(1), b"old".to_vec(), before.clone()));
    }
    dir.done("predict panel.spocc many.csv -o out.csv");
    assert_eq!(dir.read("out.csv").len(), "decision\n".len() + 5000 * "cat\n".len());
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_file_sizes_is_reported() {
    let dir = TestDir::with_model();
    dir.write("many.csv", format!("ann,bob,eve\n{}", "cat,cat,dog\n".repeat(5000)));
    let (printed, _) = run_with_file_limit(&dir, "predict panel.spocc many.csv -o out.csv");
    assert!(printed.starts_with("spocc: out.csv: expected room to write, found "), "{printed}");
}

#[test]
fn reports_accept_names_and_labels_of_any_length() {
    let dir = TestDir::new();
    let long = "long".repeat(20_000);
    dir.write("cells.csv", format!("ann,truth\n{long},cat\ncat,cat\ndog,dog\n"));
    dir.done("fit cells.csv --label truth -o cells.spocc");
    dir.write("names.csv", format!("{long},truth\ncat,cat\ndog,dog\n"));
    dir.done("fit names.csv --label truth -o names.spocc");
    for arguments in [
        "explain cells.spocc cells.csv --row 1",
        "explain names.spocc names.csv --row 1",
        "inspect names.csv",
        "audit names.spocc",
        "audit names.csv --label truth",
    ] {
        let run = dir.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments}: {}", &run.stderr[..run.stderr.len().min(200)]);
    }
}

#[test]
fn messages_are_short_whatever_is_in_the_cells() {
    let dir = TestDir::with_model();
    let long = "x".repeat(1_000_000);
    dir.write("long.csv", format!("item,ann,bob,eve,truth\n1,{long},cat,dog,{long}\n2,dog,dog,cat,dog\n"));
    for arguments in [
        "fit long.csv --label truth --id item -o m.spocc",
        "fit long.csv --label truth --weight ann -o m.spocc",
        "fit long.csv --label truth --classes cat,dog -o m.spocc",
        "predict panel.spocc long.csv",
        "predict panel.spocc long.csv --strict",
    ] {
        let run = dir.run(arguments);
        assert!(run.stderr.len() < 1000, "{arguments}: {} bytes", run.stderr.len());
    }
}

/// Noise with a fixed seed.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// The content with random parts changed, removed or repeated.
    fn alter(&mut self, content: &[u8]) -> Vec<u8> {
        const TOKENS: [&[u8]; 12] =
            [b",", b"\"", b"\n", b"\r\n", b"\t", b";", b"\0", b"\xff", b"null", b"-1", b"\"\"", b"1e9"];
        let mut altered = content.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(altered.len() + 1);
            let end = altered.len().min(at + self.below(9));
            match self.below(6) {
                0 => drop(altered.splice(at..at, TOKENS[self.below(TOKENS.len())].iter().copied())),
                1 => drop(altered.drain(at..end)),
                2 => drop(altered.splice(at..at, content[..end.min(content.len())].to_vec())),
                3 => altered.truncate(at.max(1)),
                _ => altered[at..end].iter_mut().for_each(|byte| *byte ^= 1 << self.below(8)),
            }
        }
        altered
    }
}

/// Sets the length and checksum of an altered model or tally, so that its content is read too.
fn with_valid_checksum(mut file: Vec<u8>) -> Vec<u8> {
    const HEADER: usize = 28;
    if file.len() > HEADER {
        let length = (file.len() - HEADER) as u64;
        file[16..24].copy_from_slice(&length.to_le_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(&file[12..24]);
        sum.update(&file[HEADER..]);
        file[24..HEADER].copy_from_slice(&sum.sum().to_le_bytes());
    }
    file
}

/// Whether a command succeeded, was refused in one line, or was wrong usage.
fn ended_properly(output: &Output) -> bool {
    let printed = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => true,
        Some(1) => output.stdout.is_empty() && printed.starts_with("spocc: ") && printed.lines().count() == 1,
        code => code == Some(2),
    }
}

#[test]
fn random_changes_of_files_never_cause_a_panic() {
    const ROUNDS: usize = 400;
    const ON_TABLES: [&str; 8] = [
        "fit X --label truth --id item -o o",
        "fit X --label truth --count item --method naive-bayes -o o",
        "predict panel.spocc X --id item --columns margin,ties,possibility",
        "predict panel.spocc gold.csv X --format json -o o",
        "fit X --long item,ann,bob --label truth --repeats last --method majority -o o",
        "fit gold.csv --ignore truth --id item --gold X --label truth -o o",
        "inspect X --label truth",
        "audit X --label truth --json",
    ];
    const ON_MODELS: [&str; 4] = [
        "predict X gold.csv --columns possibility",
        "explain X gold.csv --row 2",
        "inspect X",
        "append X gold.csv --label truth --id item --name zoe -o o",
    ];
    const ON_TALLIES: [&str; 4] =
        ["fit X -o o", "merge all.tally X -o o", "audit X", "tally X --min-count 2 -o o"];
    let dir = TestDir::with_model();
    dir.done("tally gold.csv --label truth --id item -o all.tally");
    let (model, tally) = (dir.read("panel.spocc"), dir.read("all.tally"));
    // Two at a time, each with its own file.
    thread::scope(|scope| {
        for half in 0..2 {
            let (dir, model, tally) = (&dir, &model, &tally);
            scope.spawn(move || {
                let mut noise = Noise(0x005e_ed00 + half);
                for round in 0..ROUNDS {
                    let (content, commands): (Vec<u8>, &[&str]) = match round % 4 {
                        0 => (with_valid_checksum(noise.alter(model)), &ON_MODELS),
                        1 => (with_valid_checksum(noise.alter(tally)), &ON_TALLIES),
                        2 => (noise.alter(GOLD.as_bytes()), &ON_TABLES),
                        _ => {
                            let length = noise.below(300);
                            let bytes = (0..length).map(|_| noise.below(256) as u8).collect();
                            (bytes, [&ON_TABLES[..], &ON_MODELS, &ON_TALLIES][noise.below(3)])
                        }
                    };
                    let name = format!("noise-{half}");
                    fs::write(dir.path(&name), &content).expect("room in the temporary directory");
                    let arguments = commands[noise.below(commands.len())];
                    let arguments = arguments.replace('X', &name).replace("-o o", &format!("-o out-{half}"));
                    let mut command = dir.command(&format!("{arguments} --threads 1"));
                    let output = command.stdin(Stdio::null()).output().expect("the command is built");
                    let printed = String::from_utf8_lossy(&output.stderr);
                    let shown = content.escape_ascii();
                    assert!(
                        ended_properly(&output),
                        "round {round}: {arguments}: {}: {printed}\n{shown}",
                        output.status
                    );
                }
            });
        }
    });
    assert_eq!(unfinished(&dir), Vec::<String>::new());
}

#[test]
fn a_command_that_ignores_hangups_is_not_ended_by_one() {
    let dir = TestDir::with_model();
    let spocc = env!("CARGO_BIN_EXE_spocc");
    let script = format!("trap '' HUP; exec {spocc} predict panel.spocc - -o out.csv");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(dir.path("."));
    let mut child = start(command, Stdio::null());
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"ann,bob,eve\n").expect("it reads");
    std::thread::sleep(std::time::Duration::from_millis(300));
    send("HUP", &child);
    input.write_all(b"cat,cat,dog\n").expect("it reads on");
    drop(input);
    let (status, _) = end(child);
    assert_eq!((status.code(), dir.read("out.csv")), (Some(0), b"decision\ncat\n".to_vec()));
}
