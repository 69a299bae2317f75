//! What the handles of a log share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::group::Filling;
use super::live::LivePages;
use crate::volume::Volume;

/// How commits are grouped.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// The first of a group waits this long for others before it asks for its turn to write. Without it, a group is
    /// what came while the one before was being synced, and those of that one who come again within an eighth of the time of a sync.
    pub commit_delay_us: u32,
}

pub(super) struct LogInner {
    pub(super) volume: Volume,
    pub(super) options: LogOptions,
    /// What is not in the volume. Locked before `live`.
    pub(super) filling: Mutex<Filling>,
    /// As many have joined as a group that pauses waits for.
    pub(super) gathered: Condvar,
    /// Changed only by who has the volume's turn.
    pub(super) live: Mutex<LivePages>,
}

impl LogInner {
    pub(super) fn lock_filling(&self) -> MutexGuard<'_, Filling> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_live(&self) -> MutexGuard<'_, LivePages> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
