//! Which connections there are: to count them, to cancel their statements, and to end those that take too long.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quire::CancelHandle;

use super::origin::Newcomers;

/// A session that can be cancelled.
pub(crate) struct Peer {
    pub(crate) process_id: i32,
    secret: Vec<u8>,
    handle: CancelHandle,
    /// When the running statement has to end: milliseconds since the registry began, 0 for never.
    deadline: AtomicU64,
    has_timed_out: AtomicBool,
    /// Held while a statement is cancelled for its time, so that none is whose time is not up: the one after it.
    ending: Mutex<()>,
}

/// Connections beyond those that may have sessions, at a time: they are told so, or cancel statements.
const BEYOND_MAX: usize = 64;

/// As what a connection was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// There is room for its session.
    Session,
    /// There is none; it may cancel a statement.
    Beyond,
}

/// The sessions of a server.
pub(crate) struct Registry {
    began: Instant,
    peers: Mutex<HashMap<i32, Arc<Peer>>>,
    next_process_id: AtomicI32,
    /// Connections, with those whose session has not begun.
    connections: AtomicUsize,
    /// Those in a [`Place::Beyond`].
    beyond: AtomicUsize,
    /// Sessions whose statements have a time limit.
    pub(crate) limited: AtomicUsize,
    /// Connections whose session has not begun, by where they come from.
    pub(super) newcomers: Newcomers,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            peers: Mutex::default(),
            next_process_id: AtomicI32::new(1),
            connections: AtomicUsize::new(0),
            beyond: AtomicUsize::new(0),
            limited: AtomicUsize::new(0),
            newcomers: Newcomers::default(),
        }
    }

    fn peers(&self) -> MutexGuard<'_, HashMap<i32, Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more connection. `None`: it is to be closed, so that connections which say nothing take no more than so much memory,
    /// however many there are.
    pub(super) fn admit(&self, sessions_max: usize) -> Option<Place> {
        let places = [(Place::Session, sessions_max), (Place::Beyond, BEYOND_MAX)];
        let free = places.into_iter().find(|(place, most)| {
            let one_more = |count| (count < *most).then_some(count + 1);
            let counted =
                self.count_of(*place)
                    .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
            counted.is_ok()
        });
        free.map(|(place, _)| place)
    }

    pub(super) fn leave(&self, place: Place) {
        self.count_of(place).fetch_sub(1, Ordering::AcqRel);
    }

    fn count_of(&self, place: Place) -> &AtomicUsize {
        match place {
            Place::Session => &self.connections,
            Place::Beyond => &self.beyond,
        }
    }

    pub(super) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::Acquire)
    }

    /// Adds a session, with a number of its own.
    pub(super) fn add(&self, secret: Vec<u8>, handle: CancelHandle) -> Arc<Peer> {
        let mut peers = self.peers();
        let process_id = loop {
            let next = self.next_process_id.fetch_add(1, Ordering::Relaxed) & i32::MAX;
            if next != 0 && !peers.contains_key(&next) {
                break next;
            }
        };
        let peer = Arc::new(Peer {
            process_id,
            secret,
            handle,
            deadline: AtomicU64::new(0),
            has_timed_out: AtomicBool::new(false),
            ending: Mutex::default(),
        });
        peers.insert(process_id, Arc::clone(&peer));
        peer
    }

    pub(crate) fn remove(&self, process_id: i32) {
        self.peers().remove(&process_id);
    }

    /// Cancels the statement of a session, if the secret is right; nobody is told whether it was.
    pub(super) fn cancel(&self, process_id: i32, secret: &[u8]) {
        let peer = self.peers().get(&process_id).map(Arc::clone);
        if let Some(peer) = peer
            && is_same(&peer.secret, secret)
        {
            peer.handle.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        self.peers().values().for_each(|peer| peer.handle.cancel());
    }

    /// Cancels the statements whose time is up.
    pub(super) fn cancel_late(&self) {
        let now = self.milliseconds();
        for peer in self.peers().values() {
            if peer.deadline.load(Ordering::Acquire) == 0 {
                continue;
            }
            let _ending = peer.ending.lock().unwrap_or_else(PoisonError::into_inner);
            let deadline = peer.deadline.load(Ordering::Acquire);
            if deadline != 0 && deadline <= now {
                peer.has_timed_out.store(true, Ordering::Release);
                peer.handle.cancel();
            }
        }
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// A statement begins that may take so long.
    pub(crate) fn begin(&self, peer: &Peer, limit: Option<Duration>) {
        if let Some(limit) = limit {
            let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            peer.has_timed_out.store(false, Ordering::Release);
            let deadline = self.milliseconds().saturating_add(limit).max(1);
            peer.deadline.store(deadline, Ordering::Release);
        }
    }
}

impl Peer {
    /// The statement has ended; says whether its time was up.
    pub(crate) fn end(&self) -> bool {
        if self.deadline.load(Ordering::Acquire) == 0 {
            return false;
        }
        let _ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        self.deadline.store(0, Ordering::Release);
        self.has_timed_out.load(Ordering::Acquire)
    }
}

/// Takes as long for every wrong secret.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).map(|(left, right)| left ^ right);
    left.len() == right.len() && differences.fold(0, |all, one| all | one) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted() {
        let registry = Registry::new();
        let sessions = [registry.admit(2), registry.admit(2)];
        assert_eq!(sessions, [Some(Place::Session); 2]);
        for _ in 0..BEYOND_MAX {
            assert_eq!(registry.admit(2), Some(Place::Beyond));
        }
        assert_eq!(registry.admit(2), None);
        registry.leave(Place::Beyond);
        assert_eq!(registry.admit(2), Some(Place::Beyond));
        registry.leave(Place::Session);
        assert_eq!(registry.admit(2), Some(Place::Session));
        assert_eq!(registry.connection_count(), 2);
    }

    #[test]
    fn a_statement_has_its_time() {
        let registry = Registry::new();
        let peer = registry.add(b"secret".to_vec(), CancelHandle::default());
        registry.begin(&peer, None);
        registry.cancel_late();
        assert!(!peer.end());
        registry.begin(&peer, Some(Duration::from_secs(3600)));
        registry.cancel_late();
        assert!(!peer.end());
        registry.begin(&peer, Some(Duration::ZERO));
        while registry.milliseconds() == 0 {
            std::thread::yield_now();
        }
        registry.cancel_late();
        assert!(peer.end());
        assert!(!peer.end());
    }

    #[test]
    fn secrets_are_compared_in_full() {
        assert!(is_same(b"abcd", b"abcd"));
        for wrong in [b"abce".as_slice(), b"abc", b"abcde", b""] {
            assert!(!is_same(b"abcd", wrong));
        }
    }
}
