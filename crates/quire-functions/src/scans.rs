//! `quire_scans()`: what the scans of each column table did since the database was opened.

use std::sync::Arc;

use datafusion::arrow::array::StringViewArray;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, plan_err};
use quire_error::Error;
use quire_tables::{ScanStatistics, Snapshot};

use crate::storage::{integer, integers, table_of};

/// `quire_scans()`
pub struct ScansFunction(pub Snapshot);

impl std::fmt::Debug for ScansFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("quire_scans")
    }
}

/// What a column shows of the sums over scans.
type ScanCounter = fn(&ScanStatistics) -> u64;

/// Columns besides the name of the table and the number of scans.
const COUNTERS: [(&str, ScanCounter); 12] = [
    ("rows", |sums| sums.rows),
    ("groups_scanned", |sums| sums.groups_scanned),
    ("groups_pruned", |sums| sums.groups_pruned),
    ("bytes_read", |sums| sums.bytes_read),
    ("disk_bytes", |sums| sums.disk_bytes),
    ("disk_requests", |sums| sums.disk_requests),
    ("io_wait_ns", |sums| sums.io_wait_ns),
    ("vectors_decoded", |sums| sums.vectors_decoded),
    ("decode_ns", |sums| sums.decode_ns),
    ("decoded_bytes", |sums| sums.decoded_bytes),
    ("pool_hits", |sums| sums.pool_hits),
    ("pool_misses", |sums| sums.pool_misses),
];

impl TableFunctionImpl for ScansFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_scans takes no arguments");
        }
        let tables = self.0.tables().map_err(Error::from)?;
        let names = tables.iter().map(|table| Some(&table.definition().name));
        let totals = tables.iter().map(|table| table.scan_totals().sums());
        let totals: Vec<(u64, ScanStatistics)> = totals.collect();
        let scans = totals.iter().map(|(scans, _)| integer(*scans));
        let mut columns = vec![
            (
                "table_name",
                Arc::new(names.collect::<StringViewArray>()) as _,
            ),
            ("scans", integers(scans)),
        ];
        for (name, counter) in COUNTERS {
            let values = totals.iter().map(|(_, sums)| integer(counter(sums)));
            columns.push((name, integers(values)));
        }
        table_of(columns)
    }
}
