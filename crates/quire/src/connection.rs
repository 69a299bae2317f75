//! One caller's conversation with a database.

use std::path::Path;
use std::sync::Arc;

use quire_error::Error;
use quire_error::cancel::{CancelHandle, CancelToken};
use quire_error::progress::ProgressHandle;
use quire_error::wait::wait;
use quire_planner::external::ExternalTables;
use quire_tables::TableDefinition;

use crate::backup::back_up;
use crate::definition_text::{create_statement, table_details};
use crate::opened::Opened;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::settings::Identity;
use crate::sql::load::{CopyStream, begin_copy};
use crate::sql::{self, DumpPart};
use crate::statement::{self, Prepared, StatementCache};

/// Name and size of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSummary {
    /// Name, unquoted.
    pub name: String,
    /// Number of rows; of a row table about so many.
    pub row_count: u64,
    /// Bytes of its compressed segments or pages.
    pub bytes: u64,
}

/// Where the transaction of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `BEGIN` has not been said; every statement is a transaction.
    Idle,
    /// Between `BEGIN` and `COMMIT`.
    Open,
    /// The same, but a statement failed: only `ROLLBACK`, `ROLLBACK TO` a savepoint and `COMMIT` are accepted.
    Failed,
}

/// A connection: its settings, its open transaction, and one statement at a time.
pub struct Connection {
    pub(crate) session: Arc<Session>,
    cancel: CancelHandle,
    /// Those of the database.
    statements: Arc<StatementCache>,
}

impl Connection {
    pub(crate) fn new(database: &Arc<Opened>, statements: &Arc<StatementCache>) -> Self {
        let cancel = CancelHandle::default();
        let own = Arc::clone(database);
        let session = database
            .sessions
            .add(&cancel, |number| Session::new(own, number));
        Self {
            session,
            cancel,
            statements: Arc::clone(statements),
        }
    }

    /// A statement begins.
    fn begin(&self, sql: &str) -> CancelToken {
        let limit = self.session.settings().statement_limit();
        self.cancel.begin(sql, limit)
    }

    /// Runs one statement. A query's rows are produced while they are read from the outcome.
    ///
    /// # Errors
    /// What is wrong with the statement, with its place in the text where known. Nothing of a
    /// failed statement remains.
    pub fn execute(&mut self, sql: &str) -> Result<Outcome, Error> {
        let token = self.begin(sql);
        let (session, mut parsed) = (&self.session, None);
        let answer = statement::try_execute(session, &self.statements, sql, &token, &mut parsed);
        let outcome = match answer {
            Some(answer) => answer,
            None => {
                let work = sql::run(Arc::clone(session), sql.to_owned(), parsed, token.clone());
                self.session.database.run_in_time(&token, work)
            }
        };
        match &outcome {
            // They finish the statement.
            Ok(Outcome::Rows(rows)) if rows.are_coming() => token.limit().pause(),
            _ => token.finish(),
        }
        outcome.map_err(|error| token.explained(error))
    }

