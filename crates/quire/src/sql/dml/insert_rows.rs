//! `INSERT` of rows: into a row table, or the delta of a column table.

mod append_rows;

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::error::ArrowError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    Insert, OnInsert, Query, SelectItem, SetExpr, TableObject, With,
};
use quire_exec::explained::ExplainedOperator;
use quire_exec::plan::WriteKind;
use quire_kv::mvcc::TableLockMode;
use quire_tables::row_table::TupleValue;
use quire_tables::{
    Insertion, RowChanges, RowFill, RowTable, Snapshot, TableDefinition, TableStorage, Transaction,
};
use tokio::task::block_in_place;

pub(in crate::sql) use append_rows::append_plan;

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_planner::optimize;
use quire_sql::names::{folded, last_part};
use quire_sql::reject::not_supported;

use super::super::insert::{positions, table_name};
use super::super::query;
use super::change_plan::{ChangeColumns, ChangeParts, ChangePlan};
use super::column_literals::cast_quoted;
use super::conflict::{ConflictRule, Conflicts};
use super::default_value::{default_expression, refuse_generated, replace_defaults};
use super::returned::Returned;
use super::row_expressions::RowExpressions;
use super::row_values::RowValues;
use super::target::ChangeTarget;
use super::tuple_sink::TupleWrite;
use crate::outcome::Outcome;
use crate::planning::{StatementContext, next_of};
use crate::session::{Session, TableWriteGuard};

/// An empty table that gets so many rows at once is filled from below, which nobody else may change meanwhile.
const FILL_ROWS_MIN: usize = 10_000;

/// Inserts all rows or none.
pub(in crate::sql) async fn insert(
    session: &Arc<Session>,
    writer: TableWriteGuard<'_>,
    insert: Insert,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let mut writer = writer;
    let TableObject::TableName(name) = &insert.table else {
        return Err(not_supported("INSERT into a function"));
    };
    let name = table_name(name)?;
    let is_plain = insert.on.is_none() && insert.returning.is_none();
    let snapshot = writer.snapshot()?;
    let definition = snapshot.definition(&name);
    let is_column_table = definition.is_some_and(|one| one.storage == TableStorage::Column);
    if is_plain && is_column_table {
        return append_rows::append_or_insert(session, writer, &insert, &name, token).await;
    }
    let target = super::target::lock(&mut writer, &name, TableLockMode::RowExclusive)?;
    let table = target.rows();
    let alias = alias_of(&insert, &name);
    let rule = match &insert.on {
        None => None,
        Some(OnInsert::OnConflict(conflict)) => {
            Some(ConflictRule::new(conflict, table.definition())?)
        }
        Some(_) => return Err(not_supported("ON DUPLICATE KEY UPDATE")),
    };
    let definition = table.definition();
    let snapshot = writer.snapshot()?;
    let (context, planned) = plan(session, snapshot, &insert, definition, &alias, token).await?;
    let target = InsertTarget {
        table,
        fill_rows_min: FILL_ROWS_MIN,
        alias: &alias,
        rule: rule.as_ref(),
        with: with_of(&insert),
        returning: insert.returning.as_deref(),
    };
    let progress = target.run(&mut writer, &context, planned, token).await?;
    if is_column_table {
        writer.note_changes(&name, progress.changes.count());
    }
    writer.finish()?;
    Ok(progress
        .returned
        .outcome("INSERT 0", progress.changes.count()))
}

/// What the statement would do, as `EXPLAIN` shows it.
pub(super) async fn explain(
    session: &Session,
    snapshot: Snapshot,
    insert: &Insert,
    with_programs: bool,
    token: &CancelToken,
) -> Result<ExplainedOperator, Error> {
    let TableObject::TableName(name) = &insert.table else {
        return Err(not_supported("INSERT into a function"));
    };
    let name = table_name(name)?;
    let target = super::target::seen(&snapshot, &name)?;
    let (table, alias) = (target.rows(), alias_of(insert, &name));
    let definition = table.definition();
    let (context, planned) = plan(session, snapshot, insert, definition, &alias, token).await?;
    if let (ChangeTarget::Rows(table), None) = (&target, &insert.on) {
        let write = tuple_write(session, table, (&context, &planned));
        if let Some(explained) = write.explanation(with_programs, token).await? {
            return Ok(explained);
        }
    }
    let title = format!("insert into {name}, rows by batches");
    planned.explained(&context, title).await
}

