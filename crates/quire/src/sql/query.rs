//! Statements that return rows.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{FunctionRegistry, SendableRecordBatchStream};
use datafusion::logical_expr::{Expr, LogicalPlan, ScalarUDF};
use datafusion::sql::sqlparser::ast::{Query, Statement};
use futures::FutureExt;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_error::wait::wait;
use quire_sql::names;
use quire_sql::parse::parse_query;
use quire_sql::reject;
use quire_sql::{large_literals, rewrite, scopes, with_queries};
use quire_tables::Snapshot;
use tokio::sync::mpsc;

use super::merged_columns;
use super::tuple_engine::{self, Tried};
use super::{shared_queries, views};
use crate::database::of_panic;
use crate::outcome::{OnFailure, Outcome, Rows};
use crate::pg_catalog::{self, PgCatalog};
use crate::roles::check_files;
use crate::session::{Session, StatementContext, next_of};

/// Batches that wait for a slow reader of the rows.
const QUEUED_BATCHES: usize = 2;

/// A query, planned.
pub(crate) struct PlannedQuery {
    pub(crate) context: StatementContext,
    pub(crate) plan: LogicalPlan,
    /// Names to show, by position; see [`names::of_query`].
    names: Vec<Option<String>>,
    /// Positions of columns that are JSON.
    json: Vec<usize>,
}

impl PlannedQuery {
    /// Names and types of the columns as the user sees them.
    pub(super) fn shown_schema(&self) -> SchemaRef {
        self.shown_schema_of(&self.plan)
    }

    /// The same of a plan that was made of this one, as which planning settles types.
    pub(super) fn shown_schema_of(&self, plan: &LogicalPlan) -> SchemaRef {
        self.shown(plan.schema().inner())
    }

