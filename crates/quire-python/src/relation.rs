//! `Relation`: the rows of a statement as a whole.

use std::sync::{Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyList, PyTuple};

use crate::capsule::schema_capsule;
use crate::cursor::{description, with_reader};
use crate::reader::{ReaderCell, RowReader};
use crate::result::{arrow_table, capsule_of, exported_schema, pandas_frame, polars_frame};
use crate::show;
use crate::statement::{Named, OwningConnection, StatementDone};

/// Rows that are shown.
const SHOWN_ROWS: usize = 20;

/// The rows of a statement, as a data frame or row by row.
///
/// `df()`, `pl()`, `arrow()`, `show()` and Arrow's streams always give all rows; a query runs again for each of them but the
/// first. `fetchone()`, `fetchmany()`, `fetchall()` and iteration go through the rows once.
///
/// >>> relation = quire.connect(":memory:").sql("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (n, letter)")
/// >>> relation.columns
/// ['n', 'letter']
/// >>> relation.fetchall()
/// [(1, 'a'), (2, 'b')]
/// >>> relation.arrow().num_rows
/// 2
#[pyclass(frozen, module = "quire")]
pub struct Relation {
    connection: OwningConnection,
    operation: String,
    parameters: Option<Py<PyAny>>,
    /// What names in the statement stood for when it ran first.
    named: Named,
    schema: SchemaRef,
    /// All rows of a statement that must not run twice.
    kept: Option<Vec<RecordBatch>>,
    state: Mutex<RelationState>,
}

struct RelationState {
    rows: Option<ReaderCell>,
    /// Whether somebody goes through the rows.
    is_begun: bool,
}

impl Relation {
    pub fn run(
        py: Python<'_>,
        connection: OwningConnection,
        operation: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Self>> {
        let conversation = &connection.shared;
        let StatementDone::Rows(cell, named) =
            conversation.execute(py, operation, parameters, &[])?
        else {
            return Ok(None);
        };
        let (schema, kept) = with_reader(py, &cell, |reader| {
            let kept = if is_repeatable(operation) {
                None
            } else {
                Some(reader.rest(py)?)
            };
            Ok((reader.schema().clone(), kept))
        })?;
        let cell = match &kept {
            Some(kept) => conversation.keep(RowReader::of_batches(schema.clone(), kept.clone())),
            None => cell,
        };
        // What the caller does to a list of parameters later is nothing to this statement.
        let parameters = match parameters.filter(|parameters| !parameters.is_none()) {
            Some(parameters) => Some(PyTuple::new(
                py,
                parameters.try_iter()?.collect::<PyResult<Vec<_>>>()?,
            )?),
            None => None,
        };
        Ok(Some(Self {
            connection,
            operation: operation.to_owned(),
            parameters: parameters.map(|parameters| parameters.into_any().unbind()),
            named,
            schema,
            kept,
            state: Mutex::new(RelationState {
                rows: Some(cell),
                is_begun: false,
            }),
        }))
    }

    /// All rows: those that came first if nobody has taken any of them, else those of another run.
    fn whole(&self, py: Python<'_>) -> PyResult<ReaderCell> {
        let untouched = {
            let guard = self.state.lock_py_attached(py);
            let mut state = guard.unwrap_or_else(PoisonError::into_inner);
            if state.is_begun {
                None
            } else {
                state.rows.take()
            }
        };
        match untouched {
            Some(rows) => Ok(rows),
            None => self.again(py),
        }
    }

    fn again(&self, py: Python<'_>) -> PyResult<ReaderCell> {
        let conversation = &self.connection.shared;
        if let Some(kept) = &self.kept {
            return Ok(conversation.keep(RowReader::of_batches(self.schema.clone(), kept.clone())));
        }
        let parameters = self
            .parameters
            .as_ref()
            .map(|parameters| parameters.bind(py));
        match conversation.execute(py, &self.operation, parameters, &self.named)? {
            StatementDone::Rows(cell, _) => Ok(cell),
            StatementDone::Nothing(_) => {
                Ok(conversation.keep(RowReader::of_batches(self.schema.clone(), Vec::new())))
            }
        }
    }

    fn read_whole<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut RowReader) -> PyResult<T>,
    ) -> PyResult<T> {
        with_reader(py, &self.whole(py)?, work)
    }

    /// The rows that somebody goes through, from now on.
    fn begun(&self, py: Python<'_>) -> PyResult<ReaderCell> {
        let known = {
            let guard = self.state.lock_py_attached(py);
            let mut state = guard.unwrap_or_else(PoisonError::into_inner);
            state.is_begun = true;
            state.rows.clone()
        };
        if let Some(rows) = known {
            return Ok(rows);
        }
        let rows = self.again(py)?;
        let guard = self.state.lock_py_attached(py);
        let mut state = guard.unwrap_or_else(PoisonError::into_inner);
        Ok(state.rows.get_or_insert(rows).clone())
    }

    fn shown(&self, py: Python<'_>, row_count: usize) -> PyResult<String> {
        // Looking at rows takes none of them.
        let untouched = {
            let guard = self.state.lock_py_attached(py);
            let state = guard.unwrap_or_else(PoisonError::into_inner);
            if state.is_begun {
                None
            } else {
                state.rows.clone()
            }
        };
        let rows = match untouched {
            Some(rows) => rows,
            None => self.again(py)?,
        };
        with_reader(py, &rows, |reader| {
            let batches = reader.peek(py, row_count + 1)?;
            Ok(show::table(&self.schema, &batches, row_count))
        })
    }
}

