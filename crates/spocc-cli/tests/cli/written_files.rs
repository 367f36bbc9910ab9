//! What the path of an output names (links, devices, descriptors, pipes), and several writers of one file.
#![cfg(unix)]

use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::symlink,
    process::{Command, Output},
    thread,
};

use crate::{
    killed::{WRITING, inputs},
    test_dir::{GOLD, TestDir},
};

/// Runs a shell script in which `$0` is the command.
fn shell(dir: &TestDir, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_spocc")]).current_dir(dir.path(""));
    command.output().expect("a shell")
}

/// What was printed on standard error, which is one line of the command.
fn one_line(output: &Output) -> String {
    let printed = String::from_utf8(output.stderr.clone()).expect("text");
    assert!(printed.starts_with("spocc: ") && printed.lines().count() == 1, "{printed}");
    printed
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_among_devices_is_replaced_and_never_its_own_input() {
    let dir = TestDir::with_model();
    let Ok(shared) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: no /dev/shm");
        return;
    };
    let path = |name: &str| shared.path().join(name).display().to_string();
    for _ in 0..2 {
        dir.done(&format!("fit gold.csv --label truth --id item -o {}", path("m.spocc")));
        assert_eq!(fs::read(path("m.spocc")).expect("a file"), dir.read("panel.spocc"));
    }
    fs::write(path("gold.csv"), GOLD).expect("disk space");
    let message = "expected an output file that is not also an input, found one of the inputs";
    let own = path("gold.csv");
    dir.refused(&format!("predict panel.spocc {own} -o {own}"), &format!("{own}: {message}"));
    assert_eq!(fs::read(&own).expect("a file"), GOLD.as_bytes());
}

#[test]
fn a_stream_is_never_its_own_input() {
    let dir = TestDir::with_model();
    for script in [
        "\"$0\" predict panel.spocc gold.csv >> gold.csv",
        "\"$0\" predict panel.spocc gold.csv -o /dev/stdout >> gold.csv",
        "\"$0\" predict panel.spocc - < gold.csv >> gold.csv",
        "\"$0\" predict panel.spocc gold.csv -o /dev/fd/5 5>> gold.csv",
    ] {
        let output = shell(&dir, script);
        assert!(one_line(&output).ends_with("found one of the inputs\n"), "{script}");
        assert_eq!(
            (output.status.code(), dir.read("gold.csv")),
            (Some(1), GOLD.as_bytes().to_vec()),
            "{script}"
        );
    }
    let in_place = shell(&dir, "\"$0\" predict panel.spocc - -o gold.csv < gold.csv");
    assert_eq!(in_place.status.code(), Some(0), "a file is replaced after it is read");
}

#[test]
fn descriptors_devices_and_pipes_are_written_directly() {
    let dir = TestDir::with_model();
    let predict = "\"$0\" predict panel.spocc gold.csv";
    let decided = dir.done("predict panel.spocc gold.csv").stdout;
    for to in [
        "/dev/stdout",
        "/dev/fd/1",
        "/dev/stdout | cat",
        "/dev/fd/5 5>&1 | cat",
        "/dev/stdout > out; cat out",
    ] {
        let output = shell(&dir, &format!("{predict} -o {to}"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), decided, "{to}");
    }
    let after = shell(&dir, &format!("{{ echo first >&5; {predict} -o /dev/fd/5; }} 5> out; cat out"));
    assert_eq!(String::from_utf8_lossy(&after.stdout), format!("first\n{decided}"));

    dir.make_pipe("pipe");
    symlink("pipe", dir.path("link")).expect("a fresh name");
    let reader = thread::spawn({
        let pipe = dir.path("pipe");
        move || {
            let mut text = String::new();
            File::open(pipe).and_then(|mut pipe| pipe.read_to_string(&mut text)).expect("a pipe");
            text
        }
    });
    dir.done("predict panel.spocc gold.csv -o link");
    assert_eq!(reader.join().expect("a reader"), decided);
    assert!(!fs::metadata(dir.path("pipe")).expect("a pipe").is_file() && dir.path("link").is_symlink());
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let dir = TestDir::with_model();
    fs::create_dir(dir.path("models")).expect("a fresh name");
    symlink("models/m.spocc", dir.path("link")).expect("a fresh name");
    for _ in 0..2 {
        dir.done("fit gold.csv --label truth --id item -o link");
        assert_eq!(dir.read("models/m.spocc"), dir.read("panel.spocc"));
        assert!(dir.path("link").is_symlink());
    }
}

#[test]
fn a_new_file_has_the_mode_of_any_new_file() {
    let dir = TestDir::with_model();
    for umask in ["022", "077", "002"] {
        let script = format!(
            "umask {umask}; rm -f out plain; \"$0\" predict panel.spocc gold.csv -o out 2> /dev/null; : > plain; \
             ls -l out plain | cut -c 1-10 | uniq | wc -l"
        );
        assert_eq!(String::from_utf8_lossy(&shell(&dir, &script).stdout).trim(), "1", "{umask}");
    }
}

#[test]
fn several_commands_can_write_one_file_at_once() {
    let dir = inputs();
    let commands: Vec<&str> = WRITING
        .iter()
        .filter(|command| command.targets == ["out"])
        .map(|command| command.arguments)
        .collect();
    let complete: Vec<Vec<u8>> =
        commands.iter().map(|arguments| (dir.done(arguments), dir.read("out")).1).collect();
    let before = dir.names();
    thread::scope(|scope| {
        for arguments in &commands {
            let (dir, complete) = (&dir, &complete);
            scope.spawn(move || {
                for _ in 0..10 {
                    dir.done(arguments);
                    assert!(complete.contains(&dir.read("out")), "{arguments}: a complete file");
                }
            });
        }
    });
    assert_eq!(dir.names(), before, "nothing is left");
}
