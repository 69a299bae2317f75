//! `quire_waits()`: which connection waits for what, and who has it.

use std::sync::Arc;

use datafusion::arrow::array::{
    Int32Array, Int32Builder, ListBuilder, StringViewArray, TimestampMicrosecondArray,
};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, plan_err};
use quire_error::activity::micros_of;
use quire_functions::table_of;
use quire_kv::mvcc::{LockObject, LockReport};
use quire_tables::Snapshot;

use crate::opened::Opened;
use crate::sessions::SessionReport;

/// Those of one database; tables are called as the snapshot calls them.
pub(crate) struct WaitsFunction {
    pub(crate) database: Arc<Opened>,
    pub(crate) snapshot: Snapshot,
}

impl std::fmt::Debug for WaitsFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("quire_waits")
    }
}

impl TableFunctionImpl for WaitsFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_waits takes no arguments");
        }
        let locks = self.database.engine.lock_report();
        let waits: Vec<&LockReport> = locks.iter().filter(|it| it.waits_since.is_some()).collect();
        let sessions = self.database.sessions.report();
        let session_of = |number: u32| sessions.iter().find(|session| session.number == number);
        let known: Vec<Option<&SessionReport>> =
            waits.iter().map(|wait| session_of(wait.session)).collect();
        let numbers: Int32Array = waits.iter().map(|it| number(it.session)).collect();
        let users: StringViewArray = known.iter().map(|it| it.map(|it| &it.user)).collect();
        let objects = waits.iter().map(|it| Some(self.shown(it)));
        let modes = waits.iter().map(|it| Some(it.mode));
        let since = waits.iter().map(|it| {
            let since = it.waits_since.map(micros_of)?;
            i64::try_from(since).ok()
        });
        let since: TimestampMicrosecondArray = since.collect();
        let mut holders = ListBuilder::new(Int32Builder::new());
        for wait in &waits {
            holders.append_value(wait.blockers.iter().map(|&holder| number(holder)));
        }
        let statements: StringViewArray = known.iter().map(|it| it.map(|it| &it.query)).collect();
        table_of(vec![
            ("session", Arc::new(numbers)),
            ("usename", Arc::new(users)),
            ("object", Arc::new(objects.collect::<StringViewArray>())),
            ("mode", Arc::new(modes.collect::<StringViewArray>())),
            ("held_by", Arc::new(holders.finish())),
            ("since", Arc::new(since.with_timezone("+00:00"))),
            ("statement", Arc::new(statements)),
        ])
    }
}

impl WaitsFunction {
    /// What is locked, in words.
    fn shown(&self, wait: &LockReport) -> String {
        let table = self.snapshot.table_of_lock(wait.object);
        let table = table.map_or("that is not committed", |(_, name)| name);
        match wait.object {
            LockObject::Table(_) => format!("table {table}"),
            LockObject::Row(_) => format!("row of table {table}"),
            LockObject::Tree(_) => format!("rows of table {table}"),
            LockObject::Definitions => "definitions".to_owned(),
            LockObject::Definition(_) => {
                let called = wait.called.as_deref().unwrap_or_default();
                if called.starts_with('\0') {
                    return "what all tables share".to_owned();
                }
                format!("row groups of table {called}")
            }
        }
    }
}

/// Numbers of connections fit; 0 is what has none.
fn number(session: u32) -> Option<i32> {
    i32::try_from(session).ok()
}
