//! Portals: statements with values for their parameters.

use std::sync::Arc;

use quire::Value;
use quire::arrow::datatypes::DataType;

use super::rows::{Columns, Source};
use super::statement::SharedStatement;
use crate::types::Format;

/// A statement that can be executed, or is being executed.
pub(super) struct Portal {
    pub(super) statement: SharedStatement,
    pub(super) values: Vec<Value>,
    /// The types of the values.
    pub(super) types: Arc<[Option<DataType>]>,
    pub(super) formats: Vec<Format>,
    pub(super) state: State,
}

/// How far it is.
pub(super) enum State {
    Bound,
    /// Rows come.
    Running {
        source: Source,
        columns: Arc<Columns>,
        command: &'static str,
    },
    /// All rows have come.
    Exhausted {
        columns: Arc<Columns>,
        command: &'static str,
    },
    /// It gave none, and cannot run again.
    Done,
}
