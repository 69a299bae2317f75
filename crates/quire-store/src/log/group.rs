//! Commits that are written together: what has been handed in, and what becomes of it.

use std::sync::{Arc, OnceLock};

use quire_format::log::{LogContent, LogEntry, LogPage, push_entry};
use quire_format::volume::PageKind;

use super::crowd::CommitterCrowd;
use super::live::LivePage;
use crate::error::{BatchWriteError, CommitError};
use crate::patience::is_soon;
use crate::volume::{Durability, WriteBatch};

/// A page is written when its body has this length, so that a group of any size is read piece by piece.
const PAGE_BYTES: usize = 256 << 10;

/// What has been handed in and is not in the volume.
#[derive(Default)]
pub(super) struct Filling {
    /// The group that can still be joined.
    pub(super) waiting: CommitGroup,
    /// Commits that wait, of this group and of those that are being written.
    pub(super) waiting_count: usize,
    /// Commits that nobody waits for.
    pub(super) later: CommitGroup,
    /// How many of these have a sequence and are not in the volume, with those that are being written.
    pub(super) unwritten_count: u64,
    pub(super) crowd: CommitterCrowd,
}

/// Commits that are written together.
#[derive(Default)]
pub(super) struct CommitGroup {
    /// The entries, one behind the other.
    pub(super) body: Vec<u8>,
    pub(super) commits: Vec<GroupedCommit>,
    pub(super) is_synced: bool,
    /// One of them does not make room.
    pub(super) grows: bool,
    /// One of them does.
    pub(super) makes_room: bool,
    /// Bytes of what those put that do.
    pub(super) put_bytes: u64,
    pub(super) outcome: Arc<GroupCommitOutcome>,
}

/// One commit of a group.
#[derive(Clone, Copy)]
pub(super) struct GroupedCommit {
    /// Where its entry ends in the body.
    pub(super) end: usize,
    /// The large transaction that it ends; 0: none.
    pub(super) large: u64,
}

/// What became of a group: the sequence of its first commit.
#[derive(Default)]
pub(super) struct GroupCommitOutcome {
    first: OnceLock<Result<u64, CommitError>>,
}

impl GroupCommitOutcome {
    /// What is told first stays.
    pub(super) fn tell(&self, first: Result<u64, CommitError>) {
        let _ = self.first.set(first);
    }

    pub(super) fn wait(&self, durability: Durability) -> Result<u64, CommitError> {
        // A sync takes longer than putting a thread to sleep.
        if durability == Durability::Unsynced {
            is_soon(|| self.first.get().is_some());
        }
        match self.first.wait() {
            Ok(first) => Ok(*first),
            Err(error) => Err(error.duplicate()),
        }
    }
}

impl CommitGroup {
    pub(super) fn push(
        &mut self,
        records: &[u8],
        ends: Option<(u64, u32)>,
        durability: Durability,
        makes_room: Option<u64>,
    ) {
        push_entry(&mut self.body, &LogEntry { ends, records });
        let end = self.body.len();
        let large = ends.map_or(0, |(large, _)| large);
        self.commits.push(GroupedCommit { end, large });
        self.is_synced |= durability == Durability::Synced;
        self.grows |= makes_room.is_none();
        self.makes_room |= makes_room.is_some();
        self.put_bytes += makes_room.unwrap_or(0);
    }

    /// A group without commits that is to be written in the same way.
    pub(super) fn flags(&self) -> Self {
        Self {
            is_synced: self.is_synced,
            grows: self.grows,
            makes_room: self.makes_room,
            put_bytes: self.put_bytes,
            ..Self::default()
        }
    }

    /// Writes the pages of the group.
    pub(super) fn write_pages(
        &self,
        batch: &WriteBatch,
        first: u64,
    ) -> Result<Vec<LivePage>, BatchWriteError> {
        let mut pages = Vec::with_capacity(1);
        let (mut start, mut start_end) = (0, 0);
        while start < self.commits.len() {
            let count = self.commits_of_page(start, start_end);
            let commits = &self.commits[start..start + count];
            let end = commits.last().map_or(start_end, |commit| commit.end);
            let content = LogContent::Commits {
                first: first + start as u64,
                count: count as u32,
                ends_large: commits.iter().any(|commit| commit.large > 0),
            };
            let payload = LogPage::encode(content, &self.body[start_end..end]);
            pages.push(LivePage {
                page: batch.write(PageKind::Log, &payload)?,
                last: first + (start + count) as u64 - 1,
                bytes: payload.len() as u64,
                parts: Vec::new(),
            });
            (start, start_end) = (start + count, end);
        }
        Ok(pages)
    }

    /// How many commits from `start` on, whose entry begins at `start_end`, go into one page: at least one.
    fn commits_of_page(&self, start: usize, start_end: usize) -> usize {
        let fitting = self.commits[start..]
            .iter()
            .take_while(|commit| commit.end - start_end <= PAGE_BYTES)
            .count();
        fitting.max(1)
    }
}
