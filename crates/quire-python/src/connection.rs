//! `connect` and `Connection`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use quire::{DatabaseOptions, DeviceSpecification, TransactionStatus};

use crate::cursor::Cursor;
use crate::errors;
use crate::opened::{PythonOpenError, Share};
use crate::relation::Relation;
use crate::statement::{OwningConnection, SharedConnection, StatementDone, finished};
use crate::waiting::without_lock;

/// Opens the database file at `path`, or creates it; `":memory:"` is a database of its own that ends with its connections.
///
/// Connections of one process to one file share it; other processes can open it only when all of them read. With
/// `autocommit`, every statement is a transaction of its own unless it stands between `BEGIN` and `COMMIT`; without, which is
/// the default as PEP 249 wants it, changes are kept by `commit()`, and lost when the connection is closed without.
///
/// `threads`, `memory_bytes` (of running statements together) and `cache_bytes` (of compressed pages) count for whoever opens
/// the file first, and so does `direct_io`: the file is read and written past the system's page cache. So
/// does `device`, which puts the database on a device that compresses, as in `"csd:zlib"` or `"zfs:lzjb:128k"`.
///
/// >>> import quire
/// >>> connection = quire.connect(":memory:")
/// >>> connection.execute("SELECT 1 + 1").fetchone()
/// (2,)
/// >>> connection.close()
#[pyfunction]
#[pyo3(signature = (path = None, *, read_only = false, autocommit = false, threads = None, memory_bytes = None, cache_bytes = None, direct_io = false, device = None))]
#[pyo3(
    text_signature = "(path=':memory:', *, read_only=False, autocommit=False, threads=None, memory_bytes=None, cache_bytes=None, direct_io=False, device=None)"
)]
// Each is a keyword in Python.
#[allow(clippy::too_many_arguments)]
pub fn connect(
    py: Python<'_>,
    path: Option<PathBuf>,
    read_only: bool,
    autocommit: bool,
    threads: Option<usize>,
    memory_bytes: Option<usize>,
    cache_bytes: Option<usize>,
    direct_io: bool,
    device: Option<&str>,
) -> PyResult<Connection> {
    let device = device.map(str::parse::<DeviceSpecification>).transpose();
    let device = device.map_err(|error| errors::programming(py, &error.to_string(), None))?;
    let default = DatabaseOptions::default();
    let options = DatabaseOptions {
        read_only,
        threads: threads.unwrap_or(default.threads),
        memory_bytes: memory_bytes.unwrap_or(default.memory_bytes),
        cache_bytes: cache_bytes.unwrap_or(default.cache_bytes),
        direct_io,
        device,
        ..default
    };
    let path = path.filter(|path| path.as_os_str() != ":memory:");
    if path.is_none() && read_only {
        let text = "a database in memory is empty at first: read_only needs a file";
        return Err(errors::programming(py, text, None));
    }
    let shared = py.detach(|| match &path {
        None => Share::in_memory(options),
        Some(path) => Share::of_file(path, options),
    });
    let share = shared.map_err(|error| match error {
        PythonOpenError::Database(error) => errors::exception(py, &error),
        PythonOpenError::OtherMode { is_read_only } => {
            let (has, wants) = if is_read_only {
                ("reading", "writing")
            } else {
                ("writing", "reading only")
            };
            let text =
                format!("this process has the file open for {has}, and cannot open it for {wants}");
            let hint = "Open it in the same way, or close the other connections first.";
            errors::own(py, "OperationalError", "55006", &text, Some(hint))
        }
    })?;
    Connection::of(py, share, autocommit)
}

/// A connection to a database: one transaction, and one statement at a time.
///
/// It may be used by several threads; their statements follow one another. Threads that are to work at the same time have
/// connections of their own. As a context manager it commits, or rolls back after an exception, and is closed.
///
/// >>> import quire
/// >>> with quire.connect(":memory:") as connection:
/// ...     _ = connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
/// ...     _ = connection.execute("INSERT INTO t VALUES (?, ?)", (1, "Ada"))
/// ...     connection.execute("SELECT * FROM t").fetchall()
/// [(1, 'Ada')]
#[pyclass(frozen, module = "quire")]
pub struct Connection(Arc<SharedConnection>);

