//! Statements that return rows.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::{Expr, LogicalPlan, ScalarUDF};
use datafusion::sql::sqlparser::ast::{Query, Statement};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_sql::names;
use quire_sql::parse::parse_query;
use quire_sql::reject;
use quire_sql::{large_literals, rewrite, scopes, with_queries};
use quire_tables::Snapshot;

use super::known_plans;
use super::planned_query::PlannedQuery;
use super::row_stream::rows_of;
use super::tuple_engine::{self, Tried};
use super::{merged_columns, shared_queries, views, whole_rows};
use crate::outcome::Outcome;
use crate::pg_catalog::{self, PgCatalog};
use crate::planning::StatementContext;
use crate::roles::check_files;
use crate::session::Session;

/// Checks, rewrites and plans a query over `snapshot`.
pub(crate) async fn plan(
    session: &Session,
    snapshot: Snapshot,
    query: Box<Query>,
    token: &CancelToken,
) -> Result<PlannedQuery, Error> {
    plan_with(session, snapshot, query, [], token).await
}

/// The same, with tables that only this query knows.
pub(super) async fn plan_with(
    session: &Session,
    snapshot: Snapshot,
    query: Box<Query>,
    tables: impl IntoIterator<Item = (String, Arc<dyn TableProvider>)>,
    token: &CancelToken,
) -> Result<PlannedQuery, Error> {
    let names = names::of_query(&query);
    let json = pg_catalog::rewrite::json_columns(&query);
    let mut statement = Statement::Query(query);
    let asks = pg_catalog::rewrite::rewrite(&mut statement);
    reject::check(&statement)?;
    with_queries::resolve(&mut statement)?;
    let mut tables = tables.into_iter().collect();
    shared_queries::make_tables(session, &snapshot, &mut statement, &mut tables, token).await?;
    let context = context_for(session, snapshot, &mut statement, asks, tables, token).await?;
    merged_columns::resolve(&context, &mut statement).await?;
    let mut first = context.plan(statement.clone()).await;
    if first.as_ref().is_err_and(is_unknown_column)
        && whole_rows::resolve(&context, &mut statement).await
    {
        first = context.plan(statement.clone()).await;
    }
    // The planner may have taken the table of an outer query for a column, and found that it has no fields.
    let is_doubtful = match &first {
        Ok(plan) => accesses_fields(plan)?,
        Err(_) => true,
    };
    let plan = if is_doubtful && scopes::rename_outer_tables(&mut statement) {
        // Subqueries may read what is merged of tables that had the names of their own.
        merged_columns::resolve(&context, &mut statement).await?;
        context.plan(statement).await?
    } else {
        first?
    };
    Ok(PlannedQuery {
        context,
        plan,
        names,
        json,
    })
}

fn is_unknown_column(error: &Error) -> bool {
    error.sqlstate() == "42703"
}

/// Whether an expression of the plan takes a field out of a value.
fn accesses_fields(plan: &LogicalPlan) -> Result<bool, Error> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            found |= expression.exists(|part| {
                Ok(matches!(part, Expr::ScalarFunction(f) if f.name() == "get_field"))
            })?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

/// The planner for a statement; `asks` says whether it asks PostgreSQL's catalog.
pub(super) async fn context_for(
    session: &Session,
    snapshot: Snapshot,
    statement: &mut Statement,
    asks: bool,
    tables: impl IntoIterator<Item = (String, Arc<dyn TableProvider>)>,
    token: &CancelToken,
) -> Result<StatementContext, Error> {
    let mut files: HashMap<String, Arc<dyn TableProvider>> = tables.into_iter().collect();
    let relations = rewrite::rewrite(statement);
    if !relations.is_empty() {
        check_files(session)?;
    }
    for relation in relations {
        let table = super::load::file_table(&relation, token)?;
        files.insert(relation.name, table);
    }
    views::add_tables(session, &snapshot, statement, &mut files, token).await?;
    add_external_tables(session, &snapshot, statement, &mut files)?;
    let catalog = if asks {
        Some(catalog_of(session, &snapshot, statement, token).await?)
    } else {
        None
    };
    let literals = large_literals::take(statement);
    let mut context = session.statement_asking(snapshot, files, catalog.as_ref(), token)?;
    for literal in literals {
        context
            .state
            .register_udf(ScalarUDF::from(literal).into())?;
    }
    context.count_work(token.work());
    Ok(context)
}

