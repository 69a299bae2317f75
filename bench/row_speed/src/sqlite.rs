//! SQLite: one connection for each thread, prepared statements, WAL.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::rows::Row;
use crate::{Failure, Peer, Worker};

pub struct Sqlite {
    path: PathBuf,
    /// Of each connection.
    cache_bytes: usize,
}

impl Sqlite {
    pub fn open(path: &Path, cache_bytes: usize) -> Result<Self, Failure> {
        let sqlite = Self {
            path: path.to_owned(),
            cache_bytes,
        };
        sqlite.connect(true)?.execute_batch(
            "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c TEXT NOT NULL, pad TEXT NOT NULL)",
        )?;
        Ok(sqlite)
    }

    pub fn connect(&self, is_durable: bool) -> Result<Connection, Failure> {
        let connection = Connection::open(&self.path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let synchronous = if is_durable { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "cache_size", -(self.cache_bytes as i64 >> 10))?;
        connection.busy_timeout(Duration::from_secs(60))?;
        Ok(connection)
    }
}

impl Peer for Sqlite {
    fn worker(&self) -> Result<Box<dyn Worker>, Failure> {
        Ok(Box::new(SqliteWorker {
            durable: self.connect(true)?,
            relaxed: self.connect(false)?,
            is_durable: true,
            row: Row::default(),
        }))
    }
}

struct SqliteWorker {
    durable: Connection,
    relaxed: Connection,
    is_durable: bool,
    row: Row,
}

impl SqliteWorker {
    fn connection(&self) -> &Connection {
        if self.is_durable {
&self.durable
} else {
&self.relaxed
}
    }
}

impl Worker for SqliteWorker {
    fn select(&mut self, id: i64) -> Result<usize, Failure> {
        let mut statement = self
            .durable
            .prepare_cached("SELECT k, c, pad FROM t WHERE id = ?1")?;
        let row = &mut self.row;
        statement.query_row(params![id], |found| {
            row.k = found.get(0)?;
            row.c.clear();
            row.c.push_str(found.get_ref(1)?.as_str()?);
            row.pad.clear();
            row.pad.push_str(found.get_ref(2)?.as_str()?);
            Ok(())
        })?;
        Ok(row.c.len() + row.pad.len())
    }

    fn update(&mut self, id: i64, is_durable: bool) -> Result<(), Failure> {
        self.is_durable = is_durable;
        let mut statement = self
            .connection()
            .prepare_cached("UPDATE t SET k = k + 1 WHERE id = ?1")?;
        match statement.execute(params![id])? {
            1 => Ok(()),
            _ => Err("a row is missing".into()),
        }
    }

    fn begin(&mut self, is_durable: bool) -> Result<(), Failure> {
        self.is_durable = is_durable;
        Ok(self.connection().execute_batch("BEGIN IMMEDIATE")?)
    }

    fn insert(&mut self, id: i64) -> Result<(), Failure> {
        self.row.fill(id);
        let Row { id, k, c, pad } = &self.row;
        let connection = self.connection();
        let mut statement = connection.prepare_cached("INSERT INTO t VALUES (?1, ?2, ?3, ?4)")?;
        statement.execute(params![id, k, c, pad])?;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(self.connection().execute_batch("COMMIT")?)
    }
}
