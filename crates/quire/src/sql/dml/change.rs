//! Running `UPDATE` and `DELETE`.
//!
//! The rows to change come from a query over the statement's snapshot ([`super::changed_rows`]), so the statement never meets
//! what it writes. Each is locked. A row that another transaction has changed since the snapshot is put aside; when all others
//! are done, the statement takes a new snapshot and runs again for these rows alone, which are locked now and stay as
//! they are: as in PostgreSQL, whoever waited for a row judges it anew.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use datafusion::sql::sqlparser::ast::{Delete, Update, With};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::explained::ExplainedOperator;
use quire_exec::plan::WriteKind;
use quire_kv::mvcc::TableLockMode;
use quire_planner::optimize;
use quire_planner::scan::RowKeys;
use quire_sql::names::folded;
use quire_tables::row_table::TupleValue;
use quire_tables::{RowChanges, RowTable, Snapshot, TableDefinition, Transaction};
use tokio::task::block_in_place;

use super::super::query;
use super::change_plan::{ChangeColumns, ChangeParts, ChangePlan};
use super::changed_rows::{ChangedRows, TARGET_TABLE};
use super::default_value::replace_default;
use super::returned::Returned;
use super::row_expressions::RowExpressions;
use super::row_values::RowValues;
use super::target::ChangeTarget;
use super::tuple_sink::TupleWrite;
use crate::outcome::Outcome;
use crate::planning::{StatementContext, next_of};
use crate::session::{Session, TableWriteGuard};

/// Runs an `UPDATE`.
pub(in crate::sql) async fn update(
    session: &Arc<Session>,
    update: Update,
    with: Option<With>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let changed = ChangedRows::of_update(update, with)?;
    run(session, changed, "UPDATE", token).await
}

/// Runs a `DELETE`.
pub(in crate::sql) async fn delete(
    session: &Arc<Session>,
    delete: Delete,
    with: Option<With>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let changed = ChangedRows::of_delete(delete, with)?;
    run(session, changed, "DELETE", token).await
}

async fn run(
    session: &Arc<Session>,
    mut changed: ChangedRows,
    tag: &'static str,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let mut writer = TableWriteGuard::begin(session, token).await?;
    let table = super::target::lock(&mut writer, &changed.table, TableLockMode::RowExclusive)?;
    replace_defaults(&mut changed, table.definition())?;
    let mut progress = ChangeProgress::new(&mut writer, &table, &changed)?;
    let mut only: Option<RowKeys> = None;
    loop {
        let snapshot = writer.snapshot()?;
        let table = super::target::again(&snapshot, &changed.table)?;
        let is_first = only.is_none();
        let (context, planned) = plan(session, snapshot, &changed, &table, only, token).await?;
        progress.returned.set_schema(planned.returned.clone());
        let is_done = match &table {
            ChangeTarget::Rows(rows) if is_first => {
                let write = tuple_write(session, &changed, rows, (&context, &planned));
                let ChangeProgress {
                    changes, returned, ..
                } = &mut progress;
                write.run(&mut writer, changes, returned, token).await?
            }
            _ => false,
        };
        if !is_done {
            let mut stream = context.start(&planned.plan).await?;
            while let Some(batch) = next_of(&mut stream, token).await? {
                let transaction = writer.transaction()?;
                block_in_place(|| progress.apply(transaction, &table, &planned.columns, &batch))?;
            }
        }
        let rechecks = progress.changes.take_rechecks();
        if rechecks.is_empty() {
            break;
        }
        only = Some(rechecks.into());
        writer.transaction()?.begin_statement();
    }
    let transaction = writer.transaction()?;
    block_in_place(|| progress.changes.check_references(transaction))?;
    let count = progress.changes.count();
    if let ChangeTarget::Columns { .. } = table {
        writer.note_changes(&changed.table, count);
    }
    writer.finish()?;
    Ok(progress.returned.outcome(tag, count))
}

fn replace_defaults(changed: &mut ChangedRows, definition: &TableDefinition) -> Result<(), Error> {
    for (column, value) in &mut changed.assignments {
        replace_default(value, definition, &column.value)?;
    }
    Ok(())
}

/// What the statement would do, as `EXPLAIN` shows it.
pub(super) async fn explain(
    session: &Session,
    snapshot: Snapshot,
    mut changed: ChangedRows,
    with_programs: bool,
    token: &CancelToken,
) -> Result<ExplainedOperator, Error> {
    let table = super::target::seen(&snapshot, &changed.table)?;
    replace_defaults(&mut changed, table.definition())?;
    let (context, planned) = plan(session, snapshot, &changed, &table, None, token).await?;
    if let ChangeTarget::Rows(rows) = &table {
        let write = tuple_write(session, &changed, rows, (&context, &planned));
        if let Some(explained) = write.explanation(with_programs, token).await? {
            return Ok(explained);
        }
    }
    let title = format!(
        "{} {}, rows by batches",
        kind_of(&changed).name(),
        changed.table
    );
    planned.explained(&context, title).await
}

fn kind_of(changed: &ChangedRows) -> WriteKind {
    if changed.is_deletion {
        WriteKind::Delete
    } else {
        WriteKind::Update
    }
}

