//! Rows there and back: one by one, as batches, after columns were added and dropped, damaged.

use std::sync::Arc;

use quire_tables::row_table::{
    BatchBuilder, ColumnArray, EncodedRow, RowBuffer, RowColumn, RowLayout, RowLayoutSpec,
    StoredValue, TupleValue, Value,
};

use crate::fixture::{Random, add_section, batch, borrowed, is_same, nothing, row, schema, spec};

/// Entries of rows of different age, and what they must read as.
struct Table {
    spec: RowLayoutSpec,
    layout: RowLayout,
    entries: Vec<EncodedRow>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    fn random(random: &mut Random) -> Self {
        let spec = spec(random);
        let layout = RowLayout::new(&spec).unwrap();
        let mut table = Self {
            spec,
            layout,
            entries: Vec::new(),
            rows: Vec::new(),
        };
        table.insert(random);
        for _ in 0..random.below(3) {
            table.alter(random);
            table.insert(random);
        }
        table
    }

    fn insert(&mut self, random: &mut Random) {
        for _ in 0..8 {
            let mut values = row(random, &self.spec);
            let mut entry = EncodedRow::default();
            let number = self.rows.len() as u64;
            let encoded = self
                .layout
                .encode_row(&borrowed(&values), number, &mut entry);
            encoded.unwrap();
            self.entries.push(entry);
            self.forget_dropped(&mut values);
            self.rows.push(values);
        }
    }

    fn forget_dropped(&self, values: &mut [Value]) {
        for (value, column) in values.iter_mut().zip(self.spec.columns()) {
            if column.dropped {
                *value = Value::Null;
            }
        }
    }

    /// Adds columns or drops one.
    fn alter(&mut self, random: &mut Random) {
        if random.one_in(2) {
            add_section(random, &mut self.spec);
            let missing = &self.spec.sections.last().unwrap().missing;
            for values in &mut self.rows {
                values.extend(missing.iter().cloned());
            }
        } else {
            let in_key = self.layout.key_ordinals().to_vec();
            let mut columns: Vec<&mut RowColumn> = self
                .spec
                .sections
                .iter_mut()
                .flat_map(|section| &mut section.columns)
                .collect();
            let ordinal = random.below(columns.len());
            if !in_key.contains(&ordinal) {
                columns[ordinal].dropped = true;
            }
            let mut rows = std::mem::take(&mut self.rows);
            rows.iter_mut()
                .for_each(|values| self.forget_dropped(values));
            self.rows = rows;
        }
        self.layout = RowLayout::new(&self.spec).unwrap();
    }
}

fn assert_same(found: &[Value], expected: &[Value]) {
    let same = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| is_same(found, expected));
    assert!(same, "{found:?} instead of {expected:?}");
}

fn try_decoded(layout: &RowLayout, entry: &EncodedRow) -> Option<Vec<Value>> {
    let (mut buffer, mut values) = (RowBuffer::default(), Vec::new());
    let (key, tuple) = (&entry.key, &entry.tuple);
    let read = layout.decode_row(key, tuple, &mut buffer, nothing, &mut values);
    read.ok()?;
    let typed = values.iter().enumerate();
    typed
        .map(|(ordinal, value)| Value::of_tuple_value(*value, layout.sql_type(ordinal)?).ok())
        .collect()
}

fn decoded(layout: &RowLayout, entry: &EncodedRow) -> Vec<Value> {
    try_decoded(layout, entry).unwrap()
}

#[test]
fn rows_of_every_age_read_as_they_should() {
    for seed in 0..600 {
        let table = Table::random(&mut Random::new(seed));
        for (entry, row) in table.entries.iter().zip(&table.rows) {
            assert_same(&decoded(&table.layout, entry), row);
            for &ordinal in table.layout.live_ordinals() {
                let mut scratch = Vec::new();
                let field = table
                    .layout
                    .field(&entry.key, &entry.tuple, ordinal, &mut scratch);
                let StoredValue::Value(value) = field.unwrap() else {
                    panic!("value was cut out");
                };
                let sql_type = table.layout.sql_type(ordinal).unwrap();
                let value = Value::of_tuple_value(value, sql_type).unwrap();
                assert!(is_same(&value, &row[ordinal]), "{value:?}");
            }
        }
    }
}

