//! What the handles of a log share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::group::Filling;
use super::live::LivePages;
use crate::volume::Volume;

pub(super) struct LogInner {
    pub(super) volume: Volume,
    /// As [`super::LogOptions`] has it.
    pub(super) commit_delay_us: u32,
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
