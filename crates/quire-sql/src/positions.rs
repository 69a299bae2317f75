//! Constants as keys of `ORDER BY`, `GROUP BY` and `DISTINCT ON`: a whole number is the place of an item of the select list, and
//! anything else is a mistake that the planner would take for a key of its own.

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, FunctionArgumentClause, FunctionArguments, GroupByExpr, OrderByExpr,
    OrderByKind, Query, Select, SelectItem, SetExpr, SetQuantifier, UnaryOperator, Value,
};
use quire_error::Error;

use super::ambiguous_keys;
use super::names::{folded, of_expression};
use super::walk::for_each_expression;

/// Checks the keys of a query's `ORDER BY`.
pub(super) fn check_order(query: &Query) -> Result<(), Error> {
    let Some(order_by) = &query.order_by else {
        return Ok(());
    };
    let OrderByKind::Expressions(keys) = &order_by.kind else {
        return Ok(());
    };
    let items = items_of(&query.body);
    let is_set = is_set_operation(&query.body);
    keys.iter().try_for_each(|key| {
        check(&key.expr, "ORDER BY", items)?;
        check_distinct_key(&key.expr, &query.body)?;
        ambiguous_keys::check(&key.expr, "ORDER BY", items.unwrap_or_default(), is_set)?;
        if is_set {
            check_set_key(&key.expr, items)
        } else {
            Ok(())
        }
    })
}

/// Behind DISTINCT, a subquery that is none of the columns has no one value for a row of the result. What else is none of them the planner
/// finds by itself.
fn check_distinct_key(key: &Expr, body: &SetExpr) -> Result<(), Error> {
    let SetExpr::Select(select) = body else {
        return Ok(());
    };
    let is_item = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
            without_parentheses(expr) == without_parentheses(key)
        }
        _ => false,
    };
    if select.distinct != Some(Distinct::Distinct) || select.projection.iter().any(is_item) {
        return Ok(());
    }
    let mut has_subquery = false;
    for_each_expression(key, |part| {
        has_subquery |= matches!(
            part,
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. }
        );
    });
    if has_subquery {
        Err(Error::new(
            "42P10",
            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        ))
    } else {
        Ok(())
    }
}

pub(super) fn without_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => without_parentheses(inner),
        other => other,
    }
}

fn is_set_operation(body: &SetExpr) -> bool {
    match body {
        SetExpr::SetOperation { .. } => true,
        SetExpr::Query(query) => is_set_operation(&query.body),
        _ => false,
    }
}

/// Behind a UNION there are its columns, and no tables; the planner would look for others in the first of its queries.
fn check_set_key(key: &Expr, items: Option<&[SelectItem]>) -> Result<(), Error> {
    let mut checked = Ok(());
    for_each_expression(key, |part| {
        if checked.is_ok() {
            checked = check_set_name(part, items);
        }
    });
    checked
}

fn check_set_name(part: &Expr, items: Option<&[SelectItem]>) -> Result<(), Error> {
    match part {
        Expr::CompoundIdentifier(parts) => {
            let table = parts.first().map_or_else(String::new, folded);
            let text = format!("missing FROM-clause entry for table \"{table}\"");
            Err(Error::new("42P01", text).with_hint("ORDER BY names a column of the result."))
        }
        Expr::Identifier(ident) => {
            let name = folded(ident);
            let is_name = |item: &SelectItem| match item {
                SelectItem::UnnamedExpr(expr) => of_expression(expr) == name,
                SelectItem::ExprWithAlias { alias, .. } => folded(alias) == name,
                _ => true,
            };
            if items.is_none_or(|items| items.iter().any(is_name)) {
                Ok(())
            } else {
                let text = format!("column \"{name}\" does not exist");
                Err(Error::new("42703", text))
            }
        }
        _ => Ok(()),
    }
}

/// Checks the keys of `GROUP BY` and `DISTINCT ON`.
pub(super) fn check_select(select: &Select) -> Result<(), Error> {
    let items = Some(select.projection.as_slice());
    if let GroupByExpr::Expressions(keys, _) = &select.group_by {
        for key in keys {
            for member in members(key) {
                check(member, "GROUP BY", items)?;
            }
        }
    }
    if let Some(Distinct::On(keys)) = &select.distinct {
        for key in keys {
            check(key, "DISTINCT ON", items)?;
            ambiguous_keys::check(key, "DISTINCT ON", &select.projection, false)?;
        }
    }
    Ok(())
}

