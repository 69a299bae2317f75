//! A loaded SQLite database, rows in memory, and a session that records statements.

use quire_workload::target::sqlite::SqliteTarget;
use quire_workload::{
    ConditionOutcome, SessionError, SqlValue, Target, TransactionEnd, User, Workload,
    WorkloadRowSink, WorkloadRows, WorkloadSession, WorkloadTable,
};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A workload's tables in SQLite, in a directory that is removed at the end.
pub struct LoadedDatabase {
    directory: PathBuf,
    target: SqliteTarget,
}

static DATABASES: AtomicU32 = AtomicU32::new(0);

impl LoadedDatabase {
    pub fn new(workload: &dyn Workload) -> Self {
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let name = format!("quire-workload-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let target = SqliteTarget::open(&directory).unwrap();
        load(workload, &target, &directory);
        Self { directory, target }
    }

    pub fn session(&self) -> Box<dyn WorkloadSession> {
        self.target.connect().unwrap()
    }

    pub fn integer(&self, sql: &str) -> i64 {
        let rows = self.session().query(sql, &[]).unwrap();
        rows[0][0].as_integer().unwrap()
    }
}

/// Makes and fills a workload's tables. The directory is for files that are read once.
pub fn load(workload: &dyn Workload, target: &dyn Target, directory: &Path) {
    for table in workload.tables() {
        let csv = directory.join("rows.csv");
        std::fs::write(&csv, csv_of(&rows_of(workload, &table.name))).unwrap();
        target.create_table(&table).unwrap();
        target.load(&table, &csv).unwrap();
        target.create_indexes(&table).unwrap();
    }
}

impl Drop for LoadedDatabase {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn csv_of(rows: &WorkloadRows) -> String {
    let mut csv = String::new();
    for row in rows {
        let fields: Vec<String> = row
            .iter()
            .map(|value| match value {
                SqlValue::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
                other => other.to_string(),
            })
            .collect();
        writeln!(csv, "{}", fields.join(",")).unwrap();
    }
    csv
}

struct RowsInMemory(WorkloadRows);

impl WorkloadRowSink for RowsInMemory {
    fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
        self.0.push(values.to_vec());
        Ok(())
    }
}

/// All rows of a table.
pub fn rows_of(workload: &dyn Workload, table: &str) -> WorkloadRows {
    let mut rows = RowsInMemory(WorkloadRows::new());
    workload.generate(table, &mut rows).unwrap();
    rows.0
}

/// A row whose values are asked for by the names of their columns.
pub struct NamedRow<'a> {
    pub table: &'a WorkloadTable,
    pub values: &'a [SqlValue],
}

impl NamedRow<'_> {
    pub fn value(&self, column: &str) -> &SqlValue {
        let mut columns = self.table.columns.iter();
        let place = columns.position(|one| one.name == column);
        &self.values[place.unwrap_or_else(|| panic!("no column {column}"))]
    }

    pub fn integer(&self, column: &str) -> i64 {
        self.value(column).as_integer().unwrap()
    }

    /// In units of 10^-`scale`.
    pub fn unscaled(&self, column: &str, scale: u8) -> i64 {
        self.value(column).as_unscaled(scale).unwrap()
    }

    pub fn text(&self, column: &str) -> &str {
        self.value(column).as_text().unwrap()
    }

    pub fn is_null(&self, column: &str) -> bool {
        *self.value(column) == SqlValue::Null
    }
}

/// Runs transactions of a user, again after [`SessionError::Retry`]; how they ended, by kind.
pub fn run(
    session: &mut dyn WorkloadSession,
    user: &mut dyn User,
    count: usize,
) -> Vec<(usize, TransactionEnd)> {
    let transactions = std::iter::from_fn(|| user.next()).take(count);
    let mut ends = Vec::new();
    for mut transaction in transactions {
        let end = loop {
            match transaction.run(session) {
                Ok(end) => break end,
                Err(SessionError::Retry(_)) => session.rollback().unwrap(),
                Err(error) => panic!("kind {}: {error}", transaction.kind()),
            }
        };
        ends.push((transaction.kind(), end));
    }
    ends
}

/// What [`violated`] is when all conditions hold.
pub const NONE: [usize; 0] = [];

/// The indexes, from 1, of the conditions that do not hold.
pub fn violated(outcomes: &[ConditionOutcome]) -> Vec<usize> {
    (1..)
        .zip(outcomes)
        .filter(|(_, outcome)| !outcome.holds)
        .map(|(number, _)| number)
        .collect()
}

/// Does nothing, and writes down what it was asked. Each query has one row of ones, and each change changes one row.
#[derive(Default)]
pub struct RecordingSession {
    pub statements: Vec<(String, Vec<SqlValue>)>,
}

impl RecordingSession {
    /// What a user of that number does in `count` transactions; without the times of the clock.
    pub fn of_user(workload: &dyn Workload, number: u32, count: usize) -> Self {
        let mut session = Self::default();
        run(&mut session, workload.user(number).as_mut(), count);
        for (_, parameters) in &mut session.statements {
            parameters.retain(|value| !matches!(value, SqlValue::Timestamp(_)));
        }
        session
    }

    fn record(&mut self, sql: &str, parameters: &[SqlValue]) {
        self.statements.push((sql.to_owned(), parameters.to_vec()));
    }
}

impl WorkloadSession for RecordingSession {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        self.record(sql, parameters);
        Ok(vec![vec![SqlValue::Integer(1); 10]])
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        self.record(sql, parameters);
        Ok(1)
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.record("BEGIN", &[]);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        self.record("COMMIT", &[]);
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        self.record("ROLLBACK", &[]);
        Ok(())
    }
}

/// The same seed gives the same rows and statements, another seed others.
pub fn assert_seeded(make: impl Fn(u64) -> Box<dyn Workload>, has_rows: bool) {
    let (one, same, other) = (make(1), make(1), make(2));
    let mut differs = !has_rows;
    for table in one.tables() {
        let rows = rows_of(one.as_ref(), &table.name);
        assert_eq!(rows, rows_of(same.as_ref(), &table.name), "{}", table.name);
        differs |= rows != rows_of(other.as_ref(), &table.name);
    }
    assert!(differs, "the rows do not depend on the seed");
    let statements =
        |workload: &dyn Workload, user| RecordingSession::of_user(workload, user, 30).statements;
    let first = statements(one.as_ref(), 1);
    assert_eq!(first, statements(same.as_ref(), 1));
    assert_ne!(first, statements(other.as_ref(), 1), "another seed");
    assert_ne!(first, statements(one.as_ref(), 0), "another user");
}
