//! Dictionaries are chosen where they make rows smaller, and rows with them are what they were.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringViewArray};
use quire_codec::{CodecId, CodecScalar};
use quire_tables::{ColumnDefinition, SqlType, TableDefinition, TableStorage, choose_field_codes};

fn definition() -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition::new(name, sql_type);
    let columns = vec![
        column("id", SqlType::Integer),
        column("flag", SqlType::Char(1)),
        column("mode", SqlType::Text),
        column("unlike", SqlType::Text),
        column("small", SqlType::Integer),
        column("far", SqlType::BigInt),
    ];
    TableDefinition::new("t", columns).clustered_by(&[0])
}

/// Three flags; seven modes and, in one row of a hundred, one of its own; text without repetition; numbers that take a byte;
/// four numbers that take eight.
fn sample(rows: i32) -> RecordBatch {
    let modes = [
        "AIR",
        "TRUCK",
        "MAIL",
        "SHIP",
        "RAIL",
        "REG AIR",
        "FOB and more",
    ];
    let text = |value: &dyn Fn(i32) -> String| -> ArrayRef {
        Arc::new(
            (0..rows)
                .map(|row| Some(value(row)))
                .collect::<StringViewArray>(),
        )
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..rows)),
        text(&|row| ["A", "N", "R"][row as usize % 3].to_owned()),
        text(&|row| match row % 100 {
            0 => format!("once, in row {row}"),
            _ => modes[row as usize % 7].to_owned(),
        }),
        text(&|row| format!("{row} is like no other")),
        Arc::new(Int32Array::from_iter_values((0..rows).map(|row| row % 100))),
        Arc::new(Int64Array::from_iter_values(
            (0..rows).map(|row| i64::from(row % 4) << 50),
        )),
    ];
    RecordBatch::try_new(definition().arrow_schema(), columns).unwrap()
}

fn chosen(definition: &TableDefinition) -> Vec<Option<(u8, usize)>> {
    let columns = definition.columns.iter();
    let chosen = columns.map(|column| {
        let dictionary = column.dictionary.as_ref()?;
        Some((dictionary.code_bits, dictionary.entries.len()))
    });
    chosen.collect()
}

#[test]
fn frequent_values_get_codes_and_others_do_not() {
    let mut definition = definition();
    choose_field_codes(&mut definition, &[sample(20_000)], true);
    // Three flags need 2 bits, for one code is for other values. Modes need 3, those in one row of a hundred have no code. Codes
    // for a hundred numbers of one byte would save less than they take; the fourth of the far numbers, 0, takes a
    // byte in every fourth row, which is more than the one bit that its code adds to all.
    let (flag, mode, far) = (Some((2, 3)), Some((3, 7)), Some((3, 4)));
    assert_eq!(chosen(&definition), [None, flag, mode, None, None, far]);
    let entries = definition.columns[1].dictionary.as_ref().unwrap();
    for value in ["A", "N", "R"] {
        let value = CodecScalar::Bytes(value.as_bytes().to_vec());
        assert!(entries.entries.contains(&value), "{value:?}");
    }
}

#[test]
fn without_finding_only_those_that_are_demanded_are_made() {
    let mut definition = definition();
    definition.columns[1].compression = Some(CodecId::Dictionary);
    choose_field_codes(&mut definition, &[sample(20_000)], false);
    assert_eq!(
        chosen(&definition),
        [None, Some((2, 3)), None, None, None, None]
    );
}

#[test]
fn what_is_demanded_is_done_and_few_rows_decide_nothing() {
    let mut definition = definition();
    choose_field_codes(&mut definition, &[sample(100)], true);
    assert_eq!(chosen(&definition), [None; 6]);
    definition.columns[1].compression = Some(CodecId::Dictionary);
    definition.columns[2].compression = Some(CodecId::Plain);
    choose_field_codes(&mut definition, &[sample(100)], true);
    assert_eq!(chosen(&definition)[1..3], [Some((2, 3)), None]);
    choose_field_codes(&mut definition, &[sample(20_000)], true);
    assert_eq!(chosen(&definition)[2], None);
    definition.options.compresses_tuples = false;
    choose_field_codes(&mut definition, &[sample(20_000)], true);
    assert_eq!(
        chosen(&definition),
        [None, Some((2, 3)), None, None, None, None]
    );
    definition.storage = TableStorage::Column;
    choose_field_codes(&mut definition, &[sample(20_000)], true);
    assert_eq!(chosen(&definition), [None; 6]);
}

/// Each value of the sample is another: those of later rows will be too.
#[test]
fn values_that_are_met_once_get_no_codes() {
    let mut definition = definition();
    choose_field_codes(&mut definition, &[sample(400)], true);
    let (flag, mode, far) = (Some((2, 3)), Some((3, 7)), Some((3, 4)));
    assert_eq!(chosen(&definition), [None, flag, mode, None, None, far]);
}

