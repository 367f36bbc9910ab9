//! Elementary functions that give the same bits on every machine.
//!
//! Those of the standard library call the system's, which may differ in the last digit from machine to machine, so that
//! the same evidence would give different model files. `clippy.toml` forbids them.

pub(crate) use libm::{exp, expm1 as exp_m1, lgamma as ln_gamma, log as ln, log1p as ln_1p, log2, pow};
