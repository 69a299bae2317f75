//! `INSERT` into a column table: few rows go to its delta, many become row groups.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::ast::{Insert, SetExpr};
use futures::StreamExt;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_kv::mvcc::TableLockMode;
use quire_tables::{GROUP_ROWS, TableDefinition};
use tokio::task::block_in_place;

use super::super::super::write;
use super::super::change_plan::ChangeColumns;
use super::super::row_expressions::RowExpressions;
use super::super::target;
use super::{InsertProgress, alias_of, plan, rows_plan};
use crate::outcome::{Completion, Outcome};
use crate::planning::{StatementContext, next_of};
use crate::session::{Session, TableWriteGuard};

/// Inserts the rows of a statement without `ON CONFLICT` and `RETURNING` into the column table called `name`.
pub(super) async fn append_or_insert(
    session: &Arc<Session>,
    mut writer: TableWriteGuard<'_>,
    insert: &Insert,
    name: &str,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if has_few_rows(insert) {
        // Now, so that the table is still what it is when the rows are there.
        target::lock(&mut writer, name, TableLockMode::RowExclusive)?;
    }
    let snapshot = writer.snapshot()?;
    let Some(definition) = snapshot.definition(name) else {
        return Err(Error::unknown_table(name));
    };
    let alias = alias_of(insert, name);
    let seen = snapshot.clone();
    let (context, planned) = plan(session, seen, insert, definition, &alias, token).await?;
    token.work().begin(Phase::Loading, Some(name));
    let mut stream = context.start(&planned.plan).await?;
    let mut held: Vec<RecordBatch> = Vec::new();
    let mut held_rows = 0;
    while held_rows < GROUP_ROWS {
        let Some(batch) = next_of(&mut stream, token).await? else {
            drop(stream);
            let count = insert_few(&mut writer, definition, &planned.columns, &held)?;
            writer.finish()?;
            return Ok(done(count));
        };
        held_rows += batch.num_rows();
        held.push(batch);
    }
    let rows = table_rows(held, stream, &planned.columns)?;
    let transaction = writer.transaction()?;
    if !block_in_place(|| transaction.lock_to_append(definition))? {
        return Err(target::changed_meanwhile(name));
    }
    let count = write::append_stream(transaction, name, rows, token).await?;
    writer.finish()?;
    Ok(done(count))
}

/// Appends the rows of a plan to the column table called `name`: column i of the plan goes to the column at place `targets[i]`, the
/// others get their defaults. Returns their number.
pub(in crate::sql) async fn append_plan(
    writer: &mut TableWriteGuard<'_>,
    name: &str,
    context: &StatementContext,
    input: LogicalPlan,
    targets: &[usize],
    token: &CancelToken,
) -> Result<u64, Error> {
    let snapshot = writer.snapshot()?;
    let Some(definition) = snapshot.definition(name) else {
        return Err(Error::unknown_table(name));
    };
    let columns = input.schema().columns().into_iter().map(Expr::Column);
    let sources: Vec<(usize, Expr)> = targets.iter().copied().zip(columns).collect();
    let expressions = RowExpressions::without_queries(writer.session(), context, token);
    let planned = rows_plan(expressions, definition, name, input, &sources, None).await?;
    let stream = context.start(&planned.plan).await?;
    let rows = table_rows(Vec::new(), stream, &planned.columns)?;
    let transaction = writer.transaction()?;
    if !block_in_place(|| transaction.lock_to_append(definition))? {
        return Err(target::changed_meanwhile(name));
    }
    write::append_stream(transaction, name, rows, token).await
}

fn done(count: u64) -> Outcome {
    Outcome::Done(Completion::counted(format!("INSERT 0 {count}"), count))
}

/// Whether it can be seen that there are not enough rows for a vector group.
fn has_few_rows(insert: &Insert) -> bool {
    match insert.source.as_ref().map(|source| source.body.as_ref()) {
        None => true,
        Some(SetExpr::Values(values)) => values.rows.len() < GROUP_ROWS,
        Some(_) => false,
    }
}

/// Rows that are no row group of their own.
fn insert_few(
    writer: &mut TableWriteGuard<'_>,
    definition: &Arc<TableDefinition>,
    columns: &ChangeColumns,
    batches: &[RecordBatch],
) -> Result<u64, Error> {
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Ok(0);
    }
    let name = &definition.name;
    let target = target::lock(writer, name, TableLockMode::RowExclusive)?;
    if !target.definition().takes_rows_of(definition) {
        return Err(target::changed_meanwhile(name));
    }
    let mut progress = InsertProgress::default();
    let transaction = writer.transaction()?;
    for batch in batches {
        block_in_place(|| progress.insert(transaction, target.rows(), columns, batch, None))?;
    }
    let count = progress.changes.count();
    writer.note_changes(name, count);
    Ok(count)
}

/// The rows of a plan as those of the table.
fn table_rows(
    held: Vec<RecordBatch>,
    rest: SendableRecordBatchStream,
    columns: &ChangeColumns,
) -> Result<SendableRecordBatchStream, Error> {
    let kept: Vec<usize> = columns.after.clone().collect();
    let schema: Arc<Schema> = Arc::new(rest.schema().project(&kept)?);
    let all = futures::stream::iter(held.into_iter().map(Ok)).chain(rest);
    let rows =
        all.map(move |batch: Result<RecordBatch, DataFusionError>| Ok(batch?.project(&kept)?));
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}
