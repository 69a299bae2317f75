//! How large values and their sums can become, by the bounds of stored columns.
//!
//! The type of a sum of DECIMAL(36,4) does not hold any number of such values, and that of a product of wide decimals not every product: both may
//! overflow, and so could not be computed of rows that a join has still to drop. The stored values say that they do not. TPC-H's
//! `l_extendedprice * (1 - l_discount)` is 38 digits wide by type and below 10^7 by value.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, TableScan};
use quire_exec::plan::Operator;
use quire_functions::DecimalDigits;
use quire_tables::{ColumnTable, SqlType};

use crate::expression::{checked_operator, operator_of};
use crate::optimize::column_origin::column_origin;
use crate::scan::ColumnTableProvider;

/// Parts of an expression whose bounds are looked for.
const PARTS_MAX: usize = 64;
/// Digits that 128 bits always have, less one for what bounds in floating point lack.
const DIGITS_MAX: i32 = 37;

/// Whether a sum of this expression over the rows of the plan, or over any of them, is one of that type. What the expression itself may fail with is
/// another question.
pub(super) fn is_sum_bounded(summed: &Expr, plan: &LogicalPlan, sum: &DataType) -> bool {
    if !is_short(summed) {
        return false;
    }
    let value = match summed {
        Expr::Case(case) => {
            let branches = case.when_then_expr.iter().map(|(_, then)| then);
            let mut branches = branches.chain(&case.else_expr);
            branches.try_fold(0.0, |most: f64, it| Some(most.max(magnitude(it, plan)?)))
        }
        other => magnitude(other, plan),
    };
    let bound = value.zip(row_count_max(plan));
    bound.is_some_and(|(value, rows)| holds(sum, value * rows))
}

/// Whether the arithmetic of an expression overflows for none of the rows of the plan.
pub(super) fn is_bounded(expression: &Expr, plan: &LogicalPlan) -> bool {
    is_short(expression) && magnitude(expression, plan).is_some()
}

/// Whether an expression has so few parts that it may be looked through from each of them, whose types follow from those of all below.
fn is_short(expression: &Expr) -> bool {
    let mut part_count = 0;
    let counted = expression.apply(|_| {
        part_count += 1;
        Ok(match part_count <= PARTS_MAX {
            true => TreeNodeRecursion::Continue,
            false => TreeNodeRecursion::Stop,
        })
    });
    counted.is_ok() && part_count <= PARTS_MAX
}

/// No value of the expression is larger, whatever its sign, and no step to it overflows.
fn magnitude(expression: &Expr, plan: &LogicalPlan) -> Option<f64> {
    let value = match expression {
        Expr::Column(column) => column_magnitude(column, plan),
        Expr::Literal(value, _) => literal_magnitude(value),
        Expr::Alias(alias) => magnitude(&alias.expr, plan),
        Expr::Negative(inner) => magnitude(inner, plan),
        // A cast that rounds adds one at most.
        Expr::Cast(cast) => Some(magnitude(&cast.expr, plan)? + 1.0),
        // It fails for a value with more digits than there are.
        Expr::ScalarFunction(call) if call.func.inner().is::<DecimalDigits>() => {
            magnitude(call.args.first()?, plan)
        }
        Expr::ScalarFunction(call) => {
            let operator = checked_operator(call.name())?;
            let [left, right] = call.args.as_slice() else {
                return None;
            };
            result(operator, left, right, plan)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            result(operator_of(*op)?, left, right, plan)
        }
        _ => None,
    }?;
    let data_type = expression.get_type(plan.schema()).ok()?;
    holds(&data_type, value).then_some(value)
}

fn result(operator: Operator, left: &Expr, right: &Expr, plan: &LogicalPlan) -> Option<f64> {
    let (most, other) = (magnitude(left, plan)?, magnitude(right, plan)?);
    match operator {
        Operator::Add | Operator::Subtract => Some(most + other),
        Operator::Multiply => Some(most * other),
        // A quotient that is rounded is one more at most.
        Operator::Divide => (constant(right)? >= 1.0).then_some(most + 1.0),
        Operator::Remainder => None,
    }
}

/// How large a whole number is that is written. A dividend is made longer by the digits behind the point of its divisor.
fn constant(expression: &Expr) -> Option<f64> {
    match expression {
        Expr::Literal(ScalarValue::Decimal128(_, _, scale), _) if *scale != 0 => None,
        Expr::Literal(value, _) => literal_magnitude(value),
        Expr::Cast(cast) => match cast.expr.as_ref() {
            Expr::Literal(value, _) if value.data_type().is_integer() => literal_magnitude(value),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a type has all numbers up to this one.
fn holds(data_type: &DataType, value: f64) -> bool {
    // Far more than what the roundings on the way to it have taken away.
    let value = value * 1.001;
    match data_type {
        DataType::Int16 => value < i16::MAX.into(),
        DataType::Int32 => value < i32::MAX.into(),
        // As far as doubles are exact.
        DataType::Int64 => value < (1_u64 << f64::MANTISSA_DIGITS) as f64,
        DataType::Decimal128(precision, scale) => {
            let digits = i32::from(*precision) - i32::from(*scale);
            value * 10_f64.powi((*scale).into()) < 10_f64.powi(DIGITS_MAX)
                && value < 10_f64.powi(digits)
        }
        _ => false,
    }
}

fn literal_magnitude(value: &ScalarValue) -> Option<f64> {
    match value {
        value if value.is_null() => Some(0.0),
        ScalarValue::Decimal128(Some(value), _, scale) => {
            Some(value.unsigned_abs() as f64 / 10_f64.powi((*scale).into()))
        }
        value if value.data_type().is_integer() => match value.cast_to(&DataType::Float64) {
            Ok(ScalarValue::Float64(value)) => value.map(f64::abs),
            _ => None,
        },
        _ => None,
    }
}

fn column_magnitude(column: &Column, plan: &LogicalPlan) -> Option<f64> {
    let origin = column_origin(plan, column)?;
    let table = unchanged_table(origin.scan)?;
    let place = table.definition().column_index(&origin.name)?;
    let bounds = table.integer_bounds(place)?;
    let digits = match table.definition().columns.get(place)?.sql_type {
        SqlType::Decimal { scale, .. } => i32::from(scale),
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => 0,
        _ => return None,
    };
    let most = bounds
        .start()
        .unsigned_abs()
        .max(bounds.end().unsigned_abs());
    Some(most as f64 / 10_f64.powi(digits))
}

/// There are no more rows.
fn row_count_max(plan: &LogicalPlan) -> Option<f64> {
    match plan {
        LogicalPlan::TableScan(scan) => Some(unchanged_table(scan)?.stored_row_count() as f64),
        LogicalPlan::Filter(filter) => row_count_max(&filter.input),
        LogicalPlan::Projection(projection) => row_count_max(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => row_count_max(&alias.input),
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
                row_count_max(&join.left)
            }
            // A row without a match comes once.
            _ => Some((row_count_max(&join.left)? + 1.0) * (row_count_max(&join.right)? + 1.0)),
        },
        _ => None,
    }
}

/// A column table whose bounds are those of its rows.
fn unchanged_table(scan: &TableScan) -> Option<Arc<ColumnTable>> {
    let provider: Arc<dyn TableProvider> = source_as_provider(&scan.source).ok()?;
    let table = provider.downcast_ref::<ColumnTableProvider>()?.table();
    let is_unchanged = !table.is_changed().ok()?;
    is_unchanged.then(|| Arc::clone(table))
}
