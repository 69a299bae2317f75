//! How is a number put into a circle?

use super::accounts::CallNumber;
use super::lookups::{CircleSlot, Line, dial_code, dial_code_of};
use super::parameters::SlotChange;
use super::schema::{COUNTRY, END, UNUSED_DIAL_CODE};
use crate::workloads::run_clock::WorkloadClock;
use crate::{SessionError, SqlValue, WorkloadSession};

const KEEP_OLD_VERSION: &str = "INSERT INTO packageclis (ccid, psid, pcvalidfrom, pcvalidto, dcid, pccli) VALUES ($1, $2, $3, $4, $5, $6)";
const WRITE_NEW_VERSION: &str = "UPDATE packageclis SET pcvalidfrom = $1, dcid = $2, pccli = $3 \
     WHERE ccid = $4 AND psid = $5 AND pcvalidto = $6 AND pcvalidfrom = $7";
const COUNT_UPDATE: &str = "UPDATE custclis SET ccupdates = ccupdates + 1 WHERE ccid = $1 AND ccvalidto = $2 AND ccupdates < ccupdatesallowed";

const SECOND_US: i64 = 1_000_000;
/// A package of number p takes ten and p mobile numbers.
const MOBILES_OF_EVERY_PACKAGE: i64 = 10;

/// Why a number may not be put into a slot, as in the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotRefusal {
    /// The circle was updated as often as it may be.
    NoUpdateLeft,
    /// The slot has the number.
    Unchanged,
    /// The number is that of the line.
    OwnNumber,
    /// Another slot has the number.
    InTheCircle,
    /// The dynamic rule of the call package.
    TooManyMobiles,
}

/// *Set slot*: the dial code of the new number, the static checks, the rule of the package, and what is written if the number may be there.
pub(super) fn set_slot(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    line: &Line,
    circle: &[CircleSlot],
    change: &SlotChange,
) -> Result<Result<(), SlotRefusal>, SessionError> {
    let new_dial_code = dial_code_of(session, clock, &change.number)?;
    let Some(old) = circle.iter().find(|slot| slot.slot == change.slot) else {
        return Err(SessionError::Retry(format!(
            "line {} has no slot {} now",
            line.ccid, change.slot
        )));
    };
    let refusal = static_refusal(line, circle, old, new_dial_code, &change.number);
    if let Some(refusal) = refusal {
        return Ok(Err(refusal));
    }
    if too_many_mobiles(session, clock, line, circle, change)? {
        return Ok(Err(SlotRefusal::TooManyMobiles));
    }
    write(session, clock, line, old, new_dial_code, &change.number)?;
    Ok(Ok(()))
}

/// The static checks. They need no statement.
fn static_refusal(
    line: &Line,
    circle: &[CircleSlot],
    old: &CircleSlot,
    new_dial_code: i64,
    number: &CallNumber,
) -> Option<SlotRefusal> {
    let cli = number.cli();
    let is_new = |dial_code: i64, other: &str| dial_code == new_dial_code && other == cli;
    let counted = line.updates_allowed > 0 && old.dial_code != UNUSED_DIAL_CODE;
    if counted && line.updates >= line.updates_allowed {
        return Some(SlotRefusal::NoUpdateLeft);
    }
    if is_new(old.dial_code, &old.cli) {
        return Some(SlotRefusal::Unchanged);
    }
    if is_new(line.dial_code, &line.cli) {
        return Some(SlotRefusal::OwnNumber);
    }
    circle
        .iter()
        .any(|slot| is_new(slot.dial_code, &slot.cli))
        .then_some(SlotRefusal::InTheCircle)
}

/// The rule of the package looks the dial code of every number of the circle up, the new one in its slot. With ten slots it never refuses,
/// as in the original.
fn too_many_mobiles(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    line: &Line,
    circle: &[CircleSlot],
    change: &SlotChange,
) -> Result<bool, SessionError> {
    let new_region = change.number.region_value();
    let mut mobiles = 0;
    for slot in circle {
        let (region, country) = if slot.slot == change.slot {
            (new_region.as_str(), COUNTRY)
        } else {
            (slot.region.as_str(), slot.country.as_str())
        };
        let found = dial_code(session, clock, region, country)?;
        mobiles += i64::from(found.is_some_and(|dial_code| dial_code.is_mobile));
    }
    Ok(mobiles > MOBILES_OF_EVERY_PACKAGE + line.package)
}

