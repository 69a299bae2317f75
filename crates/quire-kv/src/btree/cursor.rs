//! Ranges of a tree, a leaf at a time.
//!
//! A cursor remembers a key and holds nothing between two leaves. The key is the fence at which the last leaf ended, so
//! that whatever has been split or merged since, it goes on where it was: each entry that is there all the time is
//! visited once. An entry that is added or removed meanwhile may be visited or not. Leaves to come are read meanwhile: see `leaf_ahead`.

use quire_codec::Corrupt;
use quire_format::row_page::{PageEntries, PageEntryRef, RowPage};

use super::descent::LeafTarget;
use super::error::TreeError;
use super::leaf_ahead::LeafReadAhead;
use super::tree::BTree;

/// The key and the value of an entry.
pub type KeyAndValue<'a> = (&'a [u8], &'a [u8]);

/// Which way a cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// By ascending key.
    Forward,
    /// By descending key.
    Backward,
}

/// Visits the entries of a range of keys.
pub struct BTreeCursor<'t> {
    tree: &'t BTree,
    range: RangeLeft,
    ahead: LeafReadAhead,
    copied: CopiedLeaf,
}

/// What is left of a range of keys.
#[derive(Clone)]
pub(crate) struct RangeLeft {
    direction: Direction,
    /// No bytes: no bound.
    low: Vec<u8>,
    high: Vec<u8>,
    is_done: bool,
}

/// The part of a range that one leaf has. Bounds of no bytes are none.
pub(crate) struct LeafPart<'a> {
    pub(crate) low: &'a [u8],
    pub(crate) high: &'a [u8],
    pub(crate) entries: PageEntries<'a>,
}

/// The entries of a leaf that `next_entry` has not handed out.
#[derive(Default)]
pub(crate) struct CopiedLeaf {
    bytes: Vec<u8>,
    entries: Vec<CopiedEntry>,
    position: usize,
}

#[derive(Clone, Copy)]
struct CopiedEntry {
    start: usize,
    key_bytes: usize,
    value_bytes: usize,
}

impl BTree {
    /// The entries from `low` up to, without, `high`. A bound of no bytes is none.
    #[must_use]
    pub fn cursor(&self, low: &[u8], high: &[u8], direction: Direction) -> BTreeCursor<'_> {
        BTreeCursor {
            tree: self,
            range: RangeLeft::new(low, high, direction),
            ahead: LeafReadAhead::default(),
            copied: CopiedLeaf::default(),
        }
    }
}

impl RangeLeft {
    pub(crate) fn new(low: &[u8], high: &[u8], direction: Direction) -> Self {
        Self {
            direction,
            low: low.to_vec(),
            high: high.to_vec(),
            is_done: !high.is_empty() && low >= high,
        }
    }

    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Shows the part that the next leaf has, maybe nothing, to `visit`, under the latch of the leaf, and goes on to
    /// the leaf behind it; `None` behind the last. `ahead` is the same for all leaves of the range.
    pub(crate) fn next_leaf<R>(
        &mut self,
        tree: &BTree,
        ahead: &mut LeafReadAhead,
        visit: impl FnOnce(LeafPart<'_>) -> Result<R, Corrupt>,
    ) -> Result<Option<R>, TreeError> {
        if self.is_done {
            return Ok(None);
        }
        let mut visit = Some(visit);
        let (low, high, direction) = (&self.low, &self.high, self.direction);
        let (target, end) = match direction {
            Direction::Forward => (LeafTarget::Key(low), high),
            Direction::Backward => (LeafTarget::Below(high), low),
        };
        ahead.look(tree, target, end);
        let arrive = |leaf| ahead.arrive(leaf);
        let (found, _) = tree.at_leaf_arriving(target, arrive, |page| {
            let (lower, upper) = (page.lower_fence(), page.upper_fence());
            let part = LeafPart {
                low: low.as_slice().max(lower),
                high: match (high.as_slice(), upper) {
                    ([], bound) | (bound, []) => bound,
                    (high, upper) => high.min(upper),
                },
                entries: entries_between(page, low, high)?,
            };
            let result = visit.take().map(|visit| visit(part)).transpose()?;
            let fence = match direction {
                Direction::Forward => upper,
                Direction::Backward => lower,
            };
            Ok((result, fence.to_vec()))
        })?;
        let (result, fence) = found;
        self.go_on_at(fence);
        Ok(result)
    }

    /// Continues behind that key instead of behind the last leaf.
    pub(crate) fn resume_behind(&mut self, key: &[u8]) {
        let mut bound = key.to_vec();
        match self.direction {
            Direction::Forward => {
                bound.push(0);
                self.is_done = !self.high.is_empty() && bound >= self.high;
                self.low = bound;
            }
            Direction::Backward => {
                // No bytes would be no bound.
                self.is_done = bound <= self.low;
                self.high = bound;
            }
        }
    }

    fn go_on_at(&mut self, fence: Vec<u8>) {
        self.is_done = match self.direction {
            Direction::Forward => fence.is_empty() || !self.high.is_empty() && fence >= self.high,
            Direction::Backward => fence <= self.low,
        };
        match self.direction {
            Direction::Forward => self.low = fence,
            Direction::Backward => self.high = fence,
        }
    }
}

impl BTreeCursor<'_> {
    /// Shows the next leaf's entries within the range to `visit`, under the latch of the leaf, and goes on to the leaf behind
    /// them; `None` behind the last. Entries ascend, whatever the direction: take them from the end when going backward.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn next_leaf<R>(
        &mut self,
        visit: impl FnOnce(PageEntries<'_>) -> R,
    ) -> Result<Option<R>, TreeError> {
        self.try_next_leaf(|entries| Ok(visit(entries)))
    }

