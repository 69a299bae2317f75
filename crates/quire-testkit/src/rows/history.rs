//! What was committed and when, and what a crash may leave of it. Times are counts of operations of the disk.

use std::sync::Arc;

use super::model::ModelState;

/// What goes on while the disk works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiskActivity {
    /// Opening the file, and recovery.
    #[default]
    Opening,
    /// Statements before their commit: pages written ahead, sequences.
    Statements,
    /// A commit.
    Commit,
    /// A checkpoint of the row tables.
    Checkpoint,
    /// A checkpoint of the volume.
    VolumeCheckpoint,
    /// Cleaning.
    Cleaning,
    /// Trees that are built from below.
    Fill,
    /// Merges of changes into row groups.
    Merge,
    /// Closing.
    Closing,
}

impl DiskActivity {
    /// How many there are.
    pub const COUNT: usize = Self::Closing as usize + 1;
}

/// A commit, and when it happened.
#[derive(Clone, Debug)]
struct RowCommit {
    /// Before this nothing of it may be seen.
    started_at: usize,
    /// It has returned, and without an error.
    has_returned: bool,
    /// From here on the disk has it for sure: whatever is synced later makes it durable.
    written_at: Option<usize>,
    /// From here on nothing may undo it.
    durable_at: Option<usize>,
    state: Arc<ModelState>,
}

/// What a workload did.
#[derive(Clone, Debug, Default)]
pub(super) struct RowHistory {
    /// When the volume was there for sure.
    pub(super) created_at: Option<usize>,
    commits: Vec<RowCommit>,
    /// When each began.
    activities: Vec<(usize, DiskActivity)>,
}

impl RowHistory {
    /// That of a database that is there, in this state.
    pub(super) fn of_state(state: &Arc<ModelState>) -> Self {
        let mut history = Self {
            created_at: Some(0),
            ..Self::default()
        };
        history.begin(0, state);
        history.all_is_durable(0);
        history
    }

    /// Something else goes on from now on.
    pub(super) fn enter(&mut self, now: usize, activity: DiskActivity) {
        self.activities.push((now, activity));
    }

    /// What went on at the last operation before that moment.
    pub(super) fn activity_at(&self, now: usize) -> DiskActivity {
        let begun = self.activities.partition_point(|(began, _)| *began < now);
        let last = begun
            .checked_sub(1)
            .and_then(|last| self.activities.get(last));
        last.map(|(_, activity)| *activity).unwrap_or_default()
    }

    /// A commit begins that leads to this state.
    pub(super) fn begin(&mut self, now: usize, state: &Arc<ModelState>) {
        self.commits.push(RowCommit {
            started_at: now,
            has_returned: false,
            written_at: None,
            durable_at: None,
            state: Arc::clone(state),
        });
    }

    /// The last commit has returned.
    pub(super) fn returned(&mut self) {
        if let Some(commit) = self.commits.last_mut() {
            commit.has_returned = true;
        }
    }

    /// The disk has all that was committed up to now.
    pub(super) fn all_is_written(&mut self, now: usize) {
        let commits = self.commits.iter_mut().rev();
        for commit in commits.take_while(|commit| commit.written_at.is_none()) {
            commit.written_at = Some(now);
        }
    }

    /// What the disk has is durable.
    pub(super) fn written_is_durable(&mut self, now: usize) {
        let commits = self.commits.iter_mut().rev();
        for commit in commits.take_while(|commit| commit.durable_at.is_none()) {
            commit.durable_at = commit.written_at.map(|_| now);
        }
    }

    /// All that was committed up to now is durable.
    pub(super) fn all_is_durable(&mut self, now: usize) {
        self.all_is_written(now);
        self.written_is_durable(now);
    }

    /// The states that a crash may leave: from that of the last durable commit to that of the last one begun. `synced_at`: when
    /// the last sync began.
    pub(super) fn allowed_at(&self, now: usize, synced_at: usize) -> Vec<Arc<ModelState>> {
        let is_durable = |commit: &RowCommit| {
            commit.durable_at.is_some_and(|at| at <= now)
                || commit.written_at.is_some_and(|at| at <= synced_at)
        };
        let durable = self.commits.iter().rposition(is_durable);
        let first = match durable {
            Some(index) => Arc::clone(&self.commits[index].state),
            None => Arc::default(),
        };
        let later = self.commits.iter().skip(durable.map_or(0, |at| at + 1));
        let begun = later.take_while(|commit| commit.started_at < now);
        let begun = begun.map(|commit| Arc::clone(&commit.state));
        std::iter::once(first).chain(begun).collect()
    }

    /// How many commits have returned.
    pub(super) fn returned_count(&self) -> u64 {
        let commits = self.commits.iter();
        commits.filter(|commit| commit.has_returned).count() as u64
    }
}
