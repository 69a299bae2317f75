//! A text in quotes has the type of what stands beside it, also where the planner would make texts of both or knows no common type:
//! in UNION, EXCEPT and INTERSECT, in BETWEEN, and beside intervals.
//!
//! Runs before the types of a statement are checked and settled.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL128_MAX_SCALE, DataType};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, JoinType, NullEquality, Result};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::type_coercion::binary::type_union_resolution;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Between, Distinct, Expr, ExprSchemable, Join, LogicalPlan, Projection, Union, cast,
};
use quire_functions::TimeKind;

use super::own_names::keeping_names;

/// Gives the literals of a node their types.
pub(super) fn settle_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&node.inputs());
    keeping_names(node, &|part| Ok(settle(part, &schema)))?
        .transform_data(settle_sets)?
        .map_data(LogicalPlan::recompute_schema)
}

/// Gives the literals of an expression their types.
pub(super) fn settle(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match expr {
        Expr::Between(between) if is_open(&between.expr) => {
            Transformed::yes(both_bounds(between, schema))
        }
        Expr::Between(mut between) if is_interval(&between.expr, schema) => {
            let is_changed = as_interval(&mut between.low) | as_interval(&mut between.high);
            changed_if(is_changed, Expr::Between(between))
        }
        Expr::InList(mut list) if is_interval(&list.expr, schema) => {
            let items = list.list.iter_mut();
            let is_changed = items.fold(false, |known, item| as_interval(item) | known);
            changed_if(is_changed, Expr::InList(InList { ..list }))
        }
        Expr::Case(mut case) => {
            let tested = case.expr.as_deref();
            if !tested.is_some_and(|tested| is_interval(tested, schema)) {
                return Transformed::no(Expr::Case(case));
            }
            let values = case.when_then_expr.iter_mut();
            let is_changed = values.fold(false, |known, (when, _)| as_interval(when) | known);
            changed_if(is_changed, Expr::Case(case))
        }
        other => Transformed::no(other),
    }
}

fn changed_if<T>(is_changed: bool, data: T) -> Transformed<T> {
    if is_changed {
        Transformed::yes(data)
    } else {
        Transformed::no(data)
    }
}

/// Whether an expression is a text in quotes.
pub(super) fn is_open(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value, _) => value.data_type().is_string(),
        Expr::Alias(alias) => is_open(&alias.expr),
        _ => false,
    }
}

fn is_interval(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Interval(_)))
}

fn as_interval(expr: &mut Expr) -> bool {
    let is_open = is_open(expr);
    if is_open {
        *expr = cast(std::mem::take(expr), TimeKind::Interval.data_type());
    }
    is_open
}

/// `'abc' BETWEEN a AND b`, whose bounds may have two types, as two comparisons.
fn both_bounds(between: Between, schema: &DFSchema) -> Expr {
    let (low, high) = (*between.low, *between.high);
    let (above, below) = (
        beside(*between.expr.clone(), &low, schema),
        beside(*between.expr, &high, schema),
    );
    if between.negated {
        above.lt(low).or(below.gt(high))
    } else {
        above.gt_eq(low).and(below.lt_eq(high))
    }
}

/// A text in quotes with the type of what it is compared with. Decimals and floats are left to the planner, which knows how many
/// digits they need.
fn beside(literal: Expr, other: &Expr, schema: &DFSchema) -> Expr {
    match other.get_type(schema) {
        Ok(data_type) if takes_text(&data_type) => cast(literal, data_type),
        _ => literal,
    }
}

fn takes_text(data_type: &DataType) -> bool {
    data_type.is_integer()
        || *data_type == DataType::Boolean
        || matches!(data_type, DataType::Interval(_))
}

/// The same of both sides of an operator whose other side has one of the types that the planner compares with no text.
pub(super) fn settle_sides(
    left: &mut Expr,
    right: &mut Expr,
    schema: &DFSchema,
    needs_text: fn(&DataType) -> bool,
) {
    let needs_type = |other: &Expr| other.get_type(schema).is_ok_and(|found| needs_text(&found));
    if is_open(right) && needs_type(left) {
        *right = beside(std::mem::take(right), left, schema);
    } else if is_open(left) && needs_type(right) {
        *left = beside(std::mem::take(left), right, schema);
    }
}

/// The same of both sides of an operator on numbers, which the planner has of two numbers alone.
pub(super) fn settle_numbers(left: &mut Expr, right: &mut Expr, schema: &DFSchema) {
    let settled = |literal: &mut Expr, other: &Expr| {
        if let Some(text) = text_of(literal)
            && let Ok(data_type) = other.get_type(schema)
            && data_type.is_numeric()
        {
            *literal = as_number(literal, text, data_type);
        }
    };
    match (is_open(left), is_open(right)) {
        (false, true) => settled(right, left),
        (true, false) => settled(left, right),
        _ => {}
    }
}

fn text_of(literal: &Expr) -> Option<String> {
    match literal {
        Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
        Expr::Alias(alias) => text_of(&alias.expr),
        _ => None,
    }
}

