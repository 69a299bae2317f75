//! `GROUP BY` with grouping sets, written as one list of sets.
//!
//! `GROUP BY a, ROLLUP (b, c)`, `GROUPING SETS ((a, b), a), CUBE (c)` and `(a, b), c` are products: each set of one element is joined
//! with each set of the others. The planner takes `(a, b)` for one value, knows no sets of several columns inside `ROLLUP` and
//! `CUBE`, and no `ROLLUP` inside `GROUPING SETS`. Here all of them become `GROUPING SETS ((…), (…), …)`.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Select,
};
use quire_error::Error;

use super::names::last_part;
use super::positions::item_of;
use super::walk::look_at_own_expressions;

/// PostgreSQL's bounds.
const MAX_SETS: usize = 4096;
const MAX_CUBE: usize = 12;

type Sets = Vec<Vec<Expr>>;

/// Refuses sets that cannot be written out, and clauses that the planner reads past.
pub(super) fn check(select: &Select) -> Result<(), Error> {
    let GroupByExpr::Expressions(elements, modifiers) = &select.group_by else {
        return Ok(());
    };
    if let Some(modifier) = modifiers.first() {
        let text = format!("syntax error at or near \"{modifier}\"");
        return Err(Error::new("42601", text).with_hint("Put a comma before GROUPING SETS."));
    }
    product(elements).map(|_| ())
}

/// Writes the sets out.
pub(super) fn rewrite(select: &mut Select) {
    if select.having.is_some() && groups_nothing(select) {
        select.group_by = GroupByExpr::Expressions(vec![Expr::Tuple(Vec::new())], Vec::new());
    }
    let GroupByExpr::Expressions(elements, _) = &mut select.group_by else {
        return;
    };
    let Ok(mut sets) = product(elements) else {
        return;
    };
    if has_sets(elements) {
        for member in sets.iter_mut().flatten() {
            if let Some(item) = item_of(member, &select.projection) {
                *member = item.clone();
            }
        }
        *elements = vec![Expr::GroupingSets(sets)];
    } else if elements
        .iter()
        .any(|element| matches!(element, Expr::Tuple(_)))
    {
        *elements = sets.into_iter().flatten().collect();
    }
}

/// Whether neither groups nor the call of an aggregate tell the planner that `HAVING` is about the group of all rows. Those of subqueries say
/// nothing of this query.
fn groups_nothing(select: &Select) -> bool {
    let look = |expr: &Expr| {
        if is_aggregate(expr) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let has_aggregates = look_at_own_expressions(&select.projection, look).is_break()
        || look_at_own_expressions(&select.having, look).is_break();
    let has_groups =
        !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    !has_aggregates && !has_groups
}

/// The names of the planner's aggregates.
static AGGREGATES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let functions = all_default_aggregate_functions();
    let names = functions.iter().flat_map(|function| {
        let name = function.name().to_owned();
        function.aliases().iter().cloned().chain([name])
    });
    names.collect()
});

/// Whether an expression is the call of an aggregate.
pub(super) fn is_aggregate(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => {
            let name = last_part(&function.name);
            function.over.is_none() && name.is_some_and(|name| AGGREGATES.contains(&name))
        }
        _ => false,
    }
}

/// Whether there is more than the one set of all columns.
fn has_sets(elements: &[Expr]) -> bool {
    let is_set = |element: &Expr| match element {
        Expr::GroupingSets(_) | Expr::Rollup(_) | Expr::Cube(_) => true,
        Expr::Tuple(members) => members.is_empty(),
        _ => false,
    };
    elements.iter().any(is_set)
}

fn product(elements: &[Expr]) -> Result<Sets, Error> {
    let mut product: Sets = vec![Vec::new()];
    for element in elements {
        let sets = sets_of(element)?;
        if product.len() * sets.len() > MAX_SETS {
            return Err(too_many_sets());
        }
        let joined = product.iter().flat_map(|left| {
            sets.iter().map(|right| {
                let mut both = left.clone();
                for member in right {
                    if !both.contains(member) {
                        both.push(member.clone());
                    }
                }
                both
            })
        });
        product = joined.collect();
    }
    Ok(product)
}

