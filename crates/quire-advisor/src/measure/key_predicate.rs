//! `WHERE key = values` for a scan of a column table.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use quire_tables::row_table::{ColumnArray, TupleValue, compare_floats};
use quire_tables::{Predicate, SqlType, StoredTest, StoredTests, ZoneTable};

/// A value that is owned.
#[derive(Clone, Debug)]
pub(crate) enum ProbeValue {
    Null,
    Bool(bool),
    Integer(i64),
    Wide(i128),
    Float32(f32),
    Float64(f64),
    Bytes(Box<[u8]>),
}

impl ProbeValue {
    pub(crate) fn new(value: TupleValue<'_>) -> Self {
        match value {
            TupleValue::Bool(value) => Self::Bool(value),
            TupleValue::Integer(value) => Self::Integer(value),
            TupleValue::Wide(value) => Self::Wide(value),
            TupleValue::Float32(value) => Self::Float32(value),
            TupleValue::Float64(value) => Self::Float64(value),
            TupleValue::Bytes(bytes) => Self::Bytes(bytes.into()),
            // Arrays have no text in codes.
            TupleValue::Null | TupleValue::Coded(_) => Self::Null,
        }
    }

    fn as_tuple_value(&self) -> TupleValue<'_> {
        match self {
            Self::Null => TupleValue::Null,
            Self::Bool(value) => TupleValue::Bool(*value),
            Self::Integer(value) => TupleValue::Integer(*value),
            Self::Wide(value) => TupleValue::Wide(*value),
            Self::Float32(value) => TupleValue::Float32(*value),
            Self::Float64(value) => TupleValue::Float64(*value),
            Self::Bytes(bytes) => TupleValue::Bytes(bytes),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// How it compares with another value of the same column; `None` if one is NULL.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        self.compare_with(other.as_tuple_value())
    }

    fn compare_with(&self, other: TupleValue<'_>) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(one), TupleValue::Bool(two)) => Some(one.cmp(&two)),
            (Self::Integer(one), TupleValue::Integer(two)) => Some(one.cmp(&two)),
            (Self::Wide(one), TupleValue::Wide(two)) => Some(one.cmp(&two)),
            (Self::Float32(one), TupleValue::Float32(two)) => {
                Some(compare_floats((*one).into(), two.into()))
            }
            (Self::Float64(one), TupleValue::Float64(two)) => Some(compare_floats(*one, two)),
            (Self::Bytes(one), TupleValue::Bytes(two)) => Some(one.as_ref().cmp(two)),
            _ => None,
        }
    }
}

/// The columns of a key have these values.
pub(super) struct KeyPredicate {
    columns: Vec<usize>,
    types: Vec<SqlType>,
    values: Vec<ProbeValue>,
}

impl KeyPredicate {
    /// Columns of the table, each with its type and the value that is looked for.
    pub(super) fn new(key: Vec<(usize, SqlType, ProbeValue)>) -> Self {
        let columns = key.iter().map(|(column, ..)| *column).collect();
        let types = key.iter().map(|(_, sql_type, _)| *sql_type).collect();
        let values = key.into_iter().map(|(.., value)| value).collect();
        Self {
            columns,
            types,
            values,
        }
    }

    fn is_integer(sql_type: SqlType) -> bool {
        sql_type.is_integer()
            || matches!(
                sql_type,
                SqlType::Date | SqlType::Timestamp | SqlType::TimestampTz
            )
    }
}

impl Predicate for KeyPredicate {
    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let columns = self.types.iter().zip(batch.columns());
        let columns = columns.map(|(sql_type, array)| ColumnArray::new(*sql_type, array));
        let columns: Option<Vec<ColumnArray<'_>>> = columns.collect();
        let columns = columns.ok_or("columns in other types than the table's")?;
        let is_row = |row: usize| {
            let mut pairs = columns.iter().zip(&self.values);
            pairs.all(|(column, value)| {
                value.compare_with(column.value(row)) == Some(Ordering::Equal)
            })
        };
        Ok((0..batch.num_rows()).map(is_row).map(Some).collect())
    }

    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>> {
        let mut may_have = vec![true; zones.len()];
        for ((&column, &sql_type), value) in self.columns.iter().zip(&self.types).zip(&self.values)
        {
            let (min, max) = (zones.min(column)?, zones.max(column)?);
            let min = ColumnArray::new(sql_type, &min)?;
            let max = ColumnArray::new(sql_type, &max)?;
            for (zone, may_have) in may_have.iter_mut().enumerate() {
                *may_have &= value.compare_with(min.value(zone)) != Some(Ordering::Less)
                    && value.compare_with(max.value(zone)) != Some(Ordering::Greater);
            }
        }
        Some(may_have)
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        let mut tests = Vec::new();
        for ((&column, &sql_type), value) in self.columns.iter().zip(&self.types).zip(&self.values)
        {
            if let ProbeValue::Integer(value) = value
                && Self::is_integer(sql_type)
            {
                let range = *value..=*value;
                tests.push(StoredTest::Range { column, range });
            }
        }
        let is_complete = tests.len() == self.columns.len();
        (!tests.is_empty()).then(|| Arc::new(StoredTests { tests, is_complete }))
    }
}
