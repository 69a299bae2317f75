//! Expressions over the rows that a statement writes: of `RETURNING`, of CHECK constraints, of `ON CONFLICT DO UPDATE`.
//!
//! The planner makes an expression by itself of one without subqueries alone. What has some is planned as a query,
//! `SELECT e FROM t AS alias, …`, whose tables have the columns of the rows, and is then one over the rows: its subqueries see what
//! the statement sees, as in PostgreSQL.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, TableReference};
use datafusion::datasource::empty::EmptyTable;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection};
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, Ident, SelectItem, TableFactor, TableWithJoins, With,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::walk::has_query;

use super::super::query;
use super::changed_rows::{query_of, select, table_factor};
use crate::planning::StatementContext;
use crate::session::Session;

/// What expressions of one statement are planned with.
#[derive(Clone, Copy)]
pub(super) struct RowExpressions<'a> {
    pub(super) session: &'a Session,
    pub(super) context: &'a StatementContext,
    /// `WITH` before the statement.
    pub(super) with: Option<&'a With>,
    pub(super) token: &'a CancelToken,
}

impl<'a> RowExpressions<'a> {
    /// Those of a statement without `WITH`.
    pub(super) fn without_queries(
        session: &'a Session,
        context: &'a StatementContext,
        token: &'a CancelToken,
    ) -> Self {
        Self {
            session,
            context,
            with: None,
            token,
        }
    }

    /// The logical form of an expression over columns of `schema`, in a clause that messages call `clause`.
    pub(super) async fn planned(
        &self,
        expr: &SqlExpr,
        schema: &DFSchema,
        clause: &str,
    ) -> Result<Expr, Error> {
        if !has_query(expr) {
            return self.context.expression(expr, schema);
        }
        let rows = EmptyRowTables::of(schema);
        let item = SelectItem::UnnamedExpr(expr.clone());
        let mut query = query_of(select(vec![item], rows.from, None));
        query.with = self.with.cloned();
        let snapshot = self.context.snapshot.clone();
        let (session, query) = (self.session, Box::new(query));
        let planned = query::plan_with(session, snapshot, query, rows.tables, self.token).await?;
        let shown = projection_of(planned.plan, clause)?;
        let mut exprs = over_rows(shown, schema)?.into_iter();
        let internal = || Error::new("XX000", "internal error: an expression has no value");
        Ok(exprs.next().ok_or_else(internal)?.unalias())
    }
}

/// Tables without rows that have the columns of a schema, one for each of its qualifiers.
struct EmptyRowTables {
    from: Vec<TableWithJoins>,
    tables: Vec<(String, Arc<dyn TableProvider>)>,
}

impl EmptyRowTables {
    fn of(schema: &DFSchema) -> Self {
        let mut known: Vec<(&str, Vec<FieldRef>)> = Vec::new();
        for (qualifier, field) in schema.iter() {
            let table = qualifier.map_or("", TableReference::table);
            match known.last_mut() {
                Some((last, fields)) if *last == table => fields.push(Arc::clone(field)),
                _ => known.push((table, vec![Arc::clone(field)])),
            }
        }
        let mut made = Self {
            from: Vec::new(),
            tables: Vec::new(),
        };
        for (position, (table, fields)) in known.into_iter().enumerate() {
            let name = format!("quire rows {position}");
            made.from.push(TableWithJoins {
                relation: factor(&name, table),
                joins: Vec::new(),
            });
            let provider = EmptyTable::new(Arc::new(Schema::new(fields)));
            made.tables.push((name, Arc::new(provider)));
        }
        made
    }
}

fn factor(name: &str, alias: &str) -> TableFactor {
    table_factor(name, Ident::with_quote('"', alias))
}

/// The select list of the query, which has rows of its tables and no others.
fn projection_of(plan: LogicalPlan, clause: &str) -> Result<Projection, Error> {
    let has_groups = plan.exists(|node| Ok(matches!(node, LogicalPlan::Aggregate(_))))?;
    let has_windows = plan.exists(|node| Ok(matches!(node, LogicalPlan::Window(_))))?;
    match plan {
        _ if has_groups => Err(not_allowed("42803", "aggregate", clause)),
        _ if has_windows => Err(not_allowed("42P20", "window", clause)),
        LogicalPlan::Projection(shown) => Ok(shown),
        _ => Err(Error::new("XX000", "internal error: a query without list")),
    }
}

fn not_allowed(sqlstate: &'static str, functions: &str, clause: &str) -> Error {
    let text = format!("{functions} functions are not allowed in {clause}");
    Error::new(sqlstate, text)
}

/// The expressions of the query over rows with `schema`. Its tables may have been renamed.
fn over_rows(shown: Projection, schema: &DFSchema) -> Result<Vec<Expr>, Error> {
    let own = shown.input.schema().columns().into_iter();
    let renamed: HashMap<Column, Column> = own
        .zip(schema.columns())
        .filter(|(own, meant)| own != meant)
        .collect();
    if renamed.is_empty() {
        return Ok(shown.expr);
    }
    let named_as_rows = |part: Expr| {
        Ok(match part {
            Expr::Column(column) => match renamed.get(&column) {
                Some(meant) => Transformed::yes(Expr::Column(meant.clone())),
                None => Transformed::no(Expr::Column(column)),
            },
            Expr::OuterReferenceColumn(field, column) => match renamed.get(&column) {
                Some(meant) => Transformed::yes(Expr::OuterReferenceColumn(field, meant.clone())),
                None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
            },
            other => Transformed::no(other),
        })
    };
    let plan = LogicalPlan::Projection(shown);
    let plan = plan.transform_up_with_subqueries(|node| {
        node.map_expressions(|expr| expr.transform_up(named_as_rows))
    })?;
    Ok(plan.data.expressions())
}
