//! The four OLTP tests of sysbench 1.0: point_select, read_only, write_only and read_write.
//!
//! Statements, their numbers in a transaction and the distributions of keys are sysbench's defaults; each statement chooses its table anew.
//! Tables are sysbench's own, or the wide one of paper 3.

mod table_shape;
mod table_statements;

use crate::workloads::key_distribution::{KeyChooser, KeyDistribution};
use crate::workloads::statements::{QueryResult, change_one, integer};
use crate::{
    ConditionOutcome, SeededRandom, SessionError, SqlValue, TransactionEnd, TransactionKind, User,
    Workload, WorkloadRowSink, WorkloadSession, WorkloadTable, WorkloadTransaction,
};
use std::io;
use std::sync::Arc;
use table_shape::SbtestRowValues;
pub use table_shape::{RowOrder, TableShape};
use table_statements::TableStatements;

/// What of sysbench is run, on which tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SysbenchOptions {
    pub test: SysbenchTest,
    pub shape: TableShape,
    /// At least 1.
    pub tables: u32,
    /// Rows of each table, at least 1.
    pub rows: u32,
    pub row_order: RowOrder,
    /// How ids are chosen, and `k` of new rows.
    pub distribution: KeyDistribution,
    pub seed: u64,
}

impl SysbenchOptions {
    /// sysbench's defaults: one table of 10,000 rows in the order of their keys, and the special distribution.
    pub const fn new(test: SysbenchTest, seed: u64) -> Self {
        Self {
            test,
            shape: TableShape::Narrow,
            tables: 1,
            rows: 10_000,
            row_order: RowOrder::Key,
            distribution: KeyDistribution::Special,
            seed,
        }
    }
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SysbenchTest {
    /// One row by its key, without a transaction around it.
    PointSelect,
    /// Ten point selects, and one of each range select of 100 keys.
    ReadOnly,
    /// An update of the indexed column, one of the text, and a row that is deleted and inserted anew.
    WriteOnly,
    /// The statements of the two others.
    ReadWrite,
}

const POINT_SELECTS: usize = 10;
const RANGE_KEYS: i64 = 100;

/// The workload.
#[derive(Clone, Debug)]
pub struct Sysbench(Arc<SysbenchRun>);

/// What all users of a run share.
#[derive(Debug)]
struct SysbenchRun {
    options: SysbenchOptions,
    values: SbtestRowValues,
    statements: Vec<TableStatements>,
    chooser: KeyChooser,
}

impl Sysbench {
    pub fn new(options: SysbenchOptions) -> Self {
        let options = SysbenchOptions {
            tables: options.tables.max(1),
            rows: options.rows.max(1),
            ..options
        };
        let values = SbtestRowValues::new(options.shape, options.seed);
        let statements = (1..=options.tables)
            .map(|number| TableStatements::new(&values, number))
            .collect();
        Self(Arc::new(SysbenchRun {
            options,
            values,
            statements,
            chooser: options.distribution.over(u64::from(options.rows)),
        }))
    }
}

impl Workload for Sysbench {
    fn name(&self) -> &'static str {
        match self.0.options.test {
            SysbenchTest::PointSelect => "sysbench-point-select",
            SysbenchTest::ReadOnly => "sysbench-read-only",
            SysbenchTest::WriteOnly => "sysbench-write-only",
            SysbenchTest::ReadWrite => "sysbench-read-write",
        }
    }

    fn about(&self) -> &'static str {
        match self.0.options.test {
            SysbenchTest::PointSelect => "sysbench 1.0 oltp_point_select: a row by its key",
            SysbenchTest::ReadOnly => "sysbench 1.0 oltp_read_only: 10 point and 4 range selects",
            SysbenchTest::WriteOnly => {
                "sysbench 1.0 oltp_write_only: 2 updates, a delete, an insert"
            }
            SysbenchTest::ReadWrite => "sysbench 1.0 oltp_read_write: 14 selects and 4 changes",
        }
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        (1..=self.0.options.tables)
            .map(|number| self.0.values.table(number))
            .collect()
    }

    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        let options = self.0.options;
        let number = table
            .strip_prefix("sbtest")
            .and_then(|text| text.parse().ok());
        let Some(number) = number.filter(|number| (1..=options.tables).contains(number)) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{table} is no table of sysbench; take one of Workload::tables"),
            ));
        };
        let mut random = SeededRandom::of_part(options.seed, u64::from(number));
        let (count, run) = (i64::from(options.rows), &self.0);
        run.values
            .generate(count, options.row_order, &run.chooser, &mut random, rows)
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        let (name, reads_only) = match self.0.options.test {
            SysbenchTest::PointSelect => ("point-select", true),
            SysbenchTest::ReadOnly => ("read-only", true),
            SysbenchTest::WriteOnly => ("write-only", false),
            SysbenchTest::ReadWrite => ("read-write", false),
        };
        vec![TransactionKind {
            name,
            weight: 1,
            reads_only,
        }]
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        let part = 1 << 63 | u64::from(number);
        Box::new(SysbenchThread {
            run: Arc::clone(&self.0),
            random: SeededRandom::of_part(self.0.options.seed, part),
        })
    }

    /// Rows are only replaced: each table has the keys from 1 to its number of rows.
    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        let rows = i64::from(self.0.options.rows);
        let mut outcomes = Vec::new();
        for table in self.tables() {
            let sql = format!("SELECT COUNT(*), MIN(id), MAX(id) FROM {}", table.name);
            let found = QueryResult::of_existing(session, &sql, &[])?;
            let found = [0, 1, 2].map(|column| found.nullable_integer(0, column));
            let [count, least, most] = found;
            let (count, least, most) = (count?, least?, most?);
            outcomes.push(ConditionOutcome {
                name: format!("{} has the keys from 1 to {rows}", table.name),
                holds: (count, least, most) == (Some(rows), Some(1), Some(rows)),
                finding: format!("{count:?} rows with keys from {least:?} to {most:?}"),
            });
        }
        Ok(outcomes)
    }
}

