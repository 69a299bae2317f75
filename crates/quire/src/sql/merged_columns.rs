//! The columns that `USING` and `NATURAL` merge.
//!
//! The planner takes the merged column for that of the left side, which is NULL for rows that only the right side of a `RIGHT` or
//! `FULL` join has, and leaves it in its place in `*`. In SQL it is the right side's in a `RIGHT` join, and the first that is not
//! NULL in a `FULL` join, and `*` begins with it. Within a subquery the planner takes the name of a merged column for one of the query around
//! it, and in `WHERE` it calls the name ambiguous. Here merged columns are written out, and joins where they are not the left side's get
//! an `ON`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Distinct, Expr, Ident, Join, JoinConstraint, JoinOperator, OrderByKind, Query,
    Select, SelectItem, SetExpr, Statement, TableFactor, TableWithJoins, Value, VisitMut, Visitor,
    VisitorMut,
};
use quire_error::Error;
use quire_sql::calls::call;
use quire_sql::distinct_keys;
use quire_sql::names::{folded, last_part, of_expression};
use quire_sql::walk::{change_own_expressions, walk, walk_mut};

use super::factor_columns::{FactorQueries, column_names, ident, name_of};
use super::merged_column::{Columns, JoinColumn};
use super::merged_in_subqueries;
use crate::planning::StatementContext;

/// Writes merged columns out, where there are any.
pub(super) async fn resolve(
    context: &StatementContext,
    statement: &mut Statement,
) -> Result<(), Error> {
    let mut finder = MergedJoinFinder::default();
    let _ = walk(statement, &mut finder);
    let columns = finder.factors.columns(context).await.into_iter();
    let columns: Columns = columns
        .map(|(factor, fields)| {
            let names = fields.iter().map(|field| field.name().clone());
            (factor, names.collect())
        })
        .collect();
    if !columns.is_empty() {
        let _ = walk_mut(statement, &mut MergedJoinWriter { columns, depth: 0 });
    }
    Ok(())
}

/// Finds the tables of joins that merge columns, and of subqueries beside them.
#[derive(Default)]
struct MergedJoinFinder {
    factors: FactorQueries,
    /// Of the queries and `SELECT`s around the place, which merge columns.
    merging: Vec<bool>,
}

impl Visitor for MergedJoinFinder {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.factors.open_query(query);
        // ORDER BY belongs to the SELECT that is all of a query.
        let body = query.body.as_select();
        let is_merging = body.is_some_and(|select| select.from.iter().any(merges));
        self.merging.push(is_merging);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.merging.pop();
        self.factors.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.merging.push(select.from.iter().any(merges));
        // A subquery may read what is merged around it.
        if self.merging.contains(&true) {
            self.factors.add(select);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.merging.pop();
        ControlFlow::Continue(())
    }
}

fn merges(from: &TableWithJoins) -> bool {
    let mut joins = from.joins.iter();
    joins.any(|join| {
        matches!(
            constraint_of(&join.join_operator),
            Some(JoinConstraint::Using(_) | JoinConstraint::Natural)
        )
    })
}

/// Whether rows of the right side come out without one of the left.
fn keeps_right(operator: &JoinOperator) -> bool {
    matches!(
        operator,
        JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
    )
}

fn constraint_of(operator: &JoinOperator) -> Option<&JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint) => Some(constraint),
        _ => None,
    }
}

fn constraint_of_mut(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint) => Some(constraint),
        _ => None,
    }
}

/// Changes the joins.
struct MergedJoinWriter {
    columns: Columns,
    /// How many queries the place of the walk is in.
    depth: usize,
}

