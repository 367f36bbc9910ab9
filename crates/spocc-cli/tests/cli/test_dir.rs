//! A fresh directory to run the command in.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// Three classifiers and two classes: ann is always correct, bob is wrong once, eve is always wrong.
pub(crate) const GOLD: &str = "\
item,ann,bob,eve,truth
1,cat,cat,dog,cat
2,dog,dog,cat,dog
3,cat,dog,dog,cat
4,dog,dog,cat,dog
5,cat,cat,dog,cat
6,dog,,cat,
";

pub(crate) struct CommandRun {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

/// A fresh directory to run the command in.
pub(crate) struct TestDir(TempDir);

impl TestDir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    /// A dir with the small panel in `gold.csv`, and a model of it in `panel.spocc`.
    pub(crate) fn with_model() -> Self {
        let dir = Self::new();
        dir.write("gold.csv", GOLD);
        dir.done("fit gold.csv --label truth --id item -o panel.spocc");
        dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("room in the temporary directory");
    }

    #[cfg(unix)]
    pub(crate) fn make_pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo is everywhere");
        assert!(made.success());
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file that was written")
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spocc"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command
    }

    pub(crate) fn run_with_input(&self, arguments: &str, input: &[u8]) -> CommandRun {
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
        CommandRun { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    pub(crate) fn run(&self, arguments: &str) -> CommandRun {
        self.run_with_input(arguments, b"")
    }

    /// Runs what must succeed.
    pub(crate) fn done(&self, arguments: &str) -> CommandRun {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
        run
    }

    /// Runs what must be refused with exactly this line.
    pub(crate) fn refused(&self, arguments: &str, message: &str) {
        let run = self.run(arguments);
        assert_eq!((run.stderr.as_str(), run.code), (format!("spocc: {message}\n").as_str(), Some(1)));
        assert_eq!(run.stdout, "", "{arguments}");
    }

    /// Runs what must be wrong usage, with this in the message.
    pub(crate) fn misused(&self, arguments: &str, message: &str) {
        let run = self.run(arguments);
        assert_eq!((run.stdout.as_str(), run.code), ("", Some(2)), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
    }

    /// The names in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

/// The output of `fit` with the number of bytes and the accuracy with its interval replaced by `#`.
pub(crate) fn without_sizes(text: &str) -> String {
    let blot = |line: &str| {
        if let Some((_, how)) = line.split_once("), ").filter(|_| line.starts_with("held-out accuracy ")) {
            return format!("held-out accuracy #, {how}\n");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let varies = |at: usize| words.get(at + 1) == Some(&"bytes)");
        if (0..words.len()).any(varies) {
            let word = |at: usize| if varies(at) { "#" } else { words[at] };
            (0..words.len()).map(word).collect::<Vec<&str>>().join(" ") + "\n"
        } else {
            format!("{line}\n")
        }
    };
    text.lines().map(blot).collect()
}