/// Keeps the old version, which ends a second before the new one begins, writes the new one in its place, and counts the update. The first
/// number of a slot is no update, and nothing is kept of an unused slot.
fn write(
    session: &mut dyn WorkloadSession,
    clock: &WorkloadClock,
    line: &Line,
    old: &CircleSlot,
    new_dial_code: i64,
    number: &CallNumber,
) -> Result<(), SessionError> {
    let now_us = clock.now_us();
    let (ccid, slot) = (SqlValue::Integer(line.ccid), SqlValue::Integer(old.slot));
    let was_used = old.dial_code != UNUSED_DIAL_CODE;
    session.begin()?;
    if was_used {
        let kept = [
            ccid.clone(),
            slot.clone(),
            old.valid_from.clone(),
            SqlValue::Timestamp(now_us - SECOND_US),
            SqlValue::Integer(old.dial_code),
            SqlValue::text(old.cli.as_str()),
        ];
        session.execute(KEEP_OLD_VERSION, &kept)?;
    }
    let new = [
        SqlValue::Timestamp(now_us),
        SqlValue::Integer(new_dial_code),
        SqlValue::Text(number.cli()),
        ccid.clone(),
        slot,
        END,
        old.valid_from.clone(),
    ];
    // The version that was read is replaced, or none: two users may not both keep it.
    if session.execute(WRITE_NEW_VERSION, &new)? != 1 {
        return Err(changed_by_another(line));
    }
    let is_counted = was_used && line.updates_allowed > 0;
    if is_counted && session.execute(COUNT_UPDATE, &[ccid, END])? != 1 {
        return Err(changed_by_another(line));
    }
    session.commit()
}

fn changed_by_another(line: &Line) -> SessionError {
    SessionError::Retry(format!(
        "another user has changed the circle of line {}",
        line.ccid
    ))
}

#[cfg(test)]
mod tests {
    use super::super::schema::START;
    use super::{CallNumber, CircleSlot, Line, SlotRefusal, UNUSED_DIAL_CODE, static_refusal};

    fn line(updates: i64) -> Line {
        Line {
            ccid: 7,
            dial_code: 2,
            cli: "000007".into(),
            updates,
            updates_allowed: 30,
            package: 1,
        }
    }

    fn slot(slot: i64, dial_code: i64, cli: &str) -> CircleSlot {
        CircleSlot {
            slot,
            valid_from: START,
            dial_code,
            cli: cli.into(),
            region: String::new(),
            country: String::new(),
        }
    }

    #[test]
    fn each_static_check_refuses_what_it_is_for() {
        let circle = [
            slot(1, 5, "000001"),
            slot(2, 6, "000002"),
            slot(3, UNUSED_DIAL_CODE, "Unused"),
        ];
        let refusal = |updates, slot: usize, dial_code, digits| {
            let number = CallNumber { region: 0, digits };
            static_refusal(&line(updates), &circle, &circle[slot], dial_code, &number)
        };
        assert_eq!(refusal(29, 0, 9, 9), None);
        assert_eq!(refusal(30, 0, 9, 9), Some(SlotRefusal::NoUpdateLeft));
        assert_eq!(refusal(30, 2, 9, 9), None, "a first number is no update");
        assert_eq!(refusal(0, 0, 5, 1), Some(SlotRefusal::Unchanged));
        assert_eq!(refusal(0, 0, 2, 7), Some(SlotRefusal::OwnNumber));
        assert_eq!(refusal(0, 0, 6, 2), Some(SlotRefusal::InTheCircle));
        assert_eq!(refusal(0, 0, 6, 1), None, "another region");
    }
}
