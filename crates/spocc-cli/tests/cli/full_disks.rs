//! Files that cannot be written: the old file stays, nothing is left beside it, and one line says why.
#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use crate::killed::{WRITING, WritingCommand, inputs};

/// What a script runs before a command: one part before the old file is written, the other after.
struct Setup<'a> {
    /// The program that runs the script, with its arguments.
    shell: &'a [&'a str],
    before: &'a str,
    after: &'a str,
}

impl Setup<'_> {
    /// Runs every writing command with a target in `disk`, and expects that it is refused with this end of the line.
    fn refuses(&self, found: &str) {
        let Self { shell: [shell, options @ ..], before, after } = self else { panic!("expected a shell") };
        let dir = inputs();
        fs::create_dir(dir.path("disk")).expect("a fresh name");
        for WritingCommand { arguments, targets } in WRITING {
            // The demo writes new files only.
            let (arguments, old, left) = match targets {
                [target] => (
                    arguments.replace(&format!("-o {target}"), "-o disk/out"),
                    "printf old > disk/out",
                    "oldout\n",
                ),
                _ => ("demo --save disk".to_owned(), "rm -f disk/out", ""),
            };
            let found_there = "echo $code; cat disk/out 2> /dev/null; ls -A disk | grep -v filler";
            let script = format!("{before}; {old}; {after}; \"$0\" {arguments}; code=$?; {found_there}");
            let mut command = Command::new(shell);
            command
                .args(options)
                .args(["-c", &script, env!("CARGO_BIN_EXE_spocc")])
                .current_dir(dir.path(""));
            let output = command.output().expect("a shell");
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(
                printed.starts_with("spocc: disk/") && printed.lines().count() == 1,
                "{arguments}: {printed}"
            );
            assert!(printed.trim_end().ends_with(found), "{arguments}: {printed}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("1\n{left}"), "{arguments}");
        }
    }
}

/// A shell whose mounts nobody else sees.
const MOUNTING: [&str; 4] = ["unshare", "--map-root-user", "--mount", "sh"];

fn can_mount() -> bool {
    let mut command = Command::new(MOUNTING[0]);
    let done = command.args(&MOUNTING[1..]).args(["-c", "mount -t tmpfs none /mnt"]).output();
    let can = done.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: no permission to mount");
    }
    can
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    if can_mount() {
        let before = "mount -t tmpfs -o size=64k none disk";
        let after = "head -c 1000000 /dev/zero > disk/filler 2> /dev/null";
        Setup { shell: &MOUNTING, before, after }.refuses("expected room to write, found a full disk");
    }
}

#[test]
fn a_read_only_disk_leaves_the_old_file() {
    if can_mount() {
        let (before, after) = ("mount -t tmpfs none disk", "mount -o remount,ro none disk");
        Setup { shell: &MOUNTING, before, after }
            .refuses("expected permission to write, found a read-only file system");
    }
}

#[test]
fn a_limit_on_file_sizes_leaves_the_old_file() {
    Setup { shell: &["sh"], before: ":", after: "ulimit -f 0" }
        .refuses("expected room to write, found a limit on the size of files");
}