/// A text in quotes beside a decimal has its own digits, beside another number the type of that.
fn as_number(literal: &Expr, text: String, beside: DataType) -> Expr {
    let text = text.trim();
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let scale = u8::try_from(fraction.len()).unwrap_or(DECIMAL128_MAX_SCALE as u8);
    let data_type = if beside.is_decimal() {
        let precision = u8::try_from(text.len()).unwrap_or(DECIMAL128_MAX_PRECISION);
        let precision = precision.clamp(1, DECIMAL128_MAX_PRECISION);
        DataType::Decimal128(precision, scale.min(precision) as i8)
    } else {
        beside
    };
    cast(literal.clone(), data_type)
}

fn settle_sets(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Union(union) => settle_union(union),
        LogicalPlan::Join(join) if is_set_operation(&join) => settle_difference(join),
        other => Ok(Transformed::no(other)),
    }
}

/// `EXCEPT` and `INTERSECT` are joins that take NULL for a value.
fn is_set_operation(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
        && matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
}

fn settle_union(union: Union) -> Result<Transformed<LogicalPlan>> {
    let mut inputs = union.inputs.clone();
    let mut is_changed = false;
    for column in 0..union.schema.fields().len() {
        let Some(wanted) = wanted_type(&inputs, column) else {
            continue;
        };
        for input in &mut inputs {
            let needs_cast = match TimeKind::of(&wanted) {
                Some(TimeKind::Instant) => type_of(input, column) != wanted,
                _ => is_open_column(input, column),
            };
            if needs_cast {
                *input = Arc::new(with_cast(input, column, &wanted)?);
                is_changed = true;
            }
        }
    }
    if !is_changed {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let union = Union::try_new_with_loose_types(inputs)?;
    Ok(Transformed::yes(LogicalPlan::Union(union)))
}

/// The type that literals of a column get; nothing if the column is of texts, or its types need no help.
fn wanted_type(inputs: &[Arc<LogicalPlan>], column: usize) -> Option<DataType> {
    let closed = inputs.iter().filter(|input| !is_open_column(input, column));
    let types: Vec<DataType> = closed.map(|input| type_of(input, column)).collect();
    let of_times = |data_type: &DataType| {
        let kind = TimeKind::of(data_type);
        matches!(
            kind,
            Some(TimeKind::Date | TimeKind::Timestamp | TimeKind::Instant)
        )
    };
    let instant = types
        .iter()
        .find(|data_type| TimeKind::of(data_type) == Some(TimeKind::Instant));
    if let Some(instant) = instant {
        return types.iter().all(of_times).then(|| instant.clone());
    }
    let has_open = types.len() < inputs.len();
    let common = type_union_resolution(&types).filter(|_| has_open)?;
    match common {
        DataType::Null => None,
        // A text may have more digits than the numbers beside it.
        DataType::Decimal128(..) => Some(DataType::Decimal128(38, 10)),
        text if text.is_string() => None,
        other => Some(other),
    }
}

fn settle_difference(mut join: Join) -> Result<Transformed<LogicalPlan>> {
    let mut is_changed = false;
    for column in 0..join.on.len() {
        let (left, right) = (&join.left, &join.right);
        let sides = (is_open_column(left, column), is_open_column(right, column));
        match sides {
            (true, false) if !type_of(right, column).is_string() => {
                join.left = Arc::new(with_cast(left, column, &type_of(right, column))?);
            }
            (false, true) if !type_of(left, column).is_string() => {
                join.right = Arc::new(with_cast(right, column, &type_of(left, column))?);
            }
            _ => continue,
        }
        is_changed = true;
    }
    Ok(changed_if(is_changed, LogicalPlan::Join(join)))
}

fn type_of(plan: &LogicalPlan, column: usize) -> DataType {
    let field = plan.schema().fields().get(column);
    field.map_or(DataType::Null, |field| field.data_type().clone())
}

/// Whether a column of a query is a text in quotes.
fn is_open_column(plan: &LogicalPlan, column: usize) -> bool {
    match plan {
        LogicalPlan::Projection(node) => node.expr.get(column).is_some_and(is_open),
        LogicalPlan::Distinct(Distinct::All(input)) => is_open_column(input, column),
        LogicalPlan::SubqueryAlias(node) => is_open_column(&node.input, column),
        LogicalPlan::Sort(node) => is_open_column(&node.input, column),
        LogicalPlan::Limit(node) => is_open_column(&node.input, column),
        _ => false,
    }
}

/// The rows of a query with a column of another type, under the same names.
fn with_cast(plan: &Arc<LogicalPlan>, column: usize, data_type: &DataType) -> Result<LogicalPlan> {
    let fields = plan.schema().iter().enumerate();
    let outputs = fields.map(|(place, (qualifier, field))| {
        let value = Expr::from((qualifier, field));
        if place == column {
            cast(value, data_type.clone()).alias_qualified(qualifier.cloned(), field.name())
        } else {
            value
        }
    });
    let projection = Projection::try_new(outputs.collect(), Arc::clone(plan))?;
    Ok(LogicalPlan::Projection(projection))
}