impl Connection {
    fn of(py: Python<'_>, share: Share, autocommit: bool) -> PyResult<Self> {
        let connection = share.connect();
        let connection =
            connection.ok_or_else(|| errors::interface(py, "the connection is closed"))?;
        let is_result = |object: &Bound<'_, PyAny>| {
            object.is_instance_of::<Relation>() || object.is_instance_of::<Cursor>()
        };
        let shared = SharedConnection::new(connection, share, autocommit, is_result);
        Ok(Self(Arc::new(shared)))
    }

    fn owning(slf: &Bound<'_, Self>) -> OwningConnection {
        OwningConnection {
            shared: Arc::clone(&slf.get().0),
            object: slf.clone().into_any().unbind(),
        }
    }

    fn end(&self, py: Python<'_>, statement: &'static str) -> PyResult<()> {
        let mut guard = self.0.lock(py)?;
        let open = guard.open(py)?;
        let status = open.connection.transaction_status();
        if status == TransactionStatus::Idle {
            return Ok(());
        }
        let (ended, raised) =
            without_lock(py, &self.0.cancel, || open.connection.execute(statement));
        finished(py, ended.map(drop), raised)?;
        if statement == "COMMIT" && status == TransactionStatus::Failed {
            let text =
                "a statement of the transaction failed: it has been rolled back, not committed";
            return Err(errors::own(py, "InternalError", "25P02", text, None));
        }
        Ok(())
    }
}

#[pymethods]
impl Connection {
    /// A cursor: it runs statements and hands out their rows.
    ///
    /// >>> cursor = quire.connect(":memory:").cursor()
    /// >>> cursor.execute("SELECT 1 AS one, 'a' AS letter").fetchall()
    /// [(1, 'a')]
    fn cursor(slf: &Bound<'_, Self>) -> PyResult<Cursor> {
        drop(slf.get().0.lock(slf.py())?);
        Ok(Cursor::new(Self::owning(slf)))
    }

    /// Runs a statement on a new cursor, which is given back.
    ///
    /// >>> quire.connect(":memory:").execute("SELECT $1 + $2", [40, 2]).fetchone()
    /// (42,)
    #[pyo3(signature = (operation, parameters = None, /))]
    fn execute(
        slf: &Bound<'_, Self>,
        operation: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Cursor> {
        let cursor = Cursor::new(Self::owning(slf));
        cursor.run(slf.py(), operation, parameters)?;
        Ok(cursor)
    }

    /// Runs a statement once for each sequence of parameters, all or none, on a new cursor, which is given back.
    ///
    /// >>> connection = quire.connect(":memory:")
    /// >>> _ = connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
    /// >>> connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "Ada"), (2, "Bob")]).rowcount
    /// 2
    #[pyo3(signature = (operation, seq_of_parameters, /))]
    fn executemany(
        slf: &Bound<'_, Self>,
        operation: &str,
        seq_of_parameters: &Bound<'_, PyAny>,
    ) -> PyResult<Cursor> {
        let cursor = Cursor::new(Self::owning(slf));
        cursor.run_many(slf.py(), operation, seq_of_parameters)?;
        Ok(cursor)
    }

    /// Runs all statements of a script, one after the other; their rows are nobody's.
    ///
    /// >>> connection = quire.connect(":memory:")
    /// >>> connection.executescript("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2);")
    /// >>> connection.execute("SELECT count(*) FROM t").fetchone()
    /// (2,)
    #[pyo3(signature = (script, /))]
    fn executescript(slf: &Bound<'_, Self>, script: &str) -> PyResult<()> {
        let py = slf.py();
        let statements = quire::Connection::statements(script);
        for sql in statements.map_err(|error| errors::exception(py, &error))? {
            let done = slf.get().0.execute(py, &sql, None, &[])?;
            if let StatementDone::Rows(cell, _) = done {
                let mut guard = cell
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(reader) = guard.as_mut() {
                    while reader.next_batch(py)?.is_some() {}
                }
            }
        }
        Ok(())
    }

    /// Runs a statement; its rows come back as a `Relation`, `None` if it gives none.
    ///
    /// >>> connection = quire.connect(":memory:")
    /// >>> connection.sql("SELECT 1 AS one, 'a' AS letter")
    /// ┌────────┬────────┐
    /// │ one    │ letter │
    /// │ bigint │ text   │
    /// ├────────┼────────┤
    /// │ 1      │ a      │
    /// └────────┴────────┘
    /// (1 row)
    #[pyo3(signature = (operation, parameters = None, /))]
    fn sql(
        slf: &Bound<'_, Self>,
        operation: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Relation>> {
        Relation::run(slf.py(), Self::owning(slf), operation, parameters)
    }

    /// Makes a table of an object with Arrow data, such as a data frame, known by a name to the statements of this connection.
    /// Tables of the file go before it.
    ///
    /// >>> import pyarrow
    /// >>> connection = quire.connect(":memory:")
    /// >>> connection.register("numbers", pyarrow.table({"n": [1, 2, 3]}))
    /// >>> connection.execute("SELECT sum(n) FROM numbers").fetchone()
    /// (Decimal('6'),)
    /// >>> connection.unregister("numbers")
    #[pyo3(signature = (name, frame, /))]
    fn register(&self, py: Python<'_>, name: &str, frame: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.0.frames.frame_of(frame)?.is_none() {
            let class = frame.get_type().name()?.to_string();
            let text = format!(
                "a {class} has no Arrow data: neither __arrow_c_stream__ nor __arrow_c_array__"
            );
            return Err(errors::programming(
                py,
                &text,
                Some("Make a data frame or a pyarrow.Table of it."),
            ));
        }
        let mut guard = self.0.lock(py)?;
        let open = guard.open(py)?;
        let (definition, raised) = without_lock(py, &self.0.cancel, || {
            let is_table = open.connection.table_definition(name)?.is_some();
            Ok(is_table || open.connection.views()?.iter().any(|view| view == name))
        });
        if finished(py, definition, raised)? {
            let text = format!(
                "\"{name}\" is a table of the database, which would hide what is registered"
            );
            return Err(errors::own(
                py,
                "ProgrammingError",
                "42P07",
                &text,
                Some("Choose another name."),
            ));
        }
        drop(guard);
        drop(self.0.frames.register(name, frame.clone().unbind()));
        Ok(())
    }

    /// Forgets what was registered under a name.
    #[pyo3(signature = (name, /))]
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        match self.0.frames.unregister(name) {
            Some(object) => {
                drop(object);
                Ok(())
            }
            None => {
                let text = format!("nothing is registered as \"{name}\"");
                Err(errors::own(py, "ProgrammingError", "42P01", &text, None))
            }
        }
    }

