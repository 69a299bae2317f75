//! The Python package of the Quire database: what of it is in Rust. `import quire` finds it as `quire._quire`.
//!
//! Statements run while the interpreter's lock is released; results become Python objects a batch at a time.
#![deny(unsafe_code)]

mod bulk;
mod capsule;
mod columns;
mod connection;
mod cursor;
mod errors;
mod frames;
mod from_python;
mod opened;
mod reader;
mod relation;
mod result;
mod show;
mod statement;
mod to_python;
mod type_name;
mod waiting;

use pyo3::prelude::*;

#[pymodule]
fn _quire(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<connection::Connection>()?;
    module.add_class::<cursor::Cursor>()?;
    module.add_class::<relation::Relation>()?;
    module.add_function(wrap_pyfunction!(connection::connect, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
