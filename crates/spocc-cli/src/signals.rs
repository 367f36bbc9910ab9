//! Signals: an interrupted command removes its partial output and exits with 128 plus the signal number.

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// Removes the partial output file if the process receives SIGINT, SIGTERM or SIGHUP, then exits.
///
/// Signals that the parent process ignores stay ignored, so that `nohup` works.
/// A file that exceeds a limit on its size is an error of its writer, so that signal has no other effect.
#[cfg(unix)]
pub(crate) fn remove_partial_output_on_signal() {
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let ignored = ignored();
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without handlers the command still works; only the removal of partial output is lost.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::output::remove_partial();
            crate::progress::clear();
            std::process::exit(128 + signal);
        }
    });
}

/// The ignored signals as a bit mask, read from /proc on Linux; zero elsewhere.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Does nothing: on this system an interrupted command may leave its temporary file.
#[cfg(not(unix))]
pub(crate) fn remove_partial_output_on_signal() {}
