//! Decimals with which a recursion begins.
//!
//! `WITH RECURSIVE x AS (SELECT 1.0 AS n UNION ALL SELECT n + 1 …)`: in SQL, `1.0` is a number of any size. The planner gives it two digits, and
//! the query the same, so that 10.0 does not fit. Here it has as many digits as a decimal can have, and as many of them behind the point as it
//! has itself, or as the numbers that are written out in the other term.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    DataType, ExactNumberInfo, Expr, Ident, SelectItem, SetExpr, UnaryOperator, Value, Visit,
};

use crate::calls::cast;
use crate::names;
use crate::walk::look_at_own_expressions;

/// The digits of the widest decimal.
const PRECISION: u64 = 38;

/// Widens the decimals that are columns of the first term.
pub(super) fn widen(first: &mut SetExpr, recursive: &SetExpr) {
    let scales = match recursive {
        SetExpr::Select(select) => select.projection.iter().map(scale_within).collect(),
        _ => Vec::new(),
    };
    let later = |column: usize| scales.get(column).copied().unwrap_or_default();
    match first {
        SetExpr::Select(select) => {
            for (column, item) in select.projection.iter_mut().enumerate() {
                widen_item(item, later(column));
            }
        }
        SetExpr::Values(values) => {
            for row in &mut values.rows {
                for (column, expr) in row.iter_mut().enumerate() {
                    widen_literal(expr, later(column));
                }
            }
        }
        SetExpr::Query(query) => widen(&mut query.body, recursive),
        _ => {}
    }
}

/// The column keeps its name.
fn widen_item(item: &mut SelectItem, later: u64) {
    match item {
        SelectItem::UnnamedExpr(expr) if literal_scale(expr).is_some() => {
            let alias = Ident::with_quote('"', names::of_expression(expr));
            widen_literal(expr, later);
            let expr = std::mem::replace(expr, Expr::Value(Value::Null.into()));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
        SelectItem::ExprWithAlias { expr, .. } => widen_literal(expr, later),
        _ => {}
    }
}

fn widen_literal(expr: &mut Expr, later: u64) {
    let Some(own) = literal_scale(expr) else {
        return;
    };
    let scale = own.max(later).min(PRECISION);
    let Ok(signed) = i64::try_from(scale) else {
        return;
    };
    let literal = std::mem::replace(expr, Expr::Value(Value::Null.into()));
    let digits = ExactNumberInfo::PrecisionAndScale(PRECISION, signed);
    *expr = cast(literal, DataType::Decimal(digits));
}

/// The digits behind the point of a decimal that is written out.
fn literal_scale(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Nested(inner)
        | Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr: inner,
        } => literal_scale(inner),
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) if !digits.contains(['e', 'E']) => {
                let (_, fraction) = digits.split_once('.')?;
                u64::try_from(fraction.len()).ok()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The most digits behind the point of a number within an expression.
fn scale_within(tree: &impl Visit) -> u64 {
    let mut most = 0;
    let _ = look_at_own_expressions(tree, |expr| {
        most = most.max(literal_scale(expr).unwrap_or_default());
        ControlFlow::Continue(())
    });
    most
}
