//! What every measurement of spocc is made with: one generator of panels, one of crowds, one clock.
//!
//! The criterion benches and the `spocc-bench` command share these, so that their figures are of the same rows.

mod panel;
mod crowd;
mod clock;

pub use clock::{Timing, measure, peak_memory};
pub use crowd::Crowd;
pub use panel::{Ease, Id, Shape};
