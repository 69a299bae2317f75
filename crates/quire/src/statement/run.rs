//! From a statement's text to its answer, on the caller's thread.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::sql::sqlparser::ast::{SetExpr, Statement};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::interruption::while_running;
use quire_error::wait::wait;
use quire_exec::plan::Environment;
use quire_kv::{mvcc::Isolation, mvcc::LockWait, mvcc::TableLockMode};
use quire_sql::arrays::array_parameters;
use quire_sql::parse::{ParsedCommand, parse};
use quire_tables::row_table::Value;
use quire_tables::{ColumnTable, RowChanges, RowTable, Snapshot};

use super::answer::StatementAnswer;
use super::bind::{TableName, compile, compile_constant, is_constant, parameter_types};
use super::cache::{
    CachedStatement, CompiledStatement, KnownKind, StatementCache, TransactionControl,
};
use super::compiled::Compiled;
use super::execute::{Executed, TableRows};
use super::general::GeneralStatement;
use super::memory::{ChangedRow, StatementBuffers};
use super::storage::{ChangeContext, StatementTable};
use super::table::RowTableSchema;
use crate::result_rows::ResultRows;
use crate::session::{Session, TableWriteGuard, TransactionModes};
use crate::sql::make_arrays;

/// Words and operators between two commas.
const MOST_LEVELS: u32 = 400;

/// Whether this thread may wait for locks and pages, or is that of an executor which has no other.
fn may_wait() -> bool {
    use tokio::runtime::{Handle, RuntimeFlavor};
    Handle::try_current().map_or(true, |handle| {
        handle.runtime_flavor() != RuntimeFlavor::CurrentThread
    })
}

/// What is known of a statement; compiles it when nothing is. `None`: it takes the general path.
///
/// A statement that had to be parsed and is not covered is left in `parsed`, so that the general path does not parse it again.
pub(super) fn known(
    session: &Session,
    cache: &StatementCache,
    sql: &str,
    types: &[Option<DataType>],
    parsed: &mut Option<ParsedCommand>,
) -> Option<Arc<CachedStatement>> {
    let settings = session.settings().statement_settings_now()?;
    if !may_wait() {
        return None;
    }
    match cache.get(sql, types, settings) {
        Some(known) => Some(known),
        None => learn(session, cache, sql, types, settings, parsed),
    }
}

/// Compiles a statement, whatever was known of it; `parsed` as for [`known`].
pub(super) fn learn(
    session: &Session,
    cache: &StatementCache,
    sql: &str,
    types: &[Option<DataType>],
    settings: u64,
    parsed: &mut Option<ParsedCommand>,
) -> Option<Arc<CachedStatement>> {
    let kind = match control_of(sql) {
        Some(control) => KnownKind::Control(control),
        None if !may_be_covered(sql) => return None,
        None => {
            let snapshot = wait(session.snapshot()).ok()?;
            // The general path says what is wrong with a text.
            let command = parse(sql).map_err(|_| None);
            let compiled = command.and_then(|it| compiled(session, &snapshot, it, types));
            let compiled = compiled.map_err(|command| *parsed = command).ok();
            let schema_version = snapshot.schema_version();
            compiled.unwrap_or_else(|| KnownKind::General(GeneralStatement::new(schema_version)))
        }
    };
    let known = Arc::new(CachedStatement::new(sql, types, settings, kind));
    cache.add(&known);
    Some(known)
}

/// Compiles a statement, or gives it back.
///
/// `INSERT … VALUES` is consumed, and so is not given back: the table is nearly always a row table, and a copy of thousands of rows would take
/// longer than parsing the others again.
fn compiled(
    session: &Session,
    snapshot: &Snapshot,
    command: ParsedCommand,
    types: &[Option<DataType>],
) -> Result<KnownKind, Option<ParsedCommand>> {
    match command {
        ParsedCommand::Statement(statement, _) if is_insert_of_values(&statement) => {
            let kind = kind_of(session, snapshot, Cow::Owned(*statement), types);
            kind.ok_or(None)
        }
        ParsedCommand::Statement(statement, clauses) => {
            let kind = kind_of(session, snapshot, Cow::Borrowed(&*statement), types);
            kind.ok_or(Some(ParsedCommand::Statement(statement, clauses)))
        }
        other => Err(Some(other)),
    }
}

fn is_insert_of_values(statement: &Statement) -> bool {
    let Statement::Insert(insert) = statement else {
        return false;
    };
    let source = insert.source.as_deref();
    source.is_some_and(|source| matches!(source.body.as_ref(), SetExpr::Values(_)))
}

