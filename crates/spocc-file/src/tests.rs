//! An error at every call of the writer, part files of other writers, and what a path names.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
};

use tempfile::TempDir;

use crate::{
    Error, PartFile, Target,
    system_call::{SystemCall, faults},
    write,
};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn names(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path()).expect("a directory").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

fn part_of(path: &Path) -> PartFile {
    let Ok(Target::File(target)) = Target::new(path) else { panic!("a file to replace") };
    PartFile::create(&target).expect("a writable directory")
}

/// A part file as a killed writer leaves it: with its content and without a lock.
fn abandon(path: &Path) -> PathBuf {
    let part = part_of(path);
    let left = part.path().to_owned();
    drop(part);
    fs::write(&left, "half").expect("disk space");
    left
}

/// Writes in several pieces, as a table is written.
fn write_pieces(path: &Path) -> Result<(), Error> {
    let Target::File(target) = Target::new(path)? else { panic!("a file to replace") };
    let mut part = PartFile::create(&target)?;
    for piece in ["n", "e", "w"] {
        part.write_all(piece.as_bytes())?;
    }
    part.flush()?;
    part.finish()?.replace()
}

#[test]
fn an_error_at_any_call_leaves_a_complete_file_and_no_part_file() {
    use SystemCall::{Create, Flush, OpenDirectory, ProbeMode, Rename, SetMode, Sync, SyncDirectory, Write};
    let of_old =
        vec![OpenDirectory, Create, Write, Write, Write, Flush, SetMode, Sync, Rename, SyncDirectory];
    let of_new = [&of_old[..1], &[ProbeMode], &of_old[1..]].concat();
    for (old, calls) in [(Some("old"), of_old), (None, of_new)] {
        let directory = directory();
        let path = directory.path().join("m.spocc");
        let reset = || match old {
            Some(old) => fs::write(&path, old).expect("disk space"),
            None => drop(fs::remove_file(&path)),
        };
        reset();
        let (done, made) = faults::run(None, || write_pieces(&path));
        assert!(done.is_ok());
        assert_eq!(made, calls);
        for (number, call) in calls.iter().enumerate() {
            for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
                reset();
                let (done, made) = faults::run(Some((number, kind)), || write_pieces(&path));
                let message = done.expect_err("a call fails").to_string();
                assert_eq!((message.lines().count(), made.last()), (1, Some(call)), "{message}");
                let is_replaced = *call == SyncDirectory;
                assert_eq!(message.contains("which is in place"), is_replaced, "{message}");
                let expected = if is_replaced { Some("new") } else { old };
                assert_eq!(fs::read_to_string(&path).ok().as_deref(), expected, "{call:?}");
                assert_eq!(names(&directory).len(), usize::from(expected.is_some()), "{call:?}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_or_synced_can_be_written() {
    let directory = directory();
    let path = directory.path().join("m.spocc");
    for (number, kind) in [
        (0, io::ErrorKind::PermissionDenied),
        (9, io::ErrorKind::InvalidInput),
        (9, io::ErrorKind::Unsupported),
    ] {
        fs::write(&path, "old").expect("disk space");
        let (done, _) = faults::run(Some((number, kind)), || write_pieces(&path));
        assert!(done.is_ok(), "{number}: {kind}");
        assert_eq!(fs::read(&path).expect("a file"), b"new");
    }
}

#[test]
fn part_files_of_killed_writers_are_removed_and_those_in_use_stay() {
    let directory = directory();
    let path = directory.path().join("m.spocc");
    let left = [(); 3].map(|()| abandon(&path));
    let mut live = part_of(&path);
    live.write_all(b"live").expect("disk space");
    assert!(left.iter().all(|left| !left.exists()), "{:?}", names(&directory));
    let others = [abandon(&directory.path().join("m")), abandon(&directory.path().join("m.spocc-x"))];
    let file = directory.path().join(".spocc-m.spocc-notes");
    fs::write(&file, "of the user").expect("disk space");

    write(&path, b"second").expect("a writable directory");
    assert_eq!(fs::read(&path).expect("a file"), b"second");
    assert!(file.exists() && others.iter().all(|other| other.exists()), "other files are left alone");
    live.finish().and_then(crate::FinishedFile::replace).expect("its part file is still there");
    assert_eq!(fs::read(&path).expect("a file"), b"live");
}

#[test]
fn writers_of_one_target_never_remove_the_part_files_of_each_other() {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 200;
    let directory = directory();
    let path = directory.path().join("m.spocc");
    let content = |writer: usize| vec![b'a' + writer as u8; 1000 + writer];
    write(&path, &content(0)).expect("a writable directory");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    write(path, &content(writer)).expect("nobody removes its part file");
                    let found = fs::read(path).expect("always there");
                    assert!((0..WRITERS).any(|writer| content(writer) == found), "a complete file");
                }
            });
        }
    });
    assert_eq!(names(&directory), ["m.spocc"]);
}

