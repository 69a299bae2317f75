//! Text to booleans and byte strings, by the rules of PostgreSQL's input functions.

use super::number::Reason;

/// A prefix of `true`, `false`, `yes`, `no`, at least two letters of `on` and `off`, `1` or `0`.
pub(super) fn parse_bool(text: &[u8]) -> Result<bool, Reason> {
    match text {
        b"t" | b"true" => return Ok(true),
        b"f" | b"false" => return Ok(false),
        _ => {}
    }
    let text = text.trim_ascii().to_ascii_lowercase();
    let starts = |word: &[u8], least: usize| text.len() >= least && word.starts_with(&text);
    if starts(b"true", 1) || starts(b"yes", 1) || text == b"on" || text == b"1" {
        Ok(true)
    } else if starts(b"false", 1) || starts(b"no", 1) || starts(b"off", 2) || text == b"0" {
        Ok(false)
    } else {
        Err(Reason::Invalid)
    }
}

/// Appends the bytes of `\x` and pairs of hexadecimal digits (blanks between pairs allowed), or
/// of PostgreSQL's older form where `\\` is a backslash and `\ooo` an octal byte.
pub(super) fn parse_bytea(text: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    match text.strip_prefix(b"\\x") {
        Some(digits) => parse_hex(digits, out),
        None => parse_escaped_bytes(text, out),
    }
}

fn parse_hex(digits: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    let mut digits = digits.iter();
    while let Some(&first) = digits.next() {
        if first.is_ascii_whitespace() {
            continue;
        }
        let second = digits
            .next()
            .copied()
            .and_then(hex_digit)
            .ok_or(Reason::Invalid)?;
        out.push(hex_digit(first).ok_or(Reason::Invalid)? << 4 | second);
    }
    Ok(())
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

fn parse_escaped_bytes(mut text: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    while let Some((&byte, rest)) = text.split_first() {
        if byte != b'\\' {
            out.push(byte);
            text = rest;
            continue;
        }
        text = match rest {
            [b'\\', rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            _ => return Err(Reason::Invalid),
        };
    }
    Ok(())
}