fn tuple_write<'a>(
    session: &'a Session,
    table: &'a Arc<RowTable>,
    (context, planned): (&'a StatementContext, &'a ChangePlan),
) -> TupleWrite<'a> {
    TupleWrite {
        session,
        kind: WriteKind::Insert,
        table,
        context,
        planned,
        may_repeat: false,
        // A table that may be filled from below is left to batches.
        rows_max: FILL_ROWS_MIN,
    }
}

/// `WITH` before the statement.
fn with_of(insert: &Insert) -> Option<&With> {
    insert.source.as_ref()?.with.as_ref()
}

/// What the statement calls the table.
fn alias_of(insert: &Insert, name: &str) -> String {
    match &insert.table_alias {
        Some(alias) => folded(&alias.alias),
        None => name.to_owned(),
    }
}

/// Inserts the rows of a plan into the row table called `name`: column i of the plan goes to the column at place `targets[i]`,
/// the others get their defaults. Values for columns that are GENERATED ALWAYS are taken, as `COPY` does. Returns their number.
pub(in crate::sql) async fn insert_plan(
    writer: &mut TableWriteGuard<'_>,
    name: &str,
    context: &StatementContext,
    input: LogicalPlan,
    targets: &[usize],
    token: &CancelToken,
) -> Result<u64, Error> {
    let target = super::target::lock(writer, name, TableLockMode::RowExclusive)?;
    let table = target.rows();
    let columns = input.schema().columns().into_iter().map(Expr::Column);
    let sources: Vec<(usize, Expr)> = targets.iter().copied().zip(columns).collect();
    let expressions = RowExpressions::without_queries(writer.session(), context, token);
    let definition = table.definition();
    let planned = rows_plan(expressions, definition, name, input, &sources, None).await?;
    let target = InsertTarget {
        table,
        fill_rows_min: 1,
        alias: name,
        rule: None,
        with: None,
        returning: None,
    };
    Ok(target
        .run(writer, context, planned, token)
        .await?
        .changes
        .count())
}

/// Where rows go, and what is done about those that are there.
struct InsertTarget<'a> {
    table: &'a Arc<RowTable>,
    fill_rows_min: usize,
    alias: &'a str,
    rule: Option<&'a ConflictRule>,
    with: Option<&'a With>,
    returning: Option<&'a [SelectItem]>,
}

