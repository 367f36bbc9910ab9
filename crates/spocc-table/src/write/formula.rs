//! Cells of CSV that a spreadsheet would take for formulas.

use std::borrow::Cow;

/// A cell that no spreadsheet takes for a formula: with an apostrophe before it if it starts, perhaps after apostrophes,
/// with `=`, `+`, `-`, `@`, a tab or a carriage return. Numbers stay as they are.
///
/// Without the first of its apostrophes, a cell that starts with apostrophes and such a character is as it was.
pub(super) fn protected(cell: &str) -> Cow<'_, str> {
    let starts_formula = cell.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r']);
    if starts_formula && !is_number(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// Whether a cell is a decimal number. Words that Rust parses, such as `-inf`, are formulas to a spreadsheet.
fn is_number(cell: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    cell.bytes().all(is_digit) && cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The cell before [`protected`].
    fn unprotected(cell: &str) -> &str {
        let inner = cell.trim_start_matches('\'');
        let is_protected = cell.len() > inner.len() && inner.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if is_protected { &cell[1..] } else { cell }
    }

    #[test]
    fn formulas_get_an_apostrophe() {
        for formula in [
            "=1+2",
            "+cmd|' /C calc'!A0",
            "-2+3",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "-",
            "-inf",
            "+nan",
            "-3-4",
            "-1e",
            "'=1",
            "''-3",
        ] {
            assert_eq!(protected(formula), format!("'{formula}"));
        }
    }

    #[test]
    fn other_cells_stay_as_they_are() {
        for cell in
            ["", "cat", "a=1", "'", "'cat'", " =1", "-3", "+1.5", "-1e-5", "-.5", "+5.", "-1E+300", "3"]
        {
            assert_eq!(protected(cell), cell);
        }
    }

    proptest! {
        #[test]
        fn protection_is_reversible(cell in "[-'=+@\\t\\r0-9.eEa-c ]{0,8}|.{0,12}") {
            let written = protected(&cell);
            prop_assert_eq!(unprotected(&written), &cell);
            prop_assert!(is_number(&written) || !written.starts_with(['=', '+', '-', '@', '\t', '\r']));
        }

        #[test]
        fn numbers_are_never_changed(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO, n: i64) {
            let written = [format!("{number:?}"), format!("{number:e}"), format!("{number:+}"), format!("{n:+}")];
            for text in written {
                prop_assert_eq!(protected(&text), text.as_str());
            }
        }
    }
}
