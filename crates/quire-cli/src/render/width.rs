//! How many columns of a terminal a text takes, and how to make it fit.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands for what was cut off.
pub const ELLIPSIS: char = '…';

/// Columns the text takes; East Asian wide characters and emoji take two.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Replaces what would move the cursor, break the line or turn the direction of writing by a
/// visible escape: `\n`, `\t`, `\x1b`, `\u{202e}`.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unprintable(character) {
            push_escape(character, &mut escaped);
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_escape(character: char, out: &mut String) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other if u32::from(other) < 0x100 => {
            let _ = write!(out, "\\x{:02x}", u32::from(other));
        }
        other => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(other));
        }
    }
}

/// Cuts the text to at most `width` columns; what is cut ends in `…`.
pub fn fit(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let mut used = 0;
    let mut cut = String::new();
    for character in text.chars() {
        let character_width = character.width().unwrap_or(0);
        if used + character_width > room {
            break;
        }
        used += character_width;
        cut.push(character);
    }
    cut.push(ELLIPSIS);
    Cow::Owned(cut)
}

/// Where a cell's text stands within its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    Left,
    Right,
}

/// Appends the text, filled up with spaces to `width` columns. The text must fit.
pub fn push_padded(text: &str, width: usize, alignment: Alignment, out: &mut String) {
    let padding = width.saturating_sub(display_width(text));
    if alignment == Alignment::Right {
        out.extend(std::iter::repeat_n(' ', padding));
    }
    out.push_str(text);
    if alignment == Alignment::Left {
        out.extend(std::iter::repeat_n(' ', padding));
    }
}

#[cfg(test)]
mod tests {
    use super::{Alignment, display_width, escape_controls, fit, push_padded};

    #[test]
    fn wide_characters_count_two() {
        assert_eq!(display_width("abc"), 3);
        assert_eq!(display_width("日本"), 4);
        assert_eq!(display_width("é"), 1);
        assert_eq!(display_width("e\u{301}"), 1);
    }

    #[test]
    fn controls_become_visible() {
        assert_eq!(escape_controls("plain é"), "plain é");
        assert_eq!(escape_controls("a\nb\tc\r"), "a\\nb\\tc\\r");
        assert_eq!(
            escape_controls("\u{1b}[31m\u{0}\u{7f}\u{85}"),
            "\\x1b[31m\\x00\\x7f\\x85"
        );
        assert_eq!(escape_controls("a\u{202e}b"), "a\\u{202e}b");
    }

    #[test]
    fn cutting_never_splits_a_wide_character_nor_exceeds_the_width() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 5), "abcd…");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 1), "…");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn padding_counts_columns_not_bytes() {
        let mut out = String::new();
        push_padded("日", 4, Alignment::Left, &mut out);
        out.push('|');
        push_padded("é", 4, Alignment::Right, &mut out);
        assert_eq!(out, "日  |   é");
    }
}
