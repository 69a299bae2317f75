//! Tables of one kind of values, samples of them, the real whole in a file, and a clock that goes by itself.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{
    ArrayRef, BinaryViewArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringViewArray,
};
use arrow_schema::{Field, Schema};
use quire_advisor::{
    AdvisorClock, SampleColumn, SampleDrawing, SampleOrigin, SampledTable, StorageChoice,
    WholeRowCount,
};
use quire_kv::mvcc::TransactionOptions;
use quire_store::{LOG_ROOT_PAGE, MemDisk, Volume, VolumeOptions};
use quire_tables::row_table::{ColumnArray, TupleValue};
use quire_tables::{ColumnDefinition, Engine, SqlType, TableDefinition, TableStorage};

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Every question moves it by a millisecond.
#[derive(Default)]
pub struct TickingClock(Cell<u64>);

impl AdvisorClock for TickingClock {
    fn now(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_millis(self.0.get())
    }

    fn processor_time(&self) -> Duration {
        self.now()
    }
}

/// The kinds of values beside a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    AscendingIntegers,
    RandomIntegers,
    FewTexts,
    ManyTexts,
    Decimals,
    Floats,
    RandomBytes,
    ManyNulls,
    AllNull,
    HugeTexts,
}

impl Kind {
    pub fn sql_type(self) -> SqlType {
        match self {
            Kind::AscendingIntegers => SqlType::BigInt,
            Kind::RandomIntegers | Kind::ManyNulls | Kind::AllNull => SqlType::Integer,
            Kind::FewTexts | Kind::ManyTexts | Kind::HugeTexts => SqlType::Text,
            Kind::Decimals => SqlType::Decimal {
                precision: 12,
                scale: 2,
            },
            Kind::Floats => SqlType::Double,
            Kind::RandomBytes => SqlType::Bytea,
        }
    }

    fn array(self, random: &mut Random, rows: usize) -> ArrayRef {
        let mut number = 0;
        match self {
            Kind::AscendingIntegers => {
                Arc::new(Int64Array::from_iter_values((0..rows).map(|_| {
                    number += 1 + random.below(1_000) as i64;
                    number
                })))
            }
            Kind::RandomIntegers => Arc::new(Int32Array::from_iter_values(
                (0..rows).map(|_| random.below(1_000_000) as i32),
            )),
            Kind::ManyNulls => Arc::new(Int32Array::from_iter((0..rows).map(|_| {
                let value = random.below(50_000) as i32;
                (random.below(3) == 0).then_some(value)
            }))),
            Kind::AllNull => Arc::new(Int32Array::new_null(rows)),
            Kind::FewTexts => Arc::new(StringViewArray::from_iter_values((0..rows).map(|_| {
                let which = random.below(40);
                format!("state number {which} of forty")
            }))),
            // Names without an order: none follows from another.
            Kind::ManyTexts => Arc::new(StringViewArray::from_iter_values((0..rows).map(|_| {
                let which = random.below(30_000);
                let name = Random(which).next();
                format!("{name:016x}")
            }))),
            Kind::Decimals => {
                let cents = (0..rows).map(|_| random.below(10_000_000) as i128);
                let array = Decimal128Array::from_iter_values(cents);
                Arc::new(array.with_precision_and_scale(12, 2).unwrap())
            }
            Kind::Floats => Arc::new(Float64Array::from_iter_values(
                (0..rows).map(|_| random.below(1 << 40) as f64 / 7.0),
            )),
            Kind::RandomBytes => Arc::new(BinaryViewArray::from_iter_values((0..rows).map(|_| {
                let length = 20 + random.below(20);
                (0..length)
                    .map(|_| random.next() as u8)
                    .collect::<Vec<u8>>()
            }))),
            Kind::HugeTexts => Arc::new(StringViewArray::from_iter_values((0..rows).map(|_| {
                let words = 2_000 + random.below(4_000);
                let word = |_| format!("{:x} ", random.below(4_000));
                (0..words).map(word).collect::<String>()
            }))),
        }
    }
}

