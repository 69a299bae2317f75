//! Functions about other connections: `pg_cancel_backend` and its like.

use datafusion::common::{Result, ScalarValue};
use quire_error::Error;

use super::PgCatalog;
use super::arguments::integer;
use super::rows::{flag, list, number};

pub(super) fn own_number(catalog: &PgCatalog, _: &[ScalarValue]) -> Result<ScalarValue> {
    Ok(number(catalog.number))
}

/// `pg_cancel_backend(pid)`
pub(super) fn cancel(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let Some(pid) = integer(args, 0) else {
        return Ok(ScalarValue::Null);
    };
    let words = ["cancel superuser query", "query is being canceled"];
    let Some(target) = permitted(catalog, pid, words)? else {
        return Ok(flag(false));
    };
    Ok(flag(catalog.opened.sessions.cancel(target)))
}

/// `pg_terminate_backend(pid)`
pub(super) fn terminate(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let Some(pid) = integer(args, 0) else {
        return Ok(ScalarValue::Null);
    };
    let words = ["terminate superuser process", "process is being terminated"];
    let Some(target) = permitted(catalog, pid, words)? else {
        return Ok(flag(false));
    };
    if catalog.opened.sessions.terminate(target) {
        return Ok(flag(true));
    }
    let text = format!("connection {pid} belongs to the program that has the database open");
    let hint = "Only connections of a server can be ended from outside; pg_cancel_backend ends a statement.";
    Err(Error::new("0A000", text).with_hint(hint).into())
}

/// `pg_blocking_pids(pid)`
pub(super) fn blocking(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let Some(pid) = integer(args, 0) else {
        return Ok(ScalarValue::Null);
    };
    let locks = catalog.opened.engine.lock_report();
    let of_pid = locks.iter().filter(|lock| i64::from(lock.session) == pid);
    let blockers = of_pid.flat_map(|lock| &lock.blockers);
    Ok(list(blockers.map(|&blocker| i64::from(blocker))))
}

/// The connection with that number, if there is one, and the user may end what it does: one of the same user, or any for a
/// superuser.
fn permitted(catalog: &PgCatalog, pid: i64, words: [&str; 2]) -> Result<Option<u32>> {
    let target = u32::try_from(pid).ok();
    let found = target.and_then(|number| {
        let user = catalog.opened.sessions.user(number)?;
        Some((number, user))
    });
    let Some((number, user)) = found else {
        return Ok(None);
    };
    if catalog.is_superuser() || user == catalog.user {
        return Ok(Some(number));
    }
    let [of_superuser, of_other] = words;
    let text = if catalog.is_superuser_called(&user) {
        format!("must be a superuser to {of_superuser}")
    } else {
        format!("must be a member of the role whose {of_other} or member of pg_signal_backend")
    };
    Err(Error::new("42501", text).into())
}