impl InsertTarget<'_> {
    /// Inserts the rows of a plan.
    async fn run(
        &self,
        writer: &mut TableWriteGuard<'_>,
        context: &StatementContext,
        planned: ChangePlan,
        token: &CancelToken,
    ) -> Result<InsertProgress, Error> {
        let updates = self.rule.is_some_and(ConflictRule::updates);
        let is_referenced = updates
            && writer
                .transaction()?
                .is_referenced(&self.table.definition().name);
        let mut progress = InsertProgress {
            changes: RowChanges::new(is_referenced),
            ..InsertProgress::default()
        };
        progress.returned.set_schema(planned.returned.clone());
        if !self
            .run_by_tuples(writer, (context, &planned), &mut progress, token)
            .await?
        {
            self.run_by_batches(writer, context, &planned, &mut progress, token)
                .await?;
        }
        let transaction = writer.transaction()?;
        block_in_place(|| progress.changes.check_references(transaction))?;
        Ok(progress)
    }

    /// Lets the tuple engine insert the rows, if it can and should.
    async fn run_by_tuples(
        &self,
        writer: &mut TableWriteGuard<'_>,
        (context, planned): (&StatementContext, &ChangePlan),
        progress: &mut InsertProgress,
        token: &CancelToken,
    ) -> Result<bool, Error> {
        if self.rule.is_some() || self.fill_rows_min <= 1 {
            return Ok(false);
        }
        let write = tuple_write(writer.session(), self.table, (context, planned));
        let InsertProgress {
            changes, returned, ..
        } = progress;
        write.run(writer, changes, returned, token).await
    }

    async fn run_by_batches(
        &self,
        writer: &mut TableWriteGuard<'_>,
        context: &StatementContext,
        planned: &ChangePlan,
        progress: &mut InsertProgress,
        token: &CancelToken,
    ) -> Result<(), Error> {
        let mut stream = context.start(&planned.plan).await?;
        let columns = &planned.columns;
        let first = self.first_rows(&mut stream, token).await?;
        if let Some(mut fill) = self.begin_fill(writer, columns, &first)? {
            let mut insert = |batch: &RecordBatch| {
                block_in_place(|| progress.fill(&mut fill, self.table, columns, batch))
            };
            first.iter().try_for_each(&mut insert)?;
            drop(first);
            while let Some(batch) = next_of(&mut stream, token).await? {
                insert(&batch)?;
            }
            let transaction = writer.transaction()?;
            block_in_place(|| transaction.finish_fill(fill))?;
        } else {
            for batch in first {
                self.insert(writer, context, columns, progress, &batch, token)
                    .await?;
            }
            while let Some(batch) = next_of(&mut stream, token).await? {
                self.insert(writer, context, columns, progress, &batch, token)
                    .await?;
            }
        }
        Ok(())
    }

    /// As many rows as tell that a table should be filled from below, or all; none if it cannot be.
    async fn first_rows(
        &self,
        stream: &mut SendableRecordBatchStream,
        token: &CancelToken,
    ) -> Result<Vec<RecordBatch>, Error> {
        let (mut first, mut row_count) = (Vec::new(), 0);
        if self.rule.is_some() || self.returning.is_some() {
            return Ok(first);
        }
        while row_count < FILL_ROWS_MIN
            && let Some(batch) = next_of(stream, token).await?
        {
            row_count += batch.num_rows();
            first.push(batch);
        }
        Ok(first)
    }

    fn begin_fill(
        &self,
        writer: &mut TableWriteGuard<'_>,
        columns: &ChangeColumns,
        first: &[RecordBatch],
    ) -> Result<Option<RowFill>, Error> {
        let row_count: usize = first.iter().map(RecordBatch::num_rows).sum();
        if row_count < self.fill_rows_min {
            return Ok(None);
        }
        let positions: Vec<usize> = columns.after.clone().collect();
        let rows = first.iter().map(|batch| batch.project(&positions));
        let rows = rows.collect::<Result<Vec<_>, ArrowError>>()?;
        let transaction = writer.transaction()?;
        Ok(block_in_place(|| {
            transaction.begin_fill(self.table, &rows)
        })?)
    }

    /// Inserts the rows of a batch one by one.
    async fn insert(
        &self,
        writer: &mut TableWriteGuard<'_>,
        context: &StatementContext,
        columns: &ChangeColumns,
        progress: &mut InsertProgress,
        batch: &RecordBatch,
        token: &CancelToken,
    ) -> Result<(), Error> {
        let transaction = writer.transaction()?;
        let table = self.table;
        let conflicts =
            block_in_place(|| progress.insert(transaction, table, columns, batch, self.rule))?;
        let Some(rule) = self.rule.filter(|_| !conflicts.is_empty()) else {
            return Ok(());
        };
        let expressions = RowExpressions {
            session: writer.session(),
            context,
            with: self.with,
            token,
        };
        let update = conflicts.plan(expressions, table, self.alias, rule, self.returning);
        let update = update.await?;
        let mut changed = context.start(&update.plan).await?;
        while let Some(batch) = next_of(&mut changed, token).await? {
            let transaction = writer.transaction()?;
            block_in_place(|| progress.update(transaction, table, &update.columns, &batch))?;
        }
        Ok(())
    }
}

