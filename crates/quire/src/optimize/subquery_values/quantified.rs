//! Comparisons with `ANY` and `ALL` of a subquery.
//!
//! What is greater than any row is greater than the least, and what is greater than all is greater than the greatest: the extremes
//! decide, and a NULL among the rows makes unknown what they leave open. Of no rows, `ANY` is false and `ALL` true.

use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::{count, max, min};
use datafusion::logical_expr::expr::{SetComparison, SetQuantifier};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, lit, when};

use super::{aggregated, first_column};

/// The comparison, over scalar subqueries; as it is where there is no order to go by.
pub(super) fn comparison(found: SetComparison) -> Result<Expr> {
    let plan = found.subquery.subquery.as_ref();
    if plan.schema().fields().len() != 1 {
        return Ok(Expr::SetComparison(found));
    }
    let is_any = found.quantifier == SetQuantifier::Any;
    let compared = |with: Expr| {
        let (left, right) = (found.expr.clone(), Box::new(with));
        Expr::BinaryExpr(BinaryExpr::new(left, found.op, right))
    };
    let least = |column: Expr| min(column);
    let greatest = |column: Expr| max(column);
    let decided = match found.op {
        Operator::Gt | Operator::GtEq if is_any => compared(extreme(plan, least)?),
        Operator::Gt | Operator::GtEq => compared(extreme(plan, greatest)?),
        Operator::Lt | Operator::LtEq if is_any => compared(extreme(plan, greatest)?),
        Operator::Lt | Operator::LtEq => compared(extreme(plan, least)?),
        // `<> ANY` and `= ALL`; the others are `IN` and `NOT IN`.
        Operator::NotEq => compared(extreme(plan, least)?).or(compared(extreme(plan, greatest)?)),
        Operator::Eq => compared(extreme(plan, least)?).and(compared(extreme(plan, greatest)?)),
        _ => return Ok(Expr::SetComparison(found)),
    };
    let unknown = Expr::Literal(ScalarValue::Boolean(None), None);
    let left_open = when(counts(plan)?.eq(lit(2_i64)), unknown).otherwise(lit(!is_any))?;
    let of_rows = match is_any {
        true => decided.or(left_open),
        false => decided.and(left_open),
    };
    when(counts(plan)?.eq(lit(0_i64)), lit(!is_any)).otherwise(of_rows)
}

fn extreme(plan: &LogicalPlan, aggregate: impl FnOnce(Expr) -> Expr) -> Result<Expr> {
    let aggregates = vec![aggregate(first_column(plan))];
    let subquery = aggregated(plan.clone(), aggregates, |mut columns| {
        Ok(columns.swap_remove(0))
    })?;
    Ok(Expr::ScalarSubquery(subquery))
}

/// 0 if there are no rows, 1 if none of them is NULL, else 2.
fn counts(plan: &LogicalPlan) -> Result<Expr> {
    let aggregates = vec![count(lit(1_i64)), count(first_column(plan))];
    let subquery = aggregated(plan.clone(), aggregates, |columns| {
        let (rows, values) = (columns[0].clone(), columns[1].clone());
        when(rows.clone().eq(lit(0_i64)), lit(0_i64))
            .when(rows.eq(values), lit(1_i64))
            .otherwise(lit(2_i64))
    })?;
    Ok(Expr::ScalarSubquery(subquery))
}