    /// The columns of the plan, or of what runs it, as the user sees them.
    fn shown(&self, planned: &Schema) -> SchemaRef {
        let schema = shown_schema(planned, &self.names);
        if self.json.is_empty() {
            return schema;
        }
        let fields = schema.fields().iter().enumerate();
        let fields = fields.map(|(at, field)| {
            if self.json.contains(&at) {
                marked_as_json(field)
            } else {
                field.as_ref().clone()
            }
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// The types of the parameters, as far as what they stand beside tells.
    pub(super) fn parameter_types(&self) -> Result<Vec<Option<DataType>>, Error> {
        let mut types = Vec::new();
        for (name, data_type) in self.plan.get_parameter_types()? {
            let number = name
                .strip_prefix('$')
                .and_then(|digits| digits.parse().ok());
            let Some(index) = number.and_then(|number: u16| usize::from(number).checked_sub(1))
            else {
                continue;
            };
            if types.len() <= index {
                types.resize(index + 1, None);
            }
            types[index] = data_type;
        }
        Ok(types)
    }
}

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
    let first = context.plan(statement.clone()).await;
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
    let paths = rewrite::rewrite(statement);
    if !paths.is_empty() {
        check_files(session)?;
    }
    for path in paths {
        let table = super::load::file_table(&path, token)?;
        files.insert(path, table);
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
    let snapshot = session.snapshot_for(&query, token).await?;
    let tables = snapshot.clone();
    let planned = plan(session, snapshot, query, token).await?;
    let executor = session.planner_options().executor();
    token.work().begin(Phase::Reading, None);
    let tried = tuple_engine::try_run(session, &tables, &planned, executor, token).await?;
    if !matches!(tried, Tried::Started(_)) {
        // What the tuple engine has expected is not what batches read.
        token.work().begin(Phase::Reading, None);
    }
    let stream = match tried {
        Tried::Started(outcome) => return Ok(outcome),
        Tried::Optimized(plan) => planned.context.start_optimized(&plan).await?,
        Tried::Left => planned.context.start(&planned.plan).await?,
    };
    let schema = planned.shown(&stream.schema());
    Ok(Outcome::Rows(rows_of(session, stream, schema, token)?))
}

/// Runs a query of our own.
pub(super) async fn run_text(
    session: &Arc<Session>,
    sql: &str,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    run(session, parse_query(sql)?, token).await
}

/// Text that is JSON says so in its metadata, under Arrow's name for such columns.
fn marked_as_json(field: &Field) -> Field {
    let mark = [("ARROW:extension:name", "arrow.json")];
    let mark = mark.map(|(key, value)| (key.to_owned(), value.to_owned()));
    field.clone().with_metadata(mark.into())
}

/// The columns of a plan under the names to show.
fn shown_schema(planned: &Schema, names: &[Option<String>]) -> SchemaRef {
    let is_known = names.len() == planned.fields().len();
    let field = |(position, field): (usize, &Arc<Field>)| {
        let chosen = if is_known {
            names[position].as_deref()
        } else {
            None
        };
        let name = chosen.unwrap_or_else(|| names::display(field.name()));
        field.as_ref().clone().with_name(name)
    };
    let fields: Vec<Field> = planned.fields().iter().enumerate().map(field).collect();
    Arc::new(Schema::new(fields))
}

pub(super) fn rows_of(
    session: &Arc<Session>,
    mut stream: SendableRecordBatchStream,
    schema: SchemaRef,
    token: &CancelToken,
) -> Result<Rows, Error> {
    let (sender, receiver) = mpsc::channel(QUEUED_BATCHES);
    let (shown, waiting_token) = (Arc::clone(&schema), token.clone());
    let token = token.clone();
    let produce = async move {
        loop {
            // A panic would close the channel, as the end of the rows does.
            let next = AssertUnwindSafe(next_of(&mut stream, &token));
            let next = next.catch_unwind().await;
            let next = next.unwrap_or_else(|panic| Err(of_panic(&*panic)));
            if let Ok(Some(batch)) = &next {
                token.work().note_written(batch.num_rows() as u64, 0);
            }
            let item = next.and_then(|batch| batch.map(|b| renamed(&b, &shown)).transpose());
            let is_last = !matches!(item, Ok(Some(_)));
            let Some(item) = item.transpose() else { return };
            if sender.send(item).await.is_err() || is_last {
                return;
            }
        }
    };
    let task = session.database.spawn(produce)?;
    Ok(Rows::from_task(
        schema,
        receiver,
        task,
        waiting_token,
        failing(session),
        Arc::clone(&session.database),
    ))
}

/// A transaction fails when the reader of its rows hears of an error, before it can say the next statement.
pub(super) fn failing(session: &Arc<Session>) -> OnFailure {
    // Rows must not keep the session.
    let session = Arc::downgrade(session);
    Box::new(move || {
        if let Some(session) = session.upgrade() {
            wait(session.transaction.lock()).fail();
        }
    })
}

fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    Ok(RecordBatch::try_new_with_options(
        nullable(schema),
        columns,
        &options,
    )?)
}

/// What a plan promises and what it delivers may differ in nullability.
pub(super) fn nullable(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter();
    let nullable = fields.map(|field| field.as_ref().clone().with_nullable(true));
    Arc::new(Schema::new(nullable.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use quire_error::cancel::CancelHandle;

    use super::*;
    use crate::{Database, TransactionStatus};

    #[test]
    fn a_transaction_fails_when_its_rows_are_read() {
        let mut connection = Database::in_memory().unwrap().connect();
        for engine in ["batch", "tuple"] {
            connection.set_setting("engine", engine).unwrap();
            connection.execute("BEGIN").unwrap();
            let sql = "SELECT 1 / (i - 2) FROM generate_series(1, 3) i";
            let Outcome::Rows(mut rows) = connection.execute(sql).unwrap() else {
                panic!("a query has rows");
            };
            connection.execute("SAVEPOINT one").unwrap();
            while let Ok(Some(_)) = rows.next_batch() {}
            assert_eq!(connection.transaction_status(), TransactionStatus::Failed);
            connection.execute("ROLLBACK TO SAVEPOINT one").unwrap();
            assert_eq!(connection.transaction_status(), TransactionStatus::Open);
            connection.execute("ROLLBACK").unwrap();
        }
    }

    #[test]
    fn a_panic_is_no_end_of_the_rows() {
        let connection = Database::in_memory().unwrap().connect();
        let schema: SchemaRef = Arc::new(Schema::empty());
        let rows = futures::stream::poll_fn(|_| panic!("a step has failed"));
        let stream = Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows));
        let token = CancelHandle::default().begin("SELECT", None);
        let mut rows = rows_of(&connection.session, stream, schema, &token).unwrap();
        let error = rows.next_batch().unwrap_err();
        assert_eq!(error.sqlstate(), "XX000");
        assert!(error.message().contains("a step has failed"), "{error}");
    }
}
