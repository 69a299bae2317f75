//! What do the four simplest statements do, each in a transaction of its own?
//!
//! Swingbench's Stress Test, the third scenario of Suharjito and Kurnadi, *OLTP performance improvement using file-systems layer compression*
//! (§2.2, Table 4): inserts, selects, updates and deletes by key in a table that is empty at first.

use super::definitions::table;
use super::run_clock::{WorkloadClock, day_number};
use super::violations::{equal, none_found};
use crate::{
    ColumnType, ConditionOutcome, SeededRandom, SessionError, SqlValue, TransactionEnd,
    TransactionKind, User, Workload, WorkloadColumn, WorkloadRowSink, WorkloadSession,
    WorkloadTable, WorkloadTransaction,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Kinds, in the order of [`Workload::kinds`].
const INSERT: usize = 0;
const SELECT: usize = 1;
const UPDATE: usize = 2;
const DELETE: usize = 3;
const WEIGHTS: [u32; 4] = [15, 40, 30, 10];

const TABLE: &str = "stresstesttable";
const COLUMNS: [WorkloadColumn; 6] = [
    WorkloadColumn::new("id", ColumnType::Integer),
    WorkloadColumn::nullable("aint", ColumnType::Integer),
    WorkloadColumn::nullable("afloat", ColumnType::Double),
    WorkloadColumn::nullable("asmallvarchar", ColumnType::Varchar(10)),
    WorkloadColumn::nullable("abigvarchar", ColumnType::Varchar(1_000)),
    WorkloadColumn::nullable("adate", ColumnType::Date),
];

/// The workload.
pub struct StressTest {
    seed: u64,
    run: Arc<StressTestRun>,
}

/// What the users of a run share.
struct StressTestRun {
    clock: WorkloadClock,
    /// The id of the next insert.
    next_id: AtomicI64,
    inserted_rows: AtomicI64,
    deleted_rows: AtomicI64,
}

impl StressTest {
    /// The workload of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            run: Arc::new(StressTestRun {
                clock: WorkloadClock::new(day_number(2012, 5, 10), 10_000),
                next_id: AtomicI64::new(1),
                inserted_rows: AtomicI64::new(0),
                deleted_rows: AtomicI64::new(0),
            }),
        }
    }
}

impl Workload for StressTest {
    fn name(&self) -> &'static str {
        "stress-test"
    }

    fn about(&self) -> &'static str {
        "Swingbench's Stress Test: inserts, selects, updates and deletes by key in one table"
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        vec![table(TABLE, &COLUMNS, &["id"], &[&["asmallvarchar"]])]
    }

    /// The table is empty at first.
    fn generate(&self, _table: &str, _rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        Ok(())
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        ["Insert", "Simple Select", "Update", "Delete"]
            .into_iter()
            .zip(WEIGHTS)
            .enumerate()
            .map(|(kind, (name, weight))| TransactionKind {
                name,
                weight,
                reads_only: kind == SELECT,
            })
            .collect()
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        Box::new(StressTestUser {
            random: SeededRandom::of_part(self.seed, u64::from(number)),
            run: Arc::clone(&self.run),
        })
    }

    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        let rows = session.query("SELECT count(*) FROM stresstesttable", &[])?;
        let found = rows.first().and_then(|row| row.first()?.as_integer());
        let inserted = self.run.inserted_rows.load(Ordering::Relaxed);
        let deleted = self.run.deleted_rows.load(Ordering::Relaxed);
        Ok(vec![
            equal(
                "rows are those inserted less those deleted",
                found.unwrap_or(-1),
                inserted - deleted,
            ),
            none_found(
                session,
                "rows are as they were inserted, with ids of the run",
                "SELECT id FROM stresstesttable WHERE id < 1 OR id >= $1 OR aint < 1 OR afloat < 1 OR afloat >= 1000 LIMIT 3",
                &[SqlValue::Integer(self.run.next_id.load(Ordering::Relaxed))],
            )?,
        ])
    }
}

struct StressTestUser {
    random: SeededRandom,
    run: Arc<StressTestRun>,
}

impl User for StressTestUser {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        let kind = self.random.weighted(&WEIGHTS);
        let parameters = if kind == INSERT {
            self.row()
        } else {
            let next_id = self.run.next_id.load(Ordering::Relaxed);
            vec![SqlValue::Integer(
                self.random.between(1, (next_id - 1).max(1)),
            )]
        };
        Some(Box::new(StressTestTransaction {
            kind,
            parameters,
            run: Arc::clone(&self.run),
        }))
    }
}

impl StressTestUser {
    fn row(&mut self) -> Vec<SqlValue> {
        let random = &mut self.random;
        let small = random.between(1, 10) as usize;
        let big = random.between(1, 999) as usize;
        // The date is that of a time within ten million milliseconds from now.
        let time_us = self.run.clock.now_us() + random.between(0, 10_000_000) * 1_000;
        vec![
            SqlValue::Integer(self.run.next_id.fetch_add(1, Ordering::Relaxed)),
            SqlValue::Integer(random.between(1, 9_999_999)),
            SqlValue::Double(1.0 + 999.0 * random.fraction()),
            SqlValue::Text(random.letters(small)),
            SqlValue::Text(random.letters(big)),
            SqlValue::Date(time_us.div_euclid(86_400_000_000) as i32),
        ]
    }
}

struct StressTestTransaction {
    kind: usize,
    parameters: Vec<SqlValue>,
    run: Arc<StressTestRun>,
}

impl WorkloadTransaction for StressTestTransaction {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        let sql = match self.kind {
            SELECT => {
                session.query(
                    "SELECT id, aint, afloat, asmallvarchar, abigvarchar, adate FROM stresstesttable WHERE id = $1",
                    &self.parameters,
                )?;
                return Ok(TransactionEnd::Committed);
            }
            INSERT => {
                "INSERT INTO stresstesttable (id, aint, afloat, asmallvarchar, abigvarchar, adate) VALUES ($1, $2, $3, $4, $5, $6)"
            }
            UPDATE => "UPDATE stresstesttable SET aint = aint + 1 WHERE id = $1",
            _ => "DELETE FROM stresstesttable WHERE id = $1",
        };
        session.begin()?;
        let changed_rows = session.execute(sql, &self.parameters)? as i64;
        session.commit()?;
        match self.kind {
            INSERT => &self.run.inserted_rows,
            DELETE => &self.run.deleted_rows,
            _ => return Ok(TransactionEnd::Committed),
        }
        .fetch_add(changed_rows, Ordering::Relaxed);
        Ok(TransactionEnd::Committed)
    }
}
