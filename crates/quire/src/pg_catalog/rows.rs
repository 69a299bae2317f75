//! Rows of catalog tables, written as what differs from an empty row.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::common::{Result, ScalarValue, plan_datafusion_err};

use super::specification::{CatalogColumnKind, PG_CATALOG, Specification};

/// Rows of one table.
pub(super) struct CatalogRows {
    table: &'static Specification,
    columns: Vec<Vec<ScalarValue>>,
}

impl CatalogRows {
    pub(super) fn new(table: &'static Specification) -> Self {
        Self {
            table,
            columns: vec![Vec::new(); table.columns.len()],
        }
    }

    /// Adds a row. Columns that are not named are NULL; in `pg_catalog`, numbers are zero and flags false.
    pub(super) fn push(&mut self, named: &[(&str, ScalarValue)]) -> Result<()> {
        for ((name, kind), values) in self.table.columns.iter().zip(&mut self.columns) {
            let given = named.iter().find(|(given, _)| given == name);
            let value = match given {
                Some((_, value)) => value.cast_to(&kind.data_type())?,
                None if self.table.schema == PG_CATALOG => default_of(*kind)?,
                None => ScalarValue::try_from(&kind.data_type())?,
            };
            values.push(value);
        }
        match named.iter().find(|(name, _)| !self.table.has_column(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let table = self.table.name;
                Err(plan_datafusion_err!("{table} has no column {name}"))
            }
        }
    }

    pub(super) fn into_batch(self) -> Result<RecordBatch> {
        let schema = self.table.arrow_schema();
        let row_count = self.columns.first().map_or(0, Vec::len);
        let columns = self.columns.into_iter().zip(schema.fields());
        let arrays = columns.map(|(values, field)| {
            if values.is_empty() {
                Ok(arrow::array::new_empty_array(field.data_type()))
            } else {
                ScalarValue::iter_to_array(values)
            }
        });
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(row_count));
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

fn default_of(kind: CatalogColumnKind) -> Result<ScalarValue> {
    match kind {
        CatalogColumnKind::Boolean => Ok(ScalarValue::Boolean(Some(false))),
        CatalogColumnKind::SmallInt
        | CatalogColumnKind::Integer
        | CatalogColumnKind::BigInt
        | CatalogColumnKind::Oid
        | CatalogColumnKind::Real => ScalarValue::Int64(Some(0)).cast_to(&kind.data_type()),
        CatalogColumnKind::Text
        | CatalogColumnKind::Instant
        | CatalogColumnKind::SmallInts
        | CatalogColumnKind::Integers
        | CatalogColumnKind::Oids
        | CatalogColumnKind::Texts => ScalarValue::try_from(&kind.data_type()),
    }
}

/// A list of numbers.
pub(super) fn list(values: impl IntoIterator<Item = i64>) -> ScalarValue {
    let values: Vec<_> = values.into_iter().map(ScalarValue::from).collect();
    let data_type = arrow::datatypes::DataType::Int64;
    ScalarValue::List(ScalarValue::new_list_nullable(&values, &data_type))
}

/// A text.
pub(super) fn text(value: impl Into<String>) -> ScalarValue {
    ScalarValue::Utf8(Some(value.into()))
}

/// A text or NULL.
pub(super) fn optional(value: Option<String>) -> ScalarValue {
    ScalarValue::Utf8(value)
}

/// A moment, by microseconds since 1970, or NULL.
pub(super) fn instant(micros: Option<u64>) -> ScalarValue {
    let micros = micros.and_then(|micros| i64::try_from(micros).ok());
    ScalarValue::TimestampMicrosecond(micros, Some("+00:00".into()))
}

pub(super) fn flag(value: bool) -> ScalarValue {
    ScalarValue::Boolean(Some(value))
}

/// A number of any width.
pub(super) fn number(value: impl Into<i64>) -> ScalarValue {
    ScalarValue::Int64(Some(value.into()))
}

/// A batch of one table, shared by all that read it.
pub(super) type Batch = Arc<RecordBatch>;
