//! Progress of long work: a bar on standard error, only on a terminal and only after a second.

use std::{
    ops::ControlFlow,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spocc::{Control, progress::Progress};

/// Work shorter than this shows no bar.
const DELAY: Duration = Duration::from_secs(1);

/// The only bar of the process.
static METER: LazyLock<Meter> = LazyLock::new(Meter::new);

struct Meter {
    started: Instant,
    bar: ProgressBar,
    stage: Mutex<&'static str>,
}

impl Meter {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        Self { started: Instant::now(), bar, stage: Mutex::new("") }
    }

    fn show(&self, stage: &'static str, done: u64, total: Option<u64>) {
        if self.started.elapsed() < DELAY {
            return;
        }
        let mut known = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            // Draws nothing if standard error is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if *known != stage {
            *known = stage;
            self.bar.set_style(style(total.is_some()));
            self.bar.set_message(stage);
            self.bar.reset_eta();
        }
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }
}

fn style(with_total: bool) -> ProgressStyle {
    let template = if with_total {
        "{msg} {wide_bar} {percent:>3} % {elapsed}"
    } else {
        "{msg} {human_pos} {elapsed} {spinner}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Starts the clock.
pub(crate) fn start() {
    LazyLock::force(&METER);
}

/// Shows how much of a stage is done; the total may be unknown.
pub(crate) fn show(stage: &'static str, done: u64, total: Option<u64>) {
    METER.show(stage, done, total);
}

/// Shows how much of a file is read; its size may be unknown.
pub(crate) fn show_reading(done: u64, total: Option<u64>) {
    show("reading", done, total);
}

/// Removes the bar, so that lines can be printed.
pub(crate) fn clear() {
    METER.bar.finish_and_clear();
}

/// A control that shows the engine's progress and limits the memory of its tables.
pub(crate) fn control(memory: u64) -> Control<'static> {
    fn report(at: Progress) -> ControlFlow<()> {
        show(at.stage, at.done, Some(at.total));
        ControlFlow::Continue(())
    }
    Control::new(&report).with_memory_limit(memory)
}
