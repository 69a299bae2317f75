//! What the filters of a scan say of single columns.

use std::ops::Bound;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{SqlType, TableDefinition};

/// What must hold of one column.
#[derive(Debug, Clone)]
pub(super) enum ColumnCondition {
    /// It has this value; NULL means `IS NULL`.
    Equal(Value),
    /// It is between these, and not NULL.
    Between(Bound<Value>, Bound<Value>),
}

/// For every column of the table, by ordinal, what the filters together demand of it.
pub(super) fn conditions(
    filters: &[Expr],
    definition: &TableDefinition,
) -> Vec<Option<ColumnCondition>> {
    let mut found: Vec<Option<ColumnCondition>> = vec![None; definition.columns.len()];
    for filter in filters {
        collect(filter, definition, &mut found);
    }
    found
}

/// Whether a scan can use the filter to read less.
pub(super) fn is_useful(filter: &Expr, definition: &TableDefinition) -> bool {
    let found = conditions(std::slice::from_ref(filter), definition);
    found.iter().any(Option::is_some)
}

fn collect(filter: &Expr, definition: &TableDefinition, found: &mut [Option<ColumnCondition>]) {
    match filter {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::And,
            right,
        }) => {
            collect(left, definition, found);
            collect(right, definition, found);
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            if let (Expr::Column(column), Expr::Literal(literal, _)) =
                (left.as_ref(), right.as_ref())
            {
                compare(&column.name, *op, literal, definition, found);
            }
            if let (Expr::Literal(literal, _), Expr::Column(column), Some(op)) =
                (left.as_ref(), right.as_ref(), op.swap())
            {
                compare(&column.name, op, literal, definition, found);
            }
        }
        Expr::Between(between) if !between.negated => {
            if let (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) = (
                between.expr.as_ref(),
                between.low.as_ref(),
                between.high.as_ref(),
            ) {
                compare(&column.name, Operator::GtEq, low, definition, found);
                compare(&column.name, Operator::LtEq, high, definition, found);
            }
        }
        Expr::IsNull(inner) => {
            if let Expr::Column(column) = inner.as_ref() {
                demand(
                    &column.name,
                    ColumnCondition::Equal(Value::Null),
                    definition,
                    found,
                );
            }
        }
        _ => {}
    }
}

fn compare(
    name: &str,
    op: Operator,
    literal: &ScalarValue,
    definition: &TableDefinition,
    found: &mut [Option<ColumnCondition>],
) {
    let sql_type = definition
        .column_index(name)
        .map(|index| definition.columns[index].sql_type);
    let Some(value) = sql_type.and_then(|sql_type| value_of(literal, sql_type)) else {
        return;
    };
    let condition = match op {
        Operator::Eq => ColumnCondition::Equal(value),
        Operator::Lt => ColumnCondition::Between(Bound::Unbounded, Bound::Excluded(value)),
        Operator::LtEq => ColumnCondition::Between(Bound::Unbounded, Bound::Included(value)),
        Operator::Gt => ColumnCondition::Between(Bound::Excluded(value), Bound::Unbounded),
        Operator::GtEq => ColumnCondition::Between(Bound::Included(value), Bound::Unbounded),
        _ => return,
    };
    demand(name, condition, definition, found);
}

/// A literal as a value of the column; nothing when it is NULL or of another type.
fn value_of(literal: &ScalarValue, sql_type: SqlType) -> Option<Value> {
    if literal.is_null() {
        return None;
    }
    let literal = match (literal, sql_type.is_text()) {
        (ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)), true) => {
            ScalarValue::Utf8View(Some(text.clone()))
        }
        _ => literal.clone(),
    };
    // CHAR(n) compares without trailing blanks only as it is stored.
    let value = Value::of_array(literal.to_array().ok()?.as_ref(), 0, sql_type)?;
    // In SQL NaN equals NaN, and zeros of both signs are equal, but their keys may differ.
    let is_float = matches!(sql_type, SqlType::Real | SqlType::Double);
    (!is_float).then_some(value)
}

fn demand(
    name: &str,
    condition: ColumnCondition,
    definition: &TableDefinition,
    found: &mut [Option<ColumnCondition>],
) {
    let Some(place) = definition
        .column_index(name)
        .and_then(|index| found.get_mut(index))
    else {
        return;
    };
    *place = Some(match (place.take(), condition) {
        (None, condition) => condition,
        // Two demands that contradict each other: either finds no row that meets both filters.
        (Some(equal @ ColumnCondition::Equal(_)), _)
        | (Some(_), equal @ ColumnCondition::Equal(_)) => equal,
        (
            Some(ColumnCondition::Between(low, high)),
            ColumnCondition::Between(other_low, other_high),
        ) => ColumnCondition::Between(greater(low, other_low), lesser(high, other_high)),
    });
}

fn greater(left: Bound<Value>, right: Bound<Value>) -> Bound<Value> {
    match (&left, &right) {
        (Bound::Unbounded, _) => right,
        (_, Bound::Unbounded) => left,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
            if a > b || (a == b && matches!(left, Bound::Excluded(_))) {
                left
            } else {
                right
            }
        }
    }
}

fn lesser(left: Bound<Value>, right: Bound<Value>) -> Bound<Value> {
    match (&left, &right) {
        (Bound::Unbounded, _) => right,
        (_, Bound::Unbounded) => left,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
            if a < b || (a == b && matches!(left, Bound::Excluded(_))) {
                left
            } else {
                right
            }
        }
    }
}

/// A bound for a key.
pub(super) fn as_tuple_bound(bound: &Bound<Value>) -> Bound<TupleValue<'_>> {
    match bound {
        Bound::Included(value) => Bound::Included(value.as_tuple_value()),
        Bound::Excluded(value) => Bound::Excluded(value.as_tuple_value()),
        Bound::Unbounded => Bound::Unbounded,
    }
}
