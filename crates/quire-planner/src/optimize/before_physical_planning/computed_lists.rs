//! `x IN (…)` with members that are computed from rows, as comparisons.
//!
//! DataFusion takes a member for a constant if it gives a scalar for a batch without rows, and so it does take `CASE a WHEN b THEN c END`,
//! which gives NULL then. Members that are columns give arrays, and are compared row by row. Runs before physical planning.

use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, lit, not};

/// The comparisons, if some member is computed.
pub(super) fn compared(list: InList) -> Transformed<Expr> {
    let is_computed =
        |member: &Expr| !matches!(member, Expr::Column(_)) && member.any_column_refs();
    // What changes from one look to the next is looked at once.
    if !list.list.iter().any(is_computed) || list.expr.is_volatile() {
        return Transformed::no(Expr::InList(list));
    }
    let mut members = list.list;
    members.dedup();
    let tested = *list.expr;
    let equal = members.into_iter().map(|member| tested.clone().eq(member));
    let found = equal.reduce(Expr::or).unwrap_or_else(|| lit(false));
    Transformed::yes(if list.negated { not(found) } else { found })
}
