//! Interruption: what is half-written goes, and the exit code tells which signal it was.

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Cleans up when the command is told to end.
///
/// A signal that is ignored stays ignored, so that `nohup` does what it says.
#[cfg(unix)]
pub(crate) fn clean_up_when_told_to_end() {
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Fails only if the system has no more room for handlers; then nothing is lost but the cleaning up.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::output::abandon();
            crate::progress::clear();
            std::process::exit(128 + signal);
        }
    });
}

/// The ignored signals as bits, as Linux tells them; other systems tell nobody without unsafe code.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Elsewhere a command that is killed may leave its temporary file.
#[cfg(not(unix))]
pub(crate) fn clean_up_when_told_to_end() {}
