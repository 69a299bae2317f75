//! Bytes worked out by hand from the paper and from the tables of the documentation.

use std::sync::Arc;

use quire_codec::text::{FsstTable, HuffmanTable, StringCodes};
use quire_format::tuple::{TupleType, TupleValue};

use crate::rows::{Cell, Column, Row, Storage, all_exact, column, encode, layout, values};

/// Relation R of §3.3.2: ⟨a int, b int, c double not null, d int, e int, f int not null⟩.
fn relation_r(storage: &Storage) -> Vec<Column> {
    let int = TupleType::Int32;
    [
        (int, true),
        (int, true),
        (TupleType::Float64, false),
        (int, true),
        (int, true),
        (int, false),
    ]
    .map(|(kind, nullable)| column(kind, nullable, storage.clone()))
    .to_vec()
}

fn integer(value: i64) -> Option<Cell> {
    Some(Cell::Integer(value))
}

/// The tuple of §3.3.3: values of 2, 0, 8, 3, 0 and 4 bytes.
fn tuple_of_the_paper() -> Row {
    vec![
        integer(0x1234),
        None,
        Some(Cell::Float64(0.1)),
        integer(0x56_789A),
        None,
        integer(0x1234_5678),
    ]
}

#[test]
fn the_tuple_of_the_paper_has_its_length_bytes_and_its_size() {
    let layout = layout(&relation_r(&Storage::Suppressed));
    let tuple = encode(&layout, &tuple_of_the_paper());
    // Byte 1 is 0·010·000·1, byte 2 is 011·000·11.
    let mut expected = vec![0b0010_0001, 0b0110_0011, 0x34, 0x12];
    expected.extend(0.1f64.to_le_bytes());
    expected.extend([0x9A, 0x78, 0x56, 0x78, 0x56, 0x34, 0x12]);
    assert_eq!(tuple, expected);
    // The offset of e: 2 length bytes; a, b and c take 10, d another 3. Then f, at the same place since e is NULL.
    assert_eq!(tuple[2 + 10 + 3..].len(), 4);
    assert_eq!(tuple.len(), 2 + 2 + 8 + 3 + 4);
}

/// `SIZE` of R: two length bytes, and for each field what tables 1 and 2 say.
#[test]
fn every_size_of_r_is_that_of_tables_1_and_2() {
    let layout = layout(&relation_r(&Storage::Suppressed));
    let of_length = |length: u32| (length > 0).then(|| Cell::Integer(1 << (8 * length - 2)));
    for case in 0..5usize.pow(5) * 2 {
        let digit = |place: u32| (case / 5usize.pow(place) % 5) as u32;
        let not_null = digit(4).max(1);
        let (double, double_bytes) = if case < 5usize.pow(5) {
            (0.5, 4)
        } else {
            (0.1, 8)
        };
        let row = [
            of_length(digit(0)),
            of_length(digit(1)),
            Some(Cell::Float64(double)),
            of_length(digit(2)),
            of_length(digit(3)),
            of_length(not_null),
        ];
        let size = 2 + digit(0) + digit(1) + double_bytes + digit(2) + digit(3) + not_null;
        assert_eq!(layout.encoded_bytes(&values(&row)), Ok(size as usize));
        assert_eq!(encode(&layout, &row).len(), size as usize);
    }
}

#[test]
fn a_table_that_compresses_nothing_has_parts_3_and_5_only() {
    let r = layout(&relation_r(&Storage::Plain));
    let tuple = encode(&r, &tuple_of_the_paper());
    let mut expected = vec![0b1010, 0x34, 0x12, 0, 0, 0, 0, 0, 0];
    expected.extend(0.1f64.to_le_bytes());
    expected.extend([0x9A, 0x78, 0x56, 0, 0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12]);
    assert_eq!(tuple, expected, "a byte of NULL marks, then part 3");

    let plain = |kind| column(kind, false, Storage::Plain);
    let columns = [
        plain(TupleType::Int16),
        plain(TupleType::Text),
        plain(TupleType::Bool),
        plain(TupleType::Int128 { digits: 15 }),
        plain(TupleType::Text),
    ];
    let row = [
        integer(-2),
        Some(Cell::Bytes(b"leaf".to_vec())),
        Some(Cell::Bool(true)),
        Some(Cell::Wide(-3)),
        Some(Cell::Bytes(b"fold".to_vec())),
    ];
    let mut expected = vec![0xFE, 0xFF, 4, 0, 0, 0, 1, 0xFD];
    expected.extend([0xFF; 7]);
    expected.extend([4, 0, 0, 0]);
    expected.extend(b"leaffold");
    assert_eq!(encode(&layout(&columns), &row), expected);
}

