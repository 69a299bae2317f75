//! Which connections a database has, what each of them does, and how one ends the statements of another.
//!
//! There is one list for all connections of an open database, those of programs and those of a server. Their numbers are what
//! PostgreSQL calls process ids.

mod report;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

use quire_error::cancel::CancelHandle;

use crate::settings::Identity;

pub(crate) use report::SessionReport;

/// The largest number of a connection, as of a process of PostgreSQL; the engine's locks have room for it.
const NUMBER_MAX: u32 = 4_194_303;

/// What ends a connection of a server.
pub(crate) type Terminator = Arc<dyn Fn() + Send + Sync>;

/// What the list knows of a session beside what it runs.
pub(crate) trait ListedSession: Send + Sync {
    fn identity(&self) -> Identity;

    fn application_name(&self) -> String;

    /// When its transaction of several statements began, if there is one, in microseconds since 1970.
    fn transaction_start(&self) -> Option<u64>;

    /// Its state while it runs no statement, as PostgreSQL calls it.
    fn idle_state(&self) -> &'static str;
}

/// The connections of a database.
#[derive(Default)]
pub(crate) struct Sessions {
    entries: Mutex<BTreeMap<u32, SessionEntry>>,
    last_number: AtomicU32,
}

struct SessionEntry {
    session: Weak<dyn ListedSession>,
    cancel: CancelHandle,
    began: SystemTime,
    /// Absent for a connection of the program that has the database open.
    terminator: Option<Terminator>,
}

impl Sessions {
    /// Adds the session that `make` makes of its number.
    pub(crate) fn add<S: ListedSession + 'static>(
        &self,
        cancel: &CancelHandle,
        make: impl FnOnce(u32) -> S,
    ) -> Arc<S> {
        let mut entries = self.entries();
        let number = loop {
            let next = self.last_number.load(Ordering::Relaxed) % NUMBER_MAX + 1;
            self.last_number.store(next, Ordering::Relaxed);
            if !entries.contains_key(&next) {
                break next;
            }
        };
        let session = Arc::new(make(number));
        let listed: Arc<dyn ListedSession> = Arc::<S>::clone(&session);
        let entry = SessionEntry {
            session: Arc::downgrade(&listed),
            cancel: cancel.clone(),
            began: SystemTime::now(),
            terminator: None,
        };
        entries.insert(number, entry);
        session
    }

    pub(crate) fn remove(&self, number: u32) {
        self.entries().remove(&number);
    }

    pub(crate) fn set_terminator(&self, number: u32, terminator: Terminator) {
        if let Some(entry) = self.entries().get_mut(&number) {
            entry.terminator = Some(terminator);
        }
    }

    /// Who uses the connection with this number; `None`: there is none.
    pub(crate) fn user(&self, number: u32) -> Option<String> {
        let session = self.entries().get(&number)?.session.clone();
        let identity = session.upgrade()?.identity();
        Some(identity.user)
    }

    /// Cancels what the connection runs; false when there is no such connection.
    pub(crate) fn cancel(&self, number: u32) -> bool {
        let handle = self
            .entries()
            .get(&number)
            .map(|entry| entry.cancel.clone());
        handle.map(|handle| handle.cancel()).is_some()
    }

    /// Ends a connection; false when there is none with this number that can be ended from outside.
    pub(crate) fn terminate(&self, number: u32) -> bool {
        let entry = self.entries().get(&number).and_then(|entry| {
            let terminator = entry.terminator.clone()?;
            Some((entry.cancel.clone(), terminator))
        });
        let Some((handle, terminator)) = entry else {
            return false;
        };
        terminator();
        handle.terminate();
        true
    }

    /// All connections, by their numbers.
    pub(crate) fn report(&self) -> Vec<SessionReport> {
        let entries = self.entries();
        let known = entries.iter().filter_map(|(number, entry)| {
            let session = entry.session.upgrade()?;
            Some((
                *number,
                session,
                entry.cancel.clone(),
                entry.began,
                entry.terminator.is_some(),
            ))
        });
        // A session may be dropped here, which takes it out of the list.
        let known: Vec<_> = known.collect();
        drop(entries);
        let reports = known
            .iter()
            .map(|(number, session, cancel, began, is_served)| {
                SessionReport::new(*number, &**session, cancel, *began, *is_served)
            });
        reports.collect()
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<u32, SessionEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
