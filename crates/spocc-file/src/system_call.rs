//! The calls by which a file is replaced, each of which a test can make fail.

use std::io;

/// A call of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    OpenDirectory,
    ProbeMode,
    Create,
    Write,
    Flush,
    SetMode,
    Sync,
    Rename,
    SyncDirectory,
}

impl SystemCall {
    /// Makes the call.
    #[cfg_attr(not(test), allow(clippy::unused_self))]
    pub(crate) fn run<T>(self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        #[cfg(test)]
        faults::inject(self)?;
        call()
    }
}

/// Errors that a test injects into the calls of its own thread.
#[cfg(test)]
pub(crate) mod faults {
    use std::{cell::RefCell, io};

    use super::SystemCall;

    #[derive(Default)]
    struct Faults {
        /// The calls so far.
        made: Vec<SystemCall>,
        /// Which call fails, from 0, and how.
        failing: Option<(usize, io::ErrorKind)>,
    }

    thread_local! {
        static FAULTS: RefCell<Faults> = RefCell::default();
    }

    pub(super) fn inject(call: SystemCall) -> io::Result<()> {
        FAULTS.with_borrow_mut(|faults| {
            let number = faults.made.len();
            faults.made.push(call);
            match faults.failing {
                Some((failing, kind)) if failing == number => Err(kind.into()),
                _ => Ok(()),
            }
        })
    }

    /// Runs `work`, in which the call of number `failing` fails; returns its result and the calls it made.
    pub(crate) fn run<T>(
        failing: Option<(usize, io::ErrorKind)>,
        work: impl FnOnce() -> T,
    ) -> (T, Vec<SystemCall>) {
        FAULTS.set(Faults { failing, ..Faults::default() });
        let done = work();
        (done, FAULTS.take().made)
    }
}
