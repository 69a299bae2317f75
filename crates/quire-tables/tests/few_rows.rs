//! Columns of which few rows of each vector are wanted: every type and codec, against the rows that were appended.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringViewArray, UInt32Array,
};
use arrow::compute::kernels::cmp;
use arrow::compute::{concat_batches, take};
use quire_codec::CodecId;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    ColumnDefinition, Engine, Predicate, ScanOptions, SqlType, TableDefinition, ZoneTable,
};

/// Two vector groups and a part of a vector.
const ROWS: i64 = 2 * 8192 + 1500;

/// `pick` is less than this: so many rows of each whole vector, at scattered places.
struct Picked(i64);

impl Predicate for Picked {
    fn columns(&self) -> &[usize] {
        &[0]
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let bound = Int64Array::new_scalar(self.0);
        cmp::lt(batch.column(0), &bound).map_err(|error| error.to_string())
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

fn pick(row: i64) -> i64 {
    row * 421 % 1024
}

fn number(row: i64) -> Option<i64> {
    let noise = row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 40;
    let value = if row % 50 == 7 {
        noise * 1000
    } else {
        noise % 300
    };
    (row % 13 > 0).then_some(value)
}

fn text(row: i64) -> Option<String> {
    number(row).map(|number| format!("remark of {number}, and {} more", number % 17))
}

fn columns() -> Vec<(SqlType, ArrayRef)> {
    let numbers = || (0..ROWS).map(number);
    let float = |number: i64| number as f64 / 100.0;
    let decimal = |precision| {
        let values = numbers().map(|number| number.map(i128::from));
        let array: Decimal128Array = values.collect();
        let array = array.with_precision_and_scale(precision, 2).unwrap();
        let scale = 2;
        (
            SqlType::Decimal { precision, scale },
            Arc::new(array) as ArrayRef,
        )
    };
    let bytes: BinaryViewArray = (0..ROWS).map(text).collect();
    let flags: BooleanArray = numbers().map(|one| one.map(|one| one % 3 == 0)).collect();
    let shorts: Int16Array = numbers().map(|one| one.map(|one| one as i16)).collect();
    let integers: Int32Array = numbers().map(|one| one.map(|one| one as i32)).collect();
    let dates: Date32Array = numbers().map(|one| one.map(|one| one as i32)).collect();
    let reals: Float32Array = numbers()
        .map(|one| one.map(|one| float(one) as f32))
        .collect();
    let doubles: Float64Array = numbers().map(|one| one.map(float)).collect();
    vec![
        (SqlType::Boolean, Arc::new(flags)),
        (SqlType::SmallInt, Arc::new(shorts)),
        (SqlType::Integer, Arc::new(integers)),
        (SqlType::Date, Arc::new(dates)),
        (SqlType::BigInt, Arc::new(numbers().collect::<Int64Array>())),
        decimal(15),
        decimal(30),
        (SqlType::Real, Arc::new(reals)),
        (SqlType::Double, Arc::new(doubles)),
        (
            SqlType::Text,
            Arc::new((0..ROWS).map(text).collect::<StringViewArray>()),
        ),
        (SqlType::Bytea, Arc::new(bytes)),
    ]
}

#[test]
fn few_rows_of_a_vector_are_those_that_were_appended() {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut definitions = vec![ColumnDefinition::new("pick", SqlType::BigInt)];
    let picks: Vec<i64> = (0..ROWS).map(pick).collect();
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(picks.clone()))];
    for (sql_type, array) in columns() {
        let codecs = CodecId::ALL.into_iter();
        let codecs = codecs.filter(|codec| codec.supports(sql_type.physical_type()));
        for codec in codecs.filter(|codec| *codec != CodecId::Constant) {
            definitions.push(ColumnDefinition {
                compression: Some(codec),
                ..ColumnDefinition::new(format!("{sql_type} {codec}"), sql_type)
            });
            arrays.push(Arc::clone(&array));
        }
    }
    let definition = TableDefinition::new("t", definitions);
    let appended = RecordBatch::try_new(definition.arrow_schema(), arrays).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(&appended).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().table("t").unwrap().unwrap();
    for bound in [1, 2, 3, 5, 8, 13, 40, 300] {
        let options = ScanOptions {
            projection: (0..appended.num_columns()).collect(),
            predicates: vec![Arc::new(Picked(bound))],
            ..ScanOptions::default()
        };
        let scan = table.scan(options).unwrap();
        let mut reader = scan.reader();
        let mut batches = Vec::new();
        while let Some(batch) = reader.next().unwrap() {
            batches.push(batch);
        }
        let found = concat_batches(scan.schema(), &batches).unwrap();
        let rows = (0..ROWS as u32).filter(|&row| picks[row as usize] < bound);
        let rows = UInt32Array::from_iter_values(rows);
        for (column, expected) in appended.columns().iter().enumerate() {
            let expected = take(expected, &rows, None).unwrap();
            let schema = appended.schema();
            let name = schema.field(column).name();
            assert_eq!(found.column(column), &expected, "{name}, below {bound}");
        }
    }
}