/// Adds the tables of the program around the database that a statement names. The file's own come first.
fn add_external_tables(
    session: &Session,
    snapshot: &Snapshot,
    statement: &Statement,
    tables: &mut HashMap<String, Arc<dyn TableProvider>>,
) -> Result<(), Error> {
    if !session.has_external_tables() {
        return Ok(());
    }
    for name in views::relations_of(statement) {
        if !tables.contains_key(&name)
            && let Some(table) = session.external_table(snapshot, &name)?
        {
            tables.insert(name, table);
        }
    }
    Ok(())
}

/// PostgreSQL's catalog, for a statement that asks it.
async fn catalog_of(
    session: &Session,
    snapshot: &Snapshot,
    statement: &Statement,
    token: &CancelToken,
) -> Result<Arc<PgCatalog>, Error> {
    let columns = views::columns_for(session, snapshot, statement, token).await;
    Ok(Arc::new(PgCatalog::new(snapshot, &columns, session)?))
}

/// Runs a query; its rows come as they are read.
pub(super) async fn run(
    session: &Arc<Session>,
    query: Box<Query>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let snapshot = snapshot_for(session, &query, token).await?;
    let executor = session.planner_options().executor();
    // The version of the schema does not tell what a transaction itself has defined.
    let (is_in_transaction, has_own_definitions) = {
        let transaction = session.transaction.lock().await;
        let has_own_definitions = transaction.has_changed_definitions();
        (transaction.is_explicit(), has_own_definitions)
    };
    let key = known_plans::key_of(session, &snapshot, &query, executor);
    let key = key.filter(|_| !has_own_definitions);
    if let Some(key) = &key
        && let Some(planned) = known_plans::find(session, &snapshot, key, is_in_transaction, token)?
    {
        token.work().begin(Phase::Reading, None);
        let known = Some(planned.plan.clone());
        let tried = tuple_engine::try_run(session, &snapshot, &planned, known, executor, token);
        return match tried.await? {
            Tried::Started(outcome, _) => Ok(outcome),
            Tried::Optimized(_) | Tried::Left => {
                token.work().begin(Phase::Reading, None);
                start_optimized(session, &planned, &planned.plan, token).await
            }
        };
    }
    let tables = snapshot.clone();
    let planned = plan(session, snapshot, query, token).await?;
    token.work().begin(Phase::Reading, None);
    let tried = tuple_engine::try_run(session, &tables, &planned, None, executor, token).await?;
    if !matches!(tried, Tried::Started(..)) {
        // What the tuple engine has expected is not what batches read.
        token.work().begin(Phase::Reading, None);
    }
    let optimized = match tried {
        Tried::Started(outcome, optimized) => {
            if let Some(key) = key {
                known_plans::keep(session, key, &planned, &optimized)?;
            }
            return Ok(outcome);
        }
        Tried::Optimized(plan) => *plan,
        Tried::Left => planned.context.optimized(&planned.plan)?,
    };
    if let Some(key) = key {
        known_plans::keep(session, key, &planned, &optimized)?;
    }
    start_optimized(session, &planned, &optimized, token).await
}

/// Starts a plan of batches.
async fn start_optimized(
    session: &Arc<Session>,
    planned: &PlannedQuery,
    plan: &LogicalPlan,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let stream = planned.context.start_optimized(plan).await?;
    let schema = planned.shown(&stream.schema());
    Ok(Outcome::Rows(rows_of(session, stream, schema, token)?))
}

/// What a query sees. Row tables that it names are locked, so that they stay as they are until an explicit transaction
/// ends; a statement by itself needs no locks, for what it sees is kept while it runs.
async fn snapshot_for(
    session: &Session,
    query: &Query,
    token: &CancelToken,
) -> Result<Snapshot, Error> {
    let snapshot = session.snapshot().await?;
    let mut transaction = session.transaction.lock().await;
    if !transaction.is_explicit() {
        return Ok(snapshot);
    }
    let names = views::relations_of(query);
    let ids = names
        .iter()
        .filter_map(|name| snapshot.row_table_entry(name));
    let ids: Vec<u64> = ids.map(|entry| entry.id).collect();
    tokio::task::block_in_place(|| transaction.lock_for_reading(session, &ids, token))?;
    transaction.snapshot_again()
}

/// Runs a query of our own.
pub(super) async fn run_text(
    session: &Arc<Session>,
    sql: &str,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    run(session, parse_query(sql)?, token).await
}
