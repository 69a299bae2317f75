//! The branches of a union have the names of its columns.
//!
//! A union takes its columns by their places. DataFusion's rules that take a union away, or put what stands above it into its branches,
//! find them by name. So a branch whose columns are called otherwise gets a projection that renames them. Runs once types are settled.
//!
//! And a union's column may be NULL where that of a branch may, also if the branch has changed since: DataFusion does not look again.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{LogicalPlan, Union};

use super::unnesting::{columns_of, named_as};

pub(super) fn rename_branches(union: Union) -> Result<Transformed<LogicalPlan>> {
    let Union { inputs, schema } = union;
    let names = schema.columns();
    let mut is_changed = false;
    let mut renamed = Vec::with_capacity(inputs.len());
    for input in inputs {
        if input.schema().columns() == names {
            renamed.push(input);
            continue;
        }
        let outputs = columns_of(&input);
        let input = named_as(Arc::unwrap_or_clone(input), outputs, &schema)?;
        renamed.push(Arc::new(input));
        is_changed = true;
    }
    let inputs = renamed;
    let mut union = nullable_as_branches(Union { inputs, schema })?;
    union.transformed |= is_changed;
    Ok(union)
}

/// The union with columns that may be NULL where those of its branches may.
pub(super) fn nullable_as_branches(union: Union) -> Result<Transformed<LogicalPlan>> {
    let mut branches = union.inputs.iter();
    let is_stale = branches.any(|branch| {
        let fields = branch.schema().fields().iter();
        let mut pairs = fields.zip(union.schema.fields());
        pairs.any(|(field, own)| field.is_nullable() && !own.is_nullable())
    });
    if !is_stale {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let union = Union::try_new_with_loose_types(union.inputs)?;
    Ok(Transformed::yes(LogicalPlan::Union(union)))
}