    /// Keeps the changes of the transaction. Without one, nothing happens.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, "COMMIT")
    }

    /// Takes back the changes of the transaction. Without one, nothing happens.
    ///
    /// >>> connection = quire.connect(":memory:")
    /// >>> _ = connection.execute("CREATE TABLE t (a INTEGER)")
    /// >>> connection.commit()
    /// >>> _ = connection.execute("INSERT INTO t VALUES (1)")
    /// >>> connection.rollback()
    /// >>> connection.execute("SELECT * FROM t").fetchall()
    /// []
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, "ROLLBACK")
    }

    /// Stops the statement that runs on this connection, from another thread; it raises an `OperationalError` there.
    fn interrupt(&self) {
        self.0.cancel.cancel();
    }

    /// Another connection to the same database, also to one in memory: for another thread.
    ///
    /// >>> connection = quire.connect(":memory:", autocommit=True)
    /// >>> _ = connection.execute("CREATE TABLE t (a INTEGER)")
    /// >>> connection.duplicate().execute("SELECT count(*) FROM t").fetchone()
    /// (0,)
    fn duplicate(&self, py: Python<'_>) -> PyResult<Self> {
        let mut guard = self.0.lock(py)?;
        let share = guard.open(py)?.share.again();
        drop(guard);
        Self::of(py, share, self.0.autocommit.load(Ordering::Relaxed))
    }

    /// Closes the connection and its cursors; what was not committed is lost. Closing it again does nothing.
    fn close(&self, py: Python<'_>) {
        self.0.close(py);
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.0.is_closed(py)
    }

    /// Whether every statement is a transaction of its own.
    #[getter]
    fn autocommit(&self) -> bool {
        self.0.autocommit.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_autocommit(&self, py: Python<'_>, autocommit: bool) -> PyResult<()> {
        if self.in_transaction(py)? {
            let text = "there is an open transaction: commit or roll it back first";
            return Err(errors::own(py, "ProgrammingError", "25001", text, None));
        }
        self.0.autocommit.store(autocommit, Ordering::Relaxed);
        Ok(())
    }

    /// Whether there is an open transaction.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        let mut guard = self.0.lock(py)?;
        let status = guard.open(py)?.connection.transaction_status();
        Ok(status != TransactionStatus::Idle)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (exc_type, exc_value, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let _ = (exc_value, traceback);
        if self.0.is_closed(py) {
            return Ok(());
        }
        let ended = if exc_type.is_none() {
            self.commit(py)
        } else {
            self.rollback(py)
        };
        self.0.close(py);
        ended
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Cursors and relations keep the connection: nobody is left.
        Python::attach(|py| self.0.close(py));
    }
}
