//! Writes: what is done with each row of an input.

use std::ops::Range;

use super::check::{kind_of, same_kind};
use super::{Plan, PlanError, PlanNode};
use crate::plan::ValueKind;

/// Rows of a table that come, change or go.
///
/// It is the outermost node of a plan, or has only projections above it: who takes fewer of its rows would write fewer.
#[derive(Debug, Clone)]
pub struct WriteNode {
    /// Name of the table.
    pub table: String,
    /// What is done.
    pub kind: WriteKind,
    /// The rows; all of their columns come out.
    pub input: Plan,
    /// The slot of the key of the row that is changed or deleted: bytes, never NULL.
    pub row_key: Option<usize>,
    /// Slots of the values of a row that comes or changes: one for each column of the table that is not dropped.
    pub values: Range<usize>,
    /// Slots of conditions of which none may be false.
    pub checks: Range<usize>,
    /// Whether a row of the table may come more than once, and is to be written the first time.
    pub may_repeat: bool,
}

/// What is done with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// It is new.
    Insert,
    /// It gets other values.
    Update,
    /// It goes.
    Delete,
}

impl WriteKind {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert into",
            Self::Update => "update",
            Self::Delete => "delete from",
        }
    }
}

impl Plan {
    /// Writes the rows of the input.
    #[must_use]
    pub fn writing(write: WriteNode) -> Self {
        Self {
            columns: write.input.columns.clone(),
            node: PlanNode::Write(Box::new(write)),
        }
    }

    /// Whether the key is one, and values and conditions are columns of the input.
    pub(super) fn write_fits(&self, write: &WriteNode) -> Result<(), PlanError> {
        let node = self.node.name();
        let columns = &write.input.columns;
        let kind_at = |slot: usize| match columns.get(slot) {
            Some(column) => kind_of(node, column),
            None => Err(PlanError::Slot {
                node,
                slot,
                column_count: columns.len(),
            }),
        };
        if write.row_key.is_some() == (write.kind == WriteKind::Insert) {
            let part = "the key of the row";
            return Err(PlanError::Empty { node, part });
        }
        if let Some(slot) = write.row_key {
            same_kind(node, "the key", ValueKind::Bytes, kind_at(slot)?)?;
        }
        for slot in write.values.clone() {
            kind_at(slot)?;
        }
        for slot in write.checks.clone() {
            same_kind(node, "a condition", ValueKind::Boolean, kind_at(slot)?)?;
        }
        Ok(())
    }
}
