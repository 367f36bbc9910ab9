//! Turns panics of other libraries on damaged files into errors.
//!
//! arrow 59 and parquet 59 panic on some damage: an unknown type in a schema, a validity mask shorter than its column.
//! A file must not end the process, so reading catches panics. This needs panics that unwind.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use super::ColumnFileError;

thread_local! {
    /// Whether a panic on this thread is caught and must not be printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Calls a reader; a panic is reported as damage.
pub(super) fn catch_panic<T>(
    read: impl FnOnce() -> Result<T, ColumnFileError>,
) -> Result<T, ColumnFileError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !CATCHING.get() {
                default(panic);
            }
        }));
    });
    let before = CATCHING.replace(true);
    // After a panic the caller reads no more, so no broken state is seen.
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    CATCHING.set(before);
    outcome.unwrap_or_else(|panic| {
        Err(ColumnFileError::damaged(&format!("it contradicts itself: {}", message(&*panic))))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_damage() {
        let outcome: Result<(), _> = catch_panic(|| panic!("Unexpected\nunion"));
        assert_eq!(
            outcome.expect_err("damage").to_string(),
            "damaged: it contradicts itself: Unexpected union"
        );
        assert_eq!(catch_panic(|| Ok(7)).expect("no panic"), 7);
    }
}
