//! How a query is run by the tuple engine.

use std::sync::Arc;

use quire_kv::progress::StatementWork;

use super::temporary_disks::TemporaryDisks;
use super::write::SharedSink;
use crate::avm::Cancellation;
use crate::costs::CostModel;

/// How a query is run.
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// Memory for rows that are kept: those of sorts, groups and joins. What is more goes into files without a name. Each of these has an
    /// equal share. Besides, a query has a leaf of each table, and the rows and strings that it works on.
    pub memory_bytes: usize,
    /// Where these files are made: where the system has its temporary files, if nothing else is said.
    pub temporary_disks: TemporaryDisks,
    /// The time in microseconds since 1970.
    pub now: i64,
    /// Whether rows, times and decoded fields are counted, for [`TupleQuery::explanation`](super::TupleQuery::explanation). Costs some time for each row.
    pub is_counted: bool,
    /// What work costs, by which ways are chosen.
    pub costs: CostModel,
    /// Threads that batches would have, if they ran the query.
    pub batch_threads: usize,
    /// What rows are written to, where the query writes any.
    pub sink: Option<SharedSink>,
    /// Ends the query early, with [`TrapReason::Cancelled`](crate::avm::TrapReason::Cancelled).
    pub cancellation: Cancellation,
    /// Where the rows of its scans are expected, and counted.
    pub work: Option<Arc<StatementWork>>,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            temporary_disks: TemporaryDisks::default(),
            now: 0,
            is_counted: false,
            costs: CostModel::default(),
            batch_threads: 1,
            sink: None,
            cancellation: Cancellation::default(),
            work: None,
        }
    }
}
