//! What tests of workloads share: a workload in a SQLite database in a temporary directory, and a session that counts statements.

use quire_workload::target::sqlite::SqliteTarget;
use quire_workload::{
    ConditionOutcome, SessionError, SqlValue, Target, User, Workload, WorkloadRowSink,
    WorkloadRows, WorkloadSession, WorkloadTable, WorkloadTransaction,
};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A loaded database. Its directory goes with it.
pub struct Loaded {
    target: SqliteTarget,
    directory: PathBuf,
}

impl Loaded {
    /// Loads a workload. Without keys rows can be damaged in every way.
    pub fn new(workload: &dyn Workload, with_keys: bool) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "quire-workload-{}-{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let directory = std::env::temp_dir().join(name);
        let target = SqliteTarget::open(&directory).unwrap();
        let mut session = target.connect().unwrap();
        for mut table in workload.tables() {
            if !with_keys {
                without_keys(&mut table);
            }
            target.create_table(&table).unwrap();
            session.begin().unwrap();
            let mut sink = Inserting::new(&table, session.as_mut());
            workload.generate(&table.name, &mut sink).unwrap();
            session.commit().unwrap();
            target.create_indexes(&table).unwrap();
        }
        target.settle().unwrap();
        Self { target, directory }
    }

    pub fn session(&self) -> CountingSession {
        CountingSession {
            session: self.target.connect().unwrap(),
            queries: 0,
            changes: 0,
            records_texts: false,
            texts: Vec::new(),
        }
    }

    pub fn check(&self, workload: &dyn Workload) -> Vec<ConditionOutcome> {
        workload.check(&mut self.session()).unwrap()
    }

    /// The names of the conditions that do not hold.
    pub fn violated(&self, workload: &dyn Workload) -> Vec<String> {
        self.check(workload)
            .into_iter()
            .filter(|outcome| !outcome.holds)
            .map(|outcome| format!("{}: {}", outcome.name, outcome.finding))
            .collect()
    }

    /// A session that records the texts of statements.
    pub fn recording_session(&self) -> CountingSession {
        CountingSession {
            records_texts: true,
            ..self.session()
        }
    }

    pub fn count(&self, sql: &str) -> i64 {
        let rows = self.session().query(sql, &[]).unwrap();
        rows[0][0].as_integer().unwrap_or(0)
    }

    /// Damages the rows in each way, looks that the condition fails, and undoes the damage.
    pub fn each_damage_is_found(&self, workload: &dyn Workload, damages: &[(&str, &str)]) {
        for (damage, condition) in damages {
            let mut session = self.session();
            session.begin().unwrap();
            let changed_rows = session.execute(damage, &[]).unwrap();
            assert!(changed_rows > 0, "{damage} changes nothing");
            let outcomes = workload.check(&mut session).unwrap();
            session.rollback().unwrap();
            let violated: Vec<&str> = outcomes
                .iter()
                .filter(|outcome| !outcome.holds)
                .map(|outcome| outcome.name.as_str())
                .collect();
            assert!(
                violated.contains(condition),
                "{damage} violates {violated:?}"
            );
        }
        assert_eq!(self.violated(workload), Vec::<String>::new());
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // A test does not fail because its files stay.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn without_keys(table: &mut WorkloadTable) {
    if !table.primary_key.is_empty() {
        // The columns are still looked up.
        table.indexes.push(quire_workload::WorkloadIndex {
            name: format!("{}_key", table.name),
            columns: table.primary_key.clone(),
            unique: false,
        });
    }
    table.primary_key.clear();
    for index in &mut table.indexes {
        index.unique = false;
    }
}

struct Inserting<'a> {
    statement: String,
    session: &'a mut dyn WorkloadSession,
}

impl<'a> Inserting<'a> {
    fn new(table: &WorkloadTable, session: &'a mut dyn WorkloadSession) -> Self {
        let marks: Vec<String> = (1..=table.columns.len()).map(|n| format!("${n}")).collect();
        let statement = format!("INSERT INTO {} VALUES ({})", table.name, marks.join(", "));
        Self { statement, session }
    }
}

