//! Byte strings: reading them from text, writing them as text, and measuring them.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewBuilder, Int32Array, StringViewBuilder,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use crate::error::Error;

/// Text to bytes as PostgreSQL reads a BYTEA: `\x0aff` is hexadecimal; otherwise `\\` is one
/// backslash, `\ooo` a byte in octal, and everything else itself. DataFusion's cast takes the
/// letters of the text for the bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextToBytes {
    signature: Signature,
}

impl TextToBytes {
    pub(crate) fn new() -> Self {
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
        map_array(&args.args[0], |array| {
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
pub(crate) struct BytesToText {
    signature: Signature,
}

impl BytesToText {
    pub(crate) fn new() -> Self {
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
        map_array(&args.args[0], |array| {
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("\\x");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
}

fn bytes_of(text: &str) -> Result<Vec<u8>> {
    let parsed = match text.strip_prefix("\\x") {
        Some(digits) => from_hexadecimal(digits),
        None => from_escapes(text.as_bytes()),
    };
    parsed.ok_or_else(|| {
        let error = Error::new("22P02", format!("invalid input for type bytea: \"{text}\""))
            .with_hint("Write bytes as '\\x' and two hexadecimal digits for each.");
        DataFusionError::External(Box::new(error))
    })
}

/// Pairs of digits, with blanks between pairs.
fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .map(|character| {
            character
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect();
    let digits = digits?;
    if digits.len() % 2 != 0 {
        return None;
    }
    Some(
        digits
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

fn from_escapes(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if first != b'\\' {
            bytes.push(first);
            rest = after;
        } else if after.first() == Some(&b'\\') {
            bytes.push(b'\\');
            rest = &after[1..];
        } else {
            let (octal, after) = after.split_at_checked(3)?;
            let octal = std::str::from_utf8(octal).ok()?;
            bytes.push(u8::from_str_radix(octal, 8).ok()?);
            rest = after;
        }
    }
    Some(bytes)
}

/// `octet_length` of text and of bytes; DataFusion's takes text only.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OctetLength {
    signature: Signature,
}

impl OctetLength {
    pub(super) fn new() -> Self {
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
        map_array(&args.args[0], |array| {
            let bytes = cast(array, &DataType::BinaryView)?;
            let lengths = bytes
                .as_binary_view()
                .iter()
                .map(|value| value.map(|bytes| i32::try_from(bytes.len()).unwrap_or(i32::MAX)));
            Ok(Arc::new(lengths.collect::<Int32Array>()))
        })
    }
}

/// Applies a function of arrays to an array or a single value.
fn map_array(
    argument: &ColumnarValue,
    map: impl Fn(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    match argument {
        ColumnarValue::Array(array) => Ok(ColumnarValue::Array(map(array)?)),
        ColumnarValue::Scalar(scalar) => {
            let mapped = map(&scalar.to_array()?)?;
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                &mapped, 0,
            )?))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{bytes_of, text_of};

    // Input and value from the examples of PostgreSQL's manual, section 8.4.
    #[test]
    fn both_formats_are_read() {
        assert_eq!(bytes_of("\\xDEADBEEF").unwrap(), [0xde, 0xad, 0xbe, 0xef]);
        assert_eq!(bytes_of("\\x1234 5678").unwrap(), [0x12, 0x34, 0x56, 0x78]);
        assert_eq!(
            bytes_of("abc \\153\\154\\155 \\052\\251\\124").unwrap(),
            b"abc klm *\xa9T"
        );
        assert_eq!(bytes_of("a\\\\b").unwrap(), b"a\\b");
        assert_eq!(bytes_of("").unwrap(), b"");
    }

    #[test]
    fn the_hexadecimal_form_is_written() {
        assert_eq!(text_of(&[0xde, 0xad, 0xbe, 0xef, 0x0f]), "\\xdeadbeef0f");
        assert_eq!(text_of(b""), "\\x");
    }

    #[test]
    fn wrong_input_is_an_error() {
        for text in ["\\x1", "\\xzz", "\\9", "\\400", "a\\"] {
            assert!(bytes_of(text).is_err(), "{text}");
        }
    }
}
