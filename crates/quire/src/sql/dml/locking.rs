//! `SELECT … FOR UPDATE` and `FOR SHARE`.
//!
//! The query runs over tables that show the keys of their rows. Each row of the result locks the rows that it comes from; a row
//! that is to be skipped, or that has changed since the snapshot and no longer satisfies the query, is left out. As in
//! PostgreSQL, rows are locked before `LIMIT` counts them: so `LIMIT 1 … SKIP LOCKED` finds the first row that is free.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::take_record_batch;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, GroupByExpr, Ident, LimitClause, LockClause, LockType, NonBlock,
    ObjectName, Query, Select, SelectItem, SetExpr, TableFactor, Value,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_kv::{mvcc::LockWait, mvcc::RowLockMode, mvcc::TableLockMode};
use quire_planner::scan::{ROW_KEY_COLUMN, RowKeys};
use quire_sql::names::{folded, last_part};
use quire_sql::reject::not_supported;
use tokio::task::block_in_place;

use super::super::insert::table_name;
use super::super::query;
use super::changed_rows::table_factor;
use super::target::ChangeTarget;
use crate::outcome::{Outcome, Rows};
use crate::planning::next_of;
use crate::session::{Session, TableWriteGuard};

/// A table whose rows are locked.
struct LockedTable {
    name: String,
    alias: Ident,
    mode: RowLockMode,
    wait: LockWait,
}

/// The rows that `LIMIT` and `OFFSET` leave.
#[derive(Clone, Copy)]
struct LimitWindow {
    offset: usize,
    end: usize,
}

/// Runs a query with locking clauses.
pub(in crate::sql) async fn select(
    session: &Arc<Session>,
    mut query: Box<Query>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let clauses = std::mem::take(&mut query.locks);
    let window = take_window(&mut query)?;
    let locked = locked_tables(&mut query, &clauses)?;
    let mut writer = TableWriteGuard::begin(session, token).await?;
    for table in &locked {
        super::target::lock(&mut writer, &table.name, TableLockMode::RowShare)?;
    }
    let mut found = LockedRows::new(window);
    let mut only: Option<RowKeys> = None;
    loop {
        let snapshot = writer.snapshot()?;
        let mut tables = Vec::with_capacity(locked.len());
        for (position, table) in locked.iter().enumerate() {
            let target = super::target::again(&snapshot, &table.name)?;
            let keys = only.clone().filter(|_| locked.len() == 1);
            let provider = target.provider(session, keys)?;
            tables.push((target_name(position), provider, target));
        }
        let providers = tables
            .iter()
            .map(|(name, provider, _)| (name.clone(), Arc::clone(provider)));
        let planned = query::plan_with(session, snapshot, query.clone(), providers, token).await?;
        found.set_schema(&planned.shown_schema(), locked.len());
        let mut stream = planned.context.start(&planned.plan).await?;
        let mut again: Vec<Box<[u8]>> = Vec::new();
        while let Some(batch) = next_of(&mut stream, token).await? {
            let targets: Vec<_> = tables.iter().map(|(_, _, table)| table).collect();
            block_in_place(|| found.lock(&mut writer, &locked, &targets, &batch, &mut again))?;
            if found.is_full() {
                break;
            }
        }
        drop(stream);
        if again.is_empty() || found.is_full() {
            break;
        }
        writer.transaction()?.begin_statement();
        if locked.len() == 1 {
            only = Some(again.into());
        } else {
            // What is locked stays as it is: run it all again.
            found.clear();
        }
    }
    writer.finish()?;
    found.outcome()
}

fn target_name(position: usize) -> String {
    format!("quire locked {position}")
}

/// Takes `LIMIT` and `OFFSET` out of the query.
fn take_window(query: &mut Query) -> Result<LimitWindow, Error> {
    let number = |expr: &Expr| match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse::<usize>().ok(),
            Value::Null => Some(usize::MAX),
            _ => None,
        },
        _ => None,
    };
    let unclear = || not_supported("LIMIT or OFFSET other than a number beside FOR UPDATE");
    let (limit, offset) = match &query.limit_clause {
        None => (usize::MAX, 0),
        Some(LimitClause::LimitOffset { limit, offset, .. }) => {
            let limit = match limit {
                Some(limit) => number(limit).ok_or_else(unclear)?,
                None => usize::MAX,
            };
            let offset = match offset {
                Some(offset) => number(&offset.value).ok_or_else(unclear)?,
                None => 0,
            };
            (limit, offset)
        }
        Some(_) => return Err(unclear()),
    };
    query.limit_clause = None;
    Ok(LimitWindow {
        offset,
        end: limit.saturating_add(offset),
    })
}

/// Puts tables that show their keys in the place of those that are locked, and the keys behind the output.
fn locked_tables(query: &mut Query, clauses: &[LockClause]) -> Result<Vec<LockedTable>, Error> {
    let SetExpr::Select(select) = query.body.as_mut() else {
        return Err(not_allowed("UNION/INTERSECT/EXCEPT"));
    };
    check_shape(select)?;
    let mut locked = Vec::new();
    for table in &mut select.from {
        let joined = table.joins.iter_mut().map(|join| &mut join.relation);
        for factor in std::iter::once(&mut table.relation).chain(joined) {
            lock_factor(factor, clauses, &mut locked)?;
        }
    }
    if locked.is_empty() {
        let text = "the tables of FOR UPDATE are not in the FROM clause";
        return Err(Error::new("42P01", text));
    }
    for item in &mut select.projection {
        if let SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) = item {
            let key = ObjectName::from(vec![Ident::with_quote('"', ROW_KEY_COLUMN)]);
            options.opt_exclude = Some(ExcludeSelectItem::Multiple(vec![key]));
        }
    }
    for table in &locked {
        let key = Ident::with_quote('"', ROW_KEY_COLUMN);
        let key = Expr::CompoundIdentifier(vec![table.alias.clone(), key]);
        select.projection.push(SelectItem::UnnamedExpr(key));
    }
    Ok(locked)
}