    fn try_next_leaf<R>(
        &mut self,
        visit: impl FnOnce(PageEntries<'_>) -> Result<R, Corrupt>,
    ) -> Result<Option<R>, TreeError> {
        let mut visit = Some(visit);
        loop {
            let (tree, ahead) = (self.tree, &mut self.ahead);
            let visited = self.range.next_leaf(tree, ahead, |part| {
                let visit = match part.entries.len() {
                    0 => None,
                    _ => visit.take(),
                };
                visit.map(|visit| visit(part.entries)).transpose()
            })?;
            match visited {
                Some(None) => {}
                Some(result) => return Ok(result),
                None => return Ok(None),
            }
        }
    }

    /// The next entry. Key and value are of the moment at which the cursor came to their leaf.
    ///
    /// # Errors
    /// As [`next_leaf`](Self::next_leaf).
    pub fn next_entry(&mut self) -> Result<Option<KeyAndValue<'_>>, TreeError> {
        if self.copied.is_at_end() {
            let mut copied = std::mem::take(&mut self.copied);
            let is_backward = self.range.direction == Direction::Backward;
            let copy = |entries: PageEntries<'_>| {
                copied.fill(entries)?;
                if is_backward {
                    copied.entries.reverse();
                }
                Ok(copied)
            };
            match self.try_next_leaf(copy)? {
                Some(copied) => self.copied = copied,
                None => return Ok(None),
            }
        }
        Ok(self.copied.next())
    }
}

fn entries_between<'a>(
    page: &RowPage<'a>,
    low: &[u8],
    high: &[u8],
) -> Result<PageEntries<'a>, Corrupt> {
    let start = page.lower_bound(low)?;
    let end = match high {
        [] => page.len(),
        _ => page.lower_bound(high)?,
    };
    Ok(page.entries_in(start..end))
}

impl CopiedLeaf {
    fn fill(&mut self, entries: PageEntries<'_>) -> Result<(), Corrupt> {
        self.clear();
        for entry in entries {
            let entry: PageEntryRef<'_> = entry?;
            self.push([entry.prefix, entry.suffix], entry.value);
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.position = 0;
    }

    pub(crate) fn push<const PARTS: usize>(&mut self, key: [&[u8]; PARTS], value: &[u8]) {
        let start = self.bytes.len();
        key.iter()
            .for_each(|part| self.bytes.extend_from_slice(part));
        self.entries.push(CopiedEntry {
            start,
            key_bytes: self.bytes.len() - start,
            value_bytes: value.len(),
        });
        self.bytes.extend_from_slice(value);
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.position == self.entries.len()
    }

    pub(crate) fn next(&mut self) -> Option<KeyAndValue<'_>> {
        let entry = self.entries.get(self.position)?;
        self.position += 1;
        let value_start = entry.start + entry.key_bytes;
        let key = self.bytes.get(entry.start..value_start)?;
        let value = self
            .bytes
            .get(value_start..value_start + entry.value_bytes)?;
        Some((key, value))
    }
}
