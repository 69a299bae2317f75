//! Connections on threads of their own, so that one can wait for another.

use std::cell::Cell;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use quire::{CancelHandle, Connection, Database, Outcome};

/// Long enough for a statement that need not wait, on a busy machine.
const ANSWER_WAIT: Duration = Duration::from_secs(60);
/// A statement that has not answered after this is waiting for a lock.
const BLOCKED_WAIT: Duration = Duration::from_millis(300);

/// Rows as text, columns separated by commas and rows by semicolons; or the SQLSTATE of an error.
pub type Answer = Result<String, String>;

/// How the rows of a scenario are kept.
#[derive(Clone, Copy)]
pub enum Tables {
    /// By primary key.
    Rows,
    /// In the delta of a column table.
    Delta,
    /// In row groups of a column table that has never been changed.
    RowGroups,
}

impl Tables {
    /// Creates a table of two numbers, the first of which is the key.
    pub fn create(self, database: &Database, name: &str, value: &str, rows: &str) {
        let session = Session::new(database);
        match self {
            Tables::Rows => {
                session.ok(&format!(
                    "CREATE TABLE {name} (id INT PRIMARY KEY, {value} INT)"
                ));
                session.ok(&format!("INSERT INTO {name} (id, {value}) VALUES {rows}"));
            }
            Tables::Delta => {
                session.ok(&format!(
                    "CREATE TABLE {name} (id INT, {value} INT) USING column"
                ));
                session.ok(&format!("INSERT INTO {name} (id, {value}) VALUES {rows}"));
            }
            Tables::RowGroups => {
                session.ok(&format!(
                    "CREATE TABLE {name} AS SELECT * FROM (VALUES {rows}) AS v (id, {value})"
                ));
            }
        }
    }
}

thread_local! {
    /// What every connection of the scenario says first.
    static SETTINGS: Cell<&'static [&'static str]> = const { Cell::new(&[]) };
}

/// Lets every connection of this thread's scenario say this first.
pub fn settings_of_all(statements: &'static [&'static str]) {
    SETTINGS.set(statements);
}

/// A connection that runs its statements one after the other.
pub struct Session {
    statements: Option<Sender<String>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
    /// What `pg_backend_pid()` gives there.
    pub number: u32,
    pub cancel: CancelHandle,
}

impl Session {
    pub fn new(database: &Database) -> Self {
        let (statements, inbox) = channel::<String>();
        let (outbox, answers) = channel();
        let mut connection = database.connect();
        let (number, cancel) = (connection.number(), connection.cancel_handle());
        let thread = std::thread::spawn(move || {
            for statement in inbox {
                let _ = outbox.send(answer(&mut connection, &statement));
            }
        });
        let session = Self {
            statements: Some(statements),
            answers,
            thread: Some(thread),
            number,
            cancel,
        };
        for statement in SETTINGS.get() {
            session.ok(statement);
        }
        session
    }

    /// Begins a transaction.
    pub fn begun(database: &Database, level: &str) -> Self {
        let session = Self::new(database);
        session.ok(&format!("BEGIN ISOLATION LEVEL {level}"));
        session
    }

    /// Starts a statement.
    pub fn send(&self, sql: &str) {
        self.statements
            .as_ref()
            .unwrap()
            .send(sql.to_owned())
            .unwrap();
    }

    /// The answer to the oldest statement without one.
    pub fn answer(&self) -> Answer {
        self.answers.recv_timeout(ANSWER_WAIT).unwrap()
    }

    pub fn run(&self, sql: &str) -> Answer {
        self.send(sql);
        self.answer()
    }

    /// Runs a statement that must succeed.
    pub fn ok(&self, sql: &str) -> String {
        match self.run(sql) {
            Ok(rows) => rows,
            Err(error) => panic!("{sql}: {error}"),
        }
    }

    /// Runs a statement that must fail; returns its SQLSTATE.
    pub fn error(&self, sql: &str) -> String {
        self.run(sql).expect_err(sql)[..5].to_owned()
    }

    /// Starts a statement that must wait for another connection.
    pub fn blocks(&self, sql: &str) {
        self.send(sql);
        match self.answers.recv_timeout(BLOCKED_WAIT) {
            Err(RecvTimeoutError::Timeout) => {}
            other => panic!("{sql} did not wait: {other:?}"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.statements.take());
        if let Some(thread) = self.thread.take()
            && !std::thread::panicking()
        {
            thread.join().unwrap();
        }
    }
}

fn answer(connection: &mut Connection, sql: &str) -> Answer {
    let text = |error: quire::Error| format!("{} {error}", error.sqlstate());
    let mut rows = match connection.execute(sql).map_err(text)? {
        Outcome::Done(_) => return Ok(String::new()),
        Outcome::Rows(rows) => rows,
    };
    let mut lines = Vec::new();
    while let Some(batch) = rows.next_batch().map_err(text)? {
        let options = FormatOptions::default().with_null("NULL");
        let columns = batch.columns().iter();
        let columns: Vec<_> = columns
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let values = columns.iter().map(|column| column.value(row).to_string());
            lines.push(values.collect::<Vec<_>>().join(","));
        }
    }
    Ok(lines.join(";"))
}
