//! Tables of all types, with keys and indexes of all kinds.

use quire_exec::plan::ValueKind;
use quire_kv::mvcc::TransactionOptions;
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{
    CatalogKeyPart, ColumnDefinition, Engine, IndexDefinition, Insertion, KeyDefinition, SqlType,
    TableDefinition, TableStorage,
};
use quire_testkit::plan::Row;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Columns of both tables. The first has no value twice.
pub const TYPES: [SqlType; 6] = [
    SqlType::BigInt,
    SqlType::Integer,
    SqlType::Text,
    SqlType::Decimal {
        precision: 12,
        scale: 2,
    },
    SqlType::Double,
    SqlType::Boolean,
];

pub const TEXTS: [&str; 5] = ["", "a", "ab", "b", "a text that is longer than the others"];

pub fn value(random: &mut Random, sql_type: SqlType) -> Value {
    let small = random.below(7) as i64 - 3;
    match ValueKind::of(sql_type) {
        ValueKind::Integer => Value::Integer(small),
        ValueKind::Decimal => Value::Decimal(i128::from(small * 50).into()),
        ValueKind::Double => Value::Double(small as f64 / 2.0),
        ValueKind::Boolean => Value::Boolean(random.one_in(2)),
        _ => Value::Text(random.of(&TEXTS).into()),
    }
}

/// Columns from the first on that are NOT NULL.
pub const NOT_NULL: usize = 3;

/// Some of the first columns in any order; the first of all is among them if the key is to be unique.
fn key(random: &mut Random, name: String, column_count: usize, is_unique: bool) -> KeyDefinition {
    let mut columns: Vec<usize> = (0..column_count).collect();
    for at in 1..column_count {
        columns.swap(at, random.below(at + 1));
    }
    columns.truncate(1 + random.below(3));
    if is_unique && !columns.contains(&0) {
        columns.push(0);
    }
    let part = |column: usize| CatalogKeyPart {
        column,
        is_descending: random.one_in(2),
    };
    KeyDefinition {
        name,
        columns: columns.into_iter().map(part).collect(),
    }
}

fn definition(random: &mut Random, name: &str) -> TableDefinition {
    let columns = TYPES.iter().enumerate().map(|(number, sql_type)| {
        let mut column = ColumnDefinition::new(format!("{name}{number}"), *sql_type);
        column.nullable = number >= NOT_NULL;
        column
    });
    let mut definition = TableDefinition::new(name, columns.collect());
    definition.storage = TableStorage::Row;
    let has_key = !random.one_in(3);
    definition.primary_key = has_key.then(|| key(random, format!("{name}_pkey"), NOT_NULL, true));
    for number in 0..random.below(4) {
        let is_unique = random.one_in(3);
        definition.indexes.push(IndexDefinition {
            id: 0,
            key: key(
                random,
                format!("{name}_index{number}"),
                TYPES.len(),
                is_unique,
            ),
            is_unique,
            is_constraint: false,
        });
    }
    definition
}

pub fn make_table(engine: &Engine, random: &mut Random, name: &str) -> Vec<Row> {
    let definition = definition(random, name);
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    let table = transaction.snapshot().row_table(name).unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    let mut rows = Vec::new();
    let most_rows = random.of(&[12, 12, 60]);
    for number in 0..random.below(most_rows) {
        let row: Row = TYPES
            .iter()
            .enumerate()
            .map(|(column, sql_type)| match column {
                0 => Value::Integer(number as i64 * 3 - 5),
                NOT_NULL.. if random.one_in(4) => Value::Null,
                _ => value(random, *sql_type),
            })
            .collect();
        let values: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        assert!(matches!(
            writer.insert(&values).unwrap(),
            Insertion::Inserted(_)
        ));
        rows.push(row);
    }
    transaction.commit().unwrap();
    rows
}
