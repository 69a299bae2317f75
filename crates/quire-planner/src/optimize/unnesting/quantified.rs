//! Comparisons with `ANY` and `ALL` of a subquery, other than those that are `IN` and `NOT IN`.
//!
//! What is greater than any row is greater than the least, and what is greater than all is greater than the greatest: the extremes
//! decide, and a NULL among the rows makes unknown what they leave open. Of no rows, `ANY` is false and `ALL` true.

use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{SetComparison, SetQuantifier};
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, binary_expr, lit, when};
use quire_functions::{greatest_udaf, least_udaf};

use super::as_subquery;
use super::rows::{WidenedRows, plan_of, reads_outer};
use super::scalar::{aggregated, first_column};

/// What the comparison needs to know of the rows.
struct QuantifiedExtremes {
    least: Expr,
    greatest: Expr,
    row_count: Expr,
    value_count: Expr,
}

impl WidenedRows<'_> {
    pub(super) fn quantified(&mut self, found: SetComparison) -> Result<Expr> {
        let looked_for = self.replace(*found.expr, false)?;
        let is_any = found.quantifier == SetQuantifier::Any;
        let of_rows = self.extremes(&plan_of(found.subquery))?;
        let compared = |with: &Expr| binary_expr(looked_for.clone(), found.op, with.clone());
        let (least, greatest) = (compared(&of_rows.least), compared(&of_rows.greatest));
        let decided = match (found.op, is_any) {
            (Operator::Gt | Operator::GtEq, true) | (Operator::Lt | Operator::LtEq, false) => least,
            (Operator::Gt | Operator::GtEq, false) | (Operator::Lt | Operator::LtEq, true) => {
                greatest
            }
            (Operator::NotEq, _) => least.or(greatest),
            (Operator::Eq, _) => least.and(greatest),
            (op, _) => return not_impl_err!("{op} with ANY or ALL of a subquery"),
        };
        let unknown = Expr::Literal(ScalarValue::Boolean(None), None);
        let has_nulls = of_rows.row_count.clone().not_eq(of_rows.value_count);
        let left_open = when(has_nulls, unknown).otherwise(lit(!is_any))?;
        let of_some = if is_any {
            decided.or(left_open)
        } else {
            decided.and(left_open)
        };
        when(of_rows.row_count.eq(lit(0_i64)), lit(!is_any)).otherwise(of_some)
    }

    fn extremes(&mut self, plan: &LogicalPlan) -> Result<QuantifiedExtremes> {
        let column = || first_column(plan);
        let calls = vec![
            least_udaf().call(vec![column()]),
            greatest_udaf().call(vec![column()]),
            count(lit(1_i64)),
            count(column()),
        ];
        let mut values = if reads_outer(plan) {
            let pulled = self.pull(&aggregated(plan.clone(), calls)?)?;
            self.join_one_row(pulled)?.0
        } else {
            let single = |call| aggregated(plan.clone(), vec![call]);
            let single = |call| Ok(Expr::ScalarSubquery(as_subquery(single(call)?)));
            calls.into_iter().map(single).collect::<Result<Vec<_>>>()?
        };
        let mut next = || values.remove(0);
        Ok(QuantifiedExtremes {
            least: next(),
            greatest: next(),
            row_count: next(),
            value_count: next(),
        })
    }
}