fn kind_of(
    session: &Session,
    snapshot: &Snapshot,
    statement: Cow<'_, Statement>,
    types: &[Option<DataType>],
) -> Option<KnownKind> {
    let options = Arc::clone(session.settings().config().options());
    let field = |data_type: &DataType| Arc::new(Field::new("", data_type.clone(), true));
    let types = types
        .iter()
        .map(|data_type| data_type.as_ref().map(field))
        .collect();
    if is_constant(&statement) {
        let constant = compile_constant(statement.into_owned(), &options, types)?;
        return Some(KnownKind::Constant(Box::new(constant)));
    }
    let name = TableName::of(&statement)?.name;
    let stored = rows_of(snapshot, &name).ok()??;
    let table = RowTableSchema::of(stored.definition());
    let compiled = compile(statement, &table, &options, types)?;
    if !compiled.only_reads() && snapshot.row_table_entry(&name).is_none() {
        return None;
    }
    Some(KnownKind::Compiled(Box::new(CompiledStatement {
        compiled,
        parts: Arc::clone(stored.parts()),
        name,
        has_many_rows: AtomicBool::new(false),
    })))
}

/// The rows of a table, where all of them are in one tree: those of a column table are, as long as it has no row groups.
fn rows_of(snapshot: &Snapshot, name: &str) -> Result<Option<Arc<RowTable>>, Error> {
    if let Some(table) = snapshot.row_table(name)? {
        return Ok(Some(table));
    }
    let table = snapshot.table(name)?;
    let has_only_delta = |table: &Arc<ColumnTable>| table.row_group_count() == 0;
    let delta = table.filter(has_only_delta);
    Ok(delta.and_then(|table| table.delta().cloned()))
}

/// The types of a shallow statement's parameters, as far as it tells.
pub(super) fn types_of(session: &Session, command: ParsedCommand) -> Option<Vec<Option<DataType>>> {
    let ParsedCommand::Statement(mut statement, _) = command else {
        return None;
    };
    let arrays = array_parameters(&mut statement);
    let table = if is_constant(&statement) {
        RowTableSchema::none()
    } else {
        let snapshot = wait(session.snapshot()).ok()?;
        RowTableSchema::of(snapshot.definition(&TableName::of(&statement)?.name)?)
    };
    let options = Arc::clone(session.settings().config().options());
    let fields = parameter_types(&statement, &table, &options)?;
    let types = fields
        .into_iter()
        .map(|field| field.map(|field| field.data_type().clone()));
    let mut types: Vec<_> = types.collect();
    if is_constant(&statement) && types.iter().any(Option::is_none) {
        // A cast tells the general path more.
        return None;
    }
    make_arrays(&mut types, &arrays);
    Some(types)
}

/// Statements that begin with another word are never covered.
fn may_be_covered(sql: &str) -> bool {
    let word = sql
        .trim_start()
        .split(|c: char| !c.is_ascii_alphabetic())
        .next();
    let covered = ["select", "insert", "update", "delete"];
    let is_known =
        word.is_some_and(|word| covered.iter().any(|known| word.eq_ignore_ascii_case(known)));
    is_known && is_shallow(sql)
}

/// Whether no expression can be nested so deeply that the caller's stack, of any size, would not do. Between two commas there
/// are at most as many levels as words and operators.
pub(super) fn is_shallow(sql: &str) -> bool {
    let (mut levels, mut most, mut is_word) = (0, 0, false);
    let mut quote = None;
    for byte in sql.bytes() {
        match quote {
            Some(end) if byte == end => quote = None,
            Some(_) => {}
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None if byte == b',' => levels = 0,
            None => {
                let is_part = byte.is_ascii_alphanumeric() || byte >= 0x80;
                let starts = is_part && !is_word;
                levels += u32::from(starts || byte.is_ascii_punctuation());
                most = most.max(levels);
                is_word = is_part;
            }
        }
    }
    most <= MOST_LEVELS
}

fn control_of(sql: &str) -> Option<TransactionControl> {
    let sql = sql.trim().trim_end_matches(';').trim_end();
    let is_one_of = |words: &[&str]| words.iter().any(|word| sql.eq_ignore_ascii_case(word));
    if is_one_of(&["begin", "begin transaction", "start transaction"]) {
        Some(TransactionControl::Begin)
    } else if is_one_of(&["commit", "end"]) {
        Some(TransactionControl::Commit)
    } else if is_one_of(&["rollback"]) {
        Some(TransactionControl::RollBack)
    } else {
        None
    }
}

