//! Stripping a message down to what its author wrote: no headers, no footer, no quotes.
//!
//! The rules are those by which scikit-learn serves this dataset. They are rough, and some messages end up empty;
//! so they did for the paper.

/// Words that announce a quote, anywhere in a line.
const ANNOUNCING: [&[u8]; 5] = [b"writes in", b"writes:", b"wrote:", b"says:", b"said:"];
/// What a quoted or announcing line starts with.
const QUOTING: [&[u8]; 4] = [b"In article", b"Quoted from", b"|", b">"];

/// What is left of a message without headers, footer and quotes.
pub(in super::super) fn strip(message: &[u8]) -> Vec<u8> {
    unquoted(without_footer(body(message)))
}

/// What follows the first empty line; nothing if there is none.
fn body(message: &[u8]) -> &[u8] {
    let end = message.windows(2).position(|pair| pair == b"\n\n");
    end.map_or(&[], |end| &message[end + 2..])
}

/// What comes before the last line that is blank or made of dashes; everything if that would leave nothing.
///
/// A message that ends without a signature loses its last paragraph this way, or the whole of a single one is kept.
fn without_footer(text: &[u8]) -> &[u8] {
    let trimmed = trim(text);
    let mut end = trimmed.len();
    while let Some(before) = trimmed[..end].iter().rposition(|&byte| byte == b'\n') {
        if is_rule(&trimmed[before + 1..end]) {
            return &trimmed[..before];
        }
        end = before;
    }
    text
}

/// Whether a line is blank or made of dashes.
fn is_rule(line: &[u8]) -> bool {
    trim(line).iter().all(|&byte| byte == b'-')
}

/// The lines that neither are quotes nor announce one.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').filter(|line| !is_quote(line)).collect();
    lines.join(&b'\n')
}

fn is_quote(line: &[u8]) -> bool {
    QUOTING.iter().any(|start| line.starts_with(start))
        || ANNOUNCING.iter().any(|words| line.windows(words.len()).any(|window| window == *words))
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|&byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Blanks and the separators of Latin-1, as Python counts them.
fn is_blank(byte: u8) -> bool {
    char::from(byte).is_whitespace() || (0x1c..=0x1f).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn leaves(message: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&strip(message.as_bytes())), expected);
    }

    #[test]
    fn headers_end_at_the_first_empty_line() {
        leaves("From: a\nSubject: b\n\nhello", "hello");
        leaves("From: a\nno body at all", "");
        leaves("", "");
    }

    #[test]
    fn a_footer_starts_at_the_last_blank_or_dashed_line() {
        leaves("h\n\ntext\n-- \nname\nplace\n", "text");
        leaves("h\n\none\n-----\ntwo\n \t\nname", "one\n-----\ntwo");
        leaves("h\n\ntext\n--x--\nname", "text\n--x--\nname");
    }

    #[test]
    fn a_single_paragraph_is_no_footer() {
        leaves("h\n\n\n  one\ntwo\n\n", "\n  one\ntwo\n\n");
        leaves("h\n\n---\nname", "---\nname");
    }

    #[test]
    fn quotes_and_their_announcements_go() {
        leaves("h\n\n> old\n| older\nIn article 5, b says\nnew\n >kept", "new\n >kept");
        leaves("h\n\na@b (A) writes:\nnew\nA. wrote: x\nas she said: no\nQuoted from here", "new");
        leaves("h\n\nIt writes in ink\nit said so\nsee: In article", "it said so\nsee: In article");
    }

    #[test]
    fn the_footer_goes_before_the_quotes() {
        leaves("h\n\nmine\n\n> theirs", "mine");
    }
}