#[test]
fn all_five_parts_are_where_the_documentation_says() {
    let flags = ["N", "R", "A"]
        .map(|flag| Cell::Bytes(flag.into()))
        .to_vec();
    let columns = [
        column(TupleType::Text, false, Storage::Suppressed),
        column(TupleType::Text, true, Storage::Dictionary(flags, 2)),
        column(TupleType::Timestamp, true, Storage::Plain),
        column(TupleType::Bool, true, Storage::Suppressed),
        column(TupleType::Int128 { digits: 30 }, false, Storage::Suppressed),
        column(
            TupleType::Date { base_days: 10_000 },
            false,
            Storage::Suppressed,
        ),
        column(TupleType::Bytes, true, Storage::Suppressed),
    ];
    let row = [
        Some(Cell::Bytes(b"quire".to_vec())),
        Some(Cell::Bytes(b"A".to_vec())),
        integer(0x0102_0304_0506_0708),
        Some(Cell::Bool(true)),
        Some(Cell::Wide(1 << 64)),
        integer(9_999),
        Some(Cell::Bytes(vec![9; 300])),
    ];
    // From the lowest bit: code 3 (A is entry 2, NULL is code 0); timestamp not NULL; boolean not NULL, true.
    let part_1 = [0b1_0011];
    // The order of the table: 5 bytes for the length of 1 byte, 00; 9 bytes of the decimal, 1000; the date, 00. Then 3 bits of
    // the nullable length of 2 bytes, 010.
    let part_2 = [0b0010_0000, 0b010];
    let part_3 = [8, 7, 6, 5, 4, 3, 2, 1];
    let part_4 = [5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0x2C, 0x01];
    let mut expected = [&part_1[..], &part_2, &part_3, &part_4, b"quire"].concat();
    expected.extend([9; 300]);
    let layout = layout(&columns);
    assert_eq!(encode(&layout, &row), expected);

    // All that can be NULL is.
    let row = [
        Some(Cell::Bytes(Vec::new())),
        None,
        None,
        None,
        Some(Cell::Wide(0)),
        integer(10_000),
        None,
    ];
    let expected = [0b0_1100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(encode(&layout, &row), expected);
}

/// Symbols "ab", "abc" and "d": codes 0 to 2.
#[test]
fn strings_in_codes_have_a_bit_that_says_so() {
    let table = [&[3, 2, 3, 1][..], b"ab", b"abc", b"d"].concat();
    let table = Arc::new(StringCodes::from(FsstTable::from_bytes(&table).unwrap()));
    let columns = [
        column(TupleType::Text, false, Storage::Coded(Arc::clone(&table))),
        column(TupleType::Bool, false, Storage::Suppressed),
        column(TupleType::Text, true, Storage::Coded(table)),
    ];
    let layout = layout(&columns);
    let text = |text: &[u8]| Some(Cell::Bytes(text.to_vec()));
    let flag = || Some(Cell::Bool(true));
    // Bits of part 1: codes, the boolean, codes. Part 2: the first length of 1 byte, 00; that of the nullable string 001, or 000.
    for (row, expected) in [
        (
            [text(b"abcabd"), flag(), text(b"dxdxab")],
            // No shorter: 2, 255, x, 2, 255, x, 0.
            &[
                0b011, 0b00_001, 3, 6, 1, 0, 2, b'd', b'x', b'd', b'x', b'a', b'b',
            ][..],
        ),
        (
            [text(b"d"), flag(), text(b"abcabcabc")],
            &[0b110, 0b00_001, 1, 3, b'd', 1, 1, 1],
        ),
        ([text(b""), flag(), None], &[0b010, 0, 0]),
        // What begins with FF is a mark.
        (
            [text(b"\xFFabcabc"), flag(), None],
            &[0b010, 0, 7, 0xFF, b'a', b'b', b'c', b'a', b'b', b'c'],
        ),
    ] {
        assert_eq!(encode(&layout, &row), expected);
        let mut decoded = [TupleValue::Null; 3];
        layout.decode_all(expected, &mut decoded).unwrap();
        assert_eq!(all_exact(&decoded), all_exact(&values(&row)));
    }
}

/// Words of 1 bit for "a", 8 for "b" and 9 for all other bytes: 0; 1000 0000; 258 and on in binary, which for "c" is 355.
#[test]
fn words_of_a_huffman_code_end_in_ones() {
    let bits = |byte: u8| match byte {
        b'a' => 1,
        b'b' => 8,
        _ => 9,
    };
    let table: Vec<u8> = (0..128)
        .map(|pair| bits(2 * pair) | bits(2 * pair + 1) << 4)
        .collect();
    let table = StringCodes::from(HuffmanTable::from_bytes(&table).unwrap());
    let layout = layout(&[column(TupleType::Text, true, Storage::Coded(table.into()))]);
    let text = |text: &[u8]| Some(Cell::Bytes(text.to_vec()));
    // Part 1: whether there are codes. Part 2: a length of one byte, or none of NULL.
    for (cell, expected) in [
        (
            text(b"aaaaaab"),
            &[1, 0b001, 2, 0b0000_0010, 0b0000_0011][..],
        ),
        (text(b"aaac"), &[1, 0b001, 2, 0b0001_0110, 0b0011_1111]),
        (text(b"aa"), &[1, 0b001, 1, 0b0011_1111]),
        // No shorter: 10 bits, and 8.
        (text(b"ac"), &[0, 0b001, 2, b'a', b'c']),
        (text(b"b"), &[0, 0b001, 1, b'b']),
        (text(b""), &[0, 0b001, 0]),
        (None, &[0, 0]),
        // What begins with FF is a mark.
        (text(b"\xFFaaa"), &[0, 0b001, 4, 0xFF, b'a', b'a', b'a']),
    ] {
        assert_eq!(encode(&layout, std::slice::from_ref(&cell)), expected);
        let mut decoded = [TupleValue::Null];
        layout.decode_all(expected, &mut decoded).unwrap();
        assert_eq!(all_exact(&decoded), all_exact(&values(&[cell])));
    }
}

#[test]
fn padded_strings_take_their_width() {
    let columns = [
        column(TupleType::Text, false, Storage::Padded(3)),
        column(TupleType::Text, false, Storage::Plain),
        column(TupleType::Text, true, Storage::Padded(2)),
    ];
    let layout = layout(&columns);
    let text = |text: &str| Some(Cell::Bytes(text.into()));
    let part_5 = [1, 0, 0, 0];
    for (row, expected) in [
        (
            [text("ab"), text("z"), text("")],
            [&[0][..], b"ab ", &part_5, b"  ", b"z"].concat(),
        ),
        (
            [text("abc"), text("z"), None],
            [&[1][..], b"abc", &part_5, &[0, 0], b"z"].concat(),
        ),
        // Two characters of four bytes, and a blank at the end.
        (
            [text("éé"), text("z"), text("a ")],
            [
                &[0][..],
                &[0xFF, 0, 0],
                &part_5,
                &[0xFF, 0],
                b"z",
                &[4, 0, 0, 0],
                "éé".as_bytes(),
                &[2, 0, 0, 0],
                b"a ",
            ]
            .concat(),
        ),
    ] {
        assert_eq!(encode(&layout, &row), expected);
        let mut decoded = [TupleValue::Null; 3];
        layout.decode_all(&expected, &mut decoded).unwrap();
        assert_eq!(all_exact(&decoded), all_exact(&values(&row)));
    }
}

#[test]
fn an_added_column_is_behind_the_older_ones() {
    let columns = [
        column(TupleType::Int32, false, Storage::Suppressed),
        column(TupleType::Text, false, Storage::Suppressed),
    ];
    let older = layout(&columns);
    let added = column(TupleType::Int16, true, Storage::Suppressed);
    let missing = [Some(Cell::Integer(-7))];
    let newer = older
        .extended(&[added.declared()], &values(&missing))
        .unwrap();
    let row = [
        integer(1_000),
        Some(Cell::Bytes(b"ab".to_vec())),
        integer(3),
    ];
    let tuple = encode(&newer, &row);
    let old_part = [0b01_00, 0xE8, 0x03, 2, b'a', b'b'];
    assert_eq!(tuple, [&old_part[..], &[0b01, 3]].concat());
    assert_eq!(encode(&older, &row[..2]), old_part);
    let mut decoded = [Default::default(); 3];
    newer.decode_all(&old_part, &mut decoded).unwrap();
    let expected = [row[0].clone(), row[1].clone(), missing[0].clone()];
    assert_eq!(all_exact(&decoded), all_exact(&values(&expected)));
}
