//! Keys worked out by hand from the table of the documentation.

use quire_codec::ordered::OrderedCode;
use quire_format::key::{KeyCode, KeyColumn, KeyLayout};
use quire_format::tuple::{TupleType, TupleValue};

fn key_of(
    column_type: TupleType,
    descending: bool,
    nulls_first: bool,
    value: TupleValue<'_>,
) -> Vec<u8> {
    let column = KeyColumn {
        column_type,
        nullable: true,
        descending,
        nulls_first,
    };
    let mut key = Vec::new();
    KeyLayout::new(&[column])
        .encode(&[value], &mut key)
        .unwrap();
    key
}

fn ascending(column_type: TupleType, value: TupleValue<'_>) -> Vec<u8> {
    key_of(column_type, false, false, value)
}

#[test]
fn integers_have_a_class_and_their_low_bytes() {
    let cases: [(i64, &[u8]); 12] = [
        (0, &[0x31]),
        (-1, &[0x30]),
        (-32, &[0x11]),
        (189, &[0xEE]),
        (190, &[0xEF, 190]),
        (255, &[0xEF, 0xFF]),
        (256, &[0xF0, 1, 0]),
        (-33, &[0x10, 0xDF]),
        (-256, &[0x10, 0x00]),
        (-257, &[0x0F, 0xFE, 0xFF]),
        (
            i64::MAX,
            &[0xF6, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ),
        (i64::MIN, &[0x09, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (value, expected) in cases {
        let number = TupleValue::Integer(value);
        assert_eq!(ascending(TupleType::Int64, number), expected);
        let inverted: Vec<u8> = expected.iter().map(|byte| !byte).collect();
        assert_eq!(key_of(TupleType::Int64, true, false, number), inverted);
        let wide = TupleValue::Wide(i128::from(value));
        assert_eq!(ascending(TupleType::Int128 { digits: 38 }, wide), expected);
    }
    let least = TupleValue::Wide(-(10_i128.pow(38) - 1));
    let key = ascending(TupleType::Int128 { digits: 38 }, least);
    assert_eq!((key.len(), key[0]), (17, 0x01));
}

#[test]
fn floats_are_their_bits_in_order() {
    let of = |value| ascending(TupleType::Float64, TupleValue::Float64(value));
    assert_eq!(of(1.0), [0xBF, 0xF0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(of(-1.0), [0x40, 0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    assert_eq!(of(0.0), [0x80, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(of(-0.0), of(0.0));
    assert_eq!(of(-f64::NAN), [0xFF, 0xF8, 0, 0, 0, 0, 0, 0]);
    let single = ascending(TupleType::Float32, TupleValue::Float32(-2.0));
    assert_eq!(single, [0x3F, 0xFF, 0xFF, 0xFF]);
}

#[test]
fn strings_mark_their_ends_where_something_can_follow() {
    let text = TupleType::Text;
    let column = KeyColumn {
        column_type: text,
        nullable: true,
        descending: false,
        nulls_first: false,
    };
    let of = |first: &[u8], second: &[u8]| {
        let mut key = Vec::new();
        let values = [TupleValue::Bytes(first), TupleValue::Bytes(second)];
        KeyLayout::new(&[column; 2])
            .encode(&values, &mut key)
            .unwrap();
        key
    };
    assert_eq!(of(b"ab", b"ab"), *b"ab\x01ab");
    assert_eq!(of(b"", b""), [0x01]);
    assert_eq!(
        of(&[0, 1, 2, 3], &[253, 254, 255]),
        [2, 1, 2, 2, 2, 3, 3, 1, 253, 254, 1, 254, 2]
    );
    let leaf = TupleValue::Bytes(b"leaf");
    assert_eq!(key_of(text, false, false, leaf), b"leaf");
    // NULL would come after an empty string without mark, and a longer string after its beginning.
    assert_eq!(key_of(text, false, true, leaf), b"leaf\x01");
    assert_eq!(
        key_of(text, true, false, leaf),
        [!b'l', !b'e', !b'a', !b'f', 0xFE]
    );
}

#[test]
fn null_is_at_its_end_in_both_orders() {
    for descending in [false, true] {
        for column_type in [TupleType::Bool, TupleType::Int32, TupleType::Text] {
            let null = |first| key_of(column_type, descending, first, TupleValue::Null);
            assert_eq!((null(true), null(false)), (vec![0], vec![0xFF]));
        }
        for column_type in [TupleType::Float32, TupleType::Float64] {
            let null = |first| key_of(column_type, descending, first, TupleValue::Null);
            assert_eq!((null(true), null(false)), (vec![0; 2], vec![0xFF; 2]));
        }
    }
    assert_eq!(ascending(TupleType::Bool, TupleValue::Bool(false)), [1]);
    assert_eq!(ascending(TupleType::Bool, TupleValue::Bool(true)), [2]);
}

/// What is in the key is what the code gives, with its bytes 0 to 2, FE and FF escaped, and the end.
#[test]
fn a_string_in_a_code_is_escaped_and_ended_as_the_string_would_be() {
    let names: Vec<String> = (0..300).map(|at| format!("Customer#{at:09}")).collect();
    let code = OrderedCode::train(names.iter().map(String::as_bytes), 1_024);
    let key_code = KeyCode::from_bytes(&code.to_bytes()).unwrap();
    let column = KeyColumn {
        column_type: TupleType::Text,
        nullable: false,
        descending: false,
        nulls_first: false,
    };
    let next = KeyColumn {
        column_type: TupleType::Bool,
        ..column
    };
    let layout = KeyLayout::new(&[column, next]).with_codes(vec![Some(key_code), None]);
    for name in names {
        let mut coded = Vec::new();
        code.encode(name.as_bytes(), &mut coded);
        let mut expected = Vec::new();
        for byte in coded {
            match byte {
                0..=2 => expected.extend([2, byte + 1]),
                0xFE | 0xFF => expected.extend([0xFE, byte - 0xFD]),
                byte => expected.push(byte),
            }
        }
        expected.extend([1, 2]);
        let mut key = Vec::new();
        let values = [TupleValue::Bytes(name.as_bytes()), TupleValue::Bool(true)];
        layout.encode(&values, &mut key).unwrap();
        assert_eq!(key, expected);
    }
}
