//! Commands that are killed while they write: the target is the old or the new file, complete, and the next run removes
//! what is left.
#![cfg(unix)]

use std::{
    env, fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    interrupted::{MANY, Noise, end, start, unfinished, wait_for},
    test_dir::TestDir,
};

/// A command that writes, and the files that it writes.
pub(crate) struct WritingCommand {
    pub(crate) arguments: &'static str,
    pub(crate) targets: &'static [&'static str],
}

/// Every command that writes files.
pub(crate) const WRITING: [WritingCommand; 7] = [
    WritingCommand { arguments: "fit rows.csv --label truth --id item -o out", targets: &["out"] },
    WritingCommand { arguments: "predict panel.spocc rows.csv --id item -o out", targets: &["out"] },
    WritingCommand { arguments: "predict panel.spocc rows.csv -o out.json.gz", targets: &["out.json.gz"] },
    WritingCommand { arguments: "tally rows.csv --label truth --id item -o out", targets: &["out"] },
    WritingCommand { arguments: "merge a.tally b.tally -o out", targets: &["out"] },
    WritingCommand {
        arguments: "append panel.spocc rows.csv --label truth --id item --name zoe -o out",
        targets: &["out"],
    },
    WritingCommand {
        arguments: "demo --save .",
        targets: &["gold.csv", "new.csv", "truth.csv", "problems.csv"],
    },
];

/// A directory with the inputs of all writing commands.
pub(crate) fn inputs() -> TestDir {
    let dir = TestDir::new();
    let rows = |n: usize| {
        let mut noise = Noise(7);
        let mut label = || ["cat", "dog", "cow"][noise.below(3)];
        let rows = (0..n).map(|item| format!("{item},{}\n", [(); 5].map(|()| label()).join(",")));
        "item,ann,bob,eve,zoe,truth\n".to_owned() + &rows.collect::<String>()
    };
    dir.write("rows.csv", rows(3000));
    dir.write("few.csv", rows(200));
    dir.done("fit rows.csv --label truth --id item --ignore zoe -o panel.spocc");
    dir.done("tally rows.csv --label truth --id item -o a.tally");
    dir.done("tally few.csv --label truth --id item -o b.tally");
    dir
}

/// Runs a command and kills it after `delay`, or `delay` after its part file appears; `false` if it ended before.
fn kill(dir: &TestDir, arguments: &str, delay: Duration, waits_for_part: bool) -> bool {
    let before = unfinished(dir);
    let has_part = || unfinished(dir).iter().any(|name| !before.contains(name));
    let mut child = start(dir.command(arguments), Stdio::null());
    let mut is_running = || child.try_wait().expect("a child of ours").is_none();
    while waits_for_part && !has_part() && is_running() {}
    let start = Instant::now();
    while start.elapsed() < delay && is_running() {
        thread::sleep(Duration::from_micros(100));
    }
    let is_running = is_running();
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    is_running
}

/// `SPOCC_KILLS` sets the number of kills per command.
#[test]
fn a_command_killed_at_any_moment_leaves_a_complete_file() {
    let n_kills = env::var("SPOCC_KILLS").map_or(20, |n| n.parse().expect("SPOCC_KILLS is a number"));
    let mut noise = Noise(0x00d1_ed00);
    for WritingCommand { arguments, targets } in WRITING {
        let dir = inputs();
        let before = dir.names();
        let start_time = Instant::now();
        dir.done(arguments);
        let whole = start_time.elapsed();
        let new: Vec<Vec<u8>> = targets.iter().map(|target| dir.read(target)).collect();
        // The demo writes new files only.
        let old = (targets.len() == 1).then_some(b"old".as_slice());
        let reset = || {
            for target in targets {
                match old {
                    Some(old) => dir.write(target, old),
                    None => drop(fs::remove_file(dir.path(target))),
                }
            }
        };
        let (mut n_killed, mut n_left) = (0, 0);
        while n_killed < n_kills {
            reset();
            let waits_for_part = noise.below(2) == 0;
            let longest = if waits_for_part { 3000 } else { whole.as_micros() as usize * 11 / 10 };
            let delay = Duration::from_micros(noise.below(longest) as u64);
            n_killed += usize::from(kill(&dir, arguments, delay, waits_for_part));
            for (target, new) in targets.iter().zip(&new) {
                let found = fs::read(dir.path(target)).ok();
                let is_complete = found.as_deref() == old || found.as_ref() == Some(new);
                assert!(is_complete, "{arguments}: {target} is damaged after {n_killed} kills");
            }
            // Each run removes what the one before has left.
            let left = unfinished(&dir);
            assert!(left.len() <= targets.len(), "{arguments}: {left:?}");
            n_left += usize::from(!left.is_empty());
        }
        reset();
        dir.done(arguments);
        assert!(targets.iter().zip(&new).all(|(target, new)| dir.read(target) == *new), "{arguments}");
        let mut expected = [before, targets.iter().map(ToString::to_string).collect()].concat();
        expected.sort();
        assert_eq!(dir.names(), expected, "{arguments}: nothing is left");
        eprintln!("{arguments}: {n_killed} kills, {n_left} times a part file was left");
    }
}

/// A command that has written to its part file and waits for more rows.
fn waiting(dir: &TestDir) -> Child {
    let before = unfinished(dir);
    let mut child = start(dir.command("predict panel.spocc - -o out.csv"), Stdio::null());
    let mut input = child.stdin.take().expect("piped");
    let rows = "cat,cat,dog\n".repeat(MANY);
    input.write_all(format!("ann,bob,eve\n{rows}").as_bytes()).expect("it reads on");
    child.stdin = Some(input);
    // A new file without content may be the one that shows the mode of new files.
    let has_content = |name: &String| fs::metadata(dir.path(name)).is_ok_and(|found| found.len() > 0);
    let is_written = |name: &String| !before.contains(name) && has_content(name);
    wait_for(|| unfinished(dir).iter().any(is_written).then_some(())).expect("a file being written");
    child
}

#[test]
fn the_next_run_removes_the_part_files_of_killed_runs_only() {
    let dir = TestDir::with_model();
    let mut killed = waiting(&dir);
    killed.kill().expect("a child of ours");
    killed.wait().expect("a child of ours");
    let left = unfinished(&dir);
    assert_eq!(left.len(), 1, "a killed command cannot remove its part file");
    let mode = fs::metadata(dir.path(&left[0])).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else can read a part file");

    let mut live = waiting(&dir);
    let in_use = unfinished(&dir);
    assert!(in_use.len() == 1 && in_use != left, "{in_use:?}");
    dir.done("predict panel.spocc gold.csv -o out.csv");
    assert_eq!(unfinished(&dir), in_use, "the part file of a running command stays");
    assert_eq!(dir.read("out.csv").len(), "decision\n".len() + 6 * "cat\n".len());
    drop(live.stdin.take());
    let (status, printed) = end(live);
    assert_eq!(status.code(), Some(0), "{printed}");
    assert_eq!(dir.read("out.csv").len(), "decision\n".len() + MANY * "cat\n".len());
    assert_eq!(unfinished(&dir), Vec::<String>::new());
}
