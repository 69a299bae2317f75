//! Which functions take which kinds of arguments: PostgreSQL's `pg_proc`, for the functions that it has.

use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::Expr;

use super::kinds::{StrictTypeKind, sql_name};
use super::refusal;
use super::signatures::{ANY_NUMBER, SIGNATURES};

/// Refuses a call with arguments that no function of that name has.
pub(super) fn check(
    planned: &str,
    called: &str,
    arguments: &[Expr],
    schema: &DFSchema,
) -> Result<()> {
    let Ok(place) = SIGNATURES.binary_search_by(|(name, _)| (*name).cmp(planned)) else {
        return Ok(());
    };
    let kinds = arguments
        .iter()
        .map(|argument| StrictTypeKind::of_expression(argument, schema))
        .collect::<Result<Vec<_>>>()?;
    let (_, forms) = SIGNATURES[place];
    if forms.split(' ').any(|form| takes(form, &kinds)) {
        return Ok(());
    }
    let types: Vec<String> = arguments
        .iter()
        .map(|argument| sql_name(argument, schema))
        .collect();
    Err(refusal(
        "42883",
        format!("function {called}({}) does not exist", types.join(", ")),
        "Give it as many arguments as it has, and convert those of other types with CAST.",
    ))
}

fn takes(form: &str, kinds: &[StrictTypeKind]) -> bool {
    if form == "-" {
        return kinds.is_empty();
    }
    let (letters, is_open) = match form.strip_suffix(ANY_NUMBER) {
        Some(letters) => (letters, true),
        None => (form, false),
    };
    let mut wanted = letters.bytes();
    let fits = kinds.iter().all(|kind| match wanted.next() {
        Some(letter) => fits(*kind, letter),
        None => is_open,
    });
    fits && wanted.next().is_none()
}

fn fits(kind: StrictTypeKind, letter: u8) -> bool {
    let wanted = match letter {
        b'b' => StrictTypeKind::Boolean,
        b'i' => StrictTypeKind::Integer,
        b'n' => StrictTypeKind::Number,
        b't' => StrictTypeKind::Text,
        b'y' => StrictTypeKind::Bytes,
        b'd' => StrictTypeKind::Date,
        b's' => StrictTypeKind::Timestamp,
        b'm' => StrictTypeKind::Time,
        b'v' => StrictTypeKind::Interval,
        b'a' => StrictTypeKind::Array,
        _ => return true,
    };
    kind.fits(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(SIGNATURES.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn forms_are_matched_letter_by_letter() {
        let text_and_integer = [StrictTypeKind::Text, StrictTypeKind::Integer];
        assert!(takes("ti", &text_and_integer));
        assert!(!takes("ti", &[StrictTypeKind::Text]));
        assert!(!takes("t", &text_and_integer));
        assert!(!takes(
            "ti",
            &[StrictTypeKind::Integer, StrictTypeKind::Integer]
        ));
        assert!(takes("t…", &text_and_integer));
        assert!(takes("-", &[]));
        assert!(takes(
            "nn",
            &[StrictTypeKind::Integer, StrictTypeKind::Unknown]
        ));
        assert!(takes("s", &[StrictTypeKind::Date]));
    }
}