#[test]
fn a_name_of_any_length_and_script_can_be_written() {
    let directory = directory();
    for name in ["m".repeat(255), "ü".repeat(127), "-".to_owned(), "a b\n".to_owned()] {
        let path = directory.path().join(&name);
        let left = abandon(&path);
        write(&path, b"new").expect("a valid name");
        assert_eq!((fs::read(&path).expect("a file"), left.exists()), (b"new".to_vec(), false), "{name}");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::{
        fs::{FileTypeExt, PermissionsExt, symlink},
        net::UnixListener,
    };

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("a file").permissions().mode() & 0o7777
    }

    #[test]
    fn a_part_file_is_private_and_the_final_mode_that_of_the_old_file_or_of_new_files() {
        let directory = directory();
        let plain = directory.path().join("plain");
        fs::write(&plain, "").expect("disk space");
        let path = directory.path().join("m.spocc");
        for expected in [mode(&plain), 0o640, 0o606, 0o600] {
            if path.exists() {
                fs::set_permissions(&path, fs::Permissions::from_mode(expected)).expect("ours");
            }
            let part = part_of(&path);
            assert_eq!(mode(part.path()), 0o600);
            part.finish().and_then(crate::FinishedFile::replace).expect("a writable directory");
            assert_eq!(mode(&path), expected, "{expected:o}");
        }
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let directory = directory();
        let in_directory = |name: &str| directory.path().join(name);
        fs::create_dir(in_directory("models")).expect("a fresh name");
        symlink("models/m.spocc", in_directory("link")).expect("a fresh name");
        symlink("link", in_directory("chain")).expect("a fresh name");
        for content in ["dangling", "present"] {
            write(&in_directory("chain"), content.as_bytes()).expect("a writable directory");
            assert_eq!(fs::read_to_string(in_directory("models/m.spocc")).expect("a file"), content);
        }
        assert!(in_directory("link").is_symlink() && in_directory("chain").is_symlink());
        assert_eq!(names(&directory), ["chain", "link", "models"]);
        symlink("loop", in_directory("loop")).expect("a fresh name");
        assert!(matches!(write(&in_directory("loop"), b""), Err(Error::Io(_))));
        assert!(in_directory("loop").is_symlink());
    }

    #[test]
    fn the_type_of_a_file_decides_and_not_its_path() {
        let directory = directory();
        let named = |path: &str| Target::new(Path::new(path));
        for stream in ["/dev/null", "/dev/fd/2"] {
            assert!(matches!(named(stream), Ok(Target::Stream(_))), "{stream}");
        }
        for standard in ["/dev/stdout", "/dev/fd/1"] {
            assert!(matches!(named(standard), Ok(Target::StandardOutput)), "{standard}");
        }
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).expect("a short path");
        assert!(matches!(Target::new(&socket), Ok(Target::Stream(_))));
        let message = write(&socket, b"new").expect_err("nothing to open").to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        // A number is a descriptor only in the table of descriptors.
        for name in ["1", "2"] {
            assert!(matches!(Target::new(&directory.path().join(name)), Ok(Target::File(_))), "{name}");
        }
        let null = named("/dev/null").expect("a stream");
        assert!(!null.overwrites(Path::new("/dev/null")), "a device keeps nothing that could be lost");
    }

    #[test]
    fn a_read_only_file_is_refused_and_stays() {
        let directory = directory();
        let path = directory.path().join("m.spocc");
        fs::write(&path, "old").expect("disk space");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("ours");
        let message = write(&path, b"new").expect_err("a read-only file").to_string();
        assert_eq!(message, "expected a file with write permission, found a read-only file");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
    }

    #[test]
    fn a_block_device_is_refused() {
        let devices = fs::read_dir("/dev").expect("devices").flatten();
        let is_block = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|found| found.is_block_device());
        let Some(device) = devices.into_iter().find(is_block) else {
            eprintln!("skipped: no block device in /dev");
            return;
        };
        let message = Target::new(&device.path()).expect_err("a disk").to_string();
        assert_eq!(message, "expected a file to write, found a block device");
    }

    #[test]
    fn a_path_without_a_file_name_is_refused() {
        let directory = directory();
        let refused = |path: &str| write(Path::new(path), b"new").expect_err("nothing to write").to_string();
        assert_eq!(refused(""), "expected a file to write, found a path without a name");
        assert_eq!(refused("/"), "expected a file to write, found a directory");
        let missing = format!("{}/none/", directory.path().display());
        assert!(
            refused(&missing).starts_with("expected an existing directory to write to, found no directory")
        );
        assert_eq!(names(&directory), Vec::<String>::new());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_in_the_directory_of_devices_is_replaced() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
            eprintln!("skipped: no /dev/shm");
            return;
        };
        let path = directory.path().join("m.spocc");
        for content in ["first", "next"] {
            write(&path, content.as_bytes()).expect("a writable directory");
            assert_eq!(fs::read_to_string(&path).expect("a file"), content);
        }
        assert_eq!(names(&directory), ["m.spocc"]);
        let target = Target::new(&path).expect("a file");
        assert!(target.overwrites(&path) && !target.overwrites(directory.path()));
    }
}
