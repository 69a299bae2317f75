//! `upper`, `lower` and `initcap`, letter by letter: as in PostgreSQL, each becomes one letter, or stays what it is where its other case is several. So
//! `upper('Straße')` is `STRAßE`, which DataFusion makes `STRASSE`.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use super::super::array_results::map_array;
use super::super::replaced_function::{OwnCalculation, replace};

/// Replaces DataFusion's functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for (name, change) in [
        ("upper", LetterChange::Upper),
        ("lower", LetterChange::Lower),
        ("initcap", LetterChange::Capitals),
    ] {
        replace(state, name, change)?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LetterChange {
    Upper,
    Lower,
    /// Large letters at the beginnings of words.
    Capitals,
}

impl LetterChange {
    fn of(self, text: &str) -> String {
        let mut is_within_word = false;
        let letters = text.chars().map(|letter| {
            let is_first = !is_within_word;
            is_within_word = letter.is_alphanumeric();
            match self {
                Self::Upper => upper(letter),
                Self::Capitals if is_first => upper(letter),
                Self::Lower | Self::Capitals => lower(letter),
            }
        });
        letters.collect()
    }
}

fn upper(letter: char) -> char {
    // Greek vowels with a small iota below have a letter with a large one.
    let other = match letter {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => return only(letter.to_uppercase()).unwrap_or(letter),
    };
    char::from_u32(u32::from(letter) + other).unwrap_or(letter)
}

fn lower(letter: char) -> char {
    match letter {
        // `i` with a dot above it that it has already.
        '\u{130}' => 'i',
        letter => only(letter.to_lowercase()).unwrap_or(letter),
    }
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    let first = letters.next();
    first.filter(|_| letters.next().is_none())
}

impl OwnCalculation for LetterChange {
    /// DataFusion's function computes texts of ASCII letters.
    fn calculate(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [argument] = args.args.as_slice() else {
            return internal_err!("{} takes one argument", inner.name());
        };
        if is_ascii(argument)? {
            return inner.invoke_with_args(args);
        }
        map_array(&args.args, |array| {
            let texts = cast(array, &DataType::Utf8View)?;
            let texts = texts.as_string_view().iter();
            let changed = texts.map(|text| text.map(|text| self.of(text)));
            let changed: ArrayRef = Arc::new(changed.collect::<StringViewArray>());
            Ok(cast(&changed, args.return_field.data_type())?)
        })
    }
}

fn is_ascii(argument: &ColumnarValue) -> Result<bool> {
    Ok(match argument {
        ColumnarValue::Scalar(value) => value
            .try_as_str()
            .is_some_and(|text| text.is_none_or(str::is_ascii)),
        ColumnarValue::Array(array) => match array.data_type() {
            DataType::Utf8View => array.as_string_view().is_ascii(),
            DataType::Utf8 => array.as_string::<i32>().is_ascii(),
            _ => cast(array, &DataType::Utf8View)?
                .as_string_view()
                .is_ascii(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What PostgreSQL 15 says in the locale C.UTF-8.
    #[test]
    fn letters_stay_one_letter() {
        assert_eq!(LetterChange::Upper.of("ᾳǆıŉΐ ªʰⅷⓐ ß"), "ᾼǄIŉΐ ªʰⅧⒶ ß");
        assert_eq!(LetterChange::Lower.of("İIı ΑΣ ⅧⒶẞ"), "iiı ασ ⅷⓐß");
        assert_eq!(
            LetterChange::Capitals.of("ᾳb ǆb İB ΑΣ a1b _a B-C d'e %ß"),
            "ᾼb Ǆb İb Ασ A1b _A B-C D'E %ß"
        );
    }
}