#[test]
fn dictionaries_are_bounded() {
    let mut definition = definition();
    // 3,000 values of 200 bytes, each often.
    let rows = 30_000;
    let long = |row: i32| Some(format!("{:0200}", row % 3_000));
    let column: ArrayRef = Arc::new((0..rows).map(long).collect::<StringViewArray>());
    let mut columns = sample(rows).columns().to_vec();
    columns[3] = column;
    let batch = RecordBatch::try_new(definition.arrow_schema(), columns).unwrap();
    choose_field_codes(&mut definition, &[batch], true);
    let dictionary = definition.columns[3].dictionary.as_ref();
    let entries = dictionary.map_or(0, |dictionary| dictionary.entries.len());
    assert!(entries * 201 <= 32 << 10, "{entries}");
}

/// A column of `strings`, beside a key, and what is chosen for it.
fn chosen_for(
    strings: &[Option<String>],
    change: impl FnOnce(&mut TableDefinition),
) -> ColumnDefinition {
    let columns = vec![
        ColumnDefinition::new("id", SqlType::Integer),
        ColumnDefinition::new("text", SqlType::Text),
    ];
    let mut definition = TableDefinition::new("t", columns).clustered_by(&[0]);
    change(&mut definition);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..strings.len() as i32)),
        Arc::new(
            strings
                .iter()
                .map(Option::as_deref)
                .collect::<StringViewArray>(),
        ),
    ];
    let batch = RecordBatch::try_new(definition.arrow_schema(), columns).unwrap();
    choose_field_codes(&mut definition, &[batch], true);
    definition.columns.remove(1)
}

fn strings(count: usize, string: impl Fn(usize) -> String) -> Vec<Option<String>> {
    (0..count)
        .map(|row| (row % 9 > 0).then(|| string(row)))
        .collect()
}

/// Words in no order, which a block codec finds one by one, and a number.
fn remark(row: usize) -> String {
    let words = [
        "parcel",
        "delivered",
        "furious",
        "to the door",
        "with care",
        "again",
    ];
    let mixed = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = |bit: u32| words[(mixed >> bit) as usize % words.len()];
    format!("{} {} {} {} {row}", word(20), word(29), word(38), word(47))
}

/// The codes that a column has its strings in.
fn codec_of(column: &ColumnDefinition) -> Option<CodecId> {
    column.string_codes.as_ref().map(|codes| codes.codec())
}

#[test]
fn long_strings_that_have_much_in_common_get_an_fsst_table() {
    let found = chosen_for(&strings(2_000, remark), |_| {});
    assert_eq!(codec_of(&found), Some(CodecId::Fsst));
    assert!(found.dictionary.is_none());
    // Too few rows; strings that are too short.
    assert!(
        chosen_for(&strings(200, remark), |_| {})
            .string_codes
            .is_none()
    );
    let short = |row: usize| format!("the number {row}");
    assert!(
        chosen_for(&strings(2_000, short), |_| {})
            .string_codes
            .is_none()
    );
    // Digits without order: no symbol is longer than some of them.
    let digits = |row: usize| {
        let mixed = |by: u64| (row as u64 + by).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{:x}{:x}{:x}", mixed(1), mixed(2) >> 3, mixed(3) >> 5)
    };
    let noise = |row: usize| {
        digits(row)
            .bytes()
            .map(|byte| char::from(byte ^ (row % 31) as u8))
            .collect()
    };
    assert!(
        chosen_for(&strings(2_000, noise), |_| {})
            .string_codes
            .is_none()
    );
    // Codes of a dictionary are shorter.
    let few = |row: usize| remark(row % 7);
    let found = chosen_for(&strings(2_000, few), |_| {});
    assert!(found.string_codes.is_none() && found.dictionary.is_some());
}

#[test]
fn what_is_demanded_of_strings_is_done() {
    let demand = |codec| {
        move |definition: &mut TableDefinition| {
            definition.columns[1].compression = Some(codec);
        }
    };
    let few = strings(20, remark);
    for codec in [CodecId::Fsst, CodecId::Huffman] {
        let found = chosen_for(&few, demand(codec));
        assert_eq!(codec_of(&found), Some(codec));
        assert!(found.dictionary.is_none());
        let of_column_table = chosen_for(&few, |definition| {
            demand(codec)(definition);
            definition.storage = TableStorage::Column;
        });
        assert_eq!(codec_of(&of_column_table), None);
    }
    let many = strings(2_000, remark);
    assert!(
        chosen_for(&many, demand(CodecId::Plain))
            .string_codes
            .is_none()
    );
    assert!(
        chosen_for(&many, demand(CodecId::Dictionary))
            .string_codes
            .is_none()
    );
    // Without a string there is nothing to learn from.
    let none = vec![None; 300];
    for codec in [CodecId::Fsst, CodecId::Huffman] {
        assert_eq!(codec_of(&chosen_for(&none, demand(codec))), None);
    }
    let uncompressed =
        |definition: &mut TableDefinition| definition.options.compresses_tuples = false;
    assert!(chosen_for(&many, uncompressed).string_codes.is_none());
    let column_table = |definition: &mut TableDefinition| definition.storage = TableStorage::Column;
    assert!(chosen_for(&many, column_table).string_codes.is_none());
}
