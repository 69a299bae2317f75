//! Conditions of joins as their keys.
//!
//! DataFusion's rule makes a key of `a = b` even of a join in whose keys NULL equals NULL: rows with NULL would match. Such a join
//! gets no further keys.

use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::LogicalPlan;

/// Whether the plan is a join in whose keys NULL equals NULL.
pub(super) fn has_equal_nulls(plan: &LogicalPlan) -> Result<bool> {
    Ok(
        matches!(plan, LogicalPlan::Join(join) if join.null_equality == NullEquality::NullEqualsNull),
    )
}
