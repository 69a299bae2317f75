//! What connections and their cursors share: the connection of the database, and how it runs a statement.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::ThreadId;

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use quire::{CancelHandle, Completion, Error, Outcome, Prepared, TransactionStatus};
use quire_text::sql_scanner::{SqlScanner, first_word};

use crate::errors;
use crate::frames::{Frames, IsResult};
use crate::from_python::{Parameters, parameters};
use crate::opened::Share;
use crate::reader::{ReaderCell, RowReader};
use crate::waiting::without_lock;

/// Prepared statements that a connection keeps; when there are more it begins anew.
const PREPARED_MAX: usize = 128;

/// What names in a statement stood for.
pub type Named = Vec<(String, Py<PyAny>)>;

/// One connection, for all threads that use it: statements follow one another.
pub struct SharedConnection {
    open: Mutex<Option<OpenConnection>>,
    pub cancel: CancelHandle,
    pub frames: Arc<Frames>,
    pub autocommit: AtomicBool,
    process: u32,
    /// Which thread runs a statement.
    owner: Mutex<Option<ThreadId>>,
    /// What is closed with the connection.
    readers: Mutex<Vec<Weak<Mutex<Option<RowReader>>>>>,
}

/// A connection for what it has made: cursors and relations keep its Python object, with which it is closed.
pub struct OwningConnection {
    pub shared: Arc<SharedConnection>,
    pub object: Py<PyAny>,
}

/// An open connection. The file is closed behind what uses it.
pub struct OpenConnection {
    prepared: HashMap<String, Prepared>,
    pub connection: quire::Connection,
    pub share: Share,
}

/// What a statement did.
pub enum StatementDone {
    Rows(ReaderCell, Named),
    Nothing(Completion),
}

/// The right to run a statement.
pub struct StatementLock<'c> {
    open: MutexGuard<'c, Option<OpenConnection>>,
    owner: &'c Mutex<Option<ThreadId>>,
}

impl StatementLock<'_> {
    pub fn open(&mut self, py: Python<'_>) -> PyResult<&mut OpenConnection> {
        let open = self.open.as_mut();
        open.ok_or_else(|| errors::interface(py, "the connection is closed"))
    }
}