/// Runs a statement of which something is known. `None`: it takes the general path, this time or always.
pub(super) fn run(
    session: &Arc<Session>,
    known: &CachedStatement,
    parameters: &[Value],
    token: &CancelToken,
    memory: &mut StatementBuffers,
) -> Option<Result<StatementAnswer, Error>> {
    let result = match &known.kind {
        KnownKind::General(general) => while_running(token, || {
            let text = (known.text.as_str(), known.parameter_types.as_slice());
            general.run(session, text, parameters, token, memory)
        }),
        KnownKind::Control(control) => control.run(session).map(Some),
        KnownKind::Constant(constant) => constant.run(session, parameters, memory),
        KnownKind::Compiled(statement) => while_running(token, || {
            match statement.read_point(session, parameters, memory) {
                Ok(true) => Ok(Some(statement.answer(std::mem::take(&mut memory.rows)))),
                Ok(false) => wait(statement.run(session, parameters, token, memory)),
                Err(error) => Err(error),
            }
        }),
    };
    if result.is_err() {
        wait(session.transaction.lock()).fail();
    }
    result.transpose()
}

/// What a statement gives.
pub(super) struct ResultShape {
    /// Names and types of its rows; `None` if it gives no rows.
    pub(super) columns: Option<SchemaRef>,
}

impl CachedStatement {
    /// What it gives, as far as that is known now.
    pub(super) fn result_shape(&self, session: &Session) -> Option<ResultShape> {
        let columns = match &self.kind {
            KnownKind::Control(_) => None,
            KnownKind::General(general) => {
                let query = general.query()?;
                let snapshot = wait(session.snapshot()).ok()?;
                let is_for = query.is_for(&snapshot).ok()?;
                Some(is_for.then(|| Arc::clone(query.schema()))?)
            }
            KnownKind::Constant(constant) => Some(constant.schema()),
            KnownKind::Compiled(statement) => {
                let snapshot = wait(session.snapshot()).ok()?;
                statement.table(&snapshot).ok()??;
                statement.compiled.schema().cloned()
            }
        };
        Some(ResultShape { columns })
    }

    /// Whether it would be worth while to compile it again.
    pub(super) fn is_outdated(&self, session: &Session) -> bool {
        match &self.kind {
            KnownKind::Control(_) | KnownKind::Constant(_) => false,
            KnownKind::Compiled(statement) => {
                let snapshot = wait(session.snapshot());
                snapshot.is_ok_and(|snapshot| {
                    let table = statement.table(&snapshot);
                    table.is_ok_and(|table| table.is_none())
                })
            }
            KnownKind::General(general) => {
                let snapshot = wait(session.snapshot());
                snapshot.is_ok_and(|it| it.schema_version() != general.schema_version)
            }
        }
    }
}

impl TransactionControl {
    fn run(self, session: &Session) -> Result<StatementAnswer, Error> {
        let mut transaction = wait(session.transaction.lock());
        let tag = match self {
            TransactionControl::Begin => {
                let isolation = session.settings().default_isolation();
                transaction.begin(TransactionModes::default(), isolation)?;
                session.note_transaction_start();
                "BEGIN"
            }
            TransactionControl::Commit => {
                let committed = transaction.commit(session);
                session.note_transaction_end(matches!(committed, Ok(true)));
                if committed? { "COMMIT" } else { "ROLLBACK" }
            }
            TransactionControl::RollBack => {
                transaction.roll_back();
                session.note_transaction_end(false);
                "ROLLBACK"
            }
        };
        Ok(StatementAnswer::Done(tag, None))
    }
}

impl CompiledStatement {
    /// Runs it; `None` when the table is not what it was compiled for or has too many rows, or the transaction takes no statements.
    async fn run(
        &self,
        session: &Session,
        parameters: &[Value],
        token: &CancelToken,
        memory: &mut StatementBuffers,
    ) -> Result<Option<StatementAnswer>, Error> {
        if self.compiled.only_reads() {
            if self.has_many_rows.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let mut transaction = session.transaction.lock().await;
            if transaction.is_aborted() {
                return Ok(None);
            }
            let snapshot = transaction.snapshot(session)?;
            let Some(mut table) = self.table(&snapshot)? else {
                return Ok(None);
            };
            if transaction.is_explicit() && snapshot.row_table_entry(&self.name).is_some() {
                transaction.lock_for_reading(session, &[table.id()], token)?;
                match self.table(&transaction.snapshot_again()?)? {
                    Some(newest) => table = newest,
                    None => return Ok(None),
                }
            }
            drop(transaction);
            let mut rows = StatementTable {
                table: &table,
                token,
                changes: None,
            };
            return self.execute(&mut rows, &session.environment(parameters));
        }
        if session.transaction.lock().await.is_aborted() {
            return Ok(None);
        }
        self.change(session, parameters, token, memory).await
    }

