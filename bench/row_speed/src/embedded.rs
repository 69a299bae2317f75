//! Row tables as a program has them: the embedded interface, a connection for each thread, prepared statements.

use std::path::Path;

use quire::{Connection, Database, DatabaseOptions, Prepared, Value};

use crate::rows::Row;
use crate::{Failure, Peer, Worker};

pub struct Embedded {
    database: Database,
}

impl Embedded {
    /// Opens the file; the table is made when it is missing.
    pub fn open(path: &Path, pool_bytes: usize, codec: &str) -> Result<Self, Failure> {
        let is_new = !path.exists();
        let options = DatabaseOptions {
            cache_bytes: pool_bytes,
            ..DatabaseOptions::default()
        };
        let database = Database::open_with(path, options)?;
        if is_new {
            database.connect().execute(&format!(
                "CREATE TABLE t (id BIGINT PRIMARY KEY, k INTEGER NOT NULL, c TEXT NOT NULL, pad TEXT NOT NULL) \
                 WITH (page_codec = '{codec}')"
            ))?;
        }
        Ok(Self { database })
    }
}

impl Peer for Embedded {
    fn worker(&self) -> Result<Box<dyn Worker>, Failure> {
        Ok(Box::new(EmbeddedWorker {
            durable: Statements::prepare(self.database.connect(), true)?,
            relaxed: Statements::prepare(self.database.connect(), false)?,
            is_durable: true,
            row: Row::default(),
        }))
    }
}

struct Statements {
    connection: Connection,
    select: Prepared,
    update: Prepared,
    insert: Prepared,
}

impl Statements {
    fn prepare(mut connection: Connection, is_durable: bool) -> Result<Self, Failure> {
        let synchronous = if is_durable { "full" } else { "normal" };
        connection.execute(&format!("SET synchronous = '{synchronous}'"))?;
        Ok(Self {
            select: connection.prepare("SELECT k, c, pad FROM t WHERE id = $1")?,
            update: connection.prepare("UPDATE t SET k = k + 1 WHERE id = $1")?,
            insert: connection.prepare("INSERT INTO t VALUES ($1, $2, $3, $4)")?,
            connection,
        })
    }
}

struct EmbeddedWorker {
    durable: Statements,
    relaxed: Statements,
    is_durable: bool,
    row: Row,
}

impl EmbeddedWorker {
    fn statements(&mut self) -> &mut Statements {
        if self.is_durable {
&mut self.durable
} else {
&mut self.relaxed
}
    }
}

impl Worker for EmbeddedWorker {
    fn select(&mut self, id: i64) -> Result<usize, Failure> {
        let mut reply = self.durable.select.execute(&[Value::Integer(id)])?;
        let Some([Value::Integer(k), Value::Text(c), Value::Text(pad)]) = reply.next_row()? else {
            return Err("a row is missing".into());
        };
        self.row.k = *k;
        Ok(c.len() + pad.len())
    }

    fn update(&mut self, id: i64, is_durable: bool) -> Result<(), Failure> {
        self.is_durable = is_durable;
        let reply = self.statements().update.execute(&[Value::Integer(id)])?;
        match reply.rows_affected() {
            1 => Ok(()),
            _ => Err("a row is missing".into()),
        }
    }

    fn begin(&mut self, is_durable: bool) -> Result<(), Failure> {
        self.is_durable = is_durable;
        self.statements().connection.execute("BEGIN")?;
        Ok(())
    }

    fn insert(&mut self, id: i64) -> Result<(), Failure> {
        self.row.fill(id);
        let values = [
            Value::Integer(id),
            Value::Integer(self.row.k),
            Value::Text(self.row.c.as_str().into()),
            Value::Text(self.row.pad.as_str().into()),
        ];
        self.statements().insert.execute(&values)?;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.statements().connection.execute("COMMIT")?;
        Ok(())
    }
}
