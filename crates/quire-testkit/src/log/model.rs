//! What a log must hold, and when it was promised.

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::disk::DiskOperation;

/// What a replay hands over for one commit: its parts.
pub type Records = Arc<Vec<Vec<u8>>>;

/// A commit that has returned.
#[derive(Clone, Debug)]
pub struct LoggedCommit {
    /// Operations the disk had recorded when it was called.
    pub called_at: usize,
    /// The same when it returned.
    pub returned_at: usize,
    /// It was durable then.
    pub is_synced: bool,
    /// What was logged.
    pub records: Records,
}

/// A checkpoint of the row tables that was tried.
#[derive(Clone, Debug)]
pub struct Truncation {
    /// Sequence of the last commit that the log need not hold.
    pub up_to: u64,
    /// Operations recorded when its batch was committed.
    pub called_at: usize,
    /// The same when that returned; `None` when it failed.
    pub returned_at: Option<usize>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct LogHistory {
    /// Operations recorded when the volume existed for certain.
    pub created_at: Option<usize>,
    /// By sequence.
    pub commits: BTreeMap<u64, LoggedCommit>,
    /// Commits that failed such that they may be there nevertheless: when they were called, and their records.
    pub unknown: Vec<(usize, Records)>,
    /// In order.
    pub truncations: Vec<Truncation>,
}

/// What must hold after a crash.
#[derive(Clone, Debug)]
pub struct LogExpectation {
    /// The records of each commit, where it is known.
    pub commits: BTreeMap<u64, Records>,
    /// Commits of which it is not known whether they are there, nor with which sequence.
    pub unknown: Vec<Records>,
    /// The newest commit that must be there.
    pub last_min: u64,
    /// The newest commit that may be there, not counting the unknown ones.
    pub last_max: u64,
    /// How far the log may be truncated.
    pub truncated_to: Vec<u64>,
    /// The crash may have hit the creation.
    pub may_be_blank: bool,
}

impl LogHistory {
    /// What a crash after `position` of the operations may leave.
    #[must_use]
    pub fn expectation(&self, journal: &[DiskOperation], position: usize) -> LogExpectation {
        let is_durable = |commit: &LoggedCommit| {
            let promised = commit.is_synced && commit.returned_at <= position;
            let written = journal.get(commit.returned_at..position);
            promised || written.is_some_and(|later| later.contains(&DiskOperation::Sync))
        };
        let durable = self.commits.iter().rev();
        let last_min = durable.clone().find(|(_, commit)| is_durable(commit));
        let last_max = durable
            .clone()
            .find(|(_, commit)| commit.called_at <= position);
        let returned =
            |truncation: &Truncation| truncation.returned_at.is_some_and(|at| at <= position);
        let newest = self.truncations.iter().rposition(returned);
        let later = &self.truncations[newest.map_or(0, |at| at + 1)..];
        let mut truncated_to = vec![newest.map_or(0, |at| self.truncations[at].up_to)];
        let called = later.iter().filter(|later| later.called_at <= position);
        truncated_to.extend(called.map(|truncation| truncation.up_to));
        let unknown = self.unknown.iter().filter(|(at, _)| *at <= position);
        LogExpectation {
            commits: self
                .commits
                .iter()
                .map(|(sequence, commit)| (*sequence, commit.records.clone()))
                .collect(),
            unknown: unknown.map(|(_, records)| records.clone()).collect(),
            last_min: last_min.map_or(0, |(sequence, _)| *sequence),
            last_max: last_max.map_or(0, |(sequence, _)| *sequence),
            truncated_to,
            may_be_blank: self.created_at.is_none_or(|created| position < created),
        }
    }

    /// What a device may leave that does not keep its promises: any earlier state.
    #[must_use]
    pub fn expectation_of_a_liar(&self, position: usize) -> LogExpectation {
        let mut expectation = self.expectation(&[], position);
        expectation.last_min = 0;
        expectation.truncated_to = vec![0];
        let called = self
            .truncations
            .iter()
            .filter(|later| later.called_at <= position);
        expectation
            .truncated_to
            .extend(called.map(|truncation| truncation.up_to));
        expectation.may_be_blank = true;
        expectation
    }
}

impl LogExpectation {
    /// Compares what a replay found behind commit `truncated_to`. Returns the newest commit.
    ///
    /// # Errors
    /// What is wrong.
    pub fn compare(&self, truncated_to: u64, found: &[(u64, Vec<Vec<u8>>)]) -> Result<u64, String> {
        if !self.truncated_to.contains(&truncated_to) {
            return Err(format!(
                "truncated to {truncated_to}, not to any of {:?}",
                self.truncated_to
            ));
        }
        let mut last = truncated_to;
        let mut unknown = self.unknown.clone();
        for (sequence, records) in found {
            if *sequence != last + 1 {
                return Err(format!("commit {sequence} follows commit {last}"));
            }
            last = *sequence;
            let is_known = self
                .commits
                .get(sequence)
                .is_some_and(|known| **known == *records);
            let guess = unknown.iter().position(|guess| **guess == *records);
            match (is_known, guess) {
                (true, _) => {}
                (false, Some(at)) => drop(unknown.swap_remove(at)),
                (false, None) => return Err(format!("commit {sequence} has wrong records")),
            }
        }
        let last_max = self.last_max + self.unknown.len() as u64;
        if last < self.last_min || last > last_max {
            let (min, max) = (self.last_min, last_max);
            return Err(format!(
                "the log ends with commit {last}, not with {min} to {max}"
            ));
        }
        Ok(last)
    }
}