impl Drop for StatementLock<'_> {
    fn drop(&mut self) {
        *locked(self.owner) = None;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedConnection {
    pub fn new(
        mut connection: quire::Connection,
        share: Share,
        autocommit: bool,
        is_result: IsResult,
    ) -> Self {
        let frames = Arc::new(Frames::new(is_result));
        connection.set_external_tables(Some(frames.resolver()));
        Self {
            cancel: connection.cancel_handle(),
            open: Mutex::new(Some(OpenConnection {
                prepared: HashMap::new(),
                connection,
                share,
            })),
            frames,
            autocommit: AtomicBool::new(autocommit),
            process: std::process::id(),
            owner: Mutex::new(None),
            readers: Mutex::default(),
        }
    }

    /// The connection, when no other thread runs a statement on it.
    pub fn lock(&self, py: Python<'_>) -> PyResult<StatementLock<'_>> {
        if std::process::id() != self.process {
            let text = "this connection belongs to the process that forked this one: connect anew";
            return Err(errors::interface(py, text));
        }
        let this = std::thread::current().id();
        if *locked(&self.owner) == Some(this) {
            // A handler of a signal, or an iterator over parameters, that uses the connection which waits for it.
            let text = "the connection runs a statement on this thread already";
            return Err(errors::programming(
                py,
                text,
                Some("Use another connection."),
            ));
        }
        let guard = self.open.lock_py_attached(py);
        let open = guard.unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            return Err(errors::interface(py, "the connection is closed"));
        }
        *locked(&self.owner) = Some(this);
        let owner = &self.owner;
        Ok(StatementLock { open, owner })
    }

    /// Ends everything; what was not committed is lost.
    pub fn close(&self, py: Python<'_>) {
        let is_own = *locked(&self.owner) == Some(std::thread::current().id());
        if std::process::id() != self.process || is_own {
            return;
        }
        let open = {
            let guard = self.open.lock_py_attached(py);
            guard.unwrap_or_else(PoisonError::into_inner).take()
        };
        let readers: Vec<_> = locked(&self.readers).drain(..).collect();
        for reader in readers.iter().filter_map(Weak::upgrade) {
            let taken = {
                let guard = reader.lock_py_attached(py);
                guard.unwrap_or_else(PoisonError::into_inner).take()
            };
            py.detach(|| drop(taken));
        }
        py.detach(|| drop(open));
    }

    pub fn is_closed(&self, py: Python<'_>) -> bool {
        let guard = self.open.lock_py_attached(py);
        guard.unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Rows that are closed with the connection.
    pub fn keep(&self, reader: RowReader) -> ReaderCell {
        let cell = Arc::new(Mutex::new(Some(reader)));
        let mut readers = locked(&self.readers);
        readers.retain(|reader| reader.strong_count() > 0);
        readers.push(Arc::downgrade(&cell));
        cell
    }

    fn begins(&self, connection: &quire::Connection, sql: &str) -> bool {
        !self.autocommit.load(Ordering::Relaxed)
            && connection.transaction_status() == TransactionStatus::Idle
            && changes_something(sql)
    }

    /// Runs one statement; `named` is what names stood for in an earlier run of it.
    pub fn execute(
        &self,
        py: Python<'_>,
        sql: &str,
        objects: Option<&Bound<'_, PyAny>>,
        named: &[(String, Py<PyAny>)],
    ) -> PyResult<StatementDone> {
        let mut guard = self.lock(py)?;
        let open = guard.open(py)?;
        self.frames.begin(py, named)?;
        let done = self.execute_on(py, open, sql, objects);
        let (named, cause) = self.frames.end(py);
        match done {
            Ok(Outcome::Rows(rows)) => {
                Ok(StatementDone::Rows(self.keep(RowReader::new(rows)), named))
            }
            Ok(Outcome::Done(completion)) => Ok(StatementDone::Nothing(completion)),
            Err(exception) => {
                if cause.is_some() {
                    exception.set_cause(py, cause);
                }
                Err(exception)
            }
        }
    }

    fn execute_on(
        &self,
        py: Python<'_>,
        open: &mut OpenConnection,
        sql: &str,
        objects: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Outcome> {
        let has_objects = match objects {
            Some(objects) => !objects.is_none() && objects.len().map_or(true, |count| count > 0),
            None => false,
        };
        if !has_objects {
            return self.run(py, open, sql, |open| open.connection.execute(sql));
        }
        let Some(objects) = objects else {
            return Err(errors::programming(py, "there are no parameters", None));
        };
        let is_known = open.prepared.contains_key(sql);
        let first = self.execute_with(py, open, sql, objects);
        match first {
            // The types of its parameters may have changed since it was prepared.
            Err(_)
                if is_known && open.connection.transaction_status() == TransactionStatus::Idle =>
            {
                open.prepared.remove(sql);
                self.execute_with(py, open, sql, objects)
            }
            other => other,
        }
    }

    fn execute_with(
        &self,
        py: Python<'_>,
        open: &mut OpenConnection,
        sql: &str,
        objects: &Bound<'_, PyAny>,
    ) -> PyResult<Outcome> {
        let (types, raised) = without_lock(py, &self.cancel, || {
            open.prepared(sql).map(|one| one.parameter_types().to_vec())
        });
        let types = finished(py, types, raised)?;
        let Parameters { values, types } = parameters(objects, &types)?;
        self.run(py, open, sql, move |open| {
            let reply = open.prepared(sql)?.execute_as(&values, &types)?;
            reply.into_outcome()
        })
    }

    /// Runs `work`, which runs the statement `sql`, in the transaction that there is to be.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        open: &mut OpenConnection,
        sql: &str,
        work: impl FnOnce(&mut OpenConnection) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let begins = self.begins(&open.connection, sql);
        if is_definition(sql) {
            open.prepared.clear();
        }
        let (result, raised) = without_lock(py, &self.cancel, || {
            if begins {
                open.connection.execute("BEGIN")?;
            }
            let result = work(open);
            if result.is_err() && begins {
                // Nothing was in the transaction but this.
                let _ = open.connection.execute("ROLLBACK");
            }
            result
        });
        finished(py, result, raised)
    }
}

/// What came of work without the lock: an exception of a signal's handler goes before everything.
pub fn finished<T>(py: Python<'_>, result: Result<T, Error>, raised: Option<PyErr>) -> PyResult<T> {
    match raised {
        Some(exception) => Err(exception),
        None => result.map_err(|error| errors::exception(py, &error)),
    }
}

impl OpenConnection {
    /// The statement, prepared now or before.
    pub fn prepared(&mut self, sql: &str) -> Result<&mut Prepared, Error> {
        if self.prepared.len() >= PREPARED_MAX && !self.prepared.contains_key(sql) {
            self.prepared.clear();
        }
        match self.prepared.entry(sql.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(self.connection.prepare(sql)?)),
        }
    }
}

fn is_definition(sql: &str) -> bool {
    let word = first_word(sql).to_ascii_uppercase();
    matches!(word.as_str(), "CREATE" | "ALTER" | "DROP" | "ROLLBACK")
}

/// Whether a statement needs a transaction to be begun before it: those that change rows or definitions do. Queries do not, and
/// statements about the session or the file must not.
fn changes_something(sql: &str) -> bool {
    match first_word(sql).to_ascii_uppercase().as_str() {
        "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "CREATE" | "ALTER" | "DROP" | "TRUNCATE"
        | "COPY" | "SAVEPOINT" => true,
        // Behind WITH, and FOR UPDATE.
        "WITH" | "SELECT" => {
            const CHANGES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "NEXTVAL"];
            let changes = |word: &str| CHANGES.iter().any(|one| word.eq_ignore_ascii_case(one));
            SqlScanner::words(sql).any(changes)
        }
        _ => false,
    }
}
