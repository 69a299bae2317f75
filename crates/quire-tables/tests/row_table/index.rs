//! Entries of indexes.

use quire_tables::row_table::{EncodedRow, IndexColumn, IndexLayout, RowLayout, Value};

use crate::fixture::{Random, borrowed, row, spec};

fn index_columns(random: &mut Random, column_count: usize) -> Vec<IndexColumn> {
    let mut ordinals: Vec<usize> = (0..column_count).collect();
    (0..1 + random.below(3).min(column_count - 1))
        .map(|_| IndexColumn {
            ordinal: ordinals.swap_remove(random.below(ordinals.len())),
            descending: random.one_in(2),
            nulls_first: random.one_in(2),
        })
        .collect()
}

/// The order of two values in a column of an index.
fn compare(column: &IndexColumn, left: &Value, right: &Value) -> std::cmp::Ordering {
    match (left.is_null(), right.is_null()) {
        (false, false) if column.descending => right.cmp(left),
        (false, false) => left.cmp(right),
        (left, right) if column.nulls_first => right.cmp(&left),
        (left, right) => left.cmp(&right),
    }
}

#[test]
fn entries_are_ordered_and_lead_to_their_rows() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let spec = spec(&mut random);
        let rows = RowLayout::new(&spec).unwrap();
        let columns = index_columns(&mut random, rows.column_count());
        let unique = random.one_in(2);
        let index = IndexLayout::new(&rows, &columns, unique).unwrap();
        let mut entries = Vec::new();
        for number in 0..25 {
            let values = row(&mut random, &spec);
            let mut encoded = EncodedRow::default();
            rows.encode_row(&borrowed(&values), number, &mut encoded)
                .unwrap();
            let (mut key, mut value) = (Vec::new(), Vec::new());
            let exclusive = index
                .encode_entry(&borrowed(&values), &encoded.key, &mut key, &mut value)
                .unwrap();
            let has_null = columns
                .iter()
                .any(|column| values[column.ordinal].is_null());
            assert_eq!(exclusive, unique && !has_null);
            let found = index.row_key(&key, &value, &mut Vec::new()).unwrap();
            assert_eq!(found, encoded.key);
            entries.push((key, encoded.key, values, exclusive));
        }
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        for pair in entries.windows(2) {
            let orders = columns.iter().map(|column| {
                let [left, right] = [0, 1].map(|at| &pair[at].2[column.ordinal]);
                compare(column, left, right)
            });
            let order = orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
            assert!(order.is_le(), "{:?} {:?}", pair[0].2, pair[1].2);
            let exclusive = pair[0].3 && pair[1].3;
            match (order.is_eq(), exclusive) {
                (true, true) => assert_eq!(pair[0].0, pair[1].0),
                (true, false) => assert_eq!(pair[0].1.cmp(&pair[1].1), pair[0].0.cmp(&pair[1].0)),
                (false, _) => assert!(pair[0].0 < pair[1].0),
            }
        }
    }
}

#[test]
fn entries_that_are_cut_short_are_errors() {
    let mut random = Random::new(9);
    for _ in 0..100 {
        let spec = spec(&mut random);
        let rows = RowLayout::new(&spec).unwrap();
        let columns = index_columns(&mut random, rows.column_count());
        let index = IndexLayout::new(&rows, &columns, false).unwrap();
        let values = row(&mut random, &spec);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        index
            .encode_entry(&borrowed(&values), b"", &mut key, &mut value)
            .unwrap();
        for length in 0..key.len() {
            let cut = index.row_key(&key[..length], &[], &mut Vec::new());
            assert!(cut.is_err(), "{:?}", &key[..length]);
        }
    }
}
