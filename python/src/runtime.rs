//! Runs engine calls without holding the interpreter: other Python threads run meanwhile, Ctrl-C cancels the call,
//! and a callback receives its progress.

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

use crate::error::BindingError;

/// Interval at which the calling thread checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Memory limit and progress callback of a call.
#[derive(Default)]
pub(crate) struct RunSettings {
    /// Bytes that any one table may need; the engine's default if none.
    pub(crate) memory: Option<u64>,
    /// Called with the stage, the units done and the total number of units.
    pub(crate) progress: Option<Py<PyAny>>,
}

/// Whether a call is cancelled, and its progress.
#[derive(Default)]
pub(crate) struct Interrupt {
    is_cancelled: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

impl Interrupt {
    /// Fails with [`spocc::Error::Cancelled`] once the call is cancelled.
    pub(crate) fn check(&self) -> Result<(), BindingError> {
        if self.is_cancelled.load(Ordering::Relaxed) { Err(spocc::Error::Cancelled.into()) } else { Ok(()) }
    }

    fn record(&self, progress: Progress) -> ControlFlow<()> {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if self.is_cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Runs Python's signal handlers and reports the latest progress to the callback.
    fn poll(&self, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        Python::attach(|py| {
            py.check_signals()?;
            if let (Some(callback), Some(progress)) = (callback, progress) {
                callback.call1(py, (progress.stage, progress.done, progress.total))?;
            }
            Ok(())
        })
    }
}

/// Runs `job` on a thread pool of this module while the calling thread waits without holding the interpreter.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    settings: &RunSettings,
    job: impl FnOnce(&Control<'_>, &Interrupt) -> Result<T, BindingError> + Send,
) -> Result<T, BindingError> {
    let interrupt = Interrupt::default();
    let record = |progress: Progress| interrupt.record(progress);
    let mut control = Control::new(&record);
    if let Some(bytes) = settings.memory {
        control = control.with_memory_limit(bytes);
    }
    let callback = settings.progress.as_ref();
    py.detach(|| {
        let (sender, receiver) = channel();
        with_pool(ALL, |pool| {
            pool.in_place_scope(|scope| {
                let (control, interrupt) = (&control, &interrupt);
                scope.spawn(move |_| {
                    // The receiver lives until the result arrives.
                    let _ = sender.send(guard(|| job(control, interrupt)));
                });
                let mut cancelled_by = None;
                loop {
                    match receiver.recv_timeout(SIGNAL_INTERVAL) {
                        Ok(result) => {
                            return cancelled_by.map_or(result, |error| Err(BindingError::Python(error)));
                        }
                        Err(RecvTimeoutError::Timeout) => {
                            if let Err(error) = interrupt.poll(callback) {
                                interrupt.is_cancelled.store(true, Ordering::Relaxed);
                                cancelled_by.get_or_insert(error);
                            }
                        }
                        Err(RecvTimeoutError::Disconnected) => {
                            return Err(BindingError::Panic(
                                "the worker thread ended without a result".into(),
                            ));
                        }
                    }
                }
            })
        })
    })
}

/// Runs a short `job` on one thread, without holding the interpreter, signal checks or progress.
pub(crate) fn run_here<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&Control<'_>, &Interrupt) -> Result<T, BindingError> + Send,
) -> Result<T, BindingError> {
    py.detach(|| {
        with_pool(ONE, |pool| pool.install(|| guard(|| job(&Control::default(), &Interrupt::default()))))
    })
}

/// Turns a panic into an error.
pub(crate) fn guard<T>(job: impl FnOnce() -> Result<T, BindingError>) -> Result<T, BindingError> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| Err(BindingError::Panic(text_of(&*panic))))
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Number of threads of a pool, in rayon's convention: 0 means one per core.
const ALL: usize = 0;
const ONE: usize = 1;
/// Idle pools kept of each size; a pool beyond that number ends with its call.
const MAX_IDLE: usize = 4;

/// Idle pools by number of threads, and the id of the process that created them.
static IDLE: Mutex<(u32, [Vec<ThreadPool>; 2])> = Mutex::new((0, [Vec::new(), Vec::new()]));

/// Runs `job` with a pool that no other call uses, so that short calls never wait for long ones.
fn with_pool<T>(
    threads: usize,
    job: impl FnOnce(&ThreadPool) -> Result<T, BindingError>,
) -> Result<T, BindingError> {
    let found = idle(|pools| pools[threads].pop());
    let pool = match found {
        Some(pool) => pool,
        None => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("spocc-{at}"))
            .build()
            .map_err(|error| BindingError::Panic(error.to_string()))?,
    };
    let result = job(&pool);
    // A surplus pool is dropped after the lock is released.
    let _surplus = idle(|pools| {
        if pools[threads].len() == MAX_IDLE {
            return Some(pool);
        }
        pools[threads].push(pool);
        None
    });
    result
}

/// Gives `access` the idle pools of this process. A forked child has no threads of its parent, so it starts with none.
fn idle<T>(access: impl FnOnce(&mut [Vec<ThreadPool>; 2]) -> T) -> T {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if idle.0 != process {
        // The parent's pools must not be dropped here: dropping waits for threads that do not exist in a child.
        std::mem::forget(std::mem::replace(&mut *idle, (process, Default::default())));
    }
    access(&mut idle.1)
}
