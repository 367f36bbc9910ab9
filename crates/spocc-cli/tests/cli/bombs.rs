//! Small files that unpack to much, or claim much: each is refused in a line, in bounded memory.
//!
//! The command runs with a small `--memory`, and the system ends it at a limit not far above. Files of columns are in
//! `testdata/bombs`, written by `cargo test -p spocc-table --features arrow --test bombs -- --ignored`.
#![cfg(target_os = "linux")]

use std::{fmt::Write as _, process::Command};

use crate::{
    table_formats::{gzip, zstd},
    test_dir::{CommandRun, TestDir},
};

/// The address space of the command: `--memory`, 256 MiB more for what is under way, and the program with its stacks.
const KIB: u32 = (256 + 256 + 192) << 10;

/// Runs the command with limited memory, of which the arguments may ask for less.
fn run(dir: &TestDir, arguments: &str) -> CommandRun {
    let memory = if arguments.contains("--memory") { "" } else { "--memory 256M" };
    let script = format!("ulimit -v {KIB} && exec \"$0\" {arguments} {memory} --threads 2");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_spocc")]).current_dir(dir.path("."));
    // Each thread of the allocator of glibc reserves 64 MiB of addresses that it does not use.
    let output = command.env("MALLOC_ARENA_MAX", "1").output().expect("a shell");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    CommandRun { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
}

/// Runs what must be refused in one line that contains this.
fn refused(dir: &TestDir, arguments: &str, message: &str) {
    let run = run(dir, arguments);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1), "{arguments}: {}", run.stderr);
    assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
}

/// Runs what must succeed.
fn done(dir: &TestDir, arguments: &str) {
    let run = run(dir, arguments);
    assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
}

const FIT: &str = "--label truth --no-evaluate --method majority -o m.spocc";

#[test]
fn a_line_without_an_end() {
    let dir = TestDir::new();
    let line = vec![b'a'; 17 << 20];
    let message = "expected rows of less than 16 MiB, found a longer one";
    for (name, packed) in [("gzip", gzip(&line)), ("zstd", zstd(&line)), ("plain", line)] {
        dir.write(name, packed);
        refused(&dir, &format!("fit {name} {FIT}"), &format!("{name}: line 1: {message}"));
    }
    // 200 frames of 64 MiB: a cell of 12 GiB.
    let cell = [b"ann,truth\nb".as_slice(), &vec![b'a'; 64 << 20]].concat();
    dir.write("cell", [zstd(&cell), zstd(&cell[11..]).repeat(200)].concat());
    refused(&dir, &format!("fit cell {FIT}"), "cell: line 2: expected rows of less than 16 MiB");
}

#[test]
fn a_quote_that_is_never_closed() {
    let dir = TestDir::new();
    let rows = "cat,cat\n".repeat(9 << 18);
    dir.write("header", zstd(format!("ann,\"truth\n{rows}").as_bytes()));
    refused(&dir, &format!("fit header {FIT}"), "header: line 1: expected rows of less than 16 MiB");
    dir.write("row", zstd(format!("ann,truth\ncat,cat\ncat,\"cat\n{rows}").as_bytes()));
    refused(&dir, &format!("fit row {FIT}"), "row: line 3: expected rows of less than 16 MiB");
}

#[test]
fn too_many_columns() {
    let dir = TestDir::new();
    let commas = vec![b','; 15 << 20];
    dir.write("commas", zstd(&commas));
    refused(&dir, &format!("fit commas {FIT}"), "commas: line 1: expected at most 65536 cells, found more");
    let names: Vec<String> = (0..70_000).map(|k| format!("k{k}")).collect();
    dir.write("names", zstd(format!("{}\n", names.join(",")).as_bytes()));
    refused(&dir, "inspect names", "names: line 1: expected at most 65536 cells, found more");
    for (name, end) in [("row", "\n"), ("return", "\r\n")] {
        dir.write(name, zstd(&[b"ann,truth\ncat,cat\n", commas.as_slice(), end.as_bytes()].concat()));
        refused(&dir, &format!("fit {name} {FIT}"), &format!("{name}: line 3: expected "));
    }
}

#[test]
fn a_name_of_many_bytes() {
    let dir = TestDir::new();
    let name = "n".repeat(15 << 20);
    dir.write("name", zstd(format!("{name},truth\ncat,cat\n").as_bytes()));
    refused(&dir, "fit name --label thruth -o m.spocc", "expected a column `thruth` (did you mean `truth`?)");
    refused(
        &dir,
        &format!("fit name --label truth --id {} -o m.spocc", "n".repeat(1000)),
        "expected a column `n",
    );
}

#[test]
fn archives_that_unpack_to_much_more_than_their_size() {
    let dir = TestDir::new();
    // 12 GiB of rows.
    let rows = zstd("cat,cat\n".repeat(8 << 20).as_bytes()).repeat(200);
    dir.write("rows", [zstd(b"ann,truth\n"), rows].concat());
    let message = "expected zstd data that unpacks to at most 1024 times its size, found more";
    refused(&dir, &format!("fit rows {FIT}"), &format!("rows: {message}"));
    // A model is read as a whole.
    dir.write("gold.csv", crate::test_dir::GOLD);
    dir.done("fit gold.csv --label truth --id item -o panel.spocc");
    let zeros = zstd(&vec![0; 64 << 20]).repeat(200);
    dir.write("model", [zstd(&dir.read("panel.spocc")), zeros].concat());
    refused(&dir, "predict model gold.csv", &format!("model: {message}"));
    // Empty lines are no rows.
    dir.write("lines", [zstd(b"ann,truth\ncat,cat\n"), zstd(&vec![b'\n'; 48 << 20])].concat());
    done(&dir, &format!("fit lines {FIT}"));
    // Many members of gzip.
    let member = gzip("cat,cat\n".repeat(1 << 20).as_bytes());
    dir.write("members", [gzip(b"ann,truth\n"), member.repeat(4), gzip(b"").repeat(10_000)].concat());
    done(&dir, &format!("fit members {FIT}"));
}