/// Whether a statement that gives rows changes nothing.
fn is_repeatable(operation: &str) -> bool {
    let upper = operation.to_ascii_uppercase();
    let mut words = upper.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    !words.any(|word| {
        matches!(
            word,
            "INSERT" | "UPDATE" | "DELETE" | "NEXTVAL" | "SETVAL" | "EXPLAIN" | "RANDOM" | "NOW"
        )
    })
}

#[pymethods]
impl Relation {
    /// All rows as a `pandas.DataFrame`.
    fn df<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read_whole(py, |reader| pandas_frame(py, reader))
    }

    /// All rows as a `polars.DataFrame`.
    fn pl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read_whole(py, |reader| polars_frame(py, reader))
    }

    /// All rows as a `pyarrow.Table`.
    fn arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read_whole(py, |reader| arrow_table(py, reader))
    }

    /// The next row; `None` behind the last.
    fn fetchone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        with_reader(py, &self.begun(py)?, |reader| reader.fetch_one(py))
    }

    /// The next rows.
    #[pyo3(signature = (size = 1))]
    fn fetchmany<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyList>> {
        with_reader(py, &self.begun(py)?, |reader| reader.fetch_many(py, size))
    }

    /// All rows that are left.
    fn fetchall<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        with_reader(py, &self.begun(py)?, |reader| reader.fetch_all(py))
    }

    /// Prints the first rows.
    #[pyo3(signature = (max_rows = SHOWN_ROWS), text_signature = "($self, max_rows=20)")]
    fn show(&self, py: Python<'_>, max_rows: usize) -> PyResult<()> {
        let text = self.shown(py, max_rows)?;
        py.import("builtins")?.call_method1("print", (text,))?;
        Ok(())
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// The columns as PEP 249 describes them; see `Cursor.description`.
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        description(py, &self.schema)
    }

    /// All rows, as a stream of Arrow's PyCapsule interface. They are produced while they are taken.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.read_whole(py, |reader| {
            let empty = RowReader::of_batches(reader.schema().clone(), Vec::new());
            let mut rows = std::mem::replace(reader, empty);
            if !self.named.is_empty() {
                // Whoever takes them may hold the interpreter's lock, which reading a frame may need.
                let batches = rows.rest(py)?;
                rows = RowReader::of_batches(self.schema.clone(), batches);
            }
            capsule_of(py, rows, requested_schema)
        })
    }

    /// Names and types of the columns, as Arrow's PyCapsule interface has them.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &exported_schema(&self.schema))
    }

    fn __iter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().begun(py)?;
        Ok(slf)
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.fetchone(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.shown(py, SHOWN_ROWS)
    }
}
