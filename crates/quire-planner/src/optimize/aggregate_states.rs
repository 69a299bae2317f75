//! The states of aggregates.

use datafusion::arrow::datatypes::DataType;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;

/// About how many bytes the state of a group has; `None` if that has no limit, or if groups have an accumulator each.
pub(super) fn state_bytes(aggregate: &AggregateFunctionExpr) -> Option<usize> {
    let is_plain = !aggregate.is_distinct()
        && aggregate.order_bys().is_empty()
        && aggregate.groups_accumulator_supported();
    let fields = aggregate.state_fields().ok().filter(|_| is_plain)?;
    let bytes = fields.iter().map(|field| match field.data_type() {
        DataType::Boolean => Some(1),
        other => other.primitive_width(),
    });
    bytes.sum()
}