impl VisitorMut for MergedJoinWriter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        let SetExpr::Select(select) = query.body.as_mut() else {
            return ControlFlow::Continue(());
        };
        let merged = self.write(select);
        if let Some(order_by) = &mut query.order_by
            && let OrderByKind::Expressions(keys) = &mut order_by.kind
        {
            for key in keys {
                // A bare name is that of a column of the result, if there is one.
                let is_result =
                    matches!(&key.expr, Expr::Identifier(name) if puts_out(select, name));
                if !is_result {
                    replace(&mut key.expr, &merged);
                    merged_in_subqueries::replace(&mut key.expr, &merged, &self.columns);
                }
            }
        }
        if !merged.is_empty() {
            // Keys with other names may have become the same.
            distinct_keys::rewrite(query);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.write(select);
        ControlFlow::Continue(())
    }
}

impl MergedJoinWriter {
    /// Changes the joins of a `SELECT`; gives the columns that they merge.
    fn write(&self, select: &mut Select) -> Vec<JoinColumn> {
        if !select.from.iter().any(merges) {
            return Vec::new();
        }
        let mut joined = Vec::with_capacity(select.from.len());
        for from in &select.from {
            match self.joined(from) {
                Some(columns) => joined.push(columns),
                None => return Vec::new(),
            }
        }
        let merged: Vec<JoinColumn> = joined.iter().flat_map(|one| one.merged.clone()).collect();
        let all: Vec<JoinColumn> = joined.iter().flat_map(|one| one.all.clone()).collect();
        let places = joined.into_iter().map(|one| one.conditions);
        for (from, conditions) in select.from.iter_mut().zip(places) {
            for (join, condition) in from.joins.iter_mut().zip(conditions) {
                if let (Some(constraint), Some(condition)) =
                    (constraint_of_mut(&mut join.join_operator), condition)
                {
                    *constraint = JoinConstraint::On(condition);
                }
            }
        }
        write_items(select, &all, &merged);
        write_named_keys(select);
        replace(select, &merged);
        merged_in_subqueries::replace(select, &merged, &self.columns);
        merged
    }

    /// The columns of joined tables; nothing where they are not known.
    fn joined(&self, from: &TableWithJoins) -> Option<MergedJoin> {
        let mut joined = MergedJoin {
            all: self.columns_of(&from.relation)?,
            merged: Vec::new(),
            conditions: Vec::with_capacity(from.joins.len()),
            needs_on: self.depth > 1,
        };
        for join in &from.joins {
            let right = self.columns_of(&join.relation)?;
            joined.add(join, right)?;
        }
        Some(joined)
    }

    fn columns_of(&self, factor: &TableFactor) -> Option<Vec<JoinColumn>> {
        let table = name_of(factor)?;
        let names = column_names(factor, &self.columns)?;
        let column = |name: &String| JoinColumn {
            name: name.clone(),
            value: Expr::CompoundIdentifier(vec![ident(&table), ident(name)]),
        };
        Some(names.iter().map(column).collect())
    }
}

struct MergedJoin {
    all: Vec<JoinColumn>,
    merged: Vec<JoinColumn>,
    /// For each join what is to be its `ON`, if it merges columns.
    conditions: Vec<Option<Expr>>,
    /// Whether the join gets an `ON`: a merged column may be another than that of the left side, or its name would be one of the query
    /// around. Otherwise it keeps its `USING`, by which the planner knows the names within subqueries.
    needs_on: bool,
}

