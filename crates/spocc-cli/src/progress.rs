//! How far long work is: a bar on standard error, only on a terminal, only after a second.

use std::{
    ops::ControlFlow,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spocc::{Control, progress::Progress};

/// Scratch shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The one bar there is: a terminal has one last line.
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
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let mut known = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            // Draws nothing if standard error is no terminal.
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

/// So much of it is done; the total may not be known.
pub(crate) fn show(stage: &'static str, done: u64, total: Option<u64>) {
    METER.show(stage, done, total);
}

/// So much of a file is read; how much there is may not be known.
pub(crate) fn show_reading(done: u64, total: Option<u64>) {
    show("reading", done, total);
}

/// Takes the bar away, so that lines can be written.
pub(crate) fn clear() {
    METER.bar.finish_and_clear();
}

/// Lets the engine report here, and use so much memory for its tables.
pub(crate) fn control(memory: u64) -> Control<'static> {
    fn report(at: Progress) -> ControlFlow<()> {
        show(at.stage, at.done, Some(at.total));
        ControlFlow::Continue(())
    }
    Control::new(&report).with_memory_limit(memory)
}
