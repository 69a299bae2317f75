//! Portals: statements with values for their parameters.

use std::sync::Arc;

use quire::Value;
use quire::arrow::datatypes::DataType;

use super::rows::{PortalSource, ResultColumns};
use super::statement::SharedStatement;
use crate::types::WireFormat;

/// A statement that can be executed, or is being executed.
pub(super) struct Portal {
    pub(super) statement: SharedStatement,
    pub(super) values: Vec<Value>,
    /// The types of the values.
    pub(super) types: Arc<[Option<DataType>]>,
    pub(super) formats: Vec<WireFormat>,
    pub(super) state: PortalState,
}

/// How far it is.
pub(super) enum PortalState {
    Bound,
    /// Rows come.
    Running {
        source: PortalSource,
        columns: Arc<ResultColumns>,
        command: &'static str,
    },
    /// All rows have come.
    Exhausted {
        columns: Arc<ResultColumns>,
        command: &'static str,
    },
    /// It gave none, and cannot run again.
    Done,
}
