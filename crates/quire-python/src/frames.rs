//! Data frames as tables: those that were registered, and variables of the program around a statement.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quire::{ExternalRows, ExternalTable, ExternalTables};

use crate::capsule::{Batches, batches_of};

/// The frames that statements of one connection can name.
pub struct Frames {
    known: Mutex<RegisteredFrames>,
    /// Whether an object is a result of this database, which is no table: its connection runs the statement that would read it.
    is_result: IsResult,
}

/// Tells results of this database from other objects.
pub(crate) type IsResult = fn(&Bound<'_, PyAny>) -> bool;

#[derive(Default)]
struct RegisteredFrames {
    registered: HashMap<String, Py<PyAny>>,
    /// The thread whose variables are looked at; none, while no statement runs.
    thread: Option<u64>,
    /// A table of our own for the running statement.
    lent: Option<(&'static str, Arc<dyn ExternalTable>)>,
    /// What the running statement has found.
    found: HashMap<String, Arc<PythonFrame>>,
    /// Why an object could not be read.
    raised: Option<PyErr>,
}

impl Frames {
    pub fn new(is_result: IsResult) -> Self {
        Self {
            known: Mutex::default(),
            is_result,
        }
    }

    fn known(&self) -> MutexGuard<'_, RegisteredFrames> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn register(&self, name: &str, object: Py<PyAny>) -> Option<Py<PyAny>> {
        self.known().registered.insert(name.to_owned(), object)
    }

    pub fn unregister(&self, name: &str) -> Option<Py<PyAny>> {
        self.known().registered.remove(name)
    }

    /// Makes a table known by a name that no program can say.
    pub fn lend(&self, name: &'static str, table: Option<Arc<dyn ExternalTable>>) {
        let before = std::mem::replace(&mut self.known().lent, table.map(|table| (name, table)));
        drop(before);
    }

    /// A statement begins on this thread; `objects` are what names stand for that it had before.
    pub fn begin(&self, py: Python<'_>, objects: &[(String, Py<PyAny>)]) -> PyResult<()> {
        let thread: u64 = py
            .import("threading")?
            .getattr("get_ident")?
            .call0()?
            .extract()?;
        let mut found = HashMap::new();
        for (name, object) in objects {
            if let Some(frame) = self.frame_of(object.bind(py))? {
                found.insert(name.clone(), Arc::new(frame));
            }
        }
        let mut known = self.known();
        known.thread = Some(thread);
        known.found = found;
        known.raised = None;
        Ok(())
    }

    /// The statement has been planned: what names stood for in it, and what went wrong with that.
    pub fn end(&self, py: Python<'_>) -> (Vec<(String, Py<PyAny>)>, Option<PyErr>) {
        let mut known = self.known();
        known.thread = None;
        let found = std::mem::take(&mut known.found);
        let raised = known.raised.take();
        drop(known);
        let named = found.into_iter();
        let named = named.map(|(name, frame)| (name, frame.object.clone_ref(py)));
        (named.collect(), raised)
    }

    /// How the database asks for them.
    pub fn resolver(self: &Arc<Self>) -> ExternalTables {
        let frames = Arc::clone(self);
        Arc::new(move |name| {
            {
                let known = frames.known();
                if let Some((_, lent)) = known.lent.as_ref().filter(|(lent, _)| *lent == name) {
                    return Ok(Some(Arc::clone(lent)));
                }
                if let Some(frame) = known.found.get(name) {
                    return Ok(Some(Arc::clone(frame) as Arc<dyn ExternalTable>));
                }
            }
            Python::attach(|py| match frames.find(py, name) {
                Ok(frame) => Ok(frame.map(|frame| frame as Arc<dyn ExternalTable>)),
                Err(exception) => Err(frames.note(py, name, exception)),
            })
        })
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<Option<Arc<PythonFrame>>> {
        let (registered, thread) = {
            let known = self.known();
            let registered = known.registered.get(name);
            (registered.map(|object| object.clone_ref(py)), known.thread)
        };
        let object = match (registered, thread) {
            (Some(object), _) => Some(object.into_bound(py)),
            (None, Some(thread)) => variable(py, thread, name)?,
            (None, None) => None,
        };
        let Some(frame) = object
            .map(|object| self.frame_of(&object))
            .transpose()?
            .flatten()
        else {
            return Ok(None);
        };
        let frame = Arc::new(frame);
        self.known()
            .found
            .insert(name.to_owned(), Arc::clone(&frame));
        Ok(Some(frame))
    }

    /// A frame for an object that has Arrow data.
    pub(crate) fn frame_of(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<PythonFrame>> {
        if (self.is_result)(object) {
            let text =
                "it is a result of this database; take a table of it first, as result.arrow()";
            return Err(pyo3::exceptions::PyTypeError::new_err(text));
        }
        PythonFrame::of(object)
    }

    /// Keeps an exception for the one of the statement to name as its cause.
    fn note(&self, py: Python<'_>, name: &str, exception: PyErr) -> ArrowError {
        let text = format!(
            "the variable \"{name}\" cannot be read as a table: {}",
            exception.value(py)
        );
        self.known().raised = Some(exception);
        ArrowError::InvalidArgumentError(text)
    }
}

/// The variable called `name`, local or global, of the function that a thread is in, if a table can be made of it. The name may
/// have lost its capital letters.
fn variable<'py>(py: Python<'py>, thread: u64, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let stacks = py.import("sys")?.getattr("_current_frames")?.call0()?;
    let Ok(function) = stacks.get_item(thread) else {
        return Ok(None);
    };
    for scope in ["f_locals", "f_globals"] {
        // What a frame of Python gives is a dictionary, or a view that becomes one.
        let variables = py.get_type::<PyDict>().call1((function.getattr(scope)?,))?;
        let variables = variables.cast_into::<PyDict>()?;
        if let Some(object) = variables.get_item(name)?
            && is_frame(&object)?
        {
            return Ok(Some(object));
        }
        for (known, object) in &variables {
            let is_meant = known
                .extract::<String>()
                .is_ok_and(|known| known.to_lowercase() == name);
            if is_meant && is_frame(&object)? {
                return Ok(Some(object));
            }
        }
    }
    Ok(None)
}

fn is_frame(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // A class has the methods of its objects.
    if object.is_instance_of::<pyo3::types::PyType>() {
        return Ok(false);
    }
    let has_data = object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?;
    Ok(has_data || is_lazy(object)?)
}

/// Whether it is a query of polars that has not run.
fn is_lazy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    Ok(class.name()? == "LazyFrame" && class.module()?.to_cow()?.starts_with("polars"))
}

/// An object with Arrow data, as a table of a statement.
pub(crate) struct PythonFrame {
    object: Py<PyAny>,
    schema: SchemaRef,
    row_count: Option<usize>,
    /// The batches that told the schema; whoever reads first takes them.
    first: Mutex<Option<Batches>>,
}

impl PythonFrame {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let object = if is_lazy(object)? {
            object.call_method0("collect")?
        } else {
            object.clone()
        };
        let Some(batches) = batches_of(&object)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            schema: batches.schema(),
            row_count: object.len().ok(),
            object: object.unbind(),
            first: Mutex::new(Some(batches)),
        }))
    }
}

impl fmt::Debug for PythonFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl ExternalTable for PythonFrame {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Option<usize> {
        self.row_count
    }

    fn read(&self) -> Result<ExternalRows, ArrowError> {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(batches) = first {
            return Ok(batches);
        }
        Python::attach(|py| match batches_of(self.object.bind(py)) {
            Ok(Some(batches)) => Ok(batches),
            Ok(None) => Err(ArrowError::InvalidArgumentError(
                "its Arrow data is gone".to_owned(),
            )),
            Err(exception) => Err(ArrowError::InvalidArgumentError(format!(
                "a table that can be read only once is read again: {}",
                exception.value(py)
            ))),
        })
    }
}
