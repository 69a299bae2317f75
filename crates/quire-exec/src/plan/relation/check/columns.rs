//! Whether columns and values can be those that a node says.

use crate::plan::{PlanColumn, PlanError, ValueKind};

/// Values of some columns can be those of others.
pub(super) fn fit(
    node: &'static str,
    from: &[PlanColumn],
    to: &[PlanColumn],
) -> Result<(), PlanError> {
    for (from, to) in from.iter().zip(to) {
        same_kind(node, &to.name, kind_of(node, to)?, kind_of(node, from)?)?;
        if from.nullable && !to.nullable {
            return Err(null_in(node, to));
        }
    }
    Ok(())
}

pub(in crate::plan::relation) fn kind_of(
    node: &'static str,
    column: &PlanColumn,
) -> Result<ValueKind, PlanError> {
    column.kind().ok_or_else(|| PlanError::Type {
        node,
        column: column.name.clone(),
        data_type: column.data_type.to_string(),
    })
}

pub(super) fn null_in(node: &'static str, column: &PlanColumn) -> PlanError {
    let part = column.name.clone();
    PlanError::Null { node, part }
}

pub(super) fn same_count(
    node: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), PlanError> {
    if expected == found {
        Ok(())
    } else {
        Err(PlanError::ColumnCount {
            node,
            expected,
            found,
        })
    }
}

pub(in crate::plan::relation) fn same_kind(
    node: &'static str,
    part: &str,
    expected: ValueKind,
    found: ValueKind,
) -> Result<(), PlanError> {
    if expected == found {
        Ok(())
    } else {
        Err(PlanError::Kind {
            node,
            part: part.to_owned(),
            expected,
            found,
        })
    }
}