fn check_shape(select: &Select) -> Result<(), Error> {
    let is_grouped =
        !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    if select.distinct.is_some() {
        return Err(not_allowed("DISTINCT clause"));
    }
    if is_grouped || select.having.is_some() {
        return Err(not_allowed("GROUP BY clause"));
    }
    Ok(())
}

fn not_allowed(what: &str) -> Error {
    Error::new("0A000", format!("FOR UPDATE is not allowed with {what}"))
}

fn lock_factor(
    factor: &mut TableFactor,
    clauses: &[LockClause],
    locked: &mut Vec<LockedTable>,
) -> Result<(), Error> {
    let TableFactor::Table {
        name,
        alias,
        args: None,
        ..
    } = factor
    else {
        return Ok(());
    };
    let table = table_name(name)?;
    let alias = match alias {
        Some(alias) => alias.name.clone(),
        None => Ident::with_quote('"', &table),
    };
    let is_meant = |clause: &&LockClause| {
        let of = clause.of.as_ref().and_then(last_part);
        of.is_none_or(|of| of == folded(&alias))
    };
    // The strictest clause that names the table counts.
    let meant: Vec<_> = clauses.iter().filter(is_meant).collect();
    let Some(first) = meant.first() else {
        return Ok(());
    };
    let mode = if meant
        .iter()
        .any(|clause| clause.lock_type == LockType::Update)
    {
        RowLockMode::Exclusive
    } else {
        RowLockMode::Share
    };
    let wait = match first.nonblock {
        None => LockWait::Wait,
        Some(NonBlock::Nowait) => LockWait::Fail,
        Some(NonBlock::SkipLocked) => LockWait::Skip,
    };
    *factor = table_factor(&target_name(locked.len()), alias.clone());
    locked.push(LockedTable {
        name: table,
        alias,
        mode,
        wait,
    });
    Ok(())
}

/// The rows that are locked.
struct LockedRows {
    window: LimitWindow,
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
    row_count: usize,
}

impl LockedRows {
    fn new(window: LimitWindow) -> Self {
        Self {
            window,
            schema: None,
            batches: Vec::new(),
            row_count: 0,
        }
    }

    /// Names and types of the result: all columns but the keys.
    fn set_schema(&mut self, whole: &Schema, key_count: usize) {
        let shown = whole.fields().len().saturating_sub(key_count);
        let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        let fields: Vec<Field> = whole.fields().iter().take(shown).map(nullable).collect();
        self.schema = Some(Arc::new(Schema::new(fields)));
    }

    fn is_full(&self) -> bool {
        self.row_count >= self.window.end
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.row_count = 0;
    }

    /// Locks the rows behind a batch, and takes those that are locked and unchanged.
    fn lock(
        &mut self,
        writer: &mut TableWriteGuard<'_>,
        locked: &[LockedTable],
        tables: &[&ChangeTarget],
        batch: &RecordBatch,
        again: &mut Vec<Box<[u8]>>,
    ) -> Result<(), Error> {
        let first_key = batch.num_columns() - locked.len();
        let mut taken = Vec::new();
        for row in 0..batch.num_rows() {
            if self.row_count + taken.len() >= self.window.end {
                break;
            }
            let mut is_taken = true;
            for (position, (table, parts)) in locked.iter().zip(tables).enumerate() {
                let keys = batch.column(first_key + position).as_binary_view();
                let transaction = writer.transaction()?;
                let mut rows = transaction.row_writer(parts.parts());
                match rows.lock(keys.value(row), table.mode, table.wait)? {
                    Some(true) => {}
                    Some(false) => {
                        again.push(keys.value(row).into());
                        is_taken = false;
                    }
                    None => is_taken = false,
                }
                if !is_taken {
                    break;
                }
            }
            if is_taken {
                taken.push(row as u32);
            }
        }
        let Some(schema) = &self.schema else {
            return Ok(());
        };
        let columns = batch.columns()[..first_key].to_vec();
        let shown = RecordBatch::try_new(Arc::clone(schema), columns)?;
        self.row_count += taken.len();
        self.batches
            .push(take_record_batch(&shown, &UInt32Array::from(taken))?);
        Ok(())
    }

    fn outcome(self) -> Result<Outcome, Error> {
        let schema = self.schema.unwrap_or_else(|| Arc::new(Schema::empty()));
        let mut skip = self.window.offset;
        let mut batches = Vec::with_capacity(self.batches.len());
        for batch in self.batches {
            let skipped = skip.min(batch.num_rows());
            skip -= skipped;
            batches.push(batch.slice(skipped, batch.num_rows() - skipped));
        }
        Ok(Outcome::Rows(Rows::of_batches(schema, batches)))
    }
}
