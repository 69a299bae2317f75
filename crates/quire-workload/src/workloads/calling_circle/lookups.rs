//! What do customers of Calling Circle look up, and how do they log in?

use super::accounts::{CallNumber, name_of};
use super::schema::{COUNTRY, END, PIN, SLOTS};
use crate::workloads::run_clock::WorkloadClock;
use crate::{SessionError, SqlValue, WorkloadRows, WorkloadSession};

const ACCOUNT: &str = "SELECT caid, cavalidfrom, cavalidto, caname, capin, calastlogin, cafailedlogins, calastfailedlogin \
     FROM custaccounts WHERE caname = $1 AND $2 BETWEEN cavalidfrom AND cavalidto";
const RECORD_LOGIN: &str = "UPDATE custaccounts SET calastlogin = $1, cafailedlogins = $2, calastfailedlogin = $3 \
     WHERE caid = $4 AND cavalidto = $5";
const DIAL_CODE: &str = "SELECT dc1.dcid, dc1.dctype, dc1.dcvalue, dc1.dctext, dc2.dctype, dc2.dcvalue, dc2.dctext \
     FROM dialcodes dc1 JOIN dialcodes dc2 ON dc2.dcid = dc1.dcidparent \
     WHERE dc1.dcvalue = $1 AND $2 BETWEEN dc1.dcvalidfrom AND dc1.dcvalidto \
     AND dc2.dcvalue = $3 AND dc2.dcidparent IS NULL AND $4 BETWEEN dc2.dcvalidfrom AND dc2.dcvalidto";
const LINE: &str = "SELECT cc.ccid, cc.dcid, cc.cccli, cc.ccupdates, cc.ccupdatesallowed, cc.cpid, cp.cpname, cp.cpplsql, cc.ccvalidfrom, \
     cc.ccvalidto, dc1.dctype, dc1.dcvalue, dc1.dctext, dc2.dctype, dc2.dcvalue, dc2.dctext, cc.caid \
     FROM custclis cc JOIN dialcodes dc1 ON dc1.dcid = cc.dcid JOIN dialcodes dc2 ON dc2.dcid = dc1.dcidparent \
     JOIN callpackages cp ON cp.cpid = cc.cpid \
     WHERE cc.caid = $1 AND cc.dcid = $2 AND cc.cccli = $3 AND $4 BETWEEN cc.ccvalidfrom AND cc.ccvalidto \
     AND $5 BETWEEN dc1.dcvalidfrom AND dc1.dcvalidto AND $6 BETWEEN dc2.dcvalidfrom AND dc2.dcvalidto \
     AND $7 BETWEEN cp.cpvalidfrom AND cp.cpvalidto";
const CURRENT_CIRCLE: &str = "SELECT pc.psid, pc.pcvalidfrom, pc.dcid, pc.pccli, dc1.dcvalue, dc2.dcvalue, dc1.dctype, pc.ccid, pc.pcvalidto, \
     dc1.dctext, dc2.dctype, dc2.dctext \
     FROM packageclis pc JOIN dialcodes dc1 ON dc1.dcid = pc.dcid JOIN dialcodes dc2 ON dc2.dcid = dc1.dcidparent \
     WHERE pc.ccid = $1 AND $2 BETWEEN pc.pcvalidfrom AND pc.pcvalidto AND $3 BETWEEN dc1.dcvalidfrom AND dc1.dcvalidto \
     AND $4 BETWEEN dc2.dcvalidfrom AND dc2.dcvalidto ORDER BY pc.psid";
const HISTORY: &str = "SELECT pc.psid, pc.pcvalidfrom, pc.dcid, pc.pccli, dc1.dcvalue, dc2.dcvalue, dc1.dctype, pc.ccid, pc.pcvalidto, \
     dc1.dctext, dc2.dctype, dc2.dctext \
     FROM packageclis pc JOIN dialcodes dc1 ON dc1.dcid = pc.dcid JOIN dialcodes dc2 ON dc2.dcid = dc1.dcidparent \
     WHERE pc.ccid = $1 AND pc.pcvalidfrom < $2 AND pc.pcvalidto > $3 AND dc1.dcvalidto > pc.pcvalidfrom \
     AND dc1.dcvalidfrom < pc.pcvalidto AND dc2.dcvalidto > pc.pcvalidfrom AND dc2.dcvalidfrom < pc.pcvalidto \
     ORDER BY pc.psid, pc.pcvalidfrom, dc1.dcvalidfrom, dc2.dcvalidfrom";

/// The type of dial codes of mobile numbers, of which the generated data has none.
const MOBILE_TYPE: &str = "MOB";
/// How far back histories go.
const HISTORY_US: i64 = 90 * 86_400_000_000;

/// A line that a customer has chosen.
pub(super) struct Line {
    pub(super) ccid: i64,
    pub(super) dial_code: i64,
    pub(super) cli: String,
    pub(super) updates: i64,
    pub(super) updates_allowed: i64,
    pub(super) package: i64,
}

/// A slot of a circle, as it is now.
pub(super) struct CircleSlot {
    pub(super) slot: i64,
    /// As the database gave it.
    pub(super) valid_from: SqlValue,
    pub(super) dial_code: i64,
    pub(super) cli: String,
    pub(super) region: String,
    pub(super) country: String,
}

