//! Which connections there are: to count them, and to cancel their statements.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire::CancelHandle;

use super::origin::Newcomers;

/// A session that can be cancelled.
pub(crate) struct Peer {
    pub(crate) process_id: i32,
    secret: Vec<u8>,
    handle: CancelHandle,
}

/// Connections beyond those that may have sessions, at a time: they are told so, or cancel statements.
const BEYOND_MAX: usize = 64;

/// As what a connection was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdmissionSlot {
    /// There is room for its session.
    Session,
    /// There is none; it may cancel a statement.
    Beyond,
}

/// The sessions of a server.
pub(crate) struct Registry {
    peers: Mutex<HashMap<i32, Arc<Peer>>>,
    /// Connections, with those whose session has not begun.
    connections: AtomicUsize,
    /// Those in a [`AdmissionSlot::Beyond`].
    beyond: AtomicUsize,
    /// Connections whose session has not begun, by where they come from.
    pub(crate) newcomers: Newcomers,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            peers: Mutex::default(),
            connections: AtomicUsize::new(0),
            beyond: AtomicUsize::new(0),
            newcomers: Newcomers::default(),
        }
    }

    fn peers(&self) -> MutexGuard<'_, HashMap<i32, Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more connection. `None`: it is to be closed, so that connections which say nothing take no more than so much memory,
    /// however many there are.
    pub(crate) fn admit(&self, sessions_max: usize) -> Option<AdmissionSlot> {
        let places = [
            (AdmissionSlot::Session, sessions_max),
            (AdmissionSlot::Beyond, BEYOND_MAX),
        ];
        let free = places.into_iter().find(|(place, most)| {
            let one_more = |count| (count < *most).then_some(count + 1);
            let counted =
                self.count_of(*place)
                    .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
            counted.is_ok()
        });
        free.map(|(place, _)| place)
    }

    pub(crate) fn leave(&self, place: AdmissionSlot) {
        self.count_of(place).fetch_sub(1, Ordering::AcqRel);
    }

    fn count_of(&self, place: AdmissionSlot) -> &AtomicUsize {
        match place {
            AdmissionSlot::Session => &self.connections,
            AdmissionSlot::Beyond => &self.beyond,
        }
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::Acquire)
    }

    /// Adds the session of a connection, under the number that this has in the database.
    pub(crate) fn add(&self, process_id: i32, secret: Vec<u8>, handle: CancelHandle) -> Arc<Peer> {
        let peer = Arc::new(Peer {
            process_id,
            secret,
            handle,
        });
        self.peers().insert(process_id, Arc::clone(&peer));
        peer
    }

    pub(crate) fn remove(&self, process_id: i32) {
        self.peers().remove(&process_id);
    }

    /// Cancels the statement of a session, if the secret is right; nobody is told whether it was.
    pub(crate) fn cancel(&self, process_id: i32, secret: &[u8]) {
        let peer = self.peers().get(&process_id).map(Arc::clone);
        if let Some(peer) = peer
            && is_same(&peer.secret, secret)
        {
            peer.handle.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        self.peers().values().for_each(|peer| peer.handle.cancel());
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
        assert_eq!(sessions, [Some(AdmissionSlot::Session); 2]);
        for _ in 0..BEYOND_MAX {
            assert_eq!(registry.admit(2), Some(AdmissionSlot::Beyond));
        }
        assert_eq!(registry.admit(2), None);
        registry.leave(AdmissionSlot::Beyond);
        assert_eq!(registry.admit(2), Some(AdmissionSlot::Beyond));
        registry.leave(AdmissionSlot::Session);
        assert_eq!(registry.admit(2), Some(AdmissionSlot::Session));
        assert_eq!(registry.connection_count(), 2);
    }

    #[test]
    fn secrets_are_compared_in_full() {
        assert!(is_same(b"abcd", b"abcd"));
        for wrong in [b"abce".as_slice(), b"abc", b"abcde", b""] {
            assert!(!is_same(b"abcd", wrong));
        }
    }
}
