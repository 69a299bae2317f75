//! Rows as Arrow data and as data frames.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use quire::Rows;

use crate::capsule::{Batches, schema_of, stream_capsule};
use crate::errors;
use crate::reader::RowReader;
use crate::to_python::tuples;

/// Types that every library reads: views of texts become texts.
fn common_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(element) => DataType::List(common_field(element)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(common_field).collect()),
        other => other.clone(),
    }
}

fn common_field(field: &FieldRef) -> FieldRef {
    let data_type = common_type(field.data_type());
    Arc::new(
        field
            .as_ref()
            .clone()
            .with_data_type(data_type)
            .with_nullable(true),
    )
}

/// The columns as other libraries get them.
pub fn exported_schema(schema: &Schema) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(common_field).collect();
    Arc::new(Schema::new(fields))
}

/// The same, in the types that a library asks for, as far as there is a way to them.
fn requested_schema(schema: &Schema, requested: Option<&Bound<'_, PyAny>>) -> PyResult<SchemaRef> {
    let exported = exported_schema(schema);
    let Some(requested) = requested.filter(|requested| !requested.is_none()) else {
        return Ok(exported);
    };
    let requested = schema_of(requested)?;
    if requested.fields().len() != exported.fields().len() {
        return Ok(exported);
    }
    let field = |(own, wanted): (&FieldRef, &FieldRef)| {
        if can_cast_types(own.data_type(), wanted.data_type()) {
            own.as_ref()
                .clone()
                .with_data_type(wanted.data_type().clone())
        } else {
            own.as_ref().clone()
        }
    };
    let fields = exported.fields().iter().zip(requested.fields());
    Ok(Arc::new(Schema::new(
        fields.map(field).collect::<Vec<Field>>(),
    )))
}

/// Batches in the types of a schema: those that are here, and those that are still to come.
struct Exported {
    schema: SchemaRef,
    here: std::vec::IntoIter<RecordBatch>,
    coming: Option<Rows>,
}

impl Exported {
    fn converted(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| {
            if column.data_type() == field.data_type() {
                Ok(Arc::clone(column))
            } else {
                cast(column, field.data_type())
            }
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>, ArrowError>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}

impl Iterator for Exported {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.here.next() {
            return Some(self.converted(&batch));
        }
        let next = match self.coming.as_mut()?.next_batch() {
            Ok(Some(batch)) => self.converted(&batch),
            Ok(None) => {
                self.coming = None;
                return None;
            }
            // A text of the C interface has no zero byte.
            Err(error) => Err(ArrowError::ExternalError(
                error.to_string().replace('\0', "\\0").into(),
            )),
        };
        if next.is_err() {
            self.coming = None;
        }
        Some(next)
    }
}

impl RecordBatchReader for Exported {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// What is left of a reader, as a stream that other libraries draw from.
pub fn capsule_of<'py>(
    py: Python<'py>,
    reader: RowReader,
    requested: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = requested_schema(reader.schema(), requested)?;
    let (_, here, coming) = reader.into_parts();
    let exported = Exported {
        schema,
        here: here.into_iter(),
        coming,
    };
    stream_capsule(py, Box::new(exported))
}

/// Batches that can be taken once, for libraries that ask an object for them.
#[pyclass(frozen, module = "quire")]
pub struct Stream(Mutex<Option<Batches>>);

#[pymethods]
impl Stream {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match taken {
            Some(batches) => stream_capsule(py, batches),
            None => Err(errors::interface(py, "these rows have been taken")),
        }
    }
}

/// What is left of a reader, all here: waiting for it can be interrupted, and needs no lock.
fn collected<'py>(py: Python<'py>, reader: &mut RowReader) -> PyResult<Bound<'py, Stream>> {
    let exported = Exported {
        schema: exported_schema(reader.schema()),
        here: reader.rest(py)?.into_iter(),
        coming: None,
    };
    Bound::new(py, Stream(Mutex::new(Some(Box::new(exported)))))
}

fn module<'py>(py: Python<'py>, name: &str, method: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|cause| {
        let text = format!("{method}() needs the package {name}");
        let hint = format!("Install it: pip install {name}");
        let exception = errors::own(py, "NotSupportedError", "0A000", &text, Some(&hint));
        exception.set_cause(py, Some(cause));
        exception
    })
}

/// A `pyarrow.Table`.
pub fn arrow_table<'py>(py: Python<'py>, reader: &mut RowReader) -> PyResult<Bound<'py, PyAny>> {
    let pyarrow = module(py, "pyarrow", "arrow")?;
    pyarrow.call_method1("table", (collected(py, reader)?,))
}

/// A `polars.DataFrame`.
pub fn polars_frame<'py>(py: Python<'py>, reader: &mut RowReader) -> PyResult<Bound<'py, PyAny>> {
    let polars = module(py, "polars", "pl")?;
    polars.call_method1("DataFrame", (collected(py, reader)?,))
}

/// A `pandas.DataFrame`; without pyarrow, by Python's objects.
pub fn pandas_frame<'py>(py: Python<'py>, reader: &mut RowReader) -> PyResult<Bound<'py, PyAny>> {
    let pandas = module(py, "pandas", "df")?;
    if let Ok(pyarrow) = py.import("pyarrow") {
        let table = pyarrow.call_method1("table", (collected(py, reader)?,))?;
        return table.call_method0("to_pandas");
    }
    let names: Vec<String> = reader
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let mut rows = Vec::new();
    for batch in reader.rest(py)? {
        rows.extend(tuples(py, &batch)?);
    }
    let options = PyDict::new(py);
    options.set_item("columns", names)?;
    pandas.call_method("DataFrame", (rows,), Some(&options))
}