struct SysbenchThread {
    run: Arc<SysbenchRun>,
    random: SeededRandom,
}

impl User for SysbenchThread {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        let steps = match self.run.options.test {
            SysbenchTest::PointSelect => self.points(1),
            SysbenchTest::ReadOnly => self.reads(),
            SysbenchTest::WriteOnly => self.writes(),
            SysbenchTest::ReadWrite => [self.reads(), self.writes()].concat(),
        };
        Some(Box::new(SysbenchTransaction {
            run: Arc::clone(&self.run),
            is_explicit: self.run.options.test != SysbenchTest::PointSelect,
            steps,
        }))
    }
}

impl SysbenchThread {
    fn table(&mut self) -> usize {
        self.random.below(u64::from(self.run.options.tables)) as usize
    }

    fn key(&mut self) -> i64 {
        self.run.chooser.choose(&mut self.random)
    }

    /// All of them on one table, as sysbench has it.
    fn points(&mut self, count: usize) -> Vec<Step> {
        let table = self.table();
        let step = |_| Step::Point {
            table,
            key: self.key(),
        };
        (0..count).map(step).collect()
    }

    fn reads(&mut self) -> Vec<Step> {
        let mut steps = self.points(POINT_SELECTS);
        for range in [Range::Simple, Range::Sum, Range::Order, Range::Distinct] {
            steps.push(Step::Range {
                range,
                table: self.table(),
                first: self.key(),
            });
        }
        steps
    }

    fn writes(&mut self) -> Vec<Step> {
        let index_update = Step::IndexUpdate {
            table: self.table(),
            key: self.key(),
        };
        let run = Arc::clone(&self.run);
        let non_index_update = Step::NonIndexUpdate {
            table: self.table(),
            text: run.values.unindexed_text(&mut self.random),
            key: self.key(),
        };
        let (table, key, k) = (self.table(), self.key(), self.key());
        let replace = Step::Replace {
            table,
            key,
            row: run.values.row(key, k, &mut self.random),
        };
        vec![index_update, non_index_update, replace]
    }
}

/// A statement, or two that belong together, with its parameters.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Point {
        table: usize,
        key: i64,
    },
    Range {
        range: Range,
        table: usize,
        first: i64,
    },
    IndexUpdate {
        table: usize,
        key: i64,
    },
    NonIndexUpdate {
        table: usize,
        text: SqlValue,
        key: i64,
    },
    Replace {
        table: usize,
        key: i64,
        row: Vec<SqlValue>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    Simple,
    Sum,
    Order,
    Distinct,
}

struct SysbenchTransaction {
    run: Arc<SysbenchRun>,
    is_explicit: bool,
    steps: Vec<Step>,
}

impl WorkloadTransaction for SysbenchTransaction {
    fn kind(&self) -> usize {
        0
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        if self.is_explicit {
            session.begin()?;
        }
        for step in &self.steps {
            step.execute(&self.run.statements, session)?;
        }
        if self.is_explicit {
            session.commit()?;
        }
        Ok(TransactionEnd::Committed)
    }
}

impl Step {
    fn execute(
        &self,
        statements: &[TableStatements],
        session: &mut dyn WorkloadSession,
    ) -> Result<(), SessionError> {
        match self {
            Self::Point { table, key } => {
                session.query(&statements[*table].point_select, &[integer(*key)])?;
            }
            Self::Range {
                range,
                table,
                first,
            } => {
                let bounds = [integer(*first), integer(first + RANGE_KEYS - 1)];
                session.query(range.sql(&statements[*table]), &bounds)?;
            }
            Self::IndexUpdate { table, key } => {
                session.execute(&statements[*table].index_update, &[integer(*key)])?;
            }
            Self::NonIndexUpdate { table, text, key } => {
                let parameters = [text.clone(), integer(*key)];
                session.execute(&statements[*table].non_index_update, &parameters)?;
            }
            Self::Replace { table, key, row } => {
                // A key is absent only within a transaction that replaces its row. At READ COMMITTED a second delete waits for the first
                // transaction and then does not see the new row, with which the insert would collide.
                if session.execute(&statements[*table].delete, &[integer(*key)])? == 0 {
                    let message = format!("another transaction has replaced row {key}");
                    return Err(SessionError::Retry(message));
                }
                change_one(session, &statements[*table].insert, row)?;
            }
        }
        Ok(())
    }
}

impl Range {
    fn sql(self, statements: &TableStatements) -> &str {
        match self {
            Self::Simple => &statements.simple_range,
            Self::Sum => &statements.sum_range,
            Self::Order => &statements.order_range,
            Self::Distinct => &statements.distinct_range,
        }
    }
}
