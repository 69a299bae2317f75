//! `INSERT … VALUES (?, ?, …)` of many rows as one statement that reads them as a table.
//!
//! A statement for each row costs more than the row. Where all values are of the types of their columns, the rows of many runs
//! become the columns of a batch, and `INSERT … SELECT` takes them at once. Other statements run one by one.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringViewArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use quire::{ExternalRows, ExternalTable, Value};

use crate::from_python::Parameters;

/// The name by which the statement reads the rows. No other statement can: it has a character that names do not.
pub const NAME: &str = "quire rows of executemany";

/// The rows of many runs.
#[derive(Debug)]
pub struct PythonColumns(RecordBatch);

impl ExternalTable for PythonColumns {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn row_count(&self) -> Option<usize> {
        Some(self.0.num_rows())
    }

    fn read(&self) -> Result<ExternalRows, ArrowError> {
        let rows = vec![Ok(self.0.clone())];
        Ok(Box::new(RecordBatchIterator::new(rows, self.0.schema())))
    }
}

/// The statement that reads the rows, if this one is `INSERT INTO table (columns) VALUES (?, ?, …)` with nothing else.
pub fn bulk_statement(sql: &str, parameter_count: usize) -> Option<String> {
    let rest = sql.trim().trim_end_matches(';').trim_end();
    let is_plain = !rest.contains("--") && !rest.contains("/*") && !rest.contains(';');
    let values = rest.to_ascii_uppercase().rfind("VALUES")?;
    let (head, list) = (rest.get(..values)?, rest.get(values + "VALUES".len()..)?);
    let upper = head.trim_start().to_ascii_uppercase();
    let is_insert = upper.starts_with("INSERT INTO ") && !upper.contains(" SELECT ");
    // Between the table and VALUES there is nothing, or a list of columns.
    let between = head.trim_end();
    let is_named = match between.split_once('(') {
        Some((table, columns)) => {
            columns.ends_with(')')
                && !columns.contains('(')
                && table.split_whitespace().count() == 3
        }
        None => between.split_whitespace().count() == 3,
    };
    let list = list.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut marks = list.split(',').map(str::trim).enumerate();
    let are_marks = marks.all(|(at, mark)| mark == "?" || mark == format!("${}", at + 1));
    let is_whole = list.split(',').count() == parameter_count;
    (is_plain && is_insert && is_named && are_marks && is_whole)
        .then(|| format!("{head} SELECT * FROM \"{NAME}\""))
}

impl PythonColumns {
    /// The values of runs as columns; nothing, if a value is not of its column's type as it stands.
    pub fn of(runs: &[Parameters], types: &[Option<DataType>]) -> Option<Self> {
        let is_typed = |run: &Parameters| run.types.as_slice() == types;
        if !runs.iter().all(is_typed) {
            return None;
        }
        let mut fields = Vec::with_capacity(types.len());
        let mut columns = Vec::with_capacity(types.len());
        for (at, data_type) in types.iter().enumerate() {
            let data_type = data_type.as_ref()?;
            let values = runs
                .iter()
                .map(|run| run.values.get(at).unwrap_or(&Value::Null));
            let values = column(values, data_type)?;
            fields.push(Field::new(
                format!("c{at}"),
                values.data_type().clone(),
                true,
            ));
            columns.push(values);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        batch.ok().map(Self)
    }
}

/// Each value by `take`, NULL where it is NULL; nothing, if one is neither.
fn taken<'v, T>(
    values: impl Iterator<Item = &'v Value>,
    take: impl Fn(&'v Value) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let take = |value: &'v Value| match value {
        Value::Null => Some(None),
        value => take(value).map(Some),
    };
    values.map(take).collect()
}

fn integer<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    match value {
        Value::Integer(value) => T::try_from(*value).ok(),
        _ => None,
    }
}

fn column<'v>(values: impl Iterator<Item = &'v Value>, data_type: &DataType) -> Option<ArrayRef> {
    Some(match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from(taken(values, |value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        })?)),
        DataType::Int16 => Arc::new(Int16Array::from(taken(values, integer)?)),
        DataType::Int32 => Arc::new(Int32Array::from(taken(values, integer)?)),
        DataType::Int64 => Arc::new(Int64Array::from(taken(values, integer)?)),
        DataType::Date32 => Arc::new(Date32Array::from(taken(values, integer)?)),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let array = TimestampMicrosecondArray::from(taken(values, integer)?);
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Float32 => Arc::new(Float32Array::from(taken(values, |value| match value {
            Value::Real(value) => Some(*value),
            _ => None,
        })?)),
        DataType::Float64 => Arc::new(Float64Array::from(taken(values, |value| match value {
            Value::Double(value) => Some(*value),
            // Doubles have all integers up to here.
            Value::Integer(value) if value.unsigned_abs() <= 1 << 53 => Some(*value as f64),
            _ => None,
        })?)),
        DataType::Decimal128(precision, scale) => {
            let limit = 10_i128.checked_pow(u32::from(*precision))?;
            let one = 10_i128.checked_pow(u32::try_from(*scale).ok()?)?;
            let decimal = |value: &Value| match value {
                Value::Decimal(value) => Some(i128::from(*value)),
                Value::Integer(value) => i128::from(*value).checked_mul(one),
                _ => None,
            };
            let decimals = taken(values, |value| {
                decimal(value).filter(|value| value.abs() < limit)
            })?;
            let array = Decimal128Array::from(decimals);
            Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = taken(values, |value| match value {
                Value::Text(text) => Some(text.as_ref()),
                _ => None,
            })?;
            Arc::new(StringViewArray::from_iter(texts))
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let bytes = taken(values, |value| match value {
                Value::Bytes(bytes) => Some(bytes.as_ref()),
                _ => None,
            })?;
            Arc::new(BinaryViewArray::from_iter(bytes))
        }
        _ => return None,
    })
}
