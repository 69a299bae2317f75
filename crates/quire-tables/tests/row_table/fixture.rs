//! Random tables and rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use quire_codec::CodecId;
use quire_codec::Corrupt;
use quire_codec::text::StringCodes;
use quire_format::key::KeyCode;
use quire_tables::SqlType;
use quire_tables::row_table::{
    FieldStorage, PrimaryKeyPart, RowColumn, RowLayout, RowLayoutSpec, RowSection, TupleValue,
    Value, array_of_values,
};

/// Seeded numbers (xorshift*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 3
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn one_in(&mut self, parts: usize) -> bool {
        self.below(parts) == 0
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

pub const TYPES: [SqlType; 16] = [
    SqlType::Boolean,
    SqlType::SmallInt,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::Real,
    SqlType::Double,
    SqlType::Decimal {
        precision: 3,
        scale: 1,
    },
    SqlType::Decimal {
        precision: 15,
        scale: 2,
    },
    SqlType::Decimal {
        precision: 38,
        scale: 10,
    },
    SqlType::Date,
    SqlType::Timestamp,
    SqlType::TimestampTz,
    SqlType::Text,
    SqlType::VarChar(40),
    SqlType::Char(7),
    SqlType::Bytea,
];

fn integer(random: &mut Random, bits: u32) -> i64 {
    let (least, most) = (-1_i64 << (bits - 1), i64::MAX >> (64 - bits));
    match random.below(6) {
        0 => least,
        1 => most,
        2 => 0,
        3 => random.below(300) as i64 - 150,
        _ => ((random.next() << 3) as i64) >> (64 - bits),
    }
}

fn float(random: &mut Random) -> f64 {
    *random.pick(&[
        0.0,
        -0.0,
        1.5,
        -2.25e100,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        0.1,
    ])
}

fn text(random: &mut Random, characters: usize) -> String {
    let letters = ['a', 'b', '\u{0}', '\u{1}', '\u{2}', ' ', 'é', '€', '𝄞', 'z'];
    let mut text: String = (0..random.below(characters + 1))
        .map(|_| *random.pick(&letters))
        .collect();
    while text.ends_with(' ') {
        text.pop();
    }
    text
}

/// Any value of a type, extremes often.
pub fn value(random: &mut Random, sql_type: SqlType) -> Value {
    match sql_type {
        SqlType::Boolean => Value::Boolean(random.one_in(2)),
        SqlType::SmallInt => Value::Integer(integer(random, 16)),
        SqlType::Integer | SqlType::Date => Value::Integer(integer(random, 32)),
        SqlType::BigInt | SqlType::Timestamp | SqlType::TimestampTz => {
            Value::Integer(integer(random, 64))
        }
        SqlType::Real => Value::Real(float(random) as f32),
        SqlType::Double => Value::Double(float(random)),
        SqlType::Decimal { precision, .. } => {
            let limit = 10_i128.pow(precision.into());
            let wide = i128::from(random.next()) * i128::from(random.next());
            let any = [
                0,
                limit - 1,
                1 - limit,
                7,
                -300,
                wide % limit,
                -(wide % limit),
            ];
            Value::Decimal((*random.pick(&any) % limit).into())
        }
        SqlType::Text => Value::Text(text(random, 60).into()),
        SqlType::VarChar(length) | SqlType::Char(length) => {
            Value::Text(text(random, length as usize).into())
        }
        SqlType::Bytea => {
            let bytes = [0x00, 0x01, 0xFF, 0xFE, 0x61];
            let length = random.below(30);
            Value::Bytes((0..length).map(|_| *random.pick(&bytes)).collect())
        }
    }
}

/// Any value that the column can store, but NULL.
fn storable(random: &mut Random, column: &RowColumn) -> Value {
    match &column.storage {
        FieldStorage::Dictionary { entries, .. } if !random.one_in(3) => {
            random.pick(entries).clone()
        }
        _ => value(random, column.sql_type),
    }
}

pub fn value_or_null(random: &mut Random, column: &RowColumn) -> Value {
    if column.nullable && random.one_in(4) {
        Value::Null
    } else {
        storable(random, column)
    }
}

fn storage(random: &mut Random, sql_type: SqlType) -> FieldStorage {
    match random.below(5) {
        0 => FieldStorage::Plain,
        // Null suppression does not shorten the first two, and their values need another place.
        1 if !matches!(sql_type, SqlType::Boolean | SqlType::Real) => {
            let mut entries: Vec<Value> = Vec::new();
            for _ in 0..6 {
                let entry = value(random, sql_type);
                // Marks begin so.
                let is_mark = matches!(&entry, Value::Bytes(bytes) if bytes.first() == Some(&0xFF));
                if !is_mark && !entries.contains(&entry) {
                    entries.push(entry);
                }
            }
            FieldStorage::Dictionary {
                code_bits: 3,
                entries,
            }
        }
        2 if sql_type.is_text() => {
            let sample: Vec<String> = (0..random.below(40)).map(|_| text(random, 60)).collect();
            let sample: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
            let codec = if random.one_in(2) {
                CodecId::Huffman
            } else {
                CodecId::Fsst
            };
            FieldStorage::StringCodes(Arc::new(StringCodes::train(codec, &sample).unwrap()))
        }
        3 if sql_type.is_text() => FieldStorage::Padded {
            bytes: 1 + random.below(40) as u8,
        },
        _ => FieldStorage::NullSuppressed,
    }
}

fn key_code(random: &mut Random) -> KeyCode {
    let sample: Vec<String> = (0..random.below(60)).map(|_| text(random, 40)).collect();
    KeyCode::train(sample.iter().map(String::as_bytes))
}

pub fn column(random: &mut Random) -> RowColumn {
    let sql_type = *random.pick(&TYPES);
    RowColumn {
        sql_type,
        nullable: random.one_in(2),
        storage: storage(random, sql_type),
        key_code: (sql_type.is_text() && random.one_in(2)).then(|| key_code(random)),
        dropped: false,
    }
}

/// A random table: some columns, perhaps a key, perhaps added columns. None is dropped yet.
pub fn spec(random: &mut Random) -> RowLayoutSpec {
    let count = 1 + random.below(9);
    let first: Vec<RowColumn> = (0..count).map(|_| column(random)).collect();
    let mut ordinals: Vec<usize> = (0..count).collect();
    let key_count = random.below(4).min(count);
    let primary_key = (0..key_count)
        .map(|_| PrimaryKeyPart {
            ordinal: ordinals.swap_remove(random.below(ordinals.len())),
            descending: random.one_in(2),
        })
        .collect();
    RowLayoutSpec {
        sections: vec![RowSection {
            columns: first,
            missing: Vec::new(),
        }],
        primary_key,
        page_bytes: 16_384,
    }
}

pub fn add_section(random: &mut Random, spec: &mut RowLayoutSpec) {
    let columns: Vec<RowColumn> = (0..1 + random.below(3)).map(|_| column(random)).collect();
    let missing = columns
        .iter()
        .map(|column| value_or_null(random, column))
        .collect();
    spec.sections.push(RowSection { columns, missing });
}

/// A row for the columns there are; key columns are never NULL.
pub fn row(random: &mut Random, spec: &RowLayoutSpec) -> Vec<Value> {
    let is_key = |ordinal| spec.primary_key.iter().any(|part| part.ordinal == ordinal);
    let columns: Vec<&RowColumn> = spec.columns().collect();
    columns
        .into_iter()
        .enumerate()
        .map(|(ordinal, column)| {
            if is_key(ordinal) {
                storable(random, column)
            } else {
                value_or_null(random, column)
            }
        })
        .collect()
}

pub fn borrowed(values: &[Value]) -> Vec<TupleValue<'_>> {
    values.iter().map(Value::as_tuple_value).collect()
}

