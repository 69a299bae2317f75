//! Arrays that clients send in binary, as the text that statements read.

use quire_text::temporal::TimeZoneRules;

use super::parameter_error::ParameterError;
use super::scalar_parameter::from_binary;
use super::text::write_element;
use super::{PgType, WireCell, numeric, write_text};

/// Bytes of a NULL within an array: its length.
const ELEMENT_BYTES_MIN: usize = 4;

/// An array of one dimension: dimensions, a flag for NULLs, the type of elements, count and lower bound, elements with lengths.
pub(super) fn array_text(bytes: &[u8], element_type: &PgType) -> Result<String, ParameterError> {
    let wrong = || ParameterError::Binary("array");
    let mut rest = bytes;
    let mut number = || {
        let (number, behind) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
        rest = behind;
        Ok(i32::from_be_bytes(*number))
    };
    let (dimensions, _has_nulls, oid) = (number()?, number()?, number()?);
    let sent = PgType::of_oid(oid.cast_unsigned()).ok_or_else(wrong)?;
    if sent.family() != element_type.family() {
        return Err(wrong());
    }
    let count = match dimensions {
        0 => 0,
        1 => {
            let count = usize::try_from(number()?).map_err(|_| wrong())?;
            let _lower_bound = number()?;
            count
        }
        _ => return Err(wrong()),
    };
    if count > rest.len() / ELEMENT_BYTES_MIN {
        return Err(wrong());
    }
    let mut text = vec![b'{'];
    for index in 0..count {
        if index > 0 {
            text.push(b',');
        }
        let (length, behind) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
        match i32::from_be_bytes(*length) {
            -1 => {
                text.extend(b"NULL");
                rest = behind;
            }
            length => {
                let length = usize::try_from(length).map_err(|_| wrong())?;
                let (element, behind) = behind.split_at_checked(length).ok_or_else(wrong)?;
                write_element(&mut text, &element_text(element, &sent)?);
                rest = behind;
            }
        }
    }
    if !rest.is_empty() {
        return Err(wrong());
    }
    text.push(b'}');
    String::from_utf8(text).map_err(|_| ParameterError::NoText)
}

fn element_text(bytes: &[u8], element_type: &PgType) -> Result<Vec<u8>, ParameterError> {
    let mut text = Vec::new();
    if let PgType::Numeric { .. } = element_type {
        let decimal =
            numeric::read_numeric(bytes).map_err(|_| ParameterError::Binary("numeric"))?;
        let (units, scale) = (decimal.units, decimal.scale.cast_signed());
        write_text(
            &mut text,
            &WireCell::Decimal { units, scale },
            &TimeZoneRules::default(),
        );
        return Ok(text);
    }
    let value = from_binary(bytes, element_type)?;
    write_text(
        &mut text,
        &WireCell::of_value(&value, element_type),
        &TimeZoneRules::default(),
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// `{1,NULL,-2}` of int4 as the protocol lays it out.
    const NUMBERS: &[u8] = b"\0\0\0\x01\0\0\0\x01\0\0\0\x17\0\0\0\x03\0\0\0\x01\
        \0\0\0\x04\0\0\0\x01\xff\xff\xff\xff\0\0\0\x04\xff\xff\xff\xfe";

    #[test]
    fn arrays_become_text() {
        let text = |bytes: &[u8], element: PgType| array_text(bytes, &element);
        assert_eq!(text(NUMBERS, PgType::BigInt).unwrap(), "{1,NULL,-2}");
        let words = b"\0\0\0\x01\0\0\0\0\0\0\0\x19\0\0\0\x02\0\0\0\x01\0\0\0\x03a,b\0\0\0\0";
        assert_eq!(text(words, PgType::Text).unwrap(), "{\"a,b\",\"\"}");
        let empty = b"\0\0\0\0\0\0\0\0\0\0\0\x17";
        assert_eq!(text(empty, PgType::Integer).unwrap(), "{}");
    }

    #[test]
    fn bytes_that_are_no_array_are_refused() {
        for length in 0..NUMBERS.len() {
            assert!(array_text(&NUMBERS[..length], &PgType::Integer).is_err());
        }
        let longer = [NUMBERS, b"x"].concat();
        assert!(array_text(&longer, &PgType::Integer).is_err());
        assert!(array_text(NUMBERS, &PgType::Text).is_err());
        let many = b"\0\0\0\x01\0\0\0\0\0\0\0\x17\x7f\xff\xff\xff\0\0\0\x01";
        assert!(array_text(many, &PgType::Integer).is_err());
    }
}