fn tuple_write<'a>(
    session: &'a Session,
    changed: &ChangedRows,
    table: &'a Arc<RowTable>,
    (context, planned): (&'a StatementContext, &'a ChangePlan),
) -> TupleWrite<'a> {
    TupleWrite {
        session,
        kind: kind_of(changed),
        table,
        context,
        planned,
        may_repeat: !changed.others.is_empty(),
        rows_max: usize::MAX,
    }
}

/// The plan of a statement; `only` restricts it to rows with these keys.
async fn plan(
    session: &Session,
    snapshot: Snapshot,
    changed: &ChangedRows,
    table: &ChangeTarget,
    only: Option<RowKeys>,
    token: &CancelToken,
) -> Result<(StatementContext, ChangePlan), Error> {
    let definition = table.definition();
    let columns: Vec<String> = definition
        .visible_columns()
        .map(|(_, column)| column.name.clone())
        .collect();
    let assigned = assigned_columns(changed, &columns, definition)?;
    let tables = [(TARGET_TABLE.to_owned(), table.provider(session, only)?)];
    let select = Box::new(changed.query(&columns));
    let planned = query::plan_with(session, snapshot, select, tables, token).await?;
    for (at, (_, assigned_to)) in definition.visible_columns().enumerate() {
        if let Some(position) = assigned.iter().position(|known| *known == at) {
            let (name, data_type) = (&assigned_to.name, assigned_to.sql_type.arrow_type());
            let place = 1 + columns.len() + position;
            optimize::check_assignment(&planned.plan, place, name, &data_type)?;
        }
    }
    let sources: Vec<Column> = planned.plan.schema().columns();
    let column = |index: usize| Expr::Column(sources[index].clone());
    let before: Vec<Expr> = (1..=columns.len()).map(column).collect();
    let first_new = 1 + columns.len();
    let new_value = |index: usize| match assigned.iter().position(|known| *known == index) {
        Some(position) => column(first_new + position),
        None => before[index].clone(),
    };
    let after = if changed.is_deletion {
        Vec::new()
    } else {
        (0..columns.len()).map(new_value).collect()
    };
    let parts = ChangeParts {
        expressions: RowExpressions {
            session,
            context: &planned.context,
            with: changed.with.as_ref(),
            token,
        },
        definition,
        alias: &folded(&changed.alias),
        row_key: Some(column(0)),
        before: if changed.is_deletion {
            before
        } else {
            Vec::new()
        },
        after,
        others: sources[first_new + assigned.len()..].to_vec(),
        returning: changed.returning.as_deref(),
    };
    let plan = parts.build(planned.plan.clone()).await?;
    Ok((planned.context, plan))
}

/// Positions of the columns that are assigned to, in the order of the statement.
fn assigned_columns(
    changed: &ChangedRows,
    columns: &[String],
    definition: &TableDefinition,
) -> Result<Vec<usize>, Error> {
    let mut found = Vec::with_capacity(changed.assignments.len());
    for (name, _) in &changed.assignments {
        let name = &name.value;
        let Some(position) = columns.iter().position(|column| column == name) else {
            let table = &definition.name;
            let text = format!("column \"{name}\" of relation \"{table}\" does not exist");
            return Err(Error::new("42703", text));
        };
        if found.contains(&position) {
            let text = format!("multiple assignments to same column \"{name}\"");
            return Err(Error::new("42601", text));
        }
        found.push(position);
    }
    Ok(found)
}

/// What has been done so far.
struct ChangeProgress {
    changes: RowChanges,
    returned: Returned,
    /// Rows that are done, where a join may find a row more than once.
    done: Option<HashSet<Box<[u8]>>>,
}

impl ChangeProgress {
    fn new(
        writer: &mut TableWriteGuard<'_>,
        table: &ChangeTarget,
        changed: &ChangedRows,
    ) -> Result<Self, Error> {
        let transaction = writer.transaction()?;
        Ok(Self {
            changes: RowChanges::new(transaction.is_referenced(&table.definition().name)),
            returned: Returned::default(),
            done: (!changed.others.is_empty()).then(HashSet::new),
        })
    }

    /// Changes the rows of a batch.
    fn apply(
        &mut self,
        transaction: &mut Transaction,
        table: &ChangeTarget,
        columns: &ChangeColumns,
        batch: &RecordBatch,
    ) -> Result<(), Error> {
        let keys = columns.row_keys(batch)?;
        let after = if columns.after.is_empty() {
            None
        } else {
            Some(RowValues::new(
                table.definition(),
                batch,
                columns.after.clone(),
            )?)
        };
        let mut changed = Vec::with_capacity(batch.num_rows());
        let mut values: Vec<TupleValue<'_>> = Vec::new();
        let parts = Arc::clone(table.parts());
        for row in 0..batch.num_rows() {
            let key = keys.value(row);
            if self.done.as_ref().is_some_and(|done| done.contains(key))
                || !self.changes.lock(transaction, &parts, key)?
            {
                changed.push(false);
                continue;
            }
            if let Some(done) = &mut self.done {
                done.insert(key.into());
            }
            match &after {
                Some(after) => {
                    after.check(row, &columns.checks, batch)?;
                    after.read(row, &mut values)?;
                    self.changes.update(transaction, &parts, key, &values)?;
                }
                None => self.changes.delete(transaction, &parts, key)?,
            }
            changed.push(true);
        }
        self.returned
            .add(batch, &columns.returning, &BooleanArray::from(changed))
    }
}
