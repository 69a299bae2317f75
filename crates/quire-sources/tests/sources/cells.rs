//! Values of batches, to be compared with what was inserted.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use quire_files::CopyControl;
use quire_sources::{SourceDatabase, SourceError};

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    /// By bits, so that NaN equals itself and -0 not 0.
    Real(u64),
    Decimal(i128),
    Date(i32),
    Time(i64),
    Text(String),
    Bytes(Vec<u8>),
}

pub fn int(value: i64) -> Cell {
    Cell::Int(value)
}

pub fn real(value: f64) -> Cell {
    Cell::Real(value.to_bits())
}

pub fn text(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

pub fn or_null<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
    value.map_or(Cell::Null, cell)
}

fn cell(array: &dyn Array, row: usize) -> Cell {
    if array.is_null(row) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
        DataType::Int16 => int(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => int(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => int(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => real(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => real(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => {
            Cell::Decimal(array.as_primitive::<Decimal128Type>().value(row))
        }
        DataType::Date32 => Cell::Date(array.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(..) => {
            Cell::Time(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        DataType::Utf8View => text(array.as_string_view().value(row)),
        DataType::BinaryView => Cell::Bytes(array.as_binary_view().value(row).to_vec()),
        other => panic!("{other} is none of our types"),
    }
}

pub fn rows_of(batch: &RecordBatch) -> Vec<Vec<Cell>> {
    let row = |row| {
        batch
            .columns()
            .iter()
            .map(|array| cell(array, row))
            .collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

/// All rows of a table, in batches whose schema is the announced one.
pub fn try_rows(
    database: &SourceDatabase,
    table: &str,
    projection: Option<&[usize]>,
) -> Result<Vec<Vec<Cell>>, SourceError> {
    let name = database.find(table)?;
    let mut reader = database.read(&name, projection, &CopyControl::default())?;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        assert_eq!(batch.schema(), reader.schema());
        assert!(
            (1..=8_192).contains(&batch.num_rows()),
            "{} rows",
            batch.num_rows()
        );
        rows.extend(rows_of(&batch));
    }
    assert!(reader.next_batch()?.is_none(), "the end is the end");
    Ok(rows)
}

pub fn rows(database: &SourceDatabase, table: &str) -> Vec<Vec<Cell>> {
    try_rows(database, table, None).unwrap()
}

pub fn types(database: &SourceDatabase, table: &str) -> Vec<DataType> {
    let definition = definition(database, table);
    definition
        .columns
        .iter()
        .map(|column| column.data_type.clone())
        .collect()
}

pub fn definition(
    database: &SourceDatabase,
    table: &str,
) -> std::sync::Arc<quire_sources::definition::SourceTableDefinition> {
    let name = database.find(table).unwrap();
    database.definition(&name, &CopyControl::default()).unwrap()
}

pub fn timestamp(zoned: bool) -> DataType {
    DataType::Timestamp(
        arrow::datatypes::TimeUnit::Microsecond,
        zoned.then(|| "+00:00".into()),
    )
}
