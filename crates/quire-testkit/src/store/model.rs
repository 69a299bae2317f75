//! What must be in a volume: the state after every commit, and when it was promised.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The pages of a volume and their payloads.
pub type State = Arc<BTreeMap<u64, Arc<Vec<u8>>>>;

/// A commit that was tried.
#[derive(Clone, Debug)]
pub struct Acknowledgement {
    /// Operations the disk had recorded when `commit` was called.
    pub called_at: usize,
    /// The same when it was promised to be durable: it returned after a sync, or something later did. `None` when it
    /// failed or nothing was promised.
    pub returned_at: Option<usize>,
    /// The pages after it.
    pub state: State,
}

/// The commits of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct CommitHistory {
    /// Operations recorded when the volume existed for certain.
    pub created_at: Option<usize>,
    /// What the disk held at the start.
    pub start: State,
    /// Later ones include earlier ones.
    pub commits: Vec<Acknowledgement>,
}

impl CommitHistory {
    /// Every commit that has returned so far is durable.
    pub fn note_durable(&mut self, position: usize) {
        for commit in &mut self.commits {
            commit.returned_at.get_or_insert(position);
        }
    }

    /// The states that a crash after `position` operations may leave: that of the last commit
    /// that was durable, and those of later ones that had been called.
    #[must_use]
    pub fn allowed_at(&self, position: usize) -> Vec<State> {
        let is_acknowledged =
            |commit: &Acknowledgement| commit.returned_at.is_some_and(|at| at <= position);
        let last = self.commits.iter().rposition(is_acknowledged);
        let mut allowed = vec![
            last.map_or(&self.start, |at| &self.commits[at].state)
                .clone(),
        ];
        let later = self.commits.iter().skip(last.map_or(0, |at| at + 1));
        let called = later.filter(|commit| commit.called_at <= position);
        allowed.extend(called.map(|commit| commit.state.clone()));
        allowed
    }

    /// The state after the last successful commit.
    #[must_use]
    pub fn last(&self) -> State {
        let successful = self
            .commits
            .iter()
            .rev()
            .find(|commit| commit.returned_at.is_some());
        successful
            .map_or(&self.start, |commit| &commit.state)
            .clone()
    }
}
