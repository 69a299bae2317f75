//! Whatever the bytes are, reading them ends: in values or in an error.

use proptest::prelude::*;
use quire_codec::text::{FsstTable, HuffmanTable, StringCodes};
use quire_format::tuple::{TupleLayout, TupleType, TupleValue};

use crate::rows::{Cell, Column, Storage, column, encode, exact, layout, tables};

/// Reads `tuple` by every way. They must agree where all of it is sound.
fn read(layout: &TupleLayout, tuple: &[u8]) -> bool {
    let mut all = vec![TupleValue::Null; layout.column_count()];
    let sound = layout.decode_all(tuple, &mut all).is_ok();
    for (column, value) in all.iter().enumerate() {
        let one = layout.field(tuple, column);
        let mut found = Vec::new();
        let read = layout.decode_column([tuple], column, |value| found.push(exact(value)));
        assert_eq!(read, one.clone().map(|_| ()));
        assert_eq!(found.len(), usize::from(one.is_ok()));
        if sound {
            assert_eq!(exact(one.unwrap()), exact(*value));
        }
    }
    sound
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn every_flipped_bit_is_an_error_or_other_values((columns, rows) in tables(8, 1)) {
        let layout = layout(&columns);
        let mut tuple = encode(&layout, &rows[0]);
        prop_assert!(read(&layout, &tuple));
        for bit in 0..8 * tuple.len() {
            tuple[bit / 8] ^= 1 << (bit % 8);
            read(&layout, &tuple);
            tuple[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn every_truncation_and_every_byte_more_is_an_error((columns, rows) in tables(8, 1)) {
        let layout = layout(&columns);
        let mut tuple = encode(&layout, &rows[0]);
        for length in 0..tuple.len() {
            prop_assert!(!read(&layout, &tuple[..length]));
        }
        tuple.push(0);
        prop_assert!(!read(&layout, &tuple));
    }

    /// The same, where columns have been added: a tuple that is cut where the columns of one time end is an older one.
    #[test]
    fn tuples_of_several_times_survive_damage(
        (columns, rows) in tables(4, 1),
        (added, added_rows) in tables(4, 1),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let declared: Vec<_> = added.iter().map(Column::declared).collect();
        let missing = crate::rows::values(&added_rows[0]);
        let older = layout(&columns);
        let Ok(layout) = older.extended(&declared, &missing) else { return Ok(()) };
        let old_bytes = encode(&older, &rows[0]).len();
        let mut tuple = encode(&layout, &[rows[0].clone(), added_rows[0].clone()].concat());
        for length in 0..=tuple.len() {
            let whole = length == old_bytes || length == tuple.len();
            prop_assert_eq!(read(&layout, &tuple[..length]), whole);
        }
        for bit in 0..8 * tuple.len() {
            tuple[bit / 8] ^= 1 << (bit % 8);
            read(&layout, &tuple);
            tuple[bit / 8] ^= 1 << (bit % 8);
        }
        read(&layout, &noise);
    }
}

#[test]
fn what_no_encoder_writes_is_named() {
    let three = ["x", "y", "z"]
        .map(|name| Cell::Bytes(name.into()))
        .to_vec();
    let columns = [
        column(TupleType::Text, false, Storage::Dictionary(three, 2)),
        column(TupleType::Bool, false, Storage::Plain),
        column(TupleType::Text, false, Storage::Plain),
        column(TupleType::Int32, true, Storage::Suppressed),
    ];
    let layout = layout(&columns);
    let sound = [0b01, 0b001, 1, 2, 0, 0, 0, 7, b'a', b'b'];
    assert!(read(&layout, &sound));
    let wrong = |at: usize, byte: u8, column: usize| {
        let mut tuple = sound;
        tuple[at] = byte;
        let mut all = [TupleValue::Null; 4];
        let error = layout.decode_all(&tuple, &mut all).unwrap_err();
        assert!(layout.field(&tuple, column).is_err());
        error.to_string()
    };
    assert!(wrong(0, 0b11, 0).contains("dictionary has no code 3"));
    assert!(wrong(1, 0b101, 3).contains("length codes"));
    assert!(wrong(2, 2, 1).contains("neither 0 nor 1"));
    assert!(wrong(6, 0xFF, 2).contains("cut short"));
    let mut unused = sound;
    unused[0] |= 0b100;
    let mut all = [TupleValue::Null; 4];
    let error = layout.decode_all(&unused, &mut all).unwrap_err();
    assert!(error.to_string().contains("unused bit"));
}

#[test]
fn a_value_is_a_code_or_bytes_and_not_both_or_neither() {
    let common = vec![Cell::Integer(100), Cell::Integer(200)];
    let layout = layout(&[column(TupleType::Int32, false, Storage::Open(common, 2))]);
    let decoded = |tuple: &[u8]| {
        let mut all = [TupleValue::Null];
        let all = layout
            .decode_all(tuple, &mut all)
            .map(|()| format!("{all:?}"));
        let one = layout.field(tuple, 0).map(|value| format!("{:?}", [value]));
        (all, one)
    };
    // Code 2, and the length code of NULL; code 0, and a 7 of one byte.
    for (tuple, value) in [(&[2, 0][..], 200), (&[0, 1, 7], 7)] {
        let text = format!("[Integer({value})]");
        assert_eq!(decoded(tuple), (Ok(text.clone()), Ok(text)));
    }
    let (all, one) = decoded(&[0, 0]);
    assert!(
        all.unwrap_err()
            .to_string()
            .contains("neither a code nor bytes")
    );
    assert!(one.is_err());
    let (all, one) = decoded(&[3, 0]);
    assert!(
        all.unwrap_err()
            .to_string()
            .contains("dictionary has no code 3")
    );
    assert!(one.is_err());
    let (all, _) = decoded(&[1, 1, 7]);
    assert!(all.unwrap_err().to_string().contains("a code and bytes"));
}

#[test]
fn codes_that_mean_nothing_are_named() {
    // One symbol; and a word of 1 bit for x, of 8 bits for the first other byte and of 9 for the rest.
    let fsst = FsstTable::from_bytes(&[1, 2, b'a', b'b']).unwrap();
    let huffman = HuffmanTable::train(&[b"x"]);
    for (table, codes, text, wrong_codes) in [
        (
            StringCodes::from(fsst),
            &[0, 0][..],
            &b"abab"[..],
            [
                (&[0, 1][..], "code 1 has no symbol"),
                (&[0, 255], "escape without a byte"),
            ],
        ),
        (
            StringCodes::from(huffman),
            &[0b0000_0001],
            b"xxxxxxx",
            [(&[0b1111_1111], "no word"), (&[0b0111_1110], "no word")],
        ),
    ] {
        let layout = layout(&[column(TupleType::Text, true, Storage::Coded(table.into()))]);
        // In codes; a length of one byte.
        let tuple = |codes: &[u8]| [&[1, 0b001, codes.len() as u8], codes].concat();
        let text_of = |tuple: &[u8]| match layout.field(tuple, 0) {
            Ok(TupleValue::Coded(text)) => text.to_vec(),
            other => panic!("{other:?}"),
        };
        assert!(read(&layout, &tuple(codes)));
        assert_eq!(text_of(&tuple(codes)).unwrap(), text);
        // Who wants the string finds codes that stand for nothing.
        for (codes, what) in wrong_codes {
            assert!(read(&layout, &tuple(codes)));
            let error = text_of(&tuple(codes)).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let wrong = |tuple: &[u8]| {
            let error = layout.field(tuple, 0).unwrap_err().to_string();
            let mut all = [TupleValue::Null];
            assert_eq!(
                layout.decode_all(tuple, &mut all).unwrap_err().to_string(),
                error
            );
            error
        };
        assert!(wrong(&[1, 0]).contains("NULL has string codes"));
        assert!(wrong(&[1, 0b001, 3, 0, 0]).contains("cut short"));
    }
}

#[test]
fn a_padded_field_has_a_string_or_says_that_it_is_behind() {
    let layout = layout(&[column(TupleType::Text, false, Storage::Padded(2))]);
    assert!(read(&layout, b"a "));
    assert!(read(&layout, &[0xFF, 0, 1, 0, 0, 0, b'x']));
    let wrong = |tuple: &[u8]| layout.field(tuple, 0).unwrap_err().to_string();
    assert!(wrong(&[0xFF, 1]).contains("begins with FF"));
    assert!(wrong(&[0xFF, 0, 2, 0, 0, 0, b'x']).contains("cut short"));
    assert!(wrong(&[0xFF, 0, 0xFF, 0xFF, 0xFF, 0xFF]).contains("cut short"));
    assert!(wrong(b"a").contains("cut short"));
}
