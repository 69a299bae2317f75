//! A text in quotes has the type of what stands beside it in the same column of `VALUES`, in the same array or among the same choices:
//! `VALUES (DATE '2020-01-01'), ('2021-01-01')`, `ARRAY[INTERVAL '1 day', '2 days']`, `coalesce(NULL, '01:02', TIME '03:04')`. The planner
//! looks for a common type of the two, and makes texts of both or finds none. Types are known here where they are written.

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Query, SetExpr, TypedString, UnaryOperator, Value, ValueWithSpan,
};

use crate::calls::cast;
use crate::names::last_part;

/// The columns of `VALUES`.
pub(super) fn rewrite_values(query: &mut Query) {
    let SetExpr::Values(values) = query.body.as_mut() else {
        return;
    };
    let column_count = values.rows.first().map_or(0, |row| row.len());
    for column in 0..column_count {
        let mut places: Vec<&mut Expr> = values
            .rows
            .iter_mut()
            .filter_map(|row| row.get_mut(column))
            .collect();
        settle(&mut places);
    }
}

/// The elements of an array, or the choices of an expression.
pub(super) fn rewrite_choices(expr: &mut Expr) {
    settle(&mut choices(expr));
}

/// Functions whose arguments have one type.
const CHOOSING: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// The parts of an expression that have one type.
fn choices(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::Array(array) => array.elem.iter_mut().collect(),
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let results = conditions.iter_mut().map(|when| &mut when.result);
            let other = else_result.iter_mut().map(|other| other.as_mut());
            results.chain(other).collect()
        }
        Expr::Function(call) if is_choosing(call) => match &mut call.args {
            FunctionArguments::List(list) => list.args.iter_mut().filter_map(argument).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn is_choosing(call: &Function) -> bool {
    last_part(&call.name).is_some_and(|name| CHOOSING.contains(&name.as_str()))
}

fn argument(argument: &mut FunctionArg) -> Option<&mut Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

fn settle(places: &mut [&mut Expr]) {
    if !places.iter().any(|place| is_open(place)) {
        return;
    }
    let Some(data_type) = places.iter().find_map(|place| written_type(place)) else {
        return;
    };
    for place in places.iter_mut().filter(|place| is_open(place)) {
        let literal = std::mem::replace(*place, Expr::Value(Value::Null.into()));
        **place = cast(literal, data_type.clone());
    }
}

/// Whether it is a text in quotes.
fn is_open(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_open(inner),
        Expr::Value(value) => matches!(
            value.value,
            Value::SingleQuotedString(_) | Value::EscapedStringLiteral(_)
        ),
        _ => false,
    }
}

/// The type that an expression says it has, if it is not of texts.
pub fn written_type(expr: &Expr) -> Option<DataType> {
    match expr {
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let results = conditions.iter().map(|when| &when.result);
            let mut results = results.chain(else_result.as_deref());
            results.find_map(written_type)
        }
        Expr::Function(call) if is_choosing(call) => match &call.args {
            FunctionArguments::List(list) => list.args.iter().find_map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => written_type(expr),
                _ => None,
            }),
            _ => None,
        },
        Expr::Nested(inner) => written_type(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => written_type(expr),
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            data_type,
            ..
        }
        | Expr::TypedString(TypedString { data_type, .. }) => plain(data_type),
        Expr::Interval(_) => Some(DataType::Interval {
            fields: None,
            precision: None,
        }),
        Expr::Value(ValueWithSpan {
            value: Value::Boolean(_),
            ..
        }) => Some(DataType::Boolean),
        _ => None,
    }
}

/// A type without the length or digits that are not those of its neighbours.
fn plain(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Numeric(_) | DataType::Decimal(_) | DataType::Dec(_) => {
            DataType::Numeric(ExactNumberInfo::None)
        }
        DataType::Text
        | DataType::String(_)
        | DataType::Varchar(_)
        | DataType::CharacterVarying(_)
        | DataType::CharVarying(_)
        | DataType::Char(_)
        | DataType::Character(_) => return None,
        other => other.clone(),
    })
}