/// The schema of some columns by ordinal, and of the key behind them.
pub fn schema(layout: &RowLayout, projection: &[usize], with_key: bool) -> SchemaRef {
    let field = |&ordinal: &usize| {
        let sql_type = layout.sql_type(ordinal).unwrap();
        Field::new(format!("c{ordinal}"), sql_type.arrow_type(), true)
    };
    let key = Field::new("key", SqlType::Bytea.arrow_type(), false);
    let fields = projection.iter().map(field);
    Arc::new(Schema::new(
        fields.chain(with_key.then_some(key)).collect::<Vec<_>>(),
    ))
}

/// A batch of the live columns of `rows`.
pub fn batch(layout: &RowLayout, rows: &[Vec<Value>]) -> RecordBatch {
    let array = |&ordinal: &usize| -> ArrayRef {
        let values = rows.iter().map(|row| row[ordinal].as_tuple_value());
        array_of_values(layout.sql_type(ordinal).unwrap(), values).unwrap()
    };
    let arrays = layout.live_ordinals().iter().map(array).collect();
    let schema = schema(layout, layout.live_ordinals(), false);
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema, arrays, &options).unwrap()
}

/// An overflow tree.
#[derive(Default)]
pub struct Overflow(pub HashMap<Vec<u8>, Vec<u8>>);

impl Overflow {
    pub fn fetch(&self) -> impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, Corrupt> + '_ {
        |key, target| {
            let found = self.0.get(key);
            target.extend_from_slice(found.map_or(&[], Vec::as_slice));
            Ok(found.is_some())
        }
    }
}

pub fn nothing(_: &[u8], _: &mut Vec<u8>) -> Result<bool, Corrupt> {
    Ok(false)
}

/// Whether two values are the same bit for bit, which `Value` does not say of floats.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(left), Value::Real(right)) => left.to_bits() == right.to_bits(),
        (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}
