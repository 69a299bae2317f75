//! Byte strings: reading them from text, writing them as text, and measuring them.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BinaryViewBuilder, Int32Array, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_text::bytea;

use super::array_results::map_array;
use quire_error::Error;

/// Text to bytes as PostgreSQL reads a BYTEA: `\x0aff` is hexadecimal; otherwise `\\` is one
/// backslash, `\ooo` a byte in octal, and everything else itself. DataFusion's cast takes the
/// letters of the text for the bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct TextToBytes {
    signature: Signature,
}

impl Default for TextToBytes {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for TextToBytes {
    fn name(&self) -> &str {
        "text_to_bytes"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            let text = cast(array, &DataType::Utf8View)?;
            let text = text.as_string_view();
            let mut bytes = BinaryViewBuilder::with_capacity(text.len());
            for value in text {
                bytes.append_option(value.map(bytes_of).transpose()?);
            }
            Ok(Arc::new(bytes.finish()))
        })
    }
}

/// Bytes to text as PostgreSQL writes a BYTEA: `\x` and two digits for each. DataFusion's cast takes
/// the bytes for letters, or refuses them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct BytesToText {
    signature: Signature,
}

impl Default for BytesToText {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for BytesToText {
    fn name(&self) -> &str {
        "bytes_to_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            let bytes = cast(array, &DataType::BinaryView)?;
            let bytes = bytes.as_binary_view();
            let mut text = StringViewBuilder::with_capacity(bytes.len());
            for value in bytes {
                text.append_option(value.map(text_of));
            }
            Ok(Arc::new(text.finish()))
        })
    }
}

fn text_of(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(2 + 2 * bytes.len());
    bytea::write(bytes, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn bytes_of(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    match bytea::parse(text.as_bytes(), &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => {
            let error = Error::new("22P02", format!("invalid input for type bytea: \"{text}\""))
                .with_hint("Write bytes as '\\x' and two hexadecimal digits for each.");
            Err(error.into())
        }
    }
}

/// `octet_length` of text and of bytes; DataFusion's takes text only.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct OctetLength {
    signature: Signature,
}

impl Default for OctetLength {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for OctetLength {
    fn name(&self) -> &str {
        "octet_length"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        match arg_types {
            [DataType::Null] => Ok(vec![DataType::Utf8View]),
            [argument] if argument.is_string() || argument.is_binary() => {
                Ok(vec![argument.clone()])
            }
            _ => plan_err!("No function matches octet_length; it takes one text or bytea"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int32)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            let bytes = cast(array, &DataType::BinaryView)?;
            let lengths = bytes
                .as_binary_view()
                .iter()
                .map(|value| value.map(|bytes| i32::try_from(bytes.len()).unwrap_or(i32::MAX)));
            Ok(Arc::new(lengths.collect::<Int32Array>()))
        })
    }
}
