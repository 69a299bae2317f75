//! A workload whose statements say what the fake database does with them: `sleep MS`, `retry TIMES`, `fail`, `panic`, `stall ONCE_MS`.

use quire_workload::{
    ColumnType, SessionError, SqlValue, Target, TargetError, TransactionEnd, TransactionKind, User,
    Workload, WorkloadColumn, WorkloadIndex, WorkloadRowSink, WorkloadRows, WorkloadSession,
    WorkloadTable, WorkloadTransaction,
};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What a transaction does.
#[derive(Clone, Debug)]
pub struct Script {
    pub kind: usize,
    pub statement: String,
    pub end: TransactionEnd,
}

impl Script {
    pub fn new(kind: usize, statement: &str) -> Self {
        Self {
            kind,
            statement: statement.to_owned(),
            end: TransactionEnd::Committed,
        }
    }
}

/// Each user does the scripts, one after the other, and again from the first up to `rounds` times.
pub struct ScriptedWorkload {
    pub scripts: Vec<Script>,
    pub rounds: u32,
    pub rows: Vec<Vec<SqlValue>>,
}

impl ScriptedWorkload {
    pub fn new(scripts: &[Script], rounds: u32) -> Self {
        Self {
            scripts: scripts.to_vec(),
            rounds,
            rows: Vec::new(),
        }
    }
}

impl Workload for ScriptedWorkload {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn about(&self) -> &'static str {
        "does what its statements say"
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        ["one", "two"].map(table).to_vec()
    }

    fn generate(&self, table: &str, sink: &mut dyn WorkloadRowSink) -> std::io::Result<()> {
        let times = if table == "one" { 1 } else { 2 };
        for _ in 0..times {
            self.rows.iter().try_for_each(|row| sink.row(row))?;
        }
        Ok(())
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        ["quick", "slow"]
            .map(|name| TransactionKind {
                name,
                weight: 1,
                reads_only: false,
            })
            .to_vec()
    }

    fn user(&self, _: u32) -> Box<dyn User> {
        let scripts = self.scripts.clone();
        let left = scripts.len() * self.rounds as usize;
        Box::new(ScriptedUser { scripts, left })
    }
}

fn table(name: &str) -> WorkloadTable {
    WorkloadTable {
        name: name.to_owned(),
        columns: vec![
            WorkloadColumn::new("id", ColumnType::Integer),
            WorkloadColumn::nullable("note", ColumnType::Varchar(10)),
        ],
        primary_key: vec!["id"],
        indexes: vec![WorkloadIndex {
            name: format!("{name}_note"),
            columns: vec!["note"],
            unique: false,
        }],
    }
}

struct ScriptedUser {
    scripts: Vec<Script>,
    left: usize,
}

impl User for ScriptedUser {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        self.left = self.left.checked_sub(1)?;
        let count = self.scripts.len();
        let script = self.scripts[(count - 1) - self.left % count].clone();
        Some(Box::new(ScriptedTransaction { script, attempt: 0 }))
    }
}

struct ScriptedTransaction {
    script: Script,
    attempt: i64,
}

impl WorkloadTransaction for ScriptedTransaction {
    fn kind(&self) -> usize {
        self.script.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        session.begin()?;
        let attempt = SqlValue::Integer(self.attempt);
        self.attempt += 1;
        session.execute(&self.script.statement, &[attempt])?;
        match self.script.end {
            TransactionEnd::Committed => session.commit()?,
            TransactionEnd::RolledBack => session.rollback()?,
        }
        Ok(self.script.end)
    }
}

/// What the database was asked.
#[derive(Debug, Default)]
pub struct Asked {
    pub begins: AtomicU64,
    pub commits: AtomicU64,
    pub rollbacks: AtomicU64,
    pub sessions: AtomicU32,
    pub stalls: AtomicU32,
    pub steps: Mutex<Vec<String>>,
}

#[derive(Clone, Debug, Default)]
pub struct FakeTarget {
    pub asked: Arc<Asked>,
    pub processes: Vec<u32>,
}

impl FakeTarget {
    fn step(&self, text: String) -> Result<(), TargetError> {
        self.asked.steps.lock().unwrap().push(text);
        Ok(())
    }
}

impl Target for FakeTarget {
    fn name(&self) -> String {
        "fake 1".to_owned()
    }

    fn create_table(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        self.step(format!("create {}", table.name))
    }

    fn load(&self, table: &WorkloadTable, csv: &Path) -> Result<(), TargetError> {
        let text = std::fs::read_to_string(csv).unwrap();
        self.step(format!("load {} {}", table.name, text.lines().count()))
    }

    fn create_indexes(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        self.step(format!("index {}", table.name))
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.step("settle".to_owned())
    }

    fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError> {
        self.asked.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(FakeSession(self.asked.clone())))
    }

    fn stored_bytes(&self) -> Result<u64, TargetError> {
        Ok(1_000 + self.asked.commits.load(Ordering::Relaxed))
    }

    fn processes(&self) -> Vec<u32> {
        self.processes.clone()
    }
}

struct FakeSession(Arc<Asked>);

impl WorkloadSession for FakeSession {
    fn query(&mut self, _: &str, _: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        Ok(Vec::new())
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        let (word, number) = sql.split_once(' ').unwrap_or((sql, "0"));
        let number: u64 = number.parse().unwrap();
        match word {
            "sleep" => thread::sleep(Duration::from_millis(number)),
            "stall" if self.0.stalls.fetch_add(1, Ordering::Relaxed) == 0 => {
                thread::sleep(Duration::from_millis(number));
            }
            "retry" if parameters[0].as_integer() < Some(number as i64) => {
                return Err(SessionError::Retry("a deadlock".to_owned()));
            }
            "fail" => {
                return Err(SessionError::Failed {
                    statement: sql.to_owned(),
                    message: "no such table".to_owned(),
                });
            }
            "panic" => panic!("a defect of the fake database, on purpose"),
            _ => {}
        }
        Ok(1)
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.0.begins.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        self.0.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        self.0.rollbacks.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}