/// Rows (id BIGINT, value) of one kind.
pub fn whole(kind: Kind, rows: usize, seed: u64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(1..=rows as i64));
    let values = kind.array(&mut Random(seed), rows);
    let schema = Schema::new(vec![
        Field::new("id", SqlType::BigInt.arrow_type(), false),
        Field::new("value", kind.sql_type().arrow_type(), true),
    ]);
    RecordBatch::try_new(Arc::new(schema), vec![ids, values]).unwrap()
}

/// So many pieces of so many rows, from all over the whole.
pub fn pieces(whole: &RecordBatch, count: usize, rows: usize) -> Vec<RecordBatch> {
    let step = whole.num_rows() / count;
    (0..count).map(|at| whole.slice(at * step, rows)).collect()
}

/// A file with rows of one kind, of which these are known.
pub fn sampled(kind: Kind, pieces: Vec<RecordBatch>, whole_rows: u64) -> SampledTable {
    let column = |name: &str, sql_type, is_nullable| SampleColumn {
        name: name.to_owned(),
        sql_type,
        is_nullable,
    };
    SampledTable {
        name: "t".to_owned(),
        columns: vec![
            column("id", SqlType::BigInt, false),
            column("value", kind.sql_type(), true),
        ],
        pieces,
        whole_rows: WholeRowCount::Exact(whole_rows),
        primary_key: vec![0],
        drawing: SampleDrawing::Pieces,
        origin: SampleOrigin::File {
            path: "t.csv".to_owned(),
        },
    }
}

/// Bytes of the images of all pages of a file that has these rows as a table of that choice.
pub fn file_bytes(kind: Kind, rows: &RecordBatch, choice: &StorageChoice) -> u64 {
    let column = |name: &str, sql_type, nullable| ColumnDefinition {
        nullable,
        stores_null: nullable,
        compression: choice.column_codec(sql_type),
        ..ColumnDefinition::new(name, sql_type)
    };
    let columns = vec![
        column("id", SqlType::BigInt, false),
        column("value", kind.sql_type(), true),
    ];
    let mut definition = TableDefinition::new("t", columns);
    if choice.is_rows() {
        definition = definition.clustered_by(&[0]);
    }
    definition.options = *choice.options();
    let is_rows = definition.storage == TableStorage::Row;
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    transaction.begin_statement();
    if is_rows {
        let table = transaction.snapshot().row_table("t").unwrap().unwrap();
        let first = rows.slice(0, rows.num_rows().min(10_000));
        let mut fill = transaction.begin_fill(&table, &[first]).unwrap().unwrap();
        let types = [SqlType::BigInt, kind.sql_type()];
        let arrays = types.iter().zip(rows.columns());
        let arrays: Vec<ColumnArray<'_>> = arrays
            .map(|(sql_type, array)| ColumnArray::new(*sql_type, array).unwrap())
            .collect();
        for row in 0..rows.num_rows() {
            let values: Vec<TupleValue<'_>> = arrays.iter().map(|one| one.value(row)).collect();
            fill.insert(&values).unwrap();
        }
        transaction.finish_fill(fill).unwrap();
    } else {
        let mut appender = transaction.tables().unwrap().appender("t").unwrap();
        for start in (0..rows.num_rows()).step_by(8_192) {
            let rows = rows.slice(start, (rows.num_rows() - start).min(8_192));
            appender.append(&rows).unwrap();
        }
        appender.finish().unwrap();
    }
    transaction.commit().unwrap();
    engine.checkpoint().unwrap();
    let pin = engine.volume().pin();
    let pages = pin
        .pages()
        .into_iter()
        .filter(|page| *page != LOG_ROOT_PAGE);
    pages.filter_map(|page| pin.page_bytes(page)).sum()
}