impl WorkloadRowSink for Inserting<'_> {
    fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
        self.session
            .execute(&self.statement, values)
            .map(|_| ())
            .map_err(io::Error::other)
    }
}

/// A session that counts queries and statements that change rows, and records both with their parameters if it is asked to.
pub struct CountingSession {
    session: Box<dyn WorkloadSession>,
    pub queries: u64,
    pub changes: u64,
    pub records_texts: bool,
    pub texts: Vec<String>,
}

impl CountingSession {
    fn record(&mut self, sql: &str, parameters: &[SqlValue]) {
        if self.records_texts {
            self.texts.push(format!("{sql} {parameters:?}"));
        }
    }
}

impl WorkloadSession for CountingSession {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        self.queries += 1;
        self.record(sql, parameters);
        self.session.query(sql, parameters)
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        self.changes += 1;
        self.record(sql, parameters);
        self.session.execute(sql, parameters)
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.session.begin()
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        self.session.commit()
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        self.session.rollback()
    }
}

/// All generated rows of a table.
pub fn rows_of(workload: &dyn Workload, table: &str) -> WorkloadRows {
    struct Keeping(WorkloadRows);
    impl WorkloadRowSink for Keeping {
        fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
            self.0.push(values.to_vec());
            Ok(())
        }
    }
    let mut rows = Keeping(Vec::new());
    workload.generate(table, &mut rows).unwrap();
    rows.0
}

/// Runs transactions of users that take turns, and counts them by kind. Ends early when there are no more.
pub fn run(
    users: &mut [Box<dyn User>],
    session: &mut dyn WorkloadSession,
    count: usize,
) -> Vec<usize> {
    let mut by_kind = Vec::new();
    for turn in 0..count {
        let user = turn % users.len();
        let Some(mut transaction) = users[user].next() else {
            break;
        };
        let kind = transaction.kind();
        if by_kind.len() <= kind {
            by_kind.resize(kind + 1, 0);
        }
        by_kind[kind] += 1;
        transaction.run(session).unwrap();
    }
    by_kind
}

pub fn users(workload: &dyn Workload, count: u32) -> Vec<Box<dyn User>> {
    (0..count).map(|number| workload.user(number)).collect()
}

/// Runs `of_each` transactions of every kind whose weight is not 0; users draw until there are as many.
pub fn run_of_each_kind(
    workload: &dyn Workload,
    session: &mut dyn WorkloadSession,
    of_each: usize,
) {
    let kinds = workload.kinds();
    let mut left: Vec<usize> = kinds
        .iter()
        .map(|kind| if kind.weight > 0 { of_each } else { 0 })
        .collect();
    let mut users = users(workload, 3);
    let mut turn = 0;
    while left.iter().any(|&left| left > 0) {
        turn += 1;
        let mut transaction: Box<dyn WorkloadTransaction> =
            users[turn % 3].next().expect("parameters without a limit");
        let left = &mut left[transaction.kind()];
        if *left > 0 {
            *left -= 1;
            transaction.run(session).unwrap();
        }
    }
}

/// A share of rows is within five standard deviations of the binomial distribution, which it leaves once in 1.7 million times.
pub fn assert_share(what: &str, hits: usize, rows: usize, probability: f64) {
    let (hits, rows) = (hits as f64, rows as f64);
    let deviation = (rows * probability * (1.0 - probability)).sqrt();
    assert!(
        (hits - rows * probability).abs() <= 5.0 * deviation + 1.0,
        "{what}: {hits} of {rows}, expected {} and a deviation of {deviation:.1}",
        rows * probability
    );
}

/// How often each text of a column comes; NULL is the empty one.
pub fn texts_of(rows: &WorkloadRows, column: usize) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for row in rows {
        *counts.entry(row[column].to_string()).or_insert(0) += 1;
    }
    counts
}