/// The plan of the rows to insert.
async fn plan(
    session: &Session,
    snapshot: Snapshot,
    insert: &Insert,
    definition: &TableDefinition,
    alias: &str,
    token: &CancelToken,
) -> Result<(StatementContext, ChangePlan), Error> {
    let named = named_columns(insert, definition)?;
    let (context, input, sources) = match &insert.source {
        Some(source) => {
            let mut source = source.clone();
            let targets = targets(definition, &named, width_of(&source))?;
            replace_defaults(&mut source, definition, &targets)?;
            cast_quoted(&mut source, definition, &targets)?;
            let planned = query::plan(session, snapshot, source, token).await?;
            let columns = planned.plan.schema().columns();
            let targets = targets_of(definition, &named, columns.len())?;
            check_types(definition, &planned.plan, &targets)?;
            let columns = columns.into_iter().map(Expr::Column);
            let sources: Vec<(usize, Expr)> = targets.into_iter().zip(columns).collect();
            (planned.context, planned.plan, sources)
        }
        // DEFAULT VALUES
        None => {
            let context = session.statement(snapshot, Default::default())?;
            (
                context,
                LogicalPlanBuilder::empty(true).build()?,
                Vec::new(),
            )
        }
    };
    refuse_generated(definition, sources.iter().map(|(place, _)| *place))?;
    let expressions = RowExpressions {
        session,
        context: &context,
        with: with_of(insert),
        token,
    };
    let returning = insert.returning.as_deref();
    let plan = rows_plan(expressions, definition, alias, input, &sources, returning).await?;
    Ok((context, plan))
}

/// Refuses values that their columns do not take.
fn check_types(
    definition: &TableDefinition,
    rows: &LogicalPlan,
    targets: &[usize],
) -> Result<(), Error> {
    for (at, place) in targets.iter().enumerate() {
        if let Some(column) = definition.columns.get(*place) {
            let data_type = column.sql_type.arrow_type();
            optimize::check_assignment(rows, at, &column.name, &data_type)?;
        }
    }
    Ok(())
}

/// The plan of rows for a table: `sources` are places of columns and their values.
async fn rows_plan(
    expressions: RowExpressions<'_>,
    definition: &TableDefinition,
    alias: &str,
    input: LogicalPlan,
    sources: &[(usize, Expr)],
    returning: Option<&[SelectItem]>,
) -> Result<ChangePlan, Error> {
    let mut after = Vec::new();
    for (place, _) in definition.visible_columns() {
        let source = sources.iter().find(|(target, _)| *target == place);
        after.push(match source {
            Some((_, source)) => source.clone(),
            None => default_expression(expressions.context, definition, place)?,
        });
    }
    let parts = ChangeParts {
        expressions,
        definition,
        alias,
        row_key: None,
        before: Vec::new(),
        after,
        others: Vec::new(),
        returning,
    };
    parts.build(input).await
}

/// Places of the columns that the statement names; none when it names none.
fn named_columns(insert: &Insert, definition: &TableDefinition) -> Result<Vec<usize>, Error> {
    let names = insert.columns.iter().map(|name| {
        last_part(name).ok_or_else(|| Error::new("42602", format!("\"{name}\" is no column name")))
    });
    positions(definition, &names.collect::<Result<Vec<_>, Error>>()?)
}

/// Number of values in the first row, where it can be seen.
fn width_of(source: &Query) -> Option<usize> {
    match source.body.as_ref() {
        SetExpr::Values(values) => values.rows.first().map(|row| row.len()),
        _ => None,
    }
}

fn targets(
    definition: &TableDefinition,
    named: &[usize],
    width: Option<usize>,
) -> Result<Vec<usize>, Error> {
    match width {
        Some(width) => targets_of(definition, named, width),
        None => Ok(Vec::new()),
    }
}

