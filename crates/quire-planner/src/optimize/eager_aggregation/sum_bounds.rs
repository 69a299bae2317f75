//! How large values and their sums can become, by the bounds of stored columns.
//!
//! The type of a sum of DECIMAL(36,4) does not hold any number of such values, and that of a product of wide decimals not every product: both may
//! overflow, and so could not be computed of rows that a join has still to drop. The stored values say that they do not. TPC-H's
//! `l_extendedprice * (1 - l_discount)` is 38 digits wide by type and below 10^7 by value.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, JoinType, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, TableScan};
use quire_tables::{ColumnTable, SqlType};

use crate::optimize::column_origin::column_origin;
use crate::scan::ColumnTableProvider;

/// Digits that 128 bits always have, less one for what bounds in floating point lack.
const DIGITS_MAX: i32 = 37;

/// Whether a sum of this expression over the rows of the plan, or over any of them, has at most 37 digits with `scale` of them behind the point.
pub(super) fn is_sum_bounded(summed: &Expr, plan: &LogicalPlan, scale: i8) -> bool {
    let bound = magnitude(summed, plan).zip(row_count_max(plan));
    bound.is_some_and(|(value, rows)| has_digits(value * rows, scale))
}

/// Whether the arithmetic of an expression overflows for none of the rows of the plan.
pub(super) fn is_bounded(expression: &Expr, plan: &LogicalPlan) -> bool {
    magnitude(expression, plan).is_some()
}

fn has_digits(value: f64, scale: i8) -> bool {
    value * 10_f64.powi(scale.into()) < 10_f64.powi(DIGITS_MAX)
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
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (left, right) = (magnitude(left, plan)?, magnitude(right, plan)?);
            match op {
                Operator::Plus | Operator::Minus => Some(left + right),
                Operator::Multiply => Some(left * right),
                _ => None,
            }
        }
        _ => None,
    }?;
    match expression.get_type(plan.schema()).ok()? {
        DataType::Int16 => value < i16::MAX.into(),
        DataType::Int32 => value < i32::MAX.into(),
        // As far as doubles are exact.
        DataType::Int64 => value < (1_u64 << f64::MANTISSA_DIGITS) as f64,
        DataType::Decimal128(precision, scale) => {
            let digits = i32::from(precision) - i32::from(scale);
            has_digits(value, scale) && value < 10_f64.powi(digits) * (1.0 - f64::EPSILON)
        }
        _ => false,
    }
    .then_some(value)
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
