//! Dictionaries are chosen where they make rows smaller, and rows with them are what they were.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringViewArray};
use quire_codec::{CodecId, CodecScalar};
use quire_tables::{ColumnDefinition, SqlType, TableDefinition, TableStorage, choose_dictionaries};

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
    choose_dictionaries(&mut definition, &[sample(20_000)], true);
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
    choose_dictionaries(&mut definition, &[sample(20_000)], false);
    assert_eq!(
        chosen(&definition),
        [None, Some((2, 3)), None, None, None, None]
    );
}

#[test]
fn what_is_demanded_is_done_and_few_rows_decide_nothing() {
    let mut definition = definition();
    choose_dictionaries(&mut definition, &[sample(100)], true);
    assert_eq!(chosen(&definition), [None; 6]);
    definition.columns[1].compression = Some(CodecId::Dictionary);
    definition.columns[2].compression = Some(CodecId::Plain);
    choose_dictionaries(&mut definition, &[sample(100)], true);
    assert_eq!(chosen(&definition)[1..3], [Some((2, 3)), None]);
    choose_dictionaries(&mut definition, &[sample(20_000)], true);
    assert_eq!(chosen(&definition)[2], None);
    definition.options.compresses_tuples = false;
    choose_dictionaries(&mut definition, &[sample(20_000)], true);
    assert_eq!(
        chosen(&definition),
        [None, Some((2, 3)), None, None, None, None]
    );
    definition.storage = TableStorage::Column;
    choose_dictionaries(&mut definition, &[sample(20_000)], true);
    assert_eq!(chosen(&definition), [None; 6]);
}

/// Each value of the sample is another: those of later rows will be too.
#[test]
fn values_that_are_met_once_get_no_codes() {
    let mut definition = definition();
    choose_dictionaries(&mut definition, &[sample(400)], true);
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
    choose_dictionaries(&mut definition, &[batch], true);
    let dictionary = definition.columns[3].dictionary.as_ref();
    let entries = dictionary.map_or(0, |dictionary| dictionary.entries.len());
    assert!(entries * 201 <= 32 << 10, "{entries}");
}
