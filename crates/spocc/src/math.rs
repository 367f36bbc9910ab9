//! Elementary functions that give the same bits on every machine.
//!
//! Those of the standard library are the system's, which picks them by the processor and may differ in the last
//! place; one last place is enough to make two files of the same model differ. `clippy.toml` keeps them out.

pub(crate) use libm::{exp, expm1 as exp_m1, lgamma as ln_gamma, log as ln, log1p as ln_1p, log2, pow};