fn too_many_sets() -> Error {
    let text = format!("too many grouping sets present (maximum {MAX_SETS})");
    Error::new("54001", text)
}

fn sets_of(element: &Expr) -> Result<Sets, Error> {
    Ok(match element {
        Expr::GroupingSets(sets) => {
            let mut all = Sets::new();
            for set in sets {
                match set.as_slice() {
                    [single] => all.extend(nested_sets(single)?),
                    members => all.push(members.to_vec()),
                }
            }
            all
        }
        Expr::Rollup(parts) => rollup(parts),
        Expr::Cube(parts) => cube(parts)?,
        Expr::Tuple(members) => vec![members.clone()],
        other => vec![vec![other.clone()]],
    })
}

/// A member of `GROUPING SETS`, where the parser takes `ROLLUP (a, b)` for a call.
fn nested_sets(member: &Expr) -> Result<Sets, Error> {
    let Expr::Function(function) = member else {
        return sets_of(member);
    };
    match (last_part(&function.name).as_deref(), parts_of(function)) {
        (Some("rollup"), Some(parts)) => Ok(rollup(&parts)),
        (Some("cube"), Some(parts)) => cube(&parts),
        _ => sets_of(member),
    }
}

fn parts_of(function: &Function) -> Option<Sets> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    let part = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Tuple(members))) => Some(members.clone()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(member)) => Some(vec![member.clone()]),
        _ => None,
    };
    list.args.iter().map(part).collect()
}

/// All of the parts, all but the last, and so on down to none.
fn rollup(parts: &Sets) -> Sets {
    let lengths = (0..=parts.len()).rev();
    lengths.map(|length| parts[..length].concat()).collect()
}

/// Every choice among the parts.
fn cube(parts: &Sets) -> Result<Sets, Error> {
    if parts.len() > MAX_CUBE {
        let text = format!("CUBE is limited to {MAX_CUBE} elements");
        return Err(Error::new("54011", text));
    }
    let choices = (0_usize..1 << parts.len()).rev();
    let chosen = |choice: usize| {
        let parts = parts.iter().enumerate();
        let parts = parts.filter(move |(place, _)| choice & (1 << place) != 0);
        parts.flat_map(|(_, part)| part.clone()).collect()
    };
    Ok(choices.map(chosen).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::parse_query;
    use datafusion::sql::sqlparser::ast::SetExpr;

    fn rewritten(group_by: &str) -> String {
        let text = format!("SELECT a, b + 1, count(*) FROM t GROUP BY {group_by}");
        let query = parse_query(&text).unwrap();
        let SetExpr::Select(mut select) = *query.body else {
            panic!("{text}");
        };
        check(&select).unwrap();
        rewrite(&mut select);
        select.group_by.to_string().split_off("GROUP BY ".len())
    }

    #[test]
    fn elements_are_multiplied() {
        let pairs = [
            ("a, b", "a, b"),
            ("(a, b), c", "a, b, c"),
            ("a, ROLLUP (b)", "GROUPING SETS ((a, b), (a))"),
            ("ROLLUP (a, (b, c))", "GROUPING SETS ((a, b, c), (a), ())"),
            ("CUBE (a, b)", "GROUPING SETS ((a, b), (b), (a), ())"),
            (
                "GROUPING SETS (a, b), (a, b)",
                "GROUPING SETS ((a, b), (b, a))",
            ),
            (
                "GROUPING SETS (ROLLUP (a, b), c)",
                "GROUPING SETS ((a, b), (a), (), (c))",
            ),
            (
                "GROUPING SETS ((1, 2), ())",
                "GROUPING SETS ((a, b + 1), ())",
            ),
            ("()", "GROUPING SETS (())"),
        ];
        for (group_by, expected) in pairs {
            assert_eq!(rewritten(group_by), expected, "{group_by}");
        }
    }
}
