//! What a workload is: tables, rows, users and their transactions.

use crate::{SessionError, SqlValue, WorkloadSession, WorkloadTable};
use std::io;

/// Tables, their rows, and what users do with them.
///
/// Statements are written in the SQL that PostgreSQL, Quire, MariaDB and SQLite share, with `$1`, `$2`, … as parameters; targets
/// translate these. New keys are drawn by the workload, not by sequences of the database, which SQLite does not have.
pub trait Workload: Send + Sync {
    /// As it is typed, such as `tpc-c`.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn about(&self) -> &'static str;

    /// The tables, in the order in which they are loaded.
    fn tables(&self) -> Vec<WorkloadTable>;

    /// Generates all rows of a table of [`tables`](Self::tables): the same ones each time, values in the order of the columns.
    ///
    /// # Errors
    /// Those of the sink.
    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()>;

    /// The kinds of transactions; a [`WorkloadTransaction`] names its kind by the index in this list.
    fn kinds(&self) -> Vec<TransactionKind>;

    /// A user, whose transactions are those of its number and the workload's seed. Users of one workload share what has to be distinct, such as
    /// new keys, so all users of a run are users of one value of this type.
    fn user(&self, number: u32) -> Box<dyn User>;

    /// Whether the data is consistent, after any number of transactions of a run; empty if the workload has no such conditions. Called while no user works.
    ///
    /// # Errors
    /// When a statement fails.
    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        let _ = session;
        Ok(Vec::new())
    }
}

/// Where generated rows go.
pub trait WorkloadRowSink {
    /// Takes a row.
    ///
    /// # Errors
    /// When it cannot be written.
    fn row(&mut self, values: &[SqlValue]) -> io::Result<()>;
}

/// A kind of transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionKind {
    pub name: &'static str,
    /// How often it is chosen, in proportion to the weights of the others.
    pub weight: u32,
    /// Whether it changes no row.
    pub reads_only: bool,
}

/// A simulated user. It belongs to one thread.
pub trait User: Send {
    /// The next transaction with its parameters; `None` when the workload has no more of them.
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>>;
}

/// A transaction with its parameters. It may be run again after [`SessionError::Retry`], with the same parameters.
pub trait WorkloadTransaction {
    /// The index in [`Workload::kinds`].
    fn kind(&self) -> usize;

    /// Runs it: begins, executes statements, commits or rolls back. After an error the caller rolls back.
    ///
    /// # Errors
    /// Those of the statements.
    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError>;
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionEnd {
    Committed,
    /// Rolled back because the workload wants it, as 1 % of TPC-C's new orders.
    RolledBack,
}

/// What a condition of consistency was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionOutcome {
    pub name: String,
    pub holds: bool,
    /// What was compared, or the first rows that violate it.
    pub finding: String,
}
