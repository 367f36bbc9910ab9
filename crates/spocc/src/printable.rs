//! Names and labels in reports and messages. They come from files that anybody may have written.

use std::borrow::Cow;

/// A text of one line in which every character is visible: control characters, line ends, overrides of the direction and
/// characters without width are escaped. Letters of all scripts and combining marks stay as they are.
///
/// ```
/// use spocc::printable;
///
/// assert_eq!(printable("café"), "café");
/// assert_eq!(printable("a\u{202e}b\x1b[2J"), r"a\u{202e}b\u{1b}[2J");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Whether a character controls the terminal, ends the line, has no width or changes the direction of others.
///
/// These are Unicode's categories `Cc`, `Zl` and `Zp`, its property `Default_Ignorable_Code_Point`, which holds all
/// directional controls, and the marks of interlinear annotations.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_scripts_stay_as_they_are() {
        for kept in [
            "",
            "plain",
            "naïve 日本 😀 \\ \"'`",
            "שלום",
            "مرحبا ٣",
            "हिन्दी",
            "ภาษาไทย",
            "e\u{301}",
            "a\u{a0}b",
        ] {
            assert!(matches!(printable(kept), Cow::Borrowed(text) if text == kept), "{kept}");
        }
    }

    #[test]
    fn hidden_characters_are_escaped() {
        let directions = ['\u{61c}', '\u{200e}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'];
        let widthless =
            ['\u{ad}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{3164}', '\u{fe0f}', '\u{feff}', '\u{e0041}'];
        let controls =
            ['\0', '\u{7}', '\u{8}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{2028}', '\u{2029}'];
        for hidden in directions.into_iter().chain(widthless).chain(controls) {
            let shown = printable(&format!("a{hidden}b")).into_owned();
            assert_eq!(shown, format!("a{}b", hidden.escape_unicode()));
            assert_eq!(printable(&shown), shown);
        }
        assert_eq!(printable("a\nb\rc\td"), r"a\nb\rc\td");
    }
}
