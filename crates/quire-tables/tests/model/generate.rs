//! Random definitions and rows.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringViewArray,
    TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use quire_codec::CodecId;
use quire_tables::{ColumnDefinition, SqlType, TableDefinition};

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit
    }

    pub fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A table as it must be.
#[derive(Clone)]
pub struct TableModel {
    pub definition: TableDefinition,
    schema: SchemaRef,
    rows: RecordBatch,
}

const TYPES: [SqlType; 17] = [
    SqlType::Boolean,
    SqlType::SmallInt,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::Real,
    SqlType::Double,
    SqlType::Decimal {
        precision: 4,
        scale: 2,
    },
    SqlType::Decimal {
        precision: 18,
        scale: 0,
    },
    SqlType::Decimal {
        precision: 38,
        scale: 10,
    },
    SqlType::Date,
    SqlType::Timestamp,
    SqlType::TimestampTz,
    SqlType::Text,
    SqlType::Text,
    SqlType::VarChar(6),
    SqlType::Char(5),
    SqlType::Bytea,
];

impl TableModel {
    pub fn random(random: &mut Random, name: &str) -> Self {
        let columns = (0..1 + random.below(5)).map(|index| {
            let sql_type = random.choose(&TYPES);
            let codecs: Vec<CodecId> = CodecId::ALL
                .into_iter()
                .filter(|codec| codec.supports(sql_type.physical_type()))
                .collect();
            let compression = (random.below(2) == 0).then(|| random.choose(&codecs));
            let nullable = random.below(2) == 0;
            ColumnDefinition {
                nullable,
                compression,
                ..ColumnDefinition::new(format!("c{index}"), sql_type)
            }
        });
        let mut definition = TableDefinition::new(name, columns.collect());
        definition.options.block_bytes =
            random.choose(&[None, None, Some(16 << 10), Some(40_000), Some(1 << 20)]);
        let schema = definition.arrow_schema();
        let rows = RecordBatch::new_empty(schema.clone());
        TableModel {
            definition,
            schema,
            rows,
        }
    }

    pub fn rows(&self) -> RecordBatch {
        self.rows.clone()
    }

    /// Adds random rows; returns them as they are to be appended, with trailing blanks in CHAR.
    pub fn append_random(&mut self, random: &mut Random) -> RecordBatch {
        let count = match random.below(8) {
            0 => 0,
            1..=4 => random.below(60),
            5..=6 => random.below(3_000),
            _ => random.below(20_000),
        };
        let columns: Vec<_> = self
            .definition
            .columns
            .iter()
            .map(|column| cells(random, column, count))
            .collect();
        let given = columns.iter().zip(&self.definition.columns);
        let given = given
            .map(|(cells, column)| array(column.sql_type, cells, true))
            .collect();
        let stored = columns.iter().zip(&self.definition.columns);
        let stored = stored
            .map(|(cells, column)| array(column.sql_type, cells, false))
            .collect();
        let stored = RecordBatch::try_new(self.schema.clone(), stored).unwrap();
        self.rows = concat_batches(&self.schema, [&self.rows, &stored]).unwrap();
        RecordBatch::try_new(self.schema.clone(), given).unwrap()
    }
}

/// Random values; what they mean is decided by the column's type.
fn cells(random: &mut Random, column: &ColumnDefinition, count: usize) -> Vec<Option<u64>> {
    let null_share = if column.nullable {
        random.choose(&[0, 1, 10, 50, 100])
    } else {
        0
    };
    let spread = random.choose(&[1_u64, 3, 40, 1_000, u64::MAX]);
    let sorted = random.below(3) == 0;
    let base = random.next();
    (0..count)
        .map(|row| {
            let cell = if sorted {
                row as u64 / 3
            } else {
                random.next() % spread
            };
            (random.below(100) >= null_share).then_some(base.wrapping_add(cell))
        })
        .collect()
}

fn array(sql_type: SqlType, cells: &[Option<u64>], as_given: bool) -> ArrayRef {
    let arrow_type = sql_type.arrow_type();
    let cells = cells.iter().copied();
    match sql_type {
        SqlType::Boolean => Arc::new(collect::<_, BooleanArray>(cells, |cell| cell % 2 == 1)),
        SqlType::SmallInt => Arc::new(collect::<_, Int16Array>(cells, |cell| cell as i16)),
        SqlType::Integer => Arc::new(collect::<_, Int32Array>(cells, |cell| cell as i32)),
        SqlType::BigInt => Arc::new(collect::<_, Int64Array>(cells, |cell| cell as i64)),
        SqlType::Real => Arc::new(collect::<_, Float32Array>(cells, |cell| float(cell) as f32)),
        SqlType::Double => Arc::new(collect::<_, Float64Array>(cells, float)),
        SqlType::Decimal { precision, .. } => {
            let limit = 10_i128.pow(u32::from(precision));
            let value = |cell: u64| (i128::from(cell as i64) * 1_234_567_890_123).rem_euclid(limit);
            let signed = |cell: u64| {
                if cell.is_multiple_of(3) {
                    -value(cell)
                } else {
                    value(cell)
                }
            };
            let array: Decimal128Array = collect(cells, signed);
            Arc::new(array.with_data_type(arrow_type))
        }
        SqlType::Date => Arc::new(collect::<_, Date32Array>(cells, |cell| {
            cell as i32 % 40_000
        })),
        SqlType::Timestamp | SqlType::TimestampTz => {
            let array: TimestampMicrosecondArray = collect(cells, |cell| cell as i64);
            Arc::new(array.with_data_type(arrow_type))
        }
        SqlType::Text => Arc::new(collect::<_, StringViewArray>(cells, text)),
        SqlType::VarChar(length) => {
            let value = |cell| text(cell).chars().take(length as usize).collect::<String>();
            Arc::new(collect::<_, StringViewArray>(cells, value))
        }
        SqlType::Char(length) => {
            let blanks = |cell: u64| {
                if as_given {
                    " ".repeat(cell as usize % 7)
                } else {
                    String::new()
                }
            };
            let value = |cell| text(cell).chars().take(length as usize).collect::<String>();
            let value = |cell| value(cell).trim_end_matches(' ').to_owned() + &blanks(cell);
            Arc::new(collect::<_, StringViewArray>(cells, value))
        }
        SqlType::Bytea => {
            let value = |cell: u64| cell.to_le_bytes().repeat(cell as usize % 9);
            Arc::new(collect::<_, BinaryViewArray>(cells, value))
        }
    }
}

fn collect<T, A: FromIterator<Option<T>>>(
    cells: impl Iterator<Item = Option<u64>>,
    value: impl Fn(u64) -> T,
) -> A {
    cells.map(|cell| cell.map(&value)).collect()
}

fn float(cell: u64) -> f64 {
    match cell % 50 {
        0 => 0.0,
        1 => -0.0,
        2 => f64::INFINITY,
        3 => f64::NAN,
        4 => -f64::NAN,
        5..=30 => (cell % 10_000) as f64 / 100.0,
        _ => f64::from_bits(cell),
    }
}

fn text(cell: u64) -> String {
    match cell % 6 {
        0 => String::new(),
        1 => format!("{cell:x}"),
        2 => format!("{} ", cell % 100),
        3 => "日本語é€"
            .chars()
            .cycle()
            .skip(cell as usize % 5)
            .take(cell as usize % 40)
            .collect(),
        4 => format!(
            "the quick brown fox number {} jumps over the lazy dog",
            cell % 1_000
        ),
        _ => "\u{10ffff}".repeat(cell as usize % 20),
    }
}