#[test]
fn batches_hold_the_wanted_columns_of_rows_of_every_age() {
    for seed in 0..600 {
        let mut random = Random::new(1_000_000 + seed);
        let table = Table::random(&mut random);
        let live = table.layout.live_ordinals().to_vec();
        let count = random.below(live.len() + 1);
        let projection: Vec<usize> = (0..count).map(|_| *random.pick(&live)).collect();
        let with_key = random.one_in(2);
        let schema = schema(&table.layout, &projection, with_key);
        let layout = Arc::new(table.layout.clone());
        let mut builder = BatchBuilder::new(layout, &projection, with_key, schema).unwrap();
        // The second batch uses the buffers of the first.
        for _ in 0..2 {
            for entry in &table.entries {
                builder.push(&entry.key, &entry.tuple);
            }
            let batch = builder.finish(nothing).unwrap();
            assert_eq!(batch.num_rows(), table.rows.len());
            for (row, expected) in table.rows.iter().enumerate() {
                for (array, &ordinal) in batch.columns().iter().zip(&projection) {
                    let sql_type = table.layout.sql_type(ordinal).unwrap();
                    let found = Value::of_array(array.as_ref(), row, sql_type).unwrap();
                    assert!(is_same(&found, &expected[ordinal]));
                }
                if with_key {
                    let keys = batch.columns().last().unwrap().as_ref();
                    let key = Value::of_array(keys, row, quire_tables::SqlType::Bytea).unwrap();
                    assert_eq!(key, Value::Bytes(table.entries[row].key.clone().into()));
                }
            }
        }
    }
}

#[test]
fn rows_that_are_read_from_a_batch_are_encoded_as_they_were() {
    for seed in 0..300 {
        let mut random = Random::new(2_000_000 + seed);
        let table = Table::random(&mut random);
        let rows: Vec<_> = (0..10).map(|_| row(&mut random, &table.spec)).collect();
        let batch = batch(&table.layout, &rows);
        let layout = &table.layout;
        let mut arrays = batch.columns().iter();
        let columns: Vec<Option<ColumnArray<'_>>> = (0..layout.column_count())
            .map(|ordinal| {
                let sql_type = layout.sql_type(ordinal).unwrap();
                let is_live = layout.live_ordinals().contains(&ordinal);
                is_live.then(|| ColumnArray::new(sql_type, arrays.next().unwrap().as_ref()))?
            })
            .collect();
        for (index, values) in rows.iter().enumerate() {
            let read = columns.iter().map(|column| match column {
                Some(column) => column.value(index),
                None => TupleValue::Null,
            });
            let (mut found, mut expected) = (EncodedRow::default(), EncodedRow::default());
            let row_id = 77 + index as u64;
            layout
                .encode_row(&read.collect::<Vec<_>>(), row_id, &mut found)
                .unwrap();
            layout
                .encode_row(&borrowed(values), row_id, &mut expected)
                .unwrap();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn keys_order_rows_as_their_columns_do() {
    for seed in 0..300 {
        let mut random = Random::new(3_000_000 + seed);
        let spec = spec(&mut random);
        let layout = RowLayout::new(&spec).unwrap();
        let mut rows: Vec<(Vec<u8>, Vec<Value>)> = (0..30)
            .map(|number| {
                let values = row(&mut random, &spec);
                let mut entry = EncodedRow::default();
                layout
                    .encode_row(&borrowed(&values), number, &mut entry)
                    .unwrap();
                (entry.key, values)
            })
            .collect();
        rows.sort_by(|left, right| left.0.cmp(&right.0));
        for pair in rows.windows(2) {
            let order = spec.primary_key.iter().map(|part| {
                let order = pair[0].1[part.ordinal].cmp(&pair[1].1[part.ordinal]);
                if part.descending {
                    order.reverse()
                } else {
                    order
                }
            });
            let order = order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
            if spec.primary_key.is_empty() {
                assert!(pair[0].0 < pair[1].0)
            } else {
                assert_eq!(order, pair[0].0.cmp(&pair[1].0))
            }
        }
    }
}

#[test]
fn damaged_entries_are_errors_or_other_rows() {
    let mut other_rows = 0;
    for seed in 0..300 {
        let mut random = Random::new(4_000_000 + seed);
        let table = Table::random(&mut random);
        let live = table.layout.live_ordinals();
        let schema = schema(&table.layout, live, true);
        let layout = Arc::new(table.layout.clone());
        let mut builder = BatchBuilder::new(layout, live, true, schema).unwrap();
        for entry in &table.entries {
            let mut entry = entry.clone();
            let bytes = if random.one_in(3) {
                &mut entry.key
            } else {
                &mut entry.tuple
            };
            match random.below(3) {
                0 => bytes.truncate(random.below(bytes.len() + 1)),
                1 => bytes.push(random.below(256) as u8),
                _ if bytes.is_empty() => {}
                _ => {
                    let at = random.below(bytes.len());
                    bytes[at] ^= 1 << random.below(8);
                }
            }
            builder.push(&entry.key, &entry.tuple);
            let batch = builder.finish(nothing);
            let Some(row) = try_decoded(&table.layout, &entry) else {
                continue;
            };
            // Another row, then, and the same one in both ways.
            let batch = batch.unwrap();
            for (array, &ordinal) in batch.columns().iter().zip(live) {
                let sql_type = table.layout.sql_type(ordinal).unwrap();
                let found = Value::of_array(array.as_ref(), 0, sql_type).unwrap();
                assert!(is_same(&found, &row[ordinal]));
            }
            other_rows += 1;
        }
    }
    assert!(other_rows > 100, "{other_rows}");
}