impl MergedJoin {
    fn add(&mut self, join: &Join, mut right: Vec<JoinColumn>) -> Option<()> {
        self.needs_on |= keeps_right(&join.join_operator);
        let common: Vec<String> = match constraint_of(&join.join_operator)? {
            JoinConstraint::Using(names) => names.iter().map(last_part).collect::<Option<_>>()?,
            JoinConstraint::Natural => {
                let names = self.all.iter().map(|column| column.name.clone());
                names
                    .filter(|name| right.iter().any(|column| column.name == *name))
                    .collect()
            }
            _ => {
                self.all.append(&mut right);
                self.conditions.push(None);
                return Some(());
            }
        };
        let mut merged = Vec::with_capacity(common.len());
        let mut condition = None;
        for name in &common {
            let (left, right) = (taken(&mut self.all, name)?, taken(&mut right, name)?);
            let equal = binary(left.value.clone(), BinaryOperator::Eq, right.value.clone());
            condition = Some(match condition {
                Some(before) => binary(before, BinaryOperator::And, equal),
                None => equal,
            });
            self.merged.retain(|column| column.name != *name);
            let value = match join.join_operator {
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => right.value,
                JoinOperator::FullOuter(_) => call("coalesce", vec![left.value, right.value]),
                _ => left.value,
            };
            let name = name.clone();
            merged.push(JoinColumn { name, value });
        }
        self.merged.extend(merged.iter().cloned());
        merged.append(&mut self.all);
        merged.append(&mut right);
        self.all = merged;
        let always = || Expr::Value(Value::Boolean(true).into());
        let condition = self.needs_on.then(|| condition.unwrap_or_else(always));
        self.conditions.push(condition);
        Some(())
    }
}

/// Takes the one column of a name out; nothing if it is not one.
fn taken(columns: &mut Vec<JoinColumn>, name: &str) -> Option<JoinColumn> {
    let place = columns.iter().position(|column| column.name == name)?;
    let column = columns.remove(place);
    let is_only = !columns.iter().any(|column| column.name == name);
    is_only.then_some(column)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// Writes `*` out, and gives merged columns their names.
fn write_items(select: &mut Select, all: &[JoinColumn], merged: &[JoinColumn]) {
    let items = std::mem::take(&mut select.projection);
    for item in items {
        match item {
            SelectItem::Wildcard(ref options) if options.to_string().is_empty() => {
                select.projection.extend(all.iter().map(as_item));
            }
            SelectItem::UnnamedExpr(Expr::Identifier(ref name))
                if merged.iter().any(|column| column.name == folded(name)) =>
            {
                let column = merged.iter().find(|column| column.name == folded(name));
                select.projection.extend(column.map(as_item));
            }
            other => select.projection.push(other),
        }
    }
}

/// Writes out the keys of `DISTINCT ON` that are names of items, which come before those of merged columns.
fn write_named_keys(select: &mut Select) {
    let Some(Distinct::On(keys)) = &mut select.distinct else {
        return;
    };
    for key in keys {
        let Expr::Identifier(name) = key else {
            continue;
        };
        let name = folded(name);
        let mut items = select.projection.iter();
        let item = items.find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } => (folded(alias) == name).then_some(expr),
            SelectItem::UnnamedExpr(expr) => (of_expression(expr) == name).then_some(expr),
            _ => None,
        });
        if let Some(item) = item {
            *key = item.clone();
        }
    }
}

fn as_item(column: &JoinColumn) -> SelectItem {
    match &column.value {
        value @ Expr::CompoundIdentifier(_) => SelectItem::UnnamedExpr(value.clone()),
        value => SelectItem::ExprWithAlias {
            expr: value.clone(),
            alias: Ident::with_quote('"', &column.name),
        },
    }
}

/// Whether a `SELECT` has a column of that name in its result.
fn puts_out(select: &Select, name: &Ident) -> bool {
    let name = folded(name);
    select.projection.iter().any(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => folded(alias) == name,
        SelectItem::UnnamedExpr(Expr::Identifier(column)) => folded(column) == name,
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
            parts.last().is_some_and(|column| folded(column) == name)
        }
        _ => false,
    })
}

/// Puts what they are worth in place of merged columns outside of subqueries, whose names may be their own.
fn replace(tree: &mut impl VisitMut, merged: &[JoinColumn]) {
    if merged.is_empty() {
        return;
    }
    change_own_expressions(tree, |expr| {
        if let Expr::Identifier(name) = expr
            && let Some(column) = merged.iter().find(|column| column.name == folded(name))
        {
            *expr = column.value.clone();
        }
    });
}
