//! Long work away from the interpreter: other Python threads run, Ctrl-C stops it, a bar may show how far it is.

use std::{
    any::Any,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pyo3::prelude::*;
use rayon::ThreadPool;
use spocc::{Control, progress::Progress};

use crate::error::Fault;

/// How often a waiting thread looks for signals.
const PULSE: Duration = Duration::from_millis(20);

/// What a caller asks of long work.
#[derive(Default)]
pub(crate) struct Terms {
    /// Bytes that any one table may need.
    pub(crate) memory: Option<u64>,
    /// Called with a stage, units done and units in all.
    pub(crate) progress: Option<Py<PyAny>>,
}

/// Whether work was asked to stop, and how far it is.
#[derive(Default)]
pub(crate) struct Signal {
    stopped: AtomicBool,
    at: Mutex<Option<Progress>>,
}

impl Signal {
    /// Refuses to go on once the caller is no longer interested.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.stopped.load(Ordering::Relaxed) { Err(spocc::Error::Cancelled.into()) } else { Ok(()) }
    }

    fn note(&self, at: Progress) -> ControlFlow<()> {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
        if self.stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Hands Python's signals and the progress to whom they concern.
    fn pulse(&self, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner).take();
        Python::attach(|py| {
            py.check_signals()?;
            if let (Some(callback), Some(at)) = (progress, at) {
                callback.call1(py, (at.stage, at.done, at.total))?;
            }
            Ok(())
        })
    }
}

/// Does `job` on threads of our own while this one waits without the interpreter.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    terms: &Terms,
    job: impl FnOnce(&Control<'_>, &Signal) -> Result<T, Fault> + Send,
) -> Result<T, Fault> {
    let signal = Signal::default();
    let note = |at: Progress| signal.note(at);
    let mut control = Control::new(&note);
    if let Some(bytes) = terms.memory {
        control = control.with_memory_limit(bytes);
    }
    let progress = terms.progress.as_ref();
    py.detach(|| {
        let (done, outcome) = channel();
        with_pool(ALL, |pool| {
            pool.in_place_scope(|scope| {
                let (control, signal) = (&control, &signal);
                scope.spawn(move |_| {
                    // Whoever waits is there until this is received.
                    let _ = done.send(guard(|| job(control, signal)));
                });
                let mut stopped = None;
                loop {
                    match outcome.recv_timeout(PULSE) {
                        Ok(result) => return stopped.map_or(result, |error| Err(Fault::Python(error))),
                        Err(RecvTimeoutError::Timeout) => {
                            if let Err(error) = signal.pulse(progress) {
                                signal.stopped.store(true, Ordering::Relaxed);
                                stopped.get_or_insert(error);
                            }
                        }
                        Err(RecvTimeoutError::Disconnected) => {
                            return Err(Fault::Panic("work was lost".into()));
                        }
                    }
                }
            })
        })
    })
}

/// Does `job` without the interpreter and without looking up from it; for what is done in an instant.
pub(crate) fn run_here<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&Control<'_>, &Signal) -> Result<T, Fault> + Send,
) -> Result<T, Fault> {
    py.detach(|| {
        with_pool(ONE, |pool| pool.install(|| guard(|| job(&Control::default(), &Signal::default()))))
    })
}

/// Turns a panic into an error.
pub(crate) fn guard<T>(job: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| Err(Fault::Panic(text_of(&*panic))))
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Threads of a pool, as rayon counts them: 0 are as many as there are cores.
const ALL: usize = 0;
const ONE: usize = 1;
/// Idle pools of a kind that are kept; more calls at once make pools that end with them.
const KEPT: usize = 4;

/// Pools that nobody uses, by their threads, and the process that made them.
static IDLE: Mutex<(u32, [Vec<ThreadPool>; 2])> = Mutex::new((0, [Vec::new(), Vec::new()]));

/// Does `job` with a pool that nobody else uses meanwhile: what is short never waits for what is long.
fn with_pool<T>(threads: usize, job: impl FnOnce(&ThreadPool) -> Result<T, Fault>) -> Result<T, Fault> {
    let found = idle(|pools| pools[threads].pop());
    let pool = match found {
        Some(pool) => pool,
        None => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("spocc-{at}"))
            .build()
            .map_err(|error| Fault::Panic(error.to_string()))?,
    };
    let result = job(&pool);
    // One too many ends outside of the lock.
    let _spare = idle(|pools| {
        if pools[threads].len() == KEPT {
            return Some(pool);
        }
        pools[threads].push(pool);
        None
    });
    result
}

/// Looks at the idle pools of this process. A forked child has no thread of its parent's, so it begins anew.
fn idle<T>(look: impl FnOnce(&mut [Vec<ThreadPool>; 2]) -> T) -> T {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if idle.0 != process {
        // A parent's pools must not be dropped here: that would wait for threads that do not exist.
        std::mem::forget(std::mem::replace(&mut *idle, (process, Default::default())));
    }
    look(&mut idle.1)
}
