//! Errors of the database as exceptions of `quire.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error: which class it has, its SQLSTATE says.
pub fn exception(py: Python<'_>, error: &quire::Error) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let facts = PyDict::new(py);
        facts.set_item("detail", error.detail())?;
        facts.set_item("hint", error.hint())?;
        if let Some(position) = error.position() {
            facts.set_item("line", position.line)?;
            facts.set_item("column", position.column)?;
        }
        let make = py.import("quire.errors")?.getattr("error_of")?;
        let made = make.call((error.sqlstate(), error.message()), Some(&facts))?;
        Ok(PyErr::from_value(made))
    };
    made().unwrap_or_else(|failure| failure)
}

/// An exception that this package finds by itself, of the class called `name`.
pub fn own(py: Python<'_>, name: &str, sqlstate: &str, message: &str, hint: Option<&str>) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let facts = PyDict::new(py);
        facts.set_item("sqlstate", sqlstate)?;
        facts.set_item("hint", hint)?;
        let class = py.import("quire.errors")?.getattr(name)?;
        Ok(PyErr::from_value(class.call((message,), Some(&facts))?))
    };
    made().unwrap_or_else(|failure| failure)
}

/// Something was used in a way in which it cannot be.
pub fn interface(py: Python<'_>, message: &str) -> PyErr {
    own(py, "InterfaceError", "08003", message, None)
}

/// The statement and what came with it do not fit.
pub fn programming(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    own(py, "ProgrammingError", "07001", message, hint)
}

/// A value that Python or SQL does not have.
pub fn data(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    own(py, "DataError", "22003", message, hint)
}
