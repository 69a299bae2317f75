//! `encode` and `decode`: bytes as text in hexadecimal digits, in base 64, and with escapes.
//!
//! DataFusion's leave the padding and the ends of lines out of base 64, and know no escapes.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use quire_text::base64::{decode_base64, encode_base64};
use quire_text::bytea;

use super::array_results::{are_single, result_of};
use quire_error::Error;

/// Characters of a line of base 64.
const LINE_CHARACTERS: usize = 76;

/// Replaces DataFusion's functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for is_reading in [false, true] {
        let function = Encoding {
            is_reading,
            signature: Signature::user_defined(Volatility::Immutable),
        };
        state.register_udf(ScalarUDF::from(function).into())?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Encoding {
    is_reading: bool,
    signature: Signature,
}

impl Encoding {
    fn types(&self) -> (DataType, DataType) {
        if self.is_reading {
            (DataType::Utf8View, DataType::BinaryView)
        } else {
            (DataType::BinaryView, DataType::Utf8View)
        }
    }
}

impl ScalarUDFImpl for Encoding {
    fn name(&self) -> &str {
        if self.is_reading { "decode" } else { "encode" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let (from, _) = self.types();
        let is_text = |data_type: &DataType| data_type.is_string() || data_type.is_null();
        match types {
            [given, name] if is_text(name) && (is_text(given) || given.is_binary()) => {
                Ok(vec![from, DataType::Utf8View])
            }
            _ => plan_err!(
                "No function matches the given name and argument types '{}({})'",
                self.name(),
                types
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.types().1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (from, _) = self.types();
        let is_single = are_single(&args.args);
        let rows = if is_single { 1 } else { args.number_rows };
        let mut arrays = Vec::with_capacity(2);
        for (argument, data_type) in args.args.into_iter().zip([from, DataType::Utf8View]) {
            arrays.push(cast(&argument.into_array(rows)?, &data_type)?);
        }
        let result = if self.is_reading {
            all_decoded(&arrays[0], &arrays[1])?
        } else {
            all_encoded(&arrays[0], &arrays[1])?
        };
        result_of(result, is_single)
    }
}

fn all_encoded(bytes: &ArrayRef, names: &ArrayRef) -> Result<ArrayRef> {
    let mut texts = StringViewBuilder::with_capacity(bytes.len());
    let rows = bytes.as_binary_view().iter().zip(names.as_string_view());
    for (bytes, name) in rows {
        texts.append_option(match bytes.zip(name) {
            Some((bytes, name)) => Some(encoded(bytes, name)?),
            None => None,
        });
    }
    Ok(Arc::new(texts.finish()))
}

fn all_decoded(texts: &ArrayRef, names: &ArrayRef) -> Result<ArrayRef> {
    let mut bytes = BinaryViewBuilder::with_capacity(texts.len());
    let rows = texts.as_string_view().iter().zip(names.as_string_view());
    for (text, name) in rows {
        bytes.append_option(match text.zip(name) {
            Some((text, name)) => Some(decoded(text, name)?),
            None => None,
        });
    }
    Ok(Arc::new(bytes.finish()))
}

fn error(sqlstate: &'static str, text: String) -> DataFusionError {
    Error::new(sqlstate, text).into()
}

fn encoded(bytes: &[u8], name: &str) -> Result<String> {
    let mut text = Vec::new();
    match name.to_lowercase().as_str() {
        "hex" => {
            bytea::write(bytes, &mut text);
            // Behind the `\x`.
            text.drain(..2);
        }
        "base64" => text = in_lines(&encode_base64(bytes)).into_bytes(),
        "escape" => bytes.iter().for_each(|byte| match byte {
            b'\\' => text.extend_from_slice(b"\\\\"),
            0 | 128.. => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            plain => text.push(*plain),
        }),
        _ => return Err(error("22023", format!("unrecognized encoding: \"{name}\""))),
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn in_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + text.len() / LINE_CHARACTERS);
    for (place, letter) in text.char_indices() {
        if place > 0 && place % LINE_CHARACTERS == 0 {
            lines.push('\n');
        }
        lines.push(letter);
    }
    lines
}

fn decoded(text: &str, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let invalid = |what: &str| error("22023", format!("invalid {what}"));
    match name.to_lowercase().as_str() {
        "hex" => bytea::parse(format!("\\x{text}").as_bytes(), &mut bytes)
            .map_err(|_| invalid("hexadecimal data"))?,
        "base64" => {
            let is_blank = |letter: &char| matches!(letter, ' ' | '\t' | '\r' | '\n');
            let digits: String = text.chars().filter(|letter| !is_blank(letter)).collect();
            bytes = decode_base64(&digits).ok_or_else(|| invalid("base64 end sequence"))?;
        }
        "escape" => bytea::parse_escapes(text.as_bytes(), &mut bytes)
            .map_err(|_| error("22P02", "invalid input syntax for type bytea".to_owned()))?,
        _ => return Err(error("22023", format!("unrecognized encoding: \"{name}\""))),
    }
    Ok(bytes)
}
