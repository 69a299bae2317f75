//! Fields written the slow way, from the text of the paper: tables 1 and 2 in words, codes as strings of bits.

use quire_codec::field::{FieldType, FieldValue, TupleField};

const TABLE_1_NOT_NULL: [(usize, &str); 4] = [(1, "00"), (2, "01"), (3, "10"), (4, "11")];
const TABLE_1_NULLABLE: [(usize, &str); 5] =
    [(0, "000"), (1, "001"), (2, "010"), (3, "011"), (4, "100")];
const TABLE_2_NOT_NULL: [(usize, &str); 2] = [(4, "0"), (8, "1")];
const TABLE_2_NULLABLE: [(usize, &str); 3] = [(0, "00"), (4, "01"), (8, "10")];
/// Table 1 continued, as the README of the room says.
const EIGHT_NOT_NULL: [(usize, &str); 8] = [
    (1, "000"),
    (2, "001"),
    (3, "010"),
    (4, "011"),
    (5, "100"),
    (6, "101"),
    (7, "110"),
    (8, "111"),
];
const EIGHT_NULLABLE: [(usize, &str); 9] = [
    (0, "0000"),
    (1, "0001"),
    (2, "0010"),
    (3, "0011"),
    (4, "0100"),
    (5, "0101"),
    (6, "0110"),
    (7, "0111"),
    (8, "1000"),
];

/// The same continued to sixteen bytes, and cut to two.
const SIXTEEN: [&str; 17] = [
    "00000", "00001", "00010", "00011", "00100", "00101", "00110", "00111", "01000", "01001",
    "01010", "01011", "01100", "01101", "01110", "01111", "10000",
];
const TWO_NOT_NULL: [(usize, &str); 2] = [(1, "0"), (2, "1")];
const TWO_NULLABLE: [(usize, &str); 3] = [(0, "00"), (1, "01"), (2, "10")];

fn sixteen(nullable: bool) -> Vec<(usize, &'static str)> {
    if nullable {
        return SIXTEEN.into_iter().enumerate().collect();
    }
    let four_bits = SIXTEEN[..16].iter().map(|code| &code[1..]);
    (1..).zip(four_bits).collect()
}

/// Length and code, for each length the field can have.
pub fn table(field: TupleField) -> Vec<(usize, &'static str)> {
    match (field.field_type, field.nullable) {
        (FieldType::Double, false) => TABLE_2_NOT_NULL.to_vec(),
        (FieldType::Double, true) => TABLE_2_NULLABLE.to_vec(),
        (FieldType::Int16, false) => TWO_NOT_NULL.to_vec(),
        (FieldType::Int16, true) => TWO_NULLABLE.to_vec(),
        (FieldType::Int64, false) => EIGHT_NOT_NULL.to_vec(),
        (FieldType::Int64, true) => EIGHT_NULLABLE.to_vec(),
        (FieldType::Int128, nullable) => sixteen(nullable),
        (_, false) => TABLE_1_NOT_NULL.to_vec(),
        (_, true) => TABLE_1_NULLABLE.to_vec(),
    }
}

/// The fewest low bytes of `value` from which the whole comes back.
fn shortest(value: i128, signed: bool) -> Vec<u8> {
    (1..=16)
        .map(|length| value.to_le_bytes()[..length].to_vec())
        .find(|bytes| {
            let negative = signed && bytes.last().unwrap() & 0x80 != 0;
            let mut whole = [if negative { 0xFF } else { 0 }; 16];
            whole[..bytes.len()].copy_from_slice(bytes);
            i128::from_le_bytes(whole) == value
        })
        .unwrap()
}

/// A narrow number that is bit for bit the same, looked for by its parts.
fn double(value: f64) -> Vec<u8> {
    let wide = value.to_bits();
    let (exponent, fraction) = (wide >> 52 & 0x7FF, wide & ((1 << 52) - 1));
    let sign = (wide >> 63) as u32;
    let special = exponent == 0x7FF || (exponent == 0 && fraction == 0);
    let narrow_exponent = match exponent {
        0x7FF => 255,
        0 => 0,
        _ => exponent as i64 - 1023 + 127,
    };
    if fraction % (1 << 29) == 0 && (special || (1..=254).contains(&narrow_exponent)) {
        let bits = sign << 31 | (narrow_exponent as u32) << 23 | (fraction >> 29) as u32;
        return bits.to_le_bytes().to_vec();
    }
    // Numbers so small that the narrow form has no leading one: a multiple of 2^-149 below 2^-126.
    let units = value.abs() * 2f64.powi(149);
    if units < 2f64.powi(23) && units.fract() == 0.0 && units > 0.0 {
        return (sign << 31 | units as u32).to_le_bytes().to_vec();
    }
    wide.to_le_bytes().to_vec()
}

/// The bytes of a value.
pub fn bytes(field: TupleField, value: FieldValue) -> Vec<u8> {
    match (field.field_type, value) {
        (_, FieldValue::Null) => Vec::new(),
        (FieldType::Double, FieldValue::Double(value)) => double(value),
        (FieldType::UInt32, FieldValue::Integer(value)) => shortest(i128::from(value), false),
        (FieldType::Date { base_days }, FieldValue::Integer(days)) => {
            let distance = i128::from(days) - i128::from(base_days);
            let wrapped = (distance + (1 << 31)).rem_euclid(1 << 32) - (1 << 31);
            shortest(wrapped, true)
        }
        (FieldType::Int128, FieldValue::Wide(value)) => shortest(value, true),
        (_, FieldValue::Integer(value)) => shortest(i128::from(value), true),
        other => panic!("{other:?}"),
    }
}

/// The length bytes: codes end to end until the next would cross, then zeros in front.
pub fn pack(codes: &[&str]) -> Vec<u8> {
    let mut bytes: Vec<String> = Vec::new();
    for code in codes {
        match bytes.last_mut() {
            Some(byte) if byte.len() + code.len() <= 8 => byte.push_str(code),
            _ => bytes.push((*code).to_owned()),
        }
    }
    let read = |bits: &String| u8::from_str_radix(bits, 2).unwrap();
    bytes.iter().map(read).collect()
}

/// Length codes and values of a row.
pub fn encode(fields: &[TupleField], row: &[FieldValue]) -> (Vec<u8>, Vec<u8>) {
    let (mut codes, mut values) = (Vec::new(), Vec::new());
    for (field, value) in fields.iter().zip(row) {
        let bytes = bytes(*field, *value);
        let code = table(*field)
            .into_iter()
            .find(|(length, _)| *length == bytes.len());
        codes.push(code.unwrap().1);
        values.extend(bytes);
    }
    (pack(&codes), values)
}
