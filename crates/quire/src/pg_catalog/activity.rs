//! Rows about connections and locks: `pg_stat_activity` and `pg_locks`.

use std::collections::HashMap;

use datafusion::common::{Result, ScalarValue};
use quire_error::activity::micros_of;
use quire_kv::mvcc::{LockObject, LockReport};

use super::PgCatalog;
use super::objects::table_oid;
use super::rows::{CatalogRows, flag, instant, number, text};
use super::surroundings::DATABASE;
use crate::sessions::SessionReport;

/// What is shown of the statements of others.
const HIDDEN: &str = "<insufficient privilege>";

/// Fills the table, if it is one of these.
pub(super) fn fill(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<bool> {
    match table {
        "pg_stat_activity" => {
            let locks = catalog.opened.engine.lock_report();
            let waits: HashMap<u32, &LockReport> = locks
                .iter()
                .filter(|lock| lock.waits_since.is_some())
                .map(|lock| (lock.session, lock))
                .collect();
            for session in catalog.opened.sessions.report() {
                let wait = waits.get(&session.number).copied();
                push_session(catalog, rows, &session, wait)?;
            }
        }
        "pg_locks" => {
            for lock in catalog.opened.engine.lock_report() {
                push_lock(catalog, rows, &lock)?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn push_session(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    session: &SessionReport,
    wait: Option<&LockReport>,
) -> Result<()> {
    let is_shown = catalog.is_superuser() || session.user == catalog.user;
    let (kind, event) = match wait {
        Some(lock) => (text("Lock"), text(lock_type(lock.object))),
        None if session.state == "active" => (ScalarValue::Null, ScalarValue::Null),
        None => (text("Client"), text("ClientRead")),
    };
    let shown = |value: ScalarValue| if is_shown { value } else { ScalarValue::Null };
    rows.push(&[
        ("datid", number(DATABASE)),
        ("datname", text(&session.database)),
        ("pid", number(session.number)),
        ("leader_pid", ScalarValue::Null),
        ("usesysid", catalog.role_oid(&session.user)),
        ("usename", text(&session.user)),
        ("application_name", text(&session.application_name)),
        ("client_port", ScalarValue::Null),
        ("backend_start", shown(instant(Some(session.began)))),
        ("xact_start", shown(instant(session.transaction_start))),
        ("query_start", shown(instant(session.query_start))),
        ("state_change", shown(instant(Some(session.state_change)))),
        ("wait_event_type", shown(kind)),
        ("wait_event", shown(event)),
        ("state", shown(text(session.state))),
        ("backend_xid", ScalarValue::Null),
        ("backend_xmin", ScalarValue::Null),
        ("query_id", ScalarValue::Null),
        (
            "query",
            text(if is_shown { &session.query } else { HIDDEN }),
        ),
        (
            "backend_type",
            text(if session.is_served {
                "client backend"
            } else {
                "embedded"
            }),
        ),
    ])
}

fn push_lock(catalog: &PgCatalog, rows: &mut CatalogRows, lock: &LockReport) -> Result<()> {
    let table = catalog.snapshot.table_of_lock(lock.object);
    let relation = table.map_or(ScalarValue::Null, |(id, _)| number(table_oid(id)));
    let pid = match lock.session {
        0 => ScalarValue::Null,
        session => number(session),
    };
    let transaction = format!("{}/{}", lock.session, lock.transaction);
    rows.push(&[
        ("locktype", text(lock_type(lock.object))),
        ("database", number(DATABASE)),
        ("relation", relation),
        ("page", ScalarValue::Null),
        ("tuple", ScalarValue::Null),
        ("transactionid", ScalarValue::Null),
        ("classid", ScalarValue::Null),
        ("objid", ScalarValue::Null),
        ("objsubid", ScalarValue::Null),
        ("virtualtransaction", text(transaction)),
        ("pid", pid),
        ("mode", text(lock.mode)),
        ("granted", flag(lock.waits_since.is_none())),
        ("fastpath", flag(false)),
        ("waitstart", instant(lock.waits_since.map(micros_of))),
    ])
}

/// As PostgreSQL calls it.
fn lock_type(object: LockObject) -> &'static str {
    match object {
        LockObject::Table(_) => "relation",
        LockObject::Row(_) | LockObject::Tree(_) => "tuple",
        LockObject::Definitions | LockObject::Definition(_) => "object",
    }
}