/// *Login*: the account of a name, valid now; its PIN is compared, and the login is recorded. Returns the account's id.
pub(super) fn log_in(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    account: i64,
) -> Result<i64, SessionError> {
    let now = clock.now();
    let rows = session.query(ACCOUNT, &[SqlValue::Text(name_of(account)), now.clone()])?;
    let row = first(&rows, ACCOUNT)?;
    let caid = integer(&row[0], ACCOUNT)?;
    let failed_logins = row[6].as_integer().unwrap_or(0);
    let [last_login, failed_logins, last_failed_login] = if row[4].as_text() == Some(PIN) {
        [now, SqlValue::Integer(0), row[7].clone()]
    } else {
        [row[5].clone(), SqlValue::Integer(failed_logins + 1), now]
    };
    let login = [
        last_login,
        failed_logins,
        last_failed_login,
        SqlValue::Integer(caid),
        END,
    ];
    session.begin()?;
    session.execute(RECORD_LOGIN, &login)?;
    session.commit()?;
    Ok(caid)
}

/// The dial code of a region.
pub(super) struct DialCode {
    pub(super) id: i64,
    pub(super) is_mobile: bool,
}

/// The dial code of a value below a country's; `None` for that of unused slots, which has no country.
pub(super) fn dial_code(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    region: &str,
    country: &str,
) -> Result<Option<DialCode>, SessionError> {
    let now = clock.now();
    let parameters = [
        SqlValue::text(region),
        now.clone(),
        SqlValue::text(country),
        now,
    ];
    let rows = session.query(DIAL_CODE, &parameters)?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    Ok(Some(DialCode {
        id: integer(&row[0], DIAL_CODE)?,
        is_mobile: row[1].as_text() == Some(MOBILE_TYPE),
    }))
}

/// The dial code of a number, which has to be there.
pub(super) fn dial_code_of(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    number: &CallNumber,
) -> Result<i64, SessionError> {
    let found = dial_code(session, clock, &number.region_value(), COUNTRY)?;
    found
        .map(|dial_code| dial_code.id)
        .ok_or_else(|| missing(DIAL_CODE))
}

/// *Choose line*: the dial code of its number, and the line of an account.
pub(super) fn choose_line(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    caid: i64,
    number: &CallNumber,
) -> Result<Line, SessionError> {
    let dial_code = dial_code_of(session, clock, number)?;
    let now = clock.now();
    let mut parameters = vec![
        SqlValue::Integer(caid),
        SqlValue::Integer(dial_code),
        SqlValue::Text(number.cli()),
    ];
    parameters.extend(std::iter::repeat_n(now, 4));
    let rows = session.query(LINE, &parameters)?;
    let row = first(&rows, LINE)?;
    Ok(Line {
        ccid: integer(&row[0], LINE)?,
        dial_code: integer(&row[1], LINE)?,
        cli: row[2].as_text().unwrap_or_default().into(),
        updates: integer(&row[3], LINE)?,
        updates_allowed: integer(&row[4], LINE)?,
        package: integer(&row[5], LINE)?,
    })
}

/// *Current circle*: the slots of a line, and a look at the dial code of each.
pub(super) fn current_circle(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    ccid: i64,
) -> Result<Vec<CircleSlot>, SessionError> {
    let now = clock.now();
    let parameters = [SqlValue::Integer(ccid), now.clone(), now.clone(), now];
    let rows = session.query(CURRENT_CIRCLE, &parameters)?;
    let slots = slots_with_dial_codes(session, clock, &rows, CURRENT_CIRCLE)?;
    if slots.len() as i64 == SLOTS {
        return Ok(slots);
    }
    // A version that another user has written since this one read the clock is not valid yet.
    Err(SessionError::Retry(format!(
        "the circle of line {ccid} has {} slots now",
        slots.len()
    )))
}

/// *History*: the versions of the last 90 days of the slots of a line, and a look at the dial code of each.
pub(super) fn history(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    ccid: i64,
) -> Result<(), SessionError> {
    let now_us = clock.now_us();
    let parameters = [
        SqlValue::Integer(ccid),
        SqlValue::Timestamp(now_us),
        SqlValue::Timestamp(now_us - HISTORY_US),
    ];
    let rows = session.query(HISTORY, &parameters)?;
    slots_with_dial_codes(session, clock, &rows, HISTORY)?;
    Ok(())
}

fn slots_with_dial_codes(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    rows: &WorkloadRows,
    sql: &str,
) -> Result<Vec<CircleSlot>, SessionError> {
    rows.iter()
        .map(|row| {
            let slot = CircleSlot {
                slot: integer(&row[0], sql)?,
                valid_from: row[1].clone(),
                dial_code: integer(&row[2], sql)?,
                cli: row[3].as_text().unwrap_or_default().into(),
                region: row[4].as_text().unwrap_or_default().into(),
                country: row[5].as_text().unwrap_or_default().into(),
            };
            dial_code(session, clock, &slot.region, &slot.country)?;
            Ok(slot)
        })
        .collect()
}

fn first<'a>(rows: &'a WorkloadRows, sql: &str) -> Result<&'a [SqlValue], SessionError> {
    rows.first().map(Vec::as_slice).ok_or_else(|| missing(sql))
}

fn integer(value: &SqlValue, sql: &str) -> Result<i64, SessionError> {
    value.as_integer().ok_or_else(|| missing(sql))
}

fn missing(sql: &str) -> SessionError {
    SessionError::Failed {
        statement: sql.into(),
        message: "what was generated is not there: load the data again".into(),
    }
}
