//! Generators of panels and crowds, and timing, shared by the criterion benches and the `spocc-bench` command.

mod panel;
mod crowd;
mod timing;

pub use crowd::CrowdShape;
pub use panel::{BenchLabelId, Ease, PanelShape};
pub use timing::{Timing, measure, peak_memory};
