//! `Cursor`, as PEP 249 has it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::datatypes::{DataType, SchemaRef};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyList, PyTuple};

use crate::reader::{ReaderCell, RowReader};
use crate::result::{arrow_table, capsule_of, pandas_frame, polars_frame};
use crate::statement::{OwningConnection, StatementDone};
use crate::{errors, type_name};

/// Runs statements, and hands out the rows of the last one.
///
/// >>> cursor = quire.connect(":memory:").cursor()
/// >>> for row in cursor.execute("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (n, letter)"):
/// ...     print(row)
/// (1, 'a')
/// (2, 'b')
/// >>> [name for name, *_ in cursor.description]
/// ['n', 'letter']
#[pyclass(frozen, module = "quire")]
pub struct Cursor {
    connection: OwningConnection,
    state: Mutex<CursorState>,
}

struct CursorState {
    schema: Option<SchemaRef>,
    rows: Option<ReaderCell>,
    row_count: i64,
    array_size: usize,
    is_closed: bool,
}

fn locked<'m, T>(py: Python<'_>, mutex: &'m Mutex<T>) -> MutexGuard<'m, T> {
    mutex
        .lock_py_attached(py)
        .unwrap_or_else(PoisonError::into_inner)
}

/// Does something with a reader, unless its connection is closed.
pub fn with_reader<T>(
    py: Python<'_>,
    cell: &ReaderCell,
    work: impl FnOnce(&mut RowReader) -> PyResult<T>,
) -> PyResult<T> {
    match locked(py, cell).as_mut() {
        Some(reader) => work(reader),
        None => Err(errors::interface(
            py,
            "the connection of these rows is closed",
        )),
    }
}

/// One entry of `description`: name, type, and of numbers their digits.
pub fn description<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyList>> {
    let column = |field: &Arc<arrow::datatypes::Field>| {
        let name = type_name::of(field.data_type());
        let digits = type_name::decimal_digits(field.data_type());
        let (precision, scale) = digits.unzip();
        let size: Option<usize> = match field.data_type() {
            DataType::Boolean => Some(1),
            other => other.primitive_width(),
        };
        let none: Option<bool> = None;
        (
            field.name().clone(),
            name,
            none,
            size,
            precision,
            scale,
            none,
        )
            .into_pyobject(py)
    };
    let columns = schema.fields().iter().map(column);
    PyList::new(py, columns.collect::<PyResult<Vec<_>>>()?)
}

impl Cursor {
    pub fn new(connection: OwningConnection) -> Self {
        Self {
            connection,
            state: Mutex::new(CursorState {
                schema: None,
                rows: None,
                row_count: -1,
                array_size: 1,
                is_closed: false,
            }),
        }
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        if locked(py, &self.state).is_closed {
            return Err(errors::interface(py, "the cursor is closed"));
        }
        Ok(())
    }

    pub fn run(
        &self,
        py: Python<'_>,
        operation: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.check(py)?;
        self.set(py, None, None, -1);
        let conversation = &self.connection.shared;
        match conversation.execute(py, operation, parameters, &[])? {
            StatementDone::Rows(cell, _) => {
                let schema = with_reader(py, &cell, |reader| Ok(reader.schema().clone()))?;
                self.set(py, Some(schema), Some(cell), -1);
            }
            StatementDone::Nothing(completion) => {
                let count = completion
                    .row_count
                    .and_then(|count| i64::try_from(count).ok());
                self.set(py, None, None, count.unwrap_or(-1));
            }
        }
        Ok(())
    }

    pub fn run_many(
        &self,
        py: Python<'_>,
        operation: &str,
        sequences: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.check(py)?;
        self.set(py, None, None, -1);
        let conversation = &self.connection.shared;
        let count = conversation.execute_many(py, operation, sequences)?;
        self.set(py, None, None, i64::try_from(count).unwrap_or(-1));
        Ok(())
    }

    fn set(&self, py: Python<'_>, schema: Option<SchemaRef>, rows: Option<ReaderCell>, count: i64) {
        let mut state = locked(py, &self.state);
        state.schema = schema;
        let before = std::mem::replace(&mut state.rows, rows);
        state.row_count = count;
        drop(state);
        py.detach(|| drop(before));
    }

