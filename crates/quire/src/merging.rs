//! Changed rows of column tables become row groups in the background.
//!
//! Statements say how many rows they have changed. After so many, a thread looks whether the delta or the deletions of a row group
//! are worth a merge. Merges of one table follow one another; a writer waits for one, a reader never.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quire_kv::mvcc::TransactionOptions;
use quire_tables::{Engine, GROUP_ROWS, MergeOptions, MergeReport, ROW_GROUP_ROWS};
use tokio::runtime::Runtime;

use quire_error::Error;

/// Rows that are changed before somebody looks.
const CHANGED_ROWS: u64 = GROUP_ROWS as u64;

/// Rows of a delta that are worth a row group.
const DELTA_ROWS: u64 = ROW_GROUP_ROWS as u64;

/// Share of a row group that is deleted when it is worth writing again.
const DELETED_SHARE: f64 = 0.2;

/// Row groups that one commit writes again: writers wait for it.
const ROW_GROUPS_MAX: usize = 8;

/// How long a merge waits for writers, and writers that come later for it. Otherwise it is tried again later.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// What is known of changes that are not merged.
#[derive(Default)]
pub(crate) struct Merging {
    state: Arc<MergingState>,
}

#[derive(Default)]
struct MergingState {
    /// By table: rows changed since somebody looked; `None` while somebody does.
    changed: Mutex<HashMap<String, Option<u64>>>,
    is_closing: AtomicBool,
}

/// Rows that a transaction has changed, by table.
pub(crate) type ChangedRows = HashMap<String, u64>;

impl Merging {
    /// Rows have been changed by a transaction that is committed.
    pub(crate) fn note(&self, engine: &Engine, runtime: &Runtime, changed: ChangedRows) {
        for (table, rows) in changed {
            if self.state.is_due(&table, rows) {
                let (engine, state) = (engine.clone(), Arc::clone(&self.state));
                runtime.spawn_blocking(move || state.merge(&engine, &table));
            }
        }
    }

    /// Merges that are under way end soon.
    pub(crate) fn close(&self) {
        self.state.is_closing.store(true, Ordering::Relaxed);
    }
}

impl MergingState {
    fn changed(&self) -> MutexGuard<'_, HashMap<String, Option<u64>>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds changed rows; whether somebody must look now.
    fn is_due(&self, table: &str, rows: u64) -> bool {
        let mut changed = self.changed();
        let known = changed.entry(table.to_owned()).or_insert(Some(0));
        let Some(count) = known else {
            return false;
        };
        *count += rows;
        let is_due = *count >= CHANGED_ROWS;
        if is_due {
            *known = None;
        }
        is_due
    }

    /// Merges until there is nothing worth it.
    fn merge(&self, engine: &Engine, table: &str) {
        let options = MergeOptions {
            deleted_share: DELETED_SHARE,
            row_groups_max: ROW_GROUPS_MAX,
            delta_rows_min: DELTA_ROWS,
            ..MergeOptions::default()
        };
        let transaction = TransactionOptions {
            lock_timeout: Some(LOCK_TIMEOUT),
            ..TransactionOptions::default()
        };
        while !self.is_closing.load(Ordering::Relaxed) {
            // Who cannot lock the table, or finds it dropped, leaves it to the next one. Damage is told to who reads it.
            match merge(engine, table, options, transaction.clone()) {
                Ok(report) if report != MergeReport::default() && !report.is_postponed => {}
                _ => break,
            }
        }
        self.changed().remove(table);
    }
}

/// Merges the changes of one column table in a transaction of its own.
pub(crate) fn merge(
    engine: &Engine,
    table: &str,
    options: MergeOptions,
    transaction: TransactionOptions,
) -> Result<MergeReport, Error> {
    let mut transaction = engine.transaction(transaction);
    let report = transaction.merge_changes(table, options)?;
    transaction.commit()?;
    Ok(report)
}
