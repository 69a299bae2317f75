//! Rows that are written out have the types of their columns.
//!
//! A statement says what the columns of its `VALUES` are before the types of expressions in them are settled. Where that makes another
//! type of one, as of a CASE whose branches are INTEGER and BIGINT, it is cast back. Runs once types are settled.

use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Values, cast};

pub(super) fn settle(values: Values) -> Result<Transformed<LogicalPlan>> {
    let Values { schema, mut values } = values;
    let mut is_changed = false;
    for row in &mut values {
        for (value, field) in row.iter_mut().zip(schema.fields()) {
            is_changed |= settle_value(value, field)?;
        }
    }
    let values = LogicalPlan::Values(Values { schema, values });
    Ok(if is_changed {
        Transformed::yes(values)
    } else {
        Transformed::no(values)
    })
}

fn settle_value(value: &mut Expr, field: &FieldRef) -> Result<bool> {
    // A literal has the type that it was given.
    if matches!(value, Expr::Literal(..) | Expr::Cast(_))
        || value.get_type(&DFSchema::empty())? == *field.data_type()
    {
        return Ok(false);
    }
    *value = cast(std::mem::take(value), field.data_type().clone());
    Ok(true)
}
