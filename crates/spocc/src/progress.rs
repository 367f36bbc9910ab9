//! Control of long computations: progress reports, cancellation and a memory limit.

use std::ops::ControlFlow;

use crate::Error;

/// The progress of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done, in a word or two.
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all, as far as is known.
    pub total: u64,
}

type Callback<'a> = &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync);

/// A progress callback, which may also cancel, and a memory limit.
///
/// ```
/// use std::ops::ControlFlow;
/// use spocc::Control;
/// let default = Control::default();
/// let reporting = Control::new(&|at| { eprintln!("{} {}/{}", at.stage, at.done, at.total); ControlFlow::Continue(()) })
///     .with_memory_limit(1 << 30);
/// # let _ = (default, reporting);
/// ```
#[derive(Clone, Copy)]
pub struct Control<'a> {
    callback: Option<Callback<'a>>,
    memory_limit: u64,
}

impl Default for Control<'_> {
    /// No callback, and a memory limit of 4 GiB.
    fn default() -> Self {
        Self { callback: None, memory_limit: 4 << 30 }
    }
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Control").field("memory_limit", &self.memory_limit).finish_non_exhaustive()
    }
}

impl<'a> Control<'a> {
    /// Calls `callback` after each unit of work; `Break` ends the computation with [`Error::Cancelled`].
    pub fn new(callback: Callback<'a>) -> Self {
        Self { callback: Some(callback), ..Self::default() }
    }

    /// Refuses any table that would need more than `bytes` bytes, before it is allocated or while it grows.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// The memory limit in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.memory_limit
    }

    pub(crate) fn report(&self, stage: &'static str, done: usize, total: usize) -> Result<(), Error> {
        let at = Progress { stage, done: done as u64, total: total as u64 };
        match self.callback.map(|callback| callback(at)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }

    /// Refuses a table of `factors` multiplied bytes if that is over the limit.
    pub(crate) fn allow(&self, what: impl FnOnce() -> String, factors: &[usize]) -> Result<(), Error> {
        let needed = factors.iter().fold(1u64, |product, factor| product.saturating_mul(*factor as u64));
        if needed <= self.memory_limit {
            return Ok(());
        }
        Err(Error::MemoryLimit { what: what(), needed, limit: self.memory_limit })
    }
}
