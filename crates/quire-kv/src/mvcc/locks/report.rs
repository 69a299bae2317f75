//! Who has which lock, and who waits for whom, to be shown to people.

use std::sync::Arc;
use std::time::SystemTime;

use super::entry::{Holder, LockEntry, Waiter};
use super::mode::LockModes;
use super::object::LockObject;
use super::owner::{Owner, number_of, session_of};
use super::table::LockTable;

/// One lock that a session has or wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockReport {
    /// What it is on.
    pub object: LockObject,
    /// Tells two rows of a tree apart, for as long as the process runs.
    pub row: u64,
    /// What the definition is called that it is on.
    pub called: Option<Arc<str>>,
    /// As PostgreSQL calls the mode: the strongest, if there are several.
    pub mode: &'static str,
    /// The number of the session; 0 for work in the background.
    pub session: u32,
    /// Tells the transactions of a session apart.
    pub transaction: u64,
    /// Since when it is waited for; `None` for a lock that the session has.
    pub waits_since: Option<SystemTime>,
    /// The sessions that have to give way first.
    pub blockers: Vec<u32>,
}

impl LockTable {
    /// Locks of everybody. Rows that nobody waits for are left out: there may be millions.
    pub(in crate::mvcc) fn report(&self) -> Vec<LockReport> {
        let mut reports = Vec::new();
        let mut names = Vec::new();
        for locks in self.shards() {
            for (name, entry) in locks.iter() {
                if entry.is_waited_for() || !entry.object.is_row() {
                    entry.report(name.0, &mut reports);
                    names.resize(reports.len(), *name);
                }
            }
        }
        for (report, name) in reports.iter_mut().zip(names) {
            if matches!(report.object, LockObject::Definition(_)) {
                report.called = self.called(name);
            }
        }
        reports
    }
}

impl LockEntry {
    fn report(&self, row: u64, reports: &mut Vec<LockReport>) {
        let report = |owner: Owner, modes: LockModes| LockReport {
            object: self.object.unpacked(),
            row,
            called: None,
            mode: modes.name(),
            session: session_of(owner),
            transaction: number_of(owner),
            waits_since: None,
            blockers: Vec::new(),
        };
        let held = self.holders();
        reports.extend(held.map(|holder: &Holder| report(holder.owner, holder.modes)));
        for waiter in self.queue() {
            reports.push(LockReport {
                waits_since: Some(waiter.since),
                blockers: self.blockers(waiter),
                ..report(waiter.owner, waiter.wanted)
            });
        }
    }

    fn blockers(&self, waiter: &Arc<Waiter>) -> Vec<u32> {
        let mut sessions: Vec<u32> = self.obstacles(waiter).into_iter().map(session_of).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }
}
