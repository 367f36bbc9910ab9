//! Panics of other libraries on files that are not what they say.
//!
//! arrow 59 and parquet 59 meet some damage with a panic: a type in a schema that they do not know, a bit
//! mask shorter than its column. A file must not bring the command down, so reading runs under guard. This
//! needs panics that unwind.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use super::Fault;

thread_local! {
    /// Whether a panic on this thread is caught, and none of the user's business.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Reads; a panic is damage.
pub(super) fn guard<T>(read: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    // What a panic leaves behind is not read again: its owner gives up.
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(before);
    outcome.unwrap_or_else(|panic| Err(Fault::damaged(&format!("it contradicts itself: {}", words(&*panic)))))
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_damage() {
        let outcome: Result<(), _> = guard(|| panic!("Unexpected\nunion"));
        assert_eq!(
            outcome.expect_err("damage").to_string(),
            "damaged: it contradicts itself: Unexpected union"
        );
        assert_eq!(guard(|| Ok(7)).expect("no panic"), 7);
    }
}
