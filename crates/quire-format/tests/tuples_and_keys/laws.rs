//! For any columns and rows: what comes out by every way is what went in, the size announced is the size written, and the
//! bytes are those of the naive writer.

use proptest::prelude::*;
use quire_format::tuple::{TupleLayout, TupleValue};

use crate::naive;
use crate::rows::{Cell, Column, all_exact, encode, exact, layout, tables, values};

fn each(layout: &TupleLayout, tuple: &[u8]) -> Vec<String> {
    (0..layout.column_count())
        .map(|column| exact(layout.field(tuple, column).unwrap()))
        .collect()
}

fn reads(layout: &TupleLayout, tuples: &[Vec<u8>], rows: &[Vec<Option<Cell>>]) {
    let mut decoded = vec![TupleValue::Null; layout.column_count()];
    for (tuple, row) in tuples.iter().zip(rows) {
        layout.decode_all(tuple, &mut decoded).unwrap();
        assert_eq!(all_exact(&decoded), all_exact(&values(row)));
        assert_eq!(each(layout, tuple), all_exact(&values(row)));
    }
    for column in 0..layout.column_count() {
        let mut found = Vec::new();
        let slices = tuples.iter().map(Vec::as_slice);
        layout
            .decode_column(slices, column, |value| found.push(exact(value)))
            .unwrap();
        let expected: Vec<_> = rows.iter().map(|row| exact(values(row)[column])).collect();
        assert_eq!(found, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rows_come_back((columns, rows) in tables(14, 4)) {
        let layout = layout(&columns);
        let mut tuples = Vec::new();
        for row in &rows {
            let row_values = values(row);
            let tuple = encode(&layout, row);
            prop_assert_eq!(&tuple, &naive::encode(&columns, row));
            prop_assert_eq!(layout.encoded_bytes(&row_values), Ok(tuple.len()));
            // What was there before stays.
            let mut page = vec![0xEE; 5];
            layout.encode(&row_values, &mut page).unwrap();
            prop_assert_eq!(&page[..5], &[0xEE; 5]);
            prop_assert_eq!(&page[5..], &tuple);
            tuples.push(tuple);
        }
        reads(&layout, &tuples, &rows);
        let count = layout.column_count();
        prop_assert!(layout.field(&tuples[0], count).is_err());
        let mut more = vec![TupleValue::Null; count + 1];
        prop_assert!(layout.decode_all(&tuples[0], &mut more).is_err());
    }

    /// Two times columns are added; there are rows from before, between and after.
    #[test]
    fn rows_that_are_older_than_a_column_have_its_missing_value(
        (columns, rows) in tables(5, 2),
        (second, second_rows) in tables(3, 2),
        (third, third_rows) in tables(3, 2),
    ) {
        let oldest = layout(&columns);
        let declared = |columns: &[Column]| columns.iter().map(Column::declared).collect::<Vec<_>>();
        let Ok(middle) = oldest.extended(&declared(&second), &values(&second_rows[0])) else {
            return Ok(()); // Columns that take no bytes are refused; another test says which.
        };
        let Ok(newest) = middle.extended(&declared(&third), &values(&third_rows[0])) else {
            return Ok(());
        };
        let (mut tuples, mut expected) = (Vec::new(), Vec::new());
        let tails = [(0, 0), (1, 0), (1, 1)];
        for (age, (layout, added)) in [&oldest, &middle, &newest].into_iter().zip(tails).enumerate() {
            let of = |rows: &[Vec<Option<Cell>>], new: usize| rows[new.min(rows.len() - 1)].clone();
            let parts = [of(&rows, 1), of(&second_rows, added.0), of(&third_rows, added.1)];
            tuples.push(encode(layout, &parts[..=age].concat()));
            expected.push(parts.concat());
        }
        prop_assert_eq!(encode(&newest, &expected[2]), tuples[2].clone());
        reads(&newest, &tuples, &expected);
    }
}
