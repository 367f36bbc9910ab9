//! The part file: the new content beside its target, until it is renamed to it.

use std::{
    fs::{self, File, Permissions, TryLockError},
    io::{self, Write},
    path::Path,
};

use tempfile::{Builder, NamedTempFile};

use crate::{Error, FileTarget, system_call::SystemCall};

/// Random characters at the end of a part file's name.
const RANDOM: usize = 12;

/// A file being written, removed when dropped.
#[derive(Debug)]
pub struct PartFile {
    file: NamedTempFile,
    target: FileTarget,
    /// The mode of the target, if nobody changes it meanwhile.
    mode: Permissions,
    /// None where it may be written to but not read.
    directory: Option<File>,
}

/// A complete file that has not yet replaced its target; removed when dropped.
#[derive(Debug)]
pub struct FinishedFile(PartFile);

impl PartFile {
    /// Creates the part file, readable by its owner alone, after removing those that killed writers have left.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn create(target: &FileTarget) -> Result<Self, Error> {
        let target = target.clone();
        let prefix = prefix(&target.path);
        remove_abandoned(&target.directory, &prefix);
        let directory = open_directory(&target.directory)?;
        let mode = match fs::metadata(&target.path) {
            Ok(found) => found.permissions(),
            Err(_) => mode_of_new_files(&target.directory, &prefix)?,
        };
        loop {
            let create = || create_in(&target.directory, &prefix, 0o600);
            let file = SystemCall::Create.run(create)?;
            // Where there are no locks, nobody can remove it either.
            let in_use = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
            // Another writer may take a file without a lock for an abandoned one.
            if !in_use && file.path().exists() {
                return Ok(Self { file, target, mode, directory });
            }
        }
    }

    /// The path of the part file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Completes the file: its final mode is that of the old file, or that of any new file, and it is synced.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn finish(self) -> Result<FinishedFile, Error> {
        let file = self.file.as_file();
        let mode =
            fs::metadata(&self.target.path).map_or_else(|_| self.mode.clone(), |old| old.permissions());
        // A file system without modes refuses to set one.
        if file.metadata()?.permissions() != mode {
            SystemCall::SetMode.run(|| file.set_permissions(mode))?;
        }
        SystemCall::Sync.run(|| file.sync_all())?;
        Ok(FinishedFile(self))
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        SystemCall::Write.run(|| self.file.as_file_mut().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        SystemCall::Flush.run(|| self.file.as_file_mut().flush())
    }
}

impl FinishedFile {
    /// Renames the part file to its target and syncs the directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], with the old file as it was; [`Error::Refused`] if the new file is in place but may be lost when
    /// the machine fails, because the directory cannot be synced.
    pub fn replace(self) -> Result<(), Error> {
        let PartFile { file, target, directory, .. } = self.0;
        SystemCall::Rename.run(|| file.persist(&target.path).map_err(|error| error.error))?;
        let Some(directory) = directory else { return Ok(()) };
        match SystemCall::SyncDirectory.run(|| directory.sync_all()) {
            // Not every file system can.
            Err(error)
                if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                let expected = "to sync the directory of the new file, which is in place";
                Err(Error::refused(error.kind(), expected, error.to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// The start of the names of a target's part files. A long name is shortened, because names have a limit; targets that
/// then share a start may remove each other's abandoned files.
fn prefix(target: &Path) -> String {
    const LONGEST: usize = 48;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".spocc-{}-", name.chars().take(LONGEST).collect::<String>())
}

/// Removes the part files without a lock: their writers were killed. What cannot be removed stays.
fn remove_abandoned(directory: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let is_part = |name: &str| {
        let random = name.strip_prefix(prefix).unwrap_or_default();
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    for entry in entries.flatten() {
        let is_file = || entry.file_type().is_ok_and(|found| found.is_file());
        if !is_part(&entry.file_name().to_string_lossy()) || !is_file() {
            continue;
        }
        if let Ok(file) = File::options().read(true).write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            // Removed while locked, so that its writer, if it is about to lock it, sees that.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Opens a directory, to sync it later.
fn open_directory(directory: &Path) -> io::Result<Option<File>> {
    if cfg!(not(unix)) {
        return Ok(None);
    }
    match SystemCall::OpenDirectory.run(|| File::open(directory)) {
        Ok(directory) => Ok(Some(directory)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

/// The mode that a new file gets in a directory, which depends on the umask and on access control lists: that of an empty
/// file, removed at once.
fn mode_of_new_files(directory: &Path, prefix: &str) -> io::Result<Permissions> {
    let probe = SystemCall::ProbeMode.run(|| create_in(directory, prefix, 0o666))?;
    Ok(probe.as_file().metadata()?.permissions())
}

/// Creates a file with this mode, as far as the umask allows. Unlike those of the library, its errors name no path.
#[cfg_attr(not(unix), allow(unused_variables))]
fn create_in(directory: &Path, prefix: &str, mode: u32) -> io::Result<NamedTempFile> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    Builder::new().prefix(prefix).rand_bytes(RANDOM).make_in(directory, |path| options.open(path))
}
