//! A date and an interval with hours is a timestamp: as a date it would lose them.
//!
//! PostgreSQL has a timestamp for every interval. Whole days and months, of a written interval, keep a date one here: comparisons
//! with columns of dates, as TPC-H makes them, stay on dates. Runs before types are settled.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast};
use datafusion::optimizer::AnalyzerRule;

const DAY_NS: i64 = 86_400_000_000_000;

/// The rule.
#[derive(Debug)]
pub(super) struct DatesAndIntervals;

impl AnalyzerRule for DatesAndIntervals {
    fn name(&self) -> &str {
        "dates_and_intervals"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(widen_node)?.data)
    }
}

fn widen_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&plan.inputs());
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expression| {
        let name = names.save(&expression);
        let widened = expression.transform_up(|part| widen_expression(part, &schema))?;
        Ok(widened.update_data(|expression| name.restore(expression)))
    })?
    .map_data(|plan| plan.recompute_schema())
}

pub(super) fn widen_expression(
    mut expression: Expr,
    schema: &DFSchema,
) -> Result<Transformed<Expr>> {
    if let Expr::BinaryExpr(BinaryExpr { left, op, right }) = &mut expression {
        let is_changed = match op {
            Operator::Plus => widen(left, right, schema) || widen(right, left, schema),
            Operator::Minus => widen(left, right, schema),
            _ => false,
        };
        if is_changed {
            return Ok(Transformed::yes(expression));
        }
    }
    Ok(Transformed::no(expression))
}

/// Makes a date beside an interval a timestamp, if it must be one.
fn widen(date: &mut Expr, interval: &Expr, schema: &DFSchema) -> bool {
    // An expression without a type is refused where types are settled, with a better message.
    let is_interval = matches!(interval.get_type(schema), Ok(DataType::Interval(_)));
    let is_date = is_interval && matches!(date.get_type(schema), Ok(DataType::Date32));
    if is_date && !has_whole_days(interval) {
        let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        *date = cast(std::mem::take(date), timestamp);
        return true;
    }
    false
}

fn has_whole_days(interval: &Expr) -> bool {
    match interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), _) => {
            interval.nanoseconds % DAY_NS == 0
        }
        Expr::Literal(ScalarValue::IntervalYearMonth(_), _) => true,
        Expr::Negative(inner) => has_whole_days(inner),
        _ => false,
    }
}
