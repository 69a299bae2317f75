//! How long a group that could be written waits for those that are about to commit again.
//!
//! Those of a group hear of it when it is synced, and then the next group is written at once: for that they come too late. So of
//! threads that do nothing but commit, one half waits while the other is synced. A pause that is short beside a sync brings them together.
//! How many there are is known when a group is through: those in it, and those that wait already. A pause in which too few come
//! is not tried again for a while, longer each time.

use std::time::Duration;

/// A pause takes no more than this share of a sync.
const SYNC_SHARE: u32 = 8;

/// A sync that takes less is not worth a pause: waking a thread takes some tens of microseconds.
const SYNC_MIN: Duration = Duration::from_micros(400);

/// The longest pause, however slow the disk.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// Groups without a pause after many that were in vain.
const SKIPPED_MAX: u32 = 64;

/// What is known of those who commit.
#[derive(Default)]
pub(super) struct CommitterCrowd {
    /// When the newest group was through: those in it, and those that waited.
    size: usize,
    /// What writing and syncing a group takes, on average.
    sync: Duration,
    /// Groups that are not to pause, and how many after the next pause in vain.
    skipped: u32,
    skipped_next: u32,
    /// As many as a group that pauses waits for; 0: none pauses.
    wanted: usize,
}

impl CommitterCrowd {
    /// A group is through that took so long, `waiting` others wait.
    pub(super) fn note(&mut self, group: usize, waiting: usize, took: Duration) {
        self.size = group + waiting;
        self.sync = if self.sync.is_zero() {
            took
        } else {
            // One that was very slow must not count for much.
            (self.sync * 7 + took.min(self.sync * 4)) / 8
        };
    }

    /// How long a group of so many should pause; `None`: not at all.
    pub(super) fn begin_pause(&mut self, group: usize) -> Option<Duration> {
        if group >= self.size || self.sync < SYNC_MIN {
            return None;
        }
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        self.wanted = self.size;
        Some((self.sync / SYNC_SHARE).min(PAUSE_MAX))
    }

    /// Whether so many are what a group that pauses waits for.
    pub(super) fn is_complete(&self, group: usize) -> bool {
        group >= self.wanted
    }

    /// A group has become so large in a pause. It has paid if more came, beside those who were there, than the pause took of a sync.
    pub(super) fn end_pause(&mut self, before: usize, group: usize) {
        self.wanted = 0;
        let has_paid = (group - before) * SYNC_SHARE as usize > before;
        if has_paid {
            (self.skipped, self.skipped_next) = (0, 0);
        } else {
            self.skipped = self.skipped_next;
            self.skipped_next = (2 * self.skipped_next + 1).min(SKIPPED_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SYNC: Duration = Duration::from_millis(8);

    #[test]
    fn one_that_commits_alone_never_pauses() {
        let mut crowd = CommitterCrowd::default();
        for _ in 0..10 {
            assert_eq!(crowd.begin_pause(1), None);
            crowd.note(1, 0, SYNC);
        }
    }

    #[test]
    fn two_halves_become_one_group() {
        let mut crowd = CommitterCrowd::default();
        crowd.note(4, 4, SYNC);
        assert_eq!(crowd.begin_pause(4), Some(SYNC / 8));
        assert!(!crowd.is_complete(7));
        assert!(crowd.is_complete(8));
        crowd.end_pause(4, 8);
        crowd.note(8, 0, SYNC);
        assert_eq!(crowd.begin_pause(8), None);
        assert_eq!(crowd.begin_pause(1), Some(SYNC / 8));
    }

    #[test]
    fn nobody_pauses_for_a_quick_disk() {
        let mut crowd = CommitterCrowd::default();
        crowd.note(4, 4, SYNC_MIN - Duration::from_nanos(1));
        assert_eq!(crowd.begin_pause(1), None);
    }

    #[test]
    fn pauses_in_vain_become_rare() {
        let mut crowd = CommitterCrowd::default();
        let mut pauses = 0;
        for _ in 0..1_000 {
            crowd.note(4, 4, SYNC);
            if crowd.begin_pause(4).is_some() {
                pauses += 1;
                crowd.end_pause(4, 4);
            }
        }
        assert!((7..=24).contains(&pauses), "{pauses}");
        // One that pays, and they are tried again.
        crowd.skipped = 0;
        crowd.begin_pause(4).unwrap();
        crowd.end_pause(4, 8);
        crowd.note(4, 4, SYNC);
        assert!(crowd.begin_pause(4).is_some());
    }
}
