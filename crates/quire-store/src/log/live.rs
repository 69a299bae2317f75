//! Which pages the log consists of.

use std::collections::{BTreeMap, VecDeque};

use quire_format::log::LogRoot;
use quire_format::volume::PageId;

use super::sequence::LogSequence;

/// A page of commits that is not truncated.
pub(super) struct LivePage {
    pub(super) page: PageId,
    /// Sequence of its last commit.
    pub(super) last: u64,
    pub(super) bytes: u64,
    /// The parts of the large transactions that end in it, in the order of these and of the parts.
    pub(super) parts: Vec<PageId>,
}

/// The log as of the newest commit. A truncation is noticed afterwards, by the pages that are gone: its batch is the
/// caller's, who may drop it.
#[derive(Default)]
pub(super) struct LivePages {
    pages: VecDeque<LivePage>,
    /// Parts of transactions in progress, by the number of the transaction.
    pub(super) large: BTreeMap<u64, Vec<PageId>>,
    /// Pages that nobody will need: parts of transactions that were given up. The next batch of the log frees them.
    pub(super) orphans: Vec<PageId>,
    /// Sequence of the next commit.
    pub(super) next: u64,
    /// Commits up to this one are truncated, for certain.
    pub(super) truncated_to: u64,
    bytes: u64,
}

impl LivePages {
    pub(super) fn new(truncated_to: u64) -> Self {
        Self {
            next: truncated_to + 1,
            truncated_to,
            ..Self::default()
        }
    }

    pub(super) fn last_sequence(&self) -> LogSequence {
        LogSequence(self.next - 1)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = &LivePage> {
        self.pages.iter()
    }

    /// Adds the page with the commits from `next` to `last`.
    pub(super) fn push(&mut self, page: LivePage) {
        assert!(page.last >= self.next, "commits of the log out of order");
        self.next = page.last + 1;
        self.bytes += page.bytes;
        self.pages.push_back(page);
    }

    /// Forgets the pages at the front that do not exist any more.
    pub(super) fn reconcile(&mut self, exists: impl Fn(PageId) -> bool) {
        while let Some(first) = self.pages.front()
            && !exists(first.page)
        {
            self.bytes -= first.bytes;
            self.truncated_to = self.truncated_to.max(first.last);
            self.pages.pop_front();
        }
        self.orphans.retain(|page| exists(*page));
    }

    /// The pages that a truncation frees, and the root without them.
    pub(super) fn truncated(&self, up_to: LogSequence) -> (Vec<PageId>, LogRoot) {
        let truncated_to = up_to.get().min(self.next - 1).max(self.truncated_to);
        let is_freed = |live: &&LivePage| live.last <= truncated_to;
        let of_page = |live: &LivePage| live.parts.iter().copied().chain([live.page]).collect();
        let freed: Vec<Vec<PageId>> = self.pages().filter(is_freed).map(of_page).collect();
        let kept = self.pages().filter(|live| !is_freed(live));
        let in_progress = self.large.values().flatten().copied();
        let first_page = kept
            .flat_map(|live| live.parts.iter().copied().chain([live.page]))
            .chain(in_progress)
            .min();
        let root = LogRoot {
            first_page,
            truncated_to,
        };
        (freed.concat(), root)
    }

    /// The root that the next page of the log needs, when it is the first one.
    pub(super) fn root_for_first(&self, page: PageId) -> Option<LogRoot> {
        let is_empty = self.pages.is_empty() && self.large.is_empty();
        is_empty.then_some(LogRoot {
            first_page: Some(page),
            truncated_to: self.next - 1,
        })
    }
}
