//! Refuses what PostgreSQL refuses for its types.
//!
//! The planner converts whatever does not fit: `date = 1`, `upper(5)` and `count(1, 2)` would get an answer. PostgreSQL converts
//! among numbers, from dates to timestamps, and texts in quotes, whose type is open. The check comes before types are settled,
//! because afterwards a conversion that was written and one that was added look alike.

mod assignments;
mod calls;
mod casts;
mod kinds;
mod operators;
mod recursion;
mod signatures;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::logical_expr::expr::{
    Between, Case, Cast, InList, InSubquery, Like, WindowFunctionDefinition,
};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Union};
use quire_error::Error;

pub use self::assignments::{check_assignment, is_assignable};
use self::kinds::{StrictTypeKind, sql_name, type_name};

/// Refuses a plan whose types do not go together.
pub(super) fn check_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !reads_made_rows(&plan)? {
        plan.apply_with_subqueries(|node| {
            check_node(node)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(plan)
}

/// Whether the statement reads rows that are made for it: of PostgreSQL's catalog, above all. Its types are not all of PostgreSQL's there, a
/// `regclass` being a text, and what clients ask compares them.
fn reads_made_rows(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
        {
            found |= provider.is::<MemTable>();
        }
        Ok(if found {
            TreeNodeRecursion::Stop
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    Ok(found)
}

fn check_node(node: &LogicalPlan) -> Result<()> {
    let schema = merge_schema(&node.inputs());
    match node {
        LogicalPlan::Filter(filter) => check_condition(&filter.predicate, "WHERE", &schema)?,
        LogicalPlan::Join(join) => {
            for (left, right) in &join.on {
                check_pair(left, right, "JOIN/USING", &schema)?;
            }
        }
        LogicalPlan::Union(union) => check_union(union)?,
        LogicalPlan::RecursiveQuery(query) => recursion::check(query)?,
        _ => {}
    }
    node.apply_expressions(|expr| {
        check_parts(expr, &schema)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Checks an expression and all within it.
pub(super) fn check_parts(expr: &Expr, schema: &DFSchema) -> Result<()> {
    expr.apply(|part| {
        check_part(part, schema)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn check_part(part: &Expr, schema: &DFSchema) -> Result<()> {
    match part {
        Expr::BinaryExpr(binary) => operators::check(binary, schema),
        Expr::Cast(Cast { expr, field }) => {
            let kind = StrictTypeKind::of_expression(expr, schema)?;
            casts::check(kind, &expr.get_type(schema)?, field.data_type())
        }
        Expr::Not(operand) => check_condition(operand, "NOT", schema),
        Expr::IsTrue(operand)
        | Expr::IsNotTrue(operand)
        | Expr::IsFalse(operand)
        | Expr::IsNotFalse(operand)
        | Expr::IsUnknown(operand)
        | Expr::IsNotUnknown(operand) => check_condition(operand, "IS", schema),
        Expr::Like(like) | Expr::SimilarTo(like) => check_like(like, schema),
        Expr::Between(Between {
            expr, low, high, ..
        }) => {
            check_comparison(expr, ">=", low, schema)?;
            check_comparison(expr, "<=", high, schema)
        }
        Expr::InList(InList { expr, list, .. }) => list
            .iter()
            .try_for_each(|item| check_comparison(expr, "=", item, schema)),
        Expr::InSubquery(InSubquery { expr, subquery, .. }) => {
            check_column_of(&subquery.subquery, expr, schema)
        }
        Expr::Case(case) => check_case(case, schema),
        Expr::ScalarFunction(call) => match call.name() {
            "coalesce" => check_choices("COALESCE", call.args.iter(), schema),
            "greatest" => check_choices("GREATEST", call.args.iter(), schema),
            "least" => check_choices("LEAST", call.args.iter(), schema),
            "nullif" => match call.args.as_slice() {
                [left, right] => check_comparison(left, "=", right, schema),
                _ => Ok(()),
            },
            name => calls::check(name, name, &call.args, schema),
        },
        Expr::AggregateFunction(call) => {
            if let Some(filter) = &call.params.filter {
                check_condition(filter, "FILTER", schema)?;
            }
            check_aggregate(call.func.name(), &call.params.args, schema)
        }
        Expr::WindowFunction(call) => match &call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => {
                check_aggregate(function.name(), &call.params.args, schema)
            }
            WindowFunctionDefinition::WindowUDF(function) => {
                calls::check(function.name(), function.name(), &call.params.args, schema)
            }
        },
        _ => Ok(()),
    }
}

fn check_aggregate(name: &str, arguments: &[Expr], schema: &DFSchema) -> Result<()> {
    let called = name.strip_prefix("checked_").unwrap_or(name);
    calls::check(name, called, arguments, schema)
}

fn check_comparison(left: &Expr, operator: &str, right: &Expr, schema: &DFSchema) -> Result<()> {
    let agree = StrictTypeKind::of_expression(left, schema)?
        .agrees(StrictTypeKind::of_expression(right, schema)?);
    if agree {
        Ok(())
    } else {
        Err(operators::missing(left, operator, right, schema))
    }
}

fn check_column_of(subquery: &LogicalPlan, expr: &Expr, schema: &DFSchema) -> Result<()> {
    let [field] = subquery.schema().fields().as_ref() else {
        return Ok(());
    };
    let kind = StrictTypeKind::of_expression(expr, schema)?;
    if kind.agrees(kind_of_column(subquery, 0)) {
        return Ok(());
    }
    let (left, right) = (sql_name(expr, schema), type_name(field.data_type()));
    Err(refusal(
        "42883",
        format!("operator does not exist: {left} = {right}"),
        "Convert one side, as in CAST(x AS type).",
    ))
}

fn check_like(like: &Like, schema: &DFSchema) -> Result<()> {
    let (left, right) = (
        StrictTypeKind::of_expression(&like.expr, schema)?,
        StrictTypeKind::of_expression(&like.pattern, schema)?,
    );
    let are_texts = operators::is_text(left) && operators::is_text(right);
    let are_bytes = left.fits(StrictTypeKind::Bytes) && right.fits(StrictTypeKind::Bytes);
    if are_texts || are_bytes {
        Ok(())
    } else {
        Err(operators::missing(&like.expr, "~~", &like.pattern, schema))
    }
}

fn check_case(case: &Case, schema: &DFSchema) -> Result<()> {
    for (when, _) in &case.when_then_expr {
        match &case.expr {
            Some(operand) => check_comparison(operand, "=", when, schema)?,
            None => check_condition(when, "CASE/WHEN", schema)?,
        }
    }
    let results = case.when_then_expr.iter().map(|(_, then)| then.as_ref());
    check_choices("CASE", results.chain(case.else_expr.as_deref()), schema)
}

/// Refuses a condition that is no boolean.
fn check_condition(expr: &Expr, place: &str, schema: &DFSchema) -> Result<()> {
    if StrictTypeKind::of_expression(expr, schema)?.fits(StrictTypeKind::Boolean) {
        return Ok(());
    }
    let found = sql_name(expr, schema);
    Err(refusal(
        "42804",
        format!("argument of {place} must be type boolean, not type {found}"),
        "Compare it with something, as in x <> 0.",
    ))
}

/// Refuses alternatives that have no type in common.
fn check_choices<'e>(
    place: &str,
    choices: impl Iterator<Item = &'e Expr>,
    schema: &DFSchema,
) -> Result<()> {
    let mut first: Option<&Expr> = None;
    for choice in choices {
        if StrictTypeKind::of_expression(choice, schema)? == StrictTypeKind::Unknown {
            continue;
        }
        match first {
            Some(first) => check_pair(first, choice, place, schema)?,
            None => first = Some(choice),
        }
    }
    Ok(())
}

fn check_pair(left: &Expr, right: &Expr, place: &str, schema: &DFSchema) -> Result<()> {
    if StrictTypeKind::of_expression(left, schema)?
        .agrees(StrictTypeKind::of_expression(right, schema)?)
    {
        return Ok(());
    }
    Err(unmatched(
        place,
        &sql_name(left, schema),
        &sql_name(right, schema),
    ))
}

fn check_union(union: &Union) -> Result<()> {
    for column in 0..union.schema.fields().len() {
        let mut first: Option<(StrictTypeKind, String)> = None;
        for input in &union.inputs {
            let kind = kind_of_column(input, column);
            let found = type_name(input.schema().field(column).data_type());
            match &first {
                _ if kind == StrictTypeKind::Unknown => {}
                Some((known, name)) if !known.agrees(kind) => {
                    return Err(unmatched("UNION", name, &found));
                }
                Some(_) => {}
                None => first = Some((kind, found)),
            }
        }
    }
    Ok(())
}

/// The kind of a column of a query, open if it is a text that is written out.
fn kind_of_column(plan: &LogicalPlan, column: usize) -> StrictTypeKind {
    if let LogicalPlan::Projection(projection) = plan
        && let Some(expr) = projection.expr.get(column)
        && let Ok(kind) = StrictTypeKind::of_expression(expr, projection.input.schema())
    {
        return kind;
    }
    StrictTypeKind::of(plan.schema().field(column).data_type())
}

fn unmatched(place: &str, left: &str, right: &str) -> DataFusionError {
    refusal(
        "42804",
        format!("{place} types {left} and {right} cannot be matched"),
        "Convert one of them, as in CAST(x AS type).",
    )
}

fn refusal(sqlstate: &'static str, message: String, hint: &str) -> DataFusionError {
    Error::new(sqlstate, message).with_hint(hint).into()
}
