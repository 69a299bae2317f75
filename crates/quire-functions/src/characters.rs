//! `chr`, without the characters that no text has.

use std::sync::Arc;

use super::array_results::map_array;
use datafusion::arrow::array::{AsArray, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_error::Error;

/// The character of a number; DataFusion's gives a NUL byte for 0.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Chr {
    signature: Signature,
}

impl Chr {
    pub(super) fn new() -> Self {
        Self {
            signature: Signature::uniform(1, vec![DataType::Int64], Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Chr {
    fn name(&self) -> &str {
        "chr"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            let numbers = array.as_primitive::<Int64Type>();
            let mut characters = StringBuilder::new();
            let mut encoded = [0; 4];
            for number in numbers {
                match number {
                    None => characters.append_null(),
                    Some(number) => {
                        let character = character_of(number)?;
                        characters.append_value(character.encode_utf8(&mut encoded));
                    }
                }
            }
            Ok(Arc::new(characters.finish()))
        })
    }
}

fn character_of(number: i64) -> std::result::Result<char, Error> {
    let wrong = |sqlstate, text: String| Err(Error::new(sqlstate, text));
    match u32::try_from(number) {
        _ if number < 0 => wrong("22023", "character number must be positive".to_owned()),
        Ok(0) => wrong("54000", "null character not permitted".to_owned()),
        Ok(code) if code <= u32::from(char::MAX) => match char::from_u32(code) {
            Some(character) => Ok(character),
            None => {
                let text = format!("requested character not valid for encoding: {code}");
                wrong("54000", text)
            }
        },
        _ => {
            let text = format!("requested character too large for encoding: {number}");
            wrong("54000", text)
        }
    }
}
