//! Text to booleans, by the rules of PostgreSQL's input function.

use crate::number_in::NumberInError;

/// A prefix of `true`, `false`, `yes`, `no`, at least two letters of `on` and `off`, `1` or `0`.
pub fn parse_bool(text: &[u8]) -> Result<bool, NumberInError> {
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
        Err(NumberInError::Invalid)
    }
}
