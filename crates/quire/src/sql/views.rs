//! Views in statements: each is planned by itself, from its text, and read like a table.
//!
//! So names in a view are those of tables, whatever the statement around it calls things; and an error in a view
//! names it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::ViewTable;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{Query, Statement, Visit};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::names::last_part;
use quire_sql::parse::parse_query;
use quire_sql::types;
use quire_sql::walk::for_each_relation;
use quire_tables::{Snapshot, ViewDefinition};

use super::query;
use crate::pg_catalog::ViewColumns;
use crate::session::Session;

/// Names of the tables and views that a piece of SQL names, and perhaps of `WITH` queries.
pub(crate) fn relations_of(sql: &impl Visit) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for_each_relation(sql, |name| names.extend(last_part(name)));
    names
}

/// Adds the views that a statement names to the tables that it can read.
pub(super) async fn add_tables(
    session: &Session,
    snapshot: &Snapshot,
    statement: &Statement,
    tables: &mut HashMap<String, Arc<dyn TableProvider>>,
    token: &CancelToken,
) -> Result<(), Error> {
    if snapshot.views().next().is_none() {
        return Ok(());
    }
    for name in relations_of(statement) {
        if let Some(view) = snapshot.view(&name)
            && !tables.contains_key(&name)
        {
            let table = table_of(session, snapshot, view, token).await?;
            tables.insert(name, table);
        }
    }
    Ok(())
}

/// Names and types of the columns of all views, for a statement that asks the catalog for columns. A view that cannot be
/// planned, or that asks for columns itself, is left out.
pub(super) async fn columns_for(
    session: &Session,
    snapshot: &Snapshot,
    statement: &Statement,
    token: &CancelToken,
) -> ViewColumns {
    let asks_for_columns = |names: &BTreeSet<String>| {
        names.contains("pg_attribute") || names.contains("columns") || names.contains("pg_class")
    };
    let mut columns = ViewColumns::new();
    if !asks_for_columns(&relations_of(statement)) {
        return columns;
    }
    for view in snapshot.views() {
        let is_plain = query_of(view).is_ok_and(|query| !asks_for_columns(&relations_of(&query)));
        if is_plain && let Ok(table) = table_of(session, snapshot, view, token).await {
            let schema = table.schema();
            let fields = schema.fields().iter();
            let known = fields.filter_map(|field| {
                let sql_type = types::from_arrow(field.name(), field.data_type()).ok()?;
                Some((field.name().clone(), sql_type))
            });
            columns.insert(view.name.clone(), known.collect());
        }
    }
    columns
}

async fn table_of(
    session: &Session,
    snapshot: &Snapshot,
    view: &ViewDefinition,
    token: &CancelToken,
) -> Result<Arc<dyn TableProvider>, Error> {
    let query = query_of(view)?;
    // A view may name views: this comes back here.
    let planned = Box::pin(query::plan(session, snapshot.clone(), query, token));
    let plan = planned
        .await
        .map_err(|error| error.in_view(&view.name))?
        .plan;
    let columns = plan.schema().columns();
    if columns.len() != view.columns.len() {
        let (expected, found) = (view.columns.len(), columns.len());
        let text = format!("the query has {found} columns, the view {expected}");
        return Err(Error::new("42P16", text).in_view(&view.name));
    }
    let named = columns.into_iter().zip(&view.columns);
    let outputs =
        named.map(|(column, name)| Expr::Column(column).alias_qualified(None::<&str>, name));
    let plan = LogicalPlanBuilder::from(plan)
        .project(outputs.collect::<Vec<_>>())?
        .build()?;
    Ok(Arc::new(ViewTable::new(plan, Some(view.query.clone()))))
}

/// The query of a view, parsed.
pub(super) fn query_of(view: &ViewDefinition) -> Result<Box<Query>, Error> {
    parse_query(&view.query).map_err(|error| error.in_view(&view.name))
}
