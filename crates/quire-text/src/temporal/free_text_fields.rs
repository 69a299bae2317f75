//! The fields that a text of a date and a time consists of.

use super::NumberInError;

/// A field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FreeTextField<'t> {
    /// Digits, perhaps with a point.
    Number(&'t str),
    /// Digits and letters with one kind of sign between them, `1999-Jan-08`; names of zones, too.
    Date(&'t str),
    Time(&'t str),
    /// `-08:00`
    Offset(&'t str),
    Word(&'t str),
}

/// All fields of a text. Blanks and signs between them say nothing.
pub(super) fn fields(text: &str) -> Result<Vec<FreeTextField<'_>>, NumberInError> {
    let mut fields = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (field, length) = match first {
            '0'..='9' => digits_first(rest),
            'a'..='z' | 'A'..='Z' => letters_first(rest),
            '+' | '-'
                if rest[1..]
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let blanks = rest.len() - 1 - rest[1..].trim_start().len();
                let is_part = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.');
                let length = 1 + blanks + while_true(&rest[1 + blanks..], is_part);
                (FreeTextField::Offset(&rest[..length]), length)
            }
            ' ' | ',' | '\t' | '\n' | '\r' | ';' | '(' | ')' => {
                rest = &rest[1..];
                continue;
            }
            _ => return Err(NumberInError::Invalid),
        };
        fields.push(field);
        rest = &rest[length..];
    }
    Ok(fields)
}

fn while_true(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_part(letter)).unwrap_or(text.len())
}

fn digits_first(text: &str) -> (FreeTextField<'_>, usize) {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let digits = while_true(text, is_digit);
    let sign = text[digits..].chars().next();
    match sign {
        Some(':') => {
            let length = while_true(text, |letter| {
                is_digit(letter) || matches!(letter, ':' | '.')
            });
            (FreeTextField::Time(&text[..length]), length)
        }
        Some(sign @ ('-' | '/' | '.')) => {
            let behind = &text[digits + 1..];
            if !behind.starts_with(is_digit) {
                let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == sign;
                let length = digits + 1 + while_true(behind, is_part);
                return (FreeTextField::Date(&text[..length]), length);
            }
            let second = digits + 1 + while_true(behind, is_digit);
            let length = if text[second..].starts_with(sign) {
                second + while_true(&text[second..], |c| is_digit(c) || c == sign)
            } else {
                second
            };
            let field = &text[..length];
            if sign == '.' && length == second {
                (FreeTextField::Number(field), length)
            } else {
                (FreeTextField::Date(field), length)
            }
        }
        _ => (FreeTextField::Number(&text[..digits]), digits),
    }
}

fn letters_first(text: &str) -> (FreeTextField<'_>, usize) {
    let letters = while_true(text, |letter| letter.is_ascii_alphabetic());
    match text[letters..].chars().next() {
        Some('-' | '/' | '.' | '_') => {
            let is_part = |letter: char| {
                letter.is_ascii_alphanumeric() || matches!(letter, '-' | '/' | '.' | '_' | '+')
            };
            let length = while_true(text, is_part);
            (FreeTextField::Date(&text[..length]), length)
        }
        _ => (FreeTextField::Word(&text[..letters]), letters),
    }
}