/// The place among the table's columns for each of `width` values.
fn targets_of(
    definition: &TableDefinition,
    named: &[usize],
    width: usize,
) -> Result<Vec<usize>, Error> {
    let targets: Vec<usize> = match named {
        [] => definition
            .visible_columns()
            .map(|(place, _)| place)
            .take(width)
            .collect(),
        named => named.to_vec(),
    };
    if targets.len() == width {
        return Ok(targets);
    }
    let (more, than) = if width > targets.len() {
        ("expressions", "target columns")
    } else {
        ("target columns", "expressions")
    };
    let detail = format!("{} columns, {width} expressions", targets.len());
    Err(Error::new("42601", format!("INSERT has more {more} than {than}")).with_detail(detail))
}

/// What has been done so far.
#[derive(Default)]
struct InsertProgress {
    changes: RowChanges,
    returned: Returned,
    /// Rows that the statement has written, where it must not meet them again.
    written: HashSet<Box<[u8]>>,
}

impl InsertProgress {
    /// Adds the rows of a batch to a table that is filled.
    fn fill(
        &mut self,
        fill: &mut RowFill,
        table: &RowTable,
        columns: &ChangeColumns,
        batch: &RecordBatch,
    ) -> Result<(), Error> {
        let rows = RowValues::new(table.definition(), batch, columns.after.clone())?;
        let mut values: Vec<TupleValue<'_>> = Vec::new();
        for row in 0..batch.num_rows() {
            rows.read(row, &mut values)?;
            rows.check(row, &columns.checks, batch)?;
            fill.insert(&values)?;
            self.changes.note_inserted(table.parts(), &values);
        }
        Ok(())
    }

    /// Inserts the rows of a batch; returns those that must be updates instead.
    fn insert(
        &mut self,
        transaction: &mut Transaction,
        table: &RowTable,
        columns: &ChangeColumns,
        batch: &RecordBatch,
        rule: Option<&ConflictRule>,
    ) -> Result<Conflicts, Error> {
        let rows = RowValues::new(table.definition(), batch, columns.after.clone())?;
        let mut conflicts = Conflicts::new(batch, columns.after.clone());
        let mut inserted = Vec::with_capacity(batch.num_rows());
        let mut values: Vec<TupleValue<'_>> = Vec::new();
        let updates = rule.is_some_and(ConflictRule::updates);
        let parts = table.parts();
        for row in 0..batch.num_rows() {
            rows.read(row, &mut values)?;
            rows.check(row, &columns.checks, batch)?;
            match self.changes.insert(transaction, parts, &values)? {
                Insertion::Inserted(key) => {
                    if updates {
                        self.written.insert(key);
                    }
                    inserted.push(true);
                }
                Insertion::Conflict(conflict) => {
                    inserted.push(false);
                    let writer = transaction.row_writer(parts);
                    let Some(rule) = rule.filter(|rule| rule.forgives(conflict.index)) else {
                        return Err(writer.duplicate(conflict.index, &values).into());
                    };
                    if rule.updates() {
                        if !self.written.insert(conflict.row_key.clone()) {
                            return Err(twice());
                        }
                        let existing = writer.newest(&conflict.row_key)?.unwrap_or_default();
                        conflicts.push(row, conflict.row_key, existing);
                    }
                }
            }
        }
        self.returned
            .add(batch, &columns.returning, &BooleanArray::from(inserted))?;
        Ok(conflicts)
    }

    /// Updates the rows that were there.
    fn update(
        &mut self,
        transaction: &mut Transaction,
        table: &RowTable,
        columns: &ChangeColumns,
        batch: &RecordBatch,
    ) -> Result<(), Error> {
        let rows = RowValues::new(table.definition(), batch, columns.after.clone())?;
        let keys = columns.row_keys(batch)?;
        let mut values: Vec<TupleValue<'_>> = Vec::new();
        for row in 0..batch.num_rows() {
            rows.read(row, &mut values)?;
            rows.check(row, &columns.checks, batch)?;
            let key = keys.value(row);
            self.changes
                .update(transaction, table.parts(), key, &values)?;
        }
        let all = BooleanArray::from(vec![true; batch.num_rows()]);
        self.returned.add(batch, &columns.returning, &all)
    }
}

fn twice() -> Error {
    Error::new("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time").with_hint(
        "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
    )
}