#[test]
fn a_window_that_is_larger_than_the_memory() {
    let dir = TestDir::new();
    let mut packer = zstd::Encoder::new(Vec::new(), 1).expect("a level");
    packer.window_log(31).expect("a size");
    std::io::Write::write_all(&mut packer, b"ann,truth\ncat,cat\n").expect("memory");
    dir.write("window", packer.finish().expect("memory"));
    refused(
        &dir,
        &format!("fit window {FIT}"),
        "window: expected zstd data, found Frame requires too much memory",
    );
}

#[test]
fn millions_of_distinct_names() {
    let dir = TestDir::new();
    let mut wide = "item,ann,truth\n".to_owned();
    let mut long = "item,worker,answer\n".to_owned();
    for row in 0..1_500_000 {
        let _ = writeln!(wide, "a rather long item {row},label {row},cat");
        let _ = writeln!(long, "a rather long item {row},worker {row},answer {row}");
    }
    dir.write("wide", &wide);
    dir.write("long", &long);
    refused(
        &dir,
        &format!("fit wide --id item {FIT}"),
        "wide: line 65537: expected at most 65535 distinct labels",
    );
    dir.write("gold", "item,ann,truth\n1,cat,cat\n2,dog,dog\n");
    let memory = "bytes of memory, found a need of about";
    refused(&dir, "fit long --long item,worker,answer --method majority -o m.spocc", memory);
    refused(&dir, "fit gold --gold wide --id item --label ann --ignore truth -o m.spocc", memory);
    dir.done("fit gold --label truth --id item -o panel.spocc");
    refused(&dir, "predict panel.spocc long --long item,worker,answer", memory);
    done(&dir, "inspect wide");
    let ids: Vec<String> = (0..200_000).map(|row| format!("a rather long item {row},cat,cat\n")).collect();
    dir.write("ids", format!("item,ann,truth\n{}", ids.concat()));
    let options = "--unlabelled gold --id item --label truth --no-evaluate -o m.spocc";
    refused(
        &dir,
        &format!("fit ids {options} --memory 16M"),
        "ids: the ids of the rows: expected at most 16777216",
    );
}

#[test]
fn counts_that_do_not_add_up() {
    let dir = TestDir::new();
    let row = format!("cat,cat,{}\n", u64::MAX);
    dir.write("counts", format!("ann,truth,n\n{row}{row}"));
    refused(&dir, "fit counts --label truth --count n -o m.spocc", "counts");
    dir.write("counts", format!("ann,truth,n\ncat,cat,{}0\n", u64::MAX));
    refused(&dir, "fit counts --label truth --count n -o m.spocc", "line 2: expected a whole count from 0");
    dir.write("weights", "ann,truth,w\ncat,cat,1e308\ncat,cat,1e308\n");
    refused(&dir, "fit weights --label truth --weight w -o m.spocc", "weights");
}

#[test]
fn many_files() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.path("parts")).expect("a fresh name");
    (0..2000).for_each(|at| dir.write(&format!("parts/{at}"), "ann,truth\ncat,cat\n"));
    done(&dir, &format!("fit parts {FIT}"));
}

/// Each file of columns, and what is in the message that refuses it.
#[cfg(feature = "arrow")]
const COLUMN_FILES: [(&str, &str); 14] = [
    ("runs.parquet", EXPANDED),
    ("page-size.parquet", "found 2147483647 bytes to unpack at a time"),
    ("dictionary.parquet", "a dictionary has more values than bytes"),
    ("gzip.parquet", "found 167772326 bytes to unpack at a time"),
    ("long-text.parquet", EXPANDED),
    ("prefixes.parquet", "the texts of the labels: expected at most 268435456 bytes of memory"),
    ("lengths.parquet", "bytes to unpack at a time, of which 134217728 are allowed"),
    ("zstd.arrows", "bytes to unpack at a time, of which 134217728 are allowed"),
    ("claim.arrows", "found 4611686018427392127 bytes to unpack at a time"),
    ("nulls.arrows", EXPANDED),
    ("null-dictionary.arrows", "found 17592186044416 bytes to unpack at a time"),
    ("views.arrows", EXPANDED),
    ("batches.arrow", EXPANDED),
    ("nested.arrows", "a damaged one: nested table depth limit reached"),
];

#[cfg(feature = "arrow")]
const EXPANDED: &str = "expected columns that unpack to at most 1024 times the size of the file, found more";

#[cfg(feature = "arrow")]
#[test]
fn files_of_columns() {
    let dir = TestDir::new();
    for (name, message) in COLUMN_FILES {
        let path = format!("{}/../../testdata/bombs/{name}", env!("CARGO_MANIFEST_DIR"));
        refused(&dir, &format!("fit {path} {FIT}"), message);
    }
}