    /// Begins a `COPY … FROM STDIN` or `COPY … TO STDOUT`; nothing, if the statement is none.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    pub fn begin_copy(&mut self, sql: &str) -> Result<Option<CopyStream>, Error> {
        let token = self.begin(sql);
        let begun = begin_copy(&self.session, sql, token.clone());
        if !matches!(begun, Ok(Some(_))) {
            token.finish();
        }
        begun.map_err(|error| token.explained(error))
    }

    /// Copies the newest committed state of the database to a new file, which is durable and has its name when this returns; before that
    /// there is none of that name. Others read and write meanwhile. Gives the length of the copy in bytes.
    ///
    /// # Errors
    /// `58P02` when there is a file of that name, unless it `replaces` that, and `55006` when somebody has it open; `25001`
    /// in a transaction; `57014` when it is cancelled; what the disk says.
    pub fn backup(&mut self, path: impl AsRef<Path>, replaces: bool) -> Result<u64, Error> {
        let token = self.begin("BACKUP");
        let copied = back_up(&self.session, path.as_ref(), replaces, &token);
        token.finish();
        copied.map_err(|error| token.explained(error))
    }

    /// Prepares a statement with parameters, `$1`, `$2` … or `?`, to be run many times on this connection.
    ///
    /// # Errors
    /// When the text is no statement of the grammar. What else is wrong with it is said when it is run or described.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared, Error> {
        Prepared::new(&self.session, &self.statements, &self.cancel, sql)
    }

    /// Splits a script into the texts of its statements, without their semicolons.
    ///
    /// # Errors
    /// When a quoted text, a quoted name or a comment does not end.
    pub fn statements(sql: &str) -> Result<Vec<String>, Error> {
        quire_sql::split::split(sql)
    }

    /// Where the connection's transaction is.
    pub fn transaction_status(&self) -> TransactionStatus {
        let transaction = wait(self.session.transaction.lock());
        match (transaction.is_explicit(), transaction.is_aborted()) {
            (false, _) => TransactionStatus::Idle,
            (true, false) => TransactionStatus::Open,
            (true, true) => TransactionStatus::Failed,
        }
    }

    /// Treats an open transaction as if a statement of it had failed: for failures that this crate does not see, such as a
    /// parameter that a client spells wrongly.
    pub fn fail_transaction(&mut self) {
        wait(self.session.transaction.lock()).fail();
    }

    /// Changes a setting, as `SET name = 'value'` does.
    ///
    /// # Errors
    /// When there is no such setting, or no such value of it.
    pub fn set_setting(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.session.settings().set(name, value)
    }

    /// Makes the settings as they are now those that `RESET` goes back to.
    pub fn keep_settings(&mut self) {
        self.session.keep_settings();
    }

    /// The value of a setting, as `SHOW name` says it.
    ///
    /// # Errors
    /// When there is no such setting.
    pub fn setting(&self, name: &str) -> Result<String, Error> {
        self.session.settings().show(name)
    }

    /// Says who uses the connection and what they call the database: what `current_user` and `current_database()` give.
    pub fn set_identity(&mut self, user: &str, database: &str) {
        self.session.settings().set_identity(Identity {
            user: user.to_owned(),
            database: database.to_owned(),
            is_role: false,
        });
    }

    /// From now on the connection may do what the role may that is called as its user; before, it may do everything.
    pub fn restrict_to_role(&mut self) {
        let mut settings = self.session.settings();
        let identity = settings.identity().clone();
        settings.set_identity(Identity {
            is_role: true,
            ..identity
        });
    }

    /// The number of the connection among those of the database: what `pg_backend_pid()` gives.
    pub fn number(&self) -> u32 {
        self.session.number
    }

    /// Lets `pg_terminate_backend` end the connection by `end`, which is called on any thread; without, it cannot.
    pub fn end_by(&mut self, end: Arc<dyn Fn() + Send + Sync>) {
        let sessions = &self.session.database.sessions;
        sessions.set_terminator(self.session.number, end);
    }

    /// A handle that cancels this connection's running statement from another thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// A handle that shows another thread how far this connection's statements have come.
    ///
    /// ```
    /// use quire::{Database, Outcome, Phase};
    ///
    /// let mut connection = Database::in_memory()?.connect();
    /// connection.execute("CREATE TABLE reading AS SELECT value FROM generate_series(1, 200000) AS s(value)")?;
    /// let progress = connection.progress_handle();
    /// let Outcome::Rows(mut rows) = connection.execute("SELECT sum(value) FROM reading")? else {
    ///     unreachable!("a query has rows");
    /// };
    /// let watcher = std::thread::spawn({
    ///     let progress = progress.clone();
    ///     move || progress.now().and_then(|progress| progress.share())
    /// });
    /// while rows.next_batch()?.is_some() {}
    /// // Whatever it saw, it was a share of the work, or nothing.
    /// assert!(watcher.join().is_ok_and(|share| share.is_none_or(|share| share < 1.0)));
    ///
    /// let all = progress.now().ok_or("no statement")?;
    /// assert_eq!(all.phase, Phase::Reading);
    /// assert_eq!((all.rows_done, all.rows_total), (200_000, Some(200_000)));
    /// assert_eq!(all.rows_written, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn progress_handle(&self) -> ProgressHandle {
        ProgressHandle::new(&self.cancel)
    }

    /// Where names are looked up that are no table or view of the file, from now on. Views cannot name such tables.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use quire::arrow::array::{RecordBatch, RecordBatchIterator, UInt8Array};
    /// use quire::arrow::datatypes::SchemaRef;
    /// use quire::arrow::error::ArrowError;
    /// use quire::{Database, ExternalRows, ExternalTable, Outcome};
    ///
    /// #[derive(Debug)]
    /// struct InMemory(RecordBatch);
    ///
    /// impl ExternalTable for InMemory {
    ///     fn schema(&self) -> SchemaRef {
    ///         self.0.schema()
    ///     }
    ///     fn read(&self) -> Result<ExternalRows, ArrowError> {
    ///         let rows = vec![Ok(self.0.clone())];
    ///         Ok(Box::new(RecordBatchIterator::new(rows, self.0.schema())))
    ///     }
    /// }
    ///
    /// let batch = RecordBatch::try_from_iter([("n", Arc::new(UInt8Array::from(vec![1, 2])) as _)])?;
    /// let mut connection = Database::in_memory()?.connect();
    /// connection.set_external_tables(Some(Arc::new(move |name| {
    ///     let table = InMemory(batch.clone());
    ///     Ok((name == "frame").then(|| Arc::new(table) as Arc<dyn ExternalTable>))
    /// })));
    /// let outcome = connection.execute("CREATE TABLE t AS SELECT * FROM frame")?;
    /// assert!(matches!(outcome, Outcome::Done(done) if done.row_count == Some(2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_external_tables(&mut self, tables: Option<ExternalTables>) {
        self.session.set_external_tables(tables);
    }

    /// All tables, by name.
    ///
    /// # Errors
    /// When a table's metadata cannot be read.
    pub fn tables(&self) -> Result<Vec<TableSummary>, Error> {
        let session = Arc::clone(&self.session);
        self.session.database.run(async move {
            let snapshot = session.snapshot().await?;
            let mut summaries = Vec::new();
            for table in snapshot.tables()? {
                let name = table.definition().name.clone();
                let columns = 0..table.definition().columns.len();
                let stored = columns.filter_map(|column| table.statistics(column));
                let stored: u64 = stored.map(|statistics| statistics.encoded_bytes).sum();
                let sizes = snapshot.tree_sizes(&name)?;
                summaries.push(TableSummary {
                    row_count: table.row_count()?,
                    bytes: stored + sizes.iter().map(|size| size.stored_bytes).sum::<u64>(),
                    name,
                });
            }
            for table in snapshot.row_tables()? {
                let name = table.definition().name.clone();
                let sizes = snapshot.tree_sizes(&name)?;
                summaries.push(TableSummary {
                    row_count: table.row_count_estimate()?,
                    bytes: sizes.iter().map(|size| size.stored_bytes).sum(),
                    name,
                });
            }
            summaries.sort_by(|left, right| left.name.cmp(&right.name));
            Ok(summaries)
        })
    }

    /// The definition of the table called `name`, if there is one.
    ///
    /// # Errors
    /// In an aborted transaction.
    pub fn table_definition(&self, name: &str) -> Result<Option<TableDefinition>, Error> {
        let (session, name) = (Arc::clone(&self.session), name.to_owned());
        self.session.database.run(async move {
            let snapshot = session.snapshot().await?;
            let found = snapshot.definition(&name);
            Ok(found.map(|definition| definition.as_ref().clone()))
        })
    }

    /// The statements that make an empty copy of the table called `name`, with its indexes; or the view or sequence.
    ///
    /// # Errors
    /// As [`Connection::table_definition`].
    pub fn create_statement(&self, name: &str) -> Result<Option<String>, Error> {
        let (session, name) = (Arc::clone(&self.session), name.to_owned());
        self.session.database.run(async move {
            let snapshot = session.snapshot().await?;
            Ok(create_statement(&snapshot, &name))
        })
    }

    /// The tables, sequences and views whose names are wanted, as SQL that makes them again in a new database: portable, without what only
    /// Quire knows. Within a transaction that sees one state, as `BEGIN ISOLATION LEVEL REPEATABLE READ` does, the rows are of that too.
    ///
    /// # Errors
    /// As [`Connection::table_definition`]; when a sequence cannot be read.
    pub fn dump(
        &self,
        is_portable: bool,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<DumpPart>, Error> {
        let session = Arc::clone(&self.session);
        let snapshot = async move { session.snapshot().await };
        let snapshot = self.session.database.run(snapshot)?;
        sql::dump(&snapshot, is_portable, is_wanted)
    }

    /// What the table called `name` has besides columns: lines with indexes, constraints, references to it and options,
    /// below headings.
    ///
    /// # Errors
    /// As [`Connection::table_definition`].
    pub fn table_details(&self, name: &str) -> Result<Vec<String>, Error> {
        let (session, name) = (Arc::clone(&self.session), name.to_owned());
        self.session.database.run(async move {
            let snapshot = session.snapshot().await?;
            let definition = snapshot.definition(&name);
            Ok(definition.map_or_else(Vec::new, |definition| table_details(&snapshot, definition)))
        })
    }

    /// Names of all views.
    ///
    /// # Errors
    /// As [`Connection::table_definition`].
    pub fn views(&self) -> Result<Vec<String>, Error> {
        let session = Arc::clone(&self.session);
        self.session.database.run(async move {
            let snapshot = session.snapshot().await?;
            Ok(snapshot.views().map(|view| view.name.clone()).collect())
        })
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
