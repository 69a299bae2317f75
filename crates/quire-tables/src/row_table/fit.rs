//! The form in which a column of a declared length stores a string.

use quire_format::tuple::TupleValue;

use super::error::RowError;
use crate::types::SqlType;

/// Longest string a column can hold, in bytes.
pub(super) const VALUE_BYTES_MAX: usize = 64 << 20;

/// `value` as a column of `sql_type` stores it: blanks beyond the declared length are dropped, those at the end of
/// `CHAR(n)` all. Only text is changed.
///
/// # Errors
/// Text of more characters than the type declares, blanks at its end not counted.
pub fn fit<'a>(sql_type: SqlType, value: TupleValue<'a>) -> Result<TupleValue<'a>, RowError> {
    let (length, is_char) = match sql_type {
        SqlType::VarChar(length) => (length as usize, false),
        SqlType::Char(length) => (length as usize, true),
        _ => return Ok(value),
    };
    let TupleValue::Bytes(mut bytes) = value else {
        return Ok(value);
    };
    if is_char {
        bytes = without_blanks(bytes);
    }
    if bytes.len() <= length {
        return Ok(TupleValue::Bytes(bytes));
    }
    // A character starts with every byte that does not continue one.
    let starts = || {
        let numbered = bytes.iter().enumerate();
        numbered.filter(|(_, byte)| **byte & 0xC0 != 0x80)
    };
    let Some((end, _)) = starts().nth(length) else {
        return Ok(TupleValue::Bytes(bytes));
    };
    match bytes.split_at_checked(end) {
        Some((kept, beyond)) if beyond.iter().all(|byte| *byte == b' ') => {
            Ok(TupleValue::Bytes(kept))
        }
        _ => Err(RowError::TooManyCharacters {
            characters: starts().count(),
            sql_type,
        }),
    }
}

fn without_blanks(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rposition(|byte| *byte != b' ');
    let end = last.map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}
