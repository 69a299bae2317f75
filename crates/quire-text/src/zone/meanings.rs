//! What the abbreviations of places have meant: Moscow's `MSK` was three hours east of Greenwich, then four, and is three again.
//!
//! As in PostgreSQL, an abbreviation has the offset of the latest time before an instant at which the place called its clock so, of the first one
//! after it if there is none, and otherwise the place's own.

use std::sync::OnceLock;

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::{OffsetName, Tz};

use super::abbreviations::OF_PLACES;

/// An abbreviation by its number among those of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abbreviation {
    pub(super) place: usize,
    pub(super) tz: Tz,
}

/// Seconds since 1970 from when on an abbreviation has stood for so many seconds east of Greenwich.
type Meaning = (i64, i32);

/// Those of each abbreviation, found when they are asked for first.
static MEANINGS: [OnceLock<Vec<Meaning>>; OF_PLACES.len()] =
    [const { OnceLock::new() }; OF_PLACES.len()];

/// No place had a clock of its own before 1800, and none changes what it calls its time after 2099.
const FIRST: i64 = -5_364_662_400;
const LAST: i64 = 4_102_444_800;

/// Shorter than any time between two changes of a clock that the abbreviations are about.
const STEP: i64 = 7 * 86_400;

/// Seconds east of Greenwich; nothing if the place never called its time so.
pub(super) fn offset_at(abbreviation: Abbreviation, seconds: i64) -> Option<i32> {
    let meanings = MEANINGS.get(abbreviation.place)?;
    let meanings = meanings.get_or_init(|| of_history(abbreviation));
    let begun = meanings.partition_point(|(begin, _)| *begin <= seconds);
    let meaning = meanings.get(begun.saturating_sub(1));
    meaning.map(|(_, offset)| *offset)
}

fn of_history(abbreviation: Abbreviation) -> Vec<Meaning> {
    let (name, _) = OF_PLACES[abbreviation.place];
    let mut meanings = Vec::new();
    let mut before = clock_at(abbreviation.tz, FIRST);
    let mut begin = FIRST;
    for step in (FIRST..LAST).step_by(STEP as usize) {
        let clock = clock_at(abbreviation.tz, step);
        if clock != before {
            begin = change_between(abbreviation.tz, step - STEP, step);
            before = clock;
        } else if step != FIRST {
            continue;
        }
        if before.1.eq_ignore_ascii_case(name) {
            meanings.push((begin, before.0));
        }
    }
    meanings
}

/// Offset and name of a place's time.
fn clock_at(tz: Tz, seconds: i64) -> (i32, String) {
    let instant = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    let offset = tz.offset_from_utc_datetime(&instant.naive_utc());
    let name = offset.abbreviation().unwrap_or_default().to_owned();
    (offset.fix().local_minus_utc(), name)
}

/// When the clock of `end` begins that of `begin` has not.
fn change_between(tz: Tz, begin: i64, end: i64) -> i64 {
    let later = clock_at(tz, end);
    let (mut before, mut after) = (begin, end);
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if clock_at(tz, middle) == later {
            after = middle;
        } else {
            before = middle;
        }
    }
    after
}