/// Writes out the keys of `DISTINCT ON` that are numbers of items.
pub(super) fn rewrite(select: &mut Select) {
    if let Some(Distinct::On(keys)) = &mut select.distinct {
        for key in keys {
            if let Some(item) = item_of(key, &select.projection) {
                *key = item.clone();
            }
        }
    }
}

/// Keeps numbers that the rows of a call are ordered by, which are no places there, from being taken for such.
pub(super) fn constants_in_call(expr: &mut Expr) {
    let Expr::Function(function) = expr else {
        return;
    };
    if let FunctionArguments::List(list) = &mut function.args {
        for clause in &mut list.clauses {
            if let FunctionArgumentClause::OrderBy(keys) = clause {
                keys.iter_mut().for_each(in_parentheses);
            }
        }
    }
    function.within_group.iter_mut().for_each(in_parentheses);
}

fn in_parentheses(key: &mut OrderByExpr) {
    if let Expr::Value(_) = key.expr {
        let value = std::mem::replace(&mut key.expr, Expr::Value(Value::Null.into()));
        key.expr = Expr::Nested(Box::new(value));
    }
}

/// The expression that a number stands for.
pub(super) fn item_of<'s>(key: &Expr, items: &'s [SelectItem]) -> Option<&'s Expr> {
    let PositionConstant::Position(Some(position)) = constant(key)? else {
        return None;
    };
    if items.iter().take(position).any(is_wildcard) {
        return None;
    }
    match items.get(position - 1)? {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

fn is_wildcard(item: &SelectItem) -> bool {
    matches!(
        item,
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
    )
}

/// The items that a query puts out, or the first of the queries that it is made of.
fn items_of(body: &SetExpr) -> Option<&[SelectItem]> {
    match body {
        SetExpr::Select(select) => Some(&select.projection),
        SetExpr::Query(query) => items_of(&query.body),
        SetExpr::SetOperation {
            set_quantifier:
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName,
            ..
        } => None,
        SetExpr::SetOperation { left, .. } => items_of(left),
        _ => None,
    }
}

fn members(key: &Expr) -> Vec<&Expr> {
    match key {
        Expr::GroupingSets(sets) | Expr::Rollup(sets) | Expr::Cube(sets) => {
            sets.iter().flatten().collect()
        }
        Expr::Tuple(members) => members.iter().collect(),
        other => vec![other],
    }
}

enum PositionConstant {
    /// A whole number, and the place that it is if it is positive.
    Position(Option<usize>),
    Other,
}

fn constant(key: &Expr) -> Option<PositionConstant> {
    let value = match key {
        Expr::Nested(inner) => return constant(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => {
            return match constant(expr)? {
                PositionConstant::Position(_) => Some(PositionConstant::Position(None)),
                PositionConstant::Other => None,
            };
        }
        Expr::Value(value) => &value.value,
        _ => return None,
    };
    match value {
        Value::Number(digits, _) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let position = digits.parse().ok().filter(|position| *position > 0);
            Some(PositionConstant::Position(position))
        }
        Value::Placeholder(_) => None,
        _ => Some(PositionConstant::Other),
    }
}

fn check(key: &Expr, clause: &str, items: Option<&[SelectItem]>) -> Result<(), Error> {
    let position = match constant(key) {
        None => return Ok(()),
        Some(PositionConstant::Other) => {
            let text = format!("non-integer constant in {clause}");
            return Err(Error::new("42601", text));
        }
        Some(PositionConstant::Position(position)) => position,
    };
    // How many columns a wildcard stands for is not known yet.
    let is_open = items.is_none_or(|items| items.iter().any(is_wildcard));
    let is_there = |position| items.is_some_and(|items| position <= items.len());
    match position {
        Some(position) if is_open || is_there(position) => Ok(()),
        _ => Err(Error::new(
            "42P10",
            format!("{clause} position {key} is not in select list"),
        )),
    }
}