    /// Changes rows of its table, which is locked first. `None` when the table is not what it was compiled for.
    async fn change(
        &self,
        session: &Session,
        parameters: &[Value],
        token: &CancelToken,
        memory: &mut StatementBuffers,
    ) -> Result<Option<StatementAnswer>, Error> {
        let is_of_newest = self.is_of_newest();
        let mut writer = if is_of_newest {
            TableWriteGuard::begin_newest(session, token).await?
        } else {
            TableWriteGuard::begin(session, token).await?
        };
        let transaction = writer.transaction()?;
        transaction.lock_table(self.parts.id(), self.lock_mode(), LockWait::Wait)?;
        let is_current = transaction.is_current(&self.parts);
        let is_of_newest = is_of_newest && transaction.isolation() == Isolation::ReadCommitted;
        let answer = match &self.compiled {
            _ if !is_current => None,
            Compiled::Change(change) if is_of_newest => {
                Some(self.change_point(change, &mut writer, parameters, memory)?)
            }
            Compiled::Insert(insert) if is_of_newest => {
                self.add_rows(insert, &mut writer, parameters, memory)?
            }
            _ => self.change_rows(session, &mut writer, parameters, token)?,
        };
        writer.finish()?;
        Ok(answer)
    }

    /// Changes rows that a snapshot shows. `None` when that shows another table.
    fn change_rows(
        &self,
        session: &Session,
        writer: &mut TableWriteGuard<'_>,
        parameters: &[Value],
        token: &CancelToken,
    ) -> Result<Option<StatementAnswer>, Error> {
        let snapshot = writer.snapshot()?;
        let Some(table) = self.table(&snapshot)? else {
            return Ok(None);
        };
        let mut row = ChangedRow::default();
        let mut rows = StatementTable {
            table: &table,
            token,
            changes: Some(ChangeContext {
                changes: RowChanges::new(
                    self.compiled.changes_rows_that_are_there()
                        && snapshot.is_referenced(&self.name),
                ),
                transaction: writer.transaction()?,
                sequences: Some((&snapshot, &session.sequence_values)),
                memory: &mut row,
            }),
        };
        let answer = self.execute(&mut rows, &session.environment(parameters))?;
        if let Some(changes) = rows.changes {
            changes.finish()?;
        }
        Ok(answer)
    }

    fn lock_mode(&self) -> TableLockMode {
        match self.compiled {
            Compiled::Select(_) => TableLockMode::RowShare,
            _ => TableLockMode::RowExclusive,
        }
    }

    /// The table, if it is what the statement was compiled for.
    fn table(&self, snapshot: &Snapshot) -> Result<Option<Arc<RowTable>>, Error> {
        let table = rows_of(snapshot, &self.name)?;
        Ok(table.filter(|table| Arc::ptr_eq(table.parts(), &self.parts)))
    }

    fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
    ) -> Result<Option<StatementAnswer>, Error> {
        Ok(self.executed(self.compiled.execute(rows, environment)?))
    }

    pub(super) fn executed(&self, executed: Executed) -> Option<StatementAnswer> {
        match executed {
            Executed::Rows(rows) => Some(self.answer(rows)),
            Executed::Changed(count, returned) => Some(self.changed(count, returned)),
            Executed::TooMany => {
                self.has_many_rows.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    pub(super) fn changed(&self, count: u64, returned: Option<ResultRows>) -> StatementAnswer {
        match returned {
            Some(rows) => self.answer(rows),
            None => StatementAnswer::Done(self.compiled.tag(), Some(count)),
        }
    }

    pub(super) fn answer(&self, rows: ResultRows) -> StatementAnswer {
        match self.compiled.schema() {
            Some(schema) => StatementAnswer::Rows(Arc::clone(schema), rows, self.compiled.tag()),
            None => StatementAnswer::Done(self.compiled.tag(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_statements_are_left_to_larger_stacks() {
        assert!(may_be_covered(
            "select a from t where id = 1 and b like 'x + + +'"
        ));
        assert!(may_be_covered(&format!(
            "INSERT INTO t VALUES {}",
            "(1, 'a + b'), ".repeat(5000)
        )));
        assert!(!may_be_covered(&format!(
            "SELECT {}1 FROM t",
            "1+".repeat(5000)
        )));
        assert!(!may_be_covered(&format!(
            "SELECT a FROM t WHERE a {}",
            "or a ".repeat(500)
        )));
        assert!(!may_be_covered("CREATE TABLE t (a INTEGER)"));
    }
}
