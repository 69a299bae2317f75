//! Comparisons of rows, `(a, b) < (c, d)`, as conditions on their fields.
//!
//! SQL compares rows field by field, and what it does not know stays unknown: `(1, NULL) = (1, 2)` is NULL and
//! `(1, NULL) = (2, 2)` is false. The planner would make structs of rows, in which NULL is a value like others. Here a comparison
//! becomes `AND` and `OR` of comparisons of fields, whose three-valued logic is that of rows:
//!
//! * `(a, b) = (c, d)` is `a = c AND b = d`, and `<>` is `a <> c OR b <> d`;
//! * `(a, b) <= (c, d)` is `a < c OR (a = c AND b <= d)`;
//! * `row IN (row, …)` is true of one of them, `row BETWEEN low AND high` is two comparisons, and `CASE row WHEN row` is a condition;
//! * `row IS DISTINCT FROM row` asks all fields; `row IS NULL` and `row IS NOT NULL` must hold of each field.
//!
//! Rows beside subqueries are not concerned.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
};
use quire_error::Error;

use crate::names::last_part;

/// Replaces an expression that compares rows.
pub(super) fn rewrite(expr: &mut Expr) {
    if let Some(condition) = condition_of(expr) {
        *expr = nested(condition);
    }
}

/// Refuses a comparison of rows that have different numbers of fields.
pub(super) fn check(expr: &Expr) -> Result<(), Error> {
    let pairs: Vec<(&Expr, &Expr)> = match expr {
        Expr::BinaryOp { left, op, right } if is_comparison(op) => vec![(left, right)],
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            vec![(left, right)]
        }
        Expr::InList { expr, list, .. } => list.iter().map(|item| (&**expr, item)).collect(),
        Expr::Between {
            expr, low, high, ..
        } => vec![(expr, low), (expr, high)],
        _ => return Ok(()),
    };
    let lengths = |(left, right)| Some((fields(left)?.len(), fields(right)?.len()));
    if pairs
        .into_iter()
        .filter_map(lengths)
        .all(|(left, right)| left == right)
    {
        Ok(())
    } else {
        let text = "unequal number of entries in row expressions";
        Err(Error::new("42601", text))
    }
}

fn condition_of(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::BinaryOp { left, op, right } => compare(left, op, right),
        Expr::IsDistinctFrom(left, right) => distinct(left, right),
        Expr::IsNotDistinctFrom(left, right) => Some(not(distinct(left, right)?)),
        Expr::IsNull(row) => each(fields(row)?, Expr::IsNull),
        Expr::IsNotNull(row) => each(fields(row)?, Expr::IsNotNull),
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let items = list
                .iter()
                .map(|item| compare(expr, &BinaryOperator::Eq, item));
            let items = items.collect::<Option<Vec<_>>>()?;
            let found = joined(items, BinaryOperator::Or)?;
            Some(if *negated { not(found) } else { found })
        }
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let bounds = vec![
                compare(expr, &BinaryOperator::GtEq, low)?,
                compare(expr, &BinaryOperator::LtEq, high)?,
            ];
            let inside = joined(bounds, BinaryOperator::And)?;
            Some(if *negated { not(inside) } else { inside })
        }
        Expr::Case {
            case_token,
            end_token,
            operand: Some(tested),
            conditions,
            else_result,
        } => {
            let branches = conditions.iter().map(|branch| {
                Some(CaseWhen {
                    condition: compare(tested, &BinaryOperator::Eq, &branch.condition)?,
                    result: branch.result.clone(),
                })
            });
            Some(Expr::Case {
                case_token: case_token.clone(),
                end_token: end_token.clone(),
                operand: None,
                conditions: branches.collect::<Option<_>>()?,
                else_result: else_result.clone(),
            })
        }
        _ => None,
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// The fields of a row of two or more.
fn fields(expr: &Expr) -> Option<Vec<&Expr>> {
    match expr {
        Expr::Nested(inner) => fields(inner),
        Expr::Tuple(fields) => Some(fields.iter().collect()),
        Expr::Function(call) if last_part(&call.name).is_some_and(|name| name == "row") => {
            let FunctionArguments::List(list) = &call.args else {
                return None;
            };
            let arguments = list.args.iter().map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(field)) => Some(field),
                _ => None,
            });
            arguments.collect()
        }
        _ => None,
    }
}

/// A comparison of two rows of one length.
fn compare(left: &Expr, op: &BinaryOperator, right: &Expr) -> Option<Expr> {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or};
    let (left, right) = (fields(left)?, fields(right)?);
    if left.len() != right.len() {
        return None;
    }
    let pairs = left.iter().zip(&right);
    match op {
        Eq => joined(pairs.map(|(l, r)| field_pair(l, Eq, r)).collect(), And),
        NotEq => joined(pairs.map(|(l, r)| field_pair(l, NotEq, r)).collect(), Or),
        Lt | LtEq | Gt | GtEq => {
            let strict = if matches!(op, Lt | LtEq) { Lt } else { Gt };
            let mut pairs = pairs.rev();
            let (l, r) = pairs.next()?;
            let last = field_pair(l, op.clone(), r);
            pairs.try_fold(last, |rest, (l, r)| {
                let tied = joined(vec![field_pair(l, Eq, r), rest], And)?;
                joined(vec![field_pair(l, strict.clone(), r), tied], Or)
            })
        }
        _ => None,
    }
}

/// A comparison of two fields, which may be rows themselves. A row within a row is a value, in which NULL equals NULL.
fn field_pair(left: &Expr, op: BinaryOperator, right: &Expr) -> Expr {
    let condition = match op {
        BinaryOperator::Eq => distinct(left, right).map(not),
        BinaryOperator::NotEq => distinct(left, right),
        _ => compare(left, &op, right),
    };
    match condition {
        Some(condition) => nested(condition),
        None => nested(Expr::BinaryOp {
            left: Box::new(nested(left.clone())),
            op,
            right: Box::new(nested(right.clone())),
        }),
    }
}

fn distinct(left: &Expr, right: &Expr) -> Option<Expr> {
    let (left, right) = (fields(left)?, fields(right)?);
    if left.len() != right.len() {
        return None;
    }
    let pairs = left.into_iter().zip(right);
    let conditions = pairs.map(|(left, right)| match distinct(left, right) {
        Some(condition) => nested(condition),
        None => nested(Expr::IsDistinctFrom(
            Box::new(nested(left.clone())),
            Box::new(nested(right.clone())),
        )),
    });
    joined(conditions.collect(), BinaryOperator::Or)
}

fn each(fields: Vec<&Expr>, condition: impl Fn(Box<Expr>) -> Expr) -> Option<Expr> {
    let conditions = fields
        .into_iter()
        .map(|field| condition(Box::new(nested(field.clone()))));
    joined(conditions.collect(), BinaryOperator::And)
}

/// Conditions as one; `None` of none.
fn joined(conditions: Vec<Expr>, op: BinaryOperator) -> Option<Expr> {
    let all = conditions.into_iter().reduce(|left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: op.clone(),
        right: Box::new(right),
    });
    all.map(nested)
}

fn not(condition: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(condition),
    }
}

fn nested(expr: Expr) -> Expr {
    match expr {
        nested @ Expr::Nested(_) => nested,
        other => Expr::Nested(Box::new(other)),
    }
}
