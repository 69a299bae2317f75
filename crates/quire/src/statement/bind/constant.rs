//! `SELECT` of values without a table: literals, parameters, and operators on them.

use std::sync::Arc;

use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::config::ConfigOptions;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, SelectItem, SetExpr, Statement, UnaryOperator, Value,
};
use quire_planner::expression::Slots;
use quire_sql::rewrite;

use super::Binder;
use super::clauses::SelectClauses;
use super::select::shown_schema;
use crate::statement::compiled::OutputColumn;
use crate::statement::constant::ConstantSelect;
use crate::statement::table::RowTableSchema;

/// Whether a statement is a `SELECT` of such values.
pub(in crate::statement) fn is_constant(statement: &Statement) -> bool {
    let Statement::Query(query) = statement else {
        return false;
    };
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let is_value = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => is_value(expr),
        _ => false,
    };
    select.from.is_empty()
        && !select.projection.is_empty()
        && select.projection.iter().all(is_value)
}

fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_value(inner),
        Expr::Value(value) => matches!(
            value.value,
            Value::Number(..)
                | Value::SingleQuotedString(_)
                | Value::Boolean(_)
                | Value::Null
                | Value::Placeholder(_)
        ),
        Expr::UnaryOp { op, expr } => {
            matches!(op, UnaryOperator::Minus | UnaryOperator::Not) && is_value(expr)
        }
        Expr::BinaryOp { left, op, right } => {
            let is_plain = matches!(
                op,
                BinaryOperator::Plus
                    | BinaryOperator::Minus
                    | BinaryOperator::Multiply
                    | BinaryOperator::Eq
                    | BinaryOperator::NotEq
                    | BinaryOperator::Lt
                    | BinaryOperator::LtEq
                    | BinaryOperator::Gt
                    | BinaryOperator::GtEq
                    | BinaryOperator::And
                    | BinaryOperator::Or
            );
            is_plain && is_value(left) && is_value(right)
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type,
            ..
        } => {
            let is_plain = matches!(
                data_type,
                DataType::SmallInt(None)
                    | DataType::Int(None)
                    | DataType::Integer(None)
                    | DataType::BigInt(None)
                    | DataType::Text
                    | DataType::Boolean
            );
            is_plain && is_value(expr)
        }
        _ => false,
    }
}

/// Compiles a statement of which [`is_constant`] is true; `None` leaves it to the general path.
pub(in crate::statement) fn compile_constant(
    mut statement: Statement,
    options: &Arc<ConfigOptions>,
    parameter_types: Vec<Option<FieldRef>>,
) -> Option<ConstantSelect> {
    rewrite::rewrite(&mut statement);
    let Statement::Query(query) = statement else {
        return None;
    };
    let SelectClauses {
        projection,
        selection: None,
        is_distinct: false,
        order_by,
        limit: None,
        offset: None,
        lock: None,
    } = SelectClauses::of(*query)?
    else {
        return None;
    };
    if !order_by.is_empty() {
        return None;
    }
    let table = RowTableSchema::none();
    let binder = Binder::new(&table, "", options, parameter_types)?;
    let items = binder.items(projection, &mut Slots::All, None)?;
    let schema = shown_schema(&items);
    let outputs = items.into_iter().map(|(_, item)| OutputColumn::of(item));
    Some(ConstantSelect {
        outputs: outputs.collect(),
        schema,
    })
}