    fn rows(&self, py: Python<'_>) -> PyResult<ReaderCell> {
        self.check(py)?;
        let rows = locked(py, &self.state).rows.clone();
        rows.ok_or_else(|| {
            let text = "there are no rows: no statement has run, or the last one gives none";
            errors::programming(py, text, None)
        })
    }

    fn read<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut RowReader) -> PyResult<T>,
    ) -> PyResult<T> {
        with_reader(py, &self.rows(py)?, work)
    }
}

#[pymethods]
impl Cursor {
    /// Runs a statement. `?` or `$1`, `$2` … stand for the parameters.
    #[pyo3(signature = (operation, parameters = None, /))]
    fn execute(
        slf: Py<Self>,
        py: Python<'_>,
        operation: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Self>> {
        slf.get().run(py, operation, parameters)?;
        Ok(slf)
    }

    /// Runs a statement once for each sequence of parameters, all or none.
    #[pyo3(signature = (operation, seq_of_parameters, /))]
    fn executemany(
        slf: Py<Self>,
        py: Python<'_>,
        operation: &str,
        seq_of_parameters: &Bound<'_, PyAny>,
    ) -> PyResult<Py<Self>> {
        slf.get().run_many(py, operation, seq_of_parameters)?;
        Ok(slf)
    }

    /// The next row; `None` behind the last.
    fn fetchone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.read(py, |reader| reader.fetch_one(py))
    }

    /// The next rows, `arraysize` if no number is given.
    #[pyo3(signature = (size = None))]
    fn fetchmany<'py>(&self, py: Python<'py>, size: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let size = size.unwrap_or_else(|| locked(py, &self.state).array_size);
        self.read(py, |reader| reader.fetch_many(py, size))
    }

    /// All rows that are left.
    fn fetchall<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.read(py, |reader| reader.fetch_all(py))
    }

    /// The rows that are left, as a `pandas.DataFrame`.
    fn df<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, |reader| pandas_frame(py, reader))
    }

    /// The rows that are left, as a `polars.DataFrame`.
    fn pl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, |reader| polars_frame(py, reader))
    }

    /// The rows that are left, as a `pyarrow.Table`.
    fn arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, |reader| arrow_table(py, reader))
    }

    /// The rows that are left, as a stream of Arrow's PyCapsule interface; they are taken from the cursor.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.read(py, |reader| {
            let empty = RowReader::of_batches(reader.schema().clone(), Vec::new());
            capsule_of(py, std::mem::replace(reader, empty), requested_schema)
        })
    }

    /// Forgets the rows; the cursor is not used again.
    fn close(&self, py: Python<'_>) {
        self.set(py, None, None, -1);
        locked(py, &self.state).is_closed = true;
    }

    /// Does nothing: PEP 249 wants it to be there.
    #[pyo3(signature = (sizes, /))]
    fn setinputsizes(&self, sizes: &Bound<'_, PyAny>) {
        let _ = sizes;
    }

    /// Does nothing: PEP 249 wants it to be there.
    #[pyo3(signature = (size, column = None, /))]
    fn setoutputsize(&self, size: &Bound<'_, PyAny>, column: Option<&Bound<'_, PyAny>>) {
        let _ = (size, column);
    }

    /// The columns of the rows: name, type, `None`, bytes of a value, digits, digits behind the point, `None`.
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let schema = locked(py, &self.state).schema.clone();
        schema.map(|schema| description(py, &schema)).transpose()
    }

    /// How many rows the last statement has changed; -1 if it gave rows, or does not count.
    #[getter]
    fn rowcount(&self, py: Python<'_>) -> i64 {
        locked(py, &self.state).row_count
    }

    /// How many rows `fetchmany` gives.
    #[getter]
    fn arraysize(&self, py: Python<'_>) -> usize {
        locked(py, &self.state).array_size
    }

    #[setter]
    fn set_arraysize(&self, py: Python<'_>, size: usize) {
        locked(py, &self.state).array_size = size;
    }

    /// The connection it came from.
    #[getter]
    fn connection(&self, py: Python<'_>) -> Py<PyAny> {
        self.connection.object.clone_ref(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.fetchone(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (exc_type, exc_value, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) {
        let _ = (exc_type, exc_value, traceback);
        self.close(py);
    }
}
