//! Arrow's PyCapsule interface: streams of batches and schemas that cross between libraries without a copy.
//!
//! The only module of this crate with `unsafe`: the pointers inside of capsules.
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow::array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Batches of any producer.
pub type Batches = Box<dyn RecordBatchReader + Send>;

/// A capsule with a stream of batches.
pub fn stream_capsule(py: Python<'_>, batches: Batches) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}

/// A capsule with names and types of columns.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(unreadable)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Names and types in a capsule, which keeps them.
pub fn schema_of(capsule: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(SCHEMA))?;
    // SAFETY: Python has checked the capsule's name, which by Arrow's PyCapsule interface says that it points to a valid
    // ArrowSchema that lives as long as the capsule; the reference ends before the capsule may.
    let schema: &FFI_ArrowSchema = unsafe { pointer.cast().as_ref() };
    Schema::try_from(schema).map_err(unreadable)
}

/// The batches of an object that has `__arrow_c_stream__` or `__arrow_c_array__`; `None` if it has neither.
pub fn batches_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Batches>> {
    if let Some(export) = object.getattr_opt("__arrow_c_stream__")? {
        return stream_of(&export.call0()?).map(Some);
    }
    if let Some(export) = object.getattr_opt("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = export.call0()?.extract()?;
        return array_of(&schema, &array).map(Some);
    }
    Ok(None)
}

fn stream_of(capsule: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: Python has checked the capsule's name, which by Arrow's PyCapsule interface says that it points to a valid
    // ArrowArrayStream. The stream is moved out, and what stays is marked as released, as the interface wants it.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    let reader = ArrowArrayStreamReader::try_new(stream).map_err(unreadable)?;
    Ok(Box::new(reader))
}

fn array_of(schema: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
    // SAFETY: as in `schema_of`.
    let schema: &FFI_ArrowSchema = unsafe { schema.cast().as_ref() };
    let field = Field::try_from(schema).map_err(unreadable)?;
    // SAFETY: as in `stream_of`; the array is moved out.
    let array = unsafe { FFI_ArrowArray::from_raw(array.cast().as_ptr()) };
    // SAFETY: the interface demands that the producer describes the array by the schema beside it.
    let data = unsafe { from_ffi(array, schema) }.map_err(unreadable)?;
    if !matches!(field.data_type(), arrow::datatypes::DataType::Struct(_)) {
        let text = "an Arrow array is no table: its elements must be structs, one for each row";
        return Err(PyTypeError::new_err(text));
    }
    let rows = StructArray::from(data);
    if rows.null_count() > 0 {
        return Err(PyValueError::new_err(
            "a row of the Arrow array is null as a whole",
        ));
    }
    let batch = RecordBatch::from(rows);
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new(vec![Ok(batch)], schema)))
}

fn unreadable(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("this is no Arrow data that can be read: {error}"))
}
