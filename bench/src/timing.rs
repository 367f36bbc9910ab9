//! Wall time, processor time and peak memory of a piece of work.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// Short work is repeated until this much time has passed, and at least `RUNS` times.
const ENOUGH: Duration = Duration::from_millis(300);
const RUNS: usize = 5;

/// Work is not repeated after this much time in total.
const LONG: Duration = Duration::from_secs(2);

/// What was measured, in seconds and bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// The shortest run, the one least disturbed by other programs.
    pub wall: f64,
    /// The median run.
    pub median: f64,
    /// Processor time of all threads in the shortest run.
    pub cpu: f64,
    /// Number of runs.
    pub runs: usize,
    /// Peak memory of the process during the runs, its data included.
    pub peak: u64,
}

impl Timing {
    /// The timing with the seconds of preceding work added to wall and processor time.
    #[must_use]
    pub fn after(self, seconds: f64) -> Self {
        Self { wall: self.wall + seconds, median: self.median + seconds, cpu: self.cpu + seconds, ..self }
    }
}

/// Runs work several times; dropping its result is not timed.
///
/// # Errors
///
/// Those of the work; it is then not repeated.
pub fn measure<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<Timing, E> {
    // Linux resets the peak on this write; elsewhere the peak is that of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let mut runs: Vec<(f64, f64)> = Vec::new();
    let begun = Instant::now();
    while runs.is_empty() || begun.elapsed() < LONG && (runs.len() < RUNS || begun.elapsed() < ENOUGH) {
        let (cpu, wall) = (processor_time(), Instant::now());
        let made = work();
        let seconds = wall.elapsed().as_secs_f64();
        runs.push((seconds, processor_time() - cpu));
        drop(made?);
    }
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(wall, cpu), (median, _)] = [runs[0], runs[runs.len() / 2]];
    Ok(Timing { wall, median, cpu, runs: runs.len(), peak: peak_memory() })
}

/// Seconds that all threads of this process have spent on a processor.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The peak memory of this process in bytes; 0 where the system does not report it.
pub fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_work_is_repeated_and_failing_work_is_not() {
        let mut runs = 0;
        let timing = measure(|| -> Result<(), ()> {
            runs += 1;
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        let timing = timing.expect("never fails");
        assert!(timing.runs == runs && runs >= RUNS && timing.wall >= 1e-3 && timing.median >= timing.wall);
        let mut runs = 0;
        let refused = measure(|| -> Result<(), ()> {
            runs += 1;
            Err(())
        });
        assert!(refused.is_err() && runs == 1);
    }
}
