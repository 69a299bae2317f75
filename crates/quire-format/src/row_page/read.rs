//! Reading a row page.

use std::cmp::Ordering;
use std::ops::Range;

use quire_codec::Corrupt;

use super::child::ChildPointer;
use super::layout::{
    HeaderBytes, PageHeaderFields, PageSlot, ROW_PAGE_HEADER_BYTES, SLOT_BYTES, SlotBytes,
    TreePageKind, head_at, head_of, is_page_bytes, slot_offset,
};
use crate::volume::PageId;

/// A row page, to read.
#[derive(Clone, Copy, Debug)]
pub struct RowPage<'a> {
    pub(super) bytes: &'a [u8],
    head: &'a HeaderBytes,
    pub(super) slots: &'a [SlotBytes],
    prefix: &'a [u8],
}

/// Where a key is, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySearch {
    /// At this index.
    Found(usize),
    /// Nowhere; an entry with that key would get this index.
    Absent(usize),
}

impl KeySearch {
    /// Index of the first entry whose key is not less; the number of entries when there is none.
    #[must_use]
    pub const fn lower_bound(self) -> usize {
        match self {
            Self::Found(index) | Self::Absent(index) => index,
        }
    }
}

/// One entry of a page. Its key is in two pieces, because the page stores the first only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEntryRef<'a> {
    /// What all keys of the page begin with.
    pub prefix: &'a [u8],
    /// The rest of the key.
    pub suffix: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// The value is a reference to overflow pages.
    pub overflow: bool,
}

impl PageEntryRef<'_> {
    /// The whole key.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        [self.prefix, self.suffix].concat()
    }

    /// Length of the whole key.
    #[must_use]
    pub const fn key_bytes(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }
}

impl<'a> RowPage<'a> {
    /// A page from bytes that were opened before and have been changed by this module only. The header alone is
    /// checked. If the bytes are not what the caller believes, the answers are wrong or errors, and nothing worse.
    ///
    /// # Errors
    /// A header that contradicts itself or the length of the page.
    #[inline]
    pub fn trusted(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        if !is_page_bytes(bytes.len()) {
            return Err(wrong_length(bytes.len()));
        }
        let head = PageHeaderFields::check(bytes)?;
        let header = PageHeaderFields::read(head);
        let heap_start = header.heap_start as usize;
        let heap = bytes.len().checked_sub(header.fence_bytes());
        let heap = heap.and_then(|heap_end| heap_end.checked_sub(heap_start));
        if header.slots_end() > heap_start
            || heap.is_none_or(|heap| heap < header.dead_bytes as usize)
        {
            return Err(Corrupt::new(
                "slots, heap and fences do not fit the page",
                0,
            ));
        }
        let slots = bytes.get(ROW_PAGE_HEADER_BYTES..header.slots_end());
        let lower_start = bytes.len() - header.fence_bytes();
        let lower = bytes.get(lower_start..lower_start + usize::from(header.lower_bytes));
        let prefix = lower.and_then(|lower| lower.get(..usize::from(header.prefix_bytes)));
        let (Some(slots), Some(prefix)) = (slots, prefix) else {
            return Err(Corrupt::new("prefix is longer than the lower fence", 0));
        };
        Ok(Self {
            bytes,
            head,
            slots: slots.as_chunks().0,
            prefix,
        })
    }

    /// The page as it is in memory.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Leaf or inner page.
    #[must_use]
    pub fn kind(&self) -> TreePageKind {
        TreePageKind::of_level(self.header().level)
    }

    /// Distance from the leaves.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.header().level
    }

    /// LSN of the last change.
    #[must_use]
    pub fn lsn(&self) -> u64 {
        self.header().lsn
    }

    /// Number of the layout of the tuples.
    #[must_use]
    pub fn layout(&self) -> u32 {
        self.header().layout
    }

    /// Length of the page.
    #[must_use]
    pub const fn page_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What no key is less than; no bytes: everything.
    #[must_use]
    pub fn lower_fence(&self) -> &'a [u8] {
        let start = self.heap_end();
        let end = start + usize::from(self.header().lower_bytes);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// What every key is less than; no bytes: nothing, so keys may be as large as they like.
    #[must_use]
    pub fn upper_fence(&self) -> &'a [u8] {
        let start = self.page_bytes() - usize::from(self.header().upper_bytes);
        self.bytes.get(start..).unwrap_or_default()
    }

    /// What all keys begin with.
    #[must_use]
    pub const fn prefix(&self) -> &'a [u8] {
        self.prefix
    }

    /// Whether the fences permit this key.
    #[must_use]
    pub fn covers(&self, key: &[u8]) -> bool {
        let upper = self.upper_fence();
        self.lower_fence() <= key && (upper.is_empty() || key < upper)
    }

    /// Bytes an insertion can use at once: those between slots and heap. An entry needs a slot too.
    #[must_use]
    pub fn gap_bytes(&self) -> usize {
        self.header().heap_start as usize - self.header().slots_end()
    }

    /// Bytes of the heap that belong to no record any more, and that compaction returns.
    #[must_use]
    pub fn dead_bytes(&self) -> usize {
        self.header().dead_bytes as usize
    }

    /// Bytes of fences, slots and records.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        let free = self.gap_bytes() + self.dead_bytes();
        self.page_bytes() - ROW_PAGE_HEADER_BYTES - free
    }

    /// Bytes of slots and records if the prefix had `prefix_bytes`, which is at most what it has.
    pub(super) fn entry_bytes(&self, prefix_bytes: usize) -> Result<usize, Corrupt> {
        let longer = self.prefix.len().checked_sub(prefix_bytes);
        let longer = longer.ok_or_else(|| Corrupt::new("neighbours' fences do not match", 0))?;
        Ok(self.used_bytes() - self.header().fence_bytes() + self.len() * longer)
    }

    #[inline(always)]
    pub(super) fn header(&self) -> PageHeaderFields {
        PageHeaderFields::read(self.head)
    }

    /// First byte behind the heap.
    pub(super) fn heap_end(&self) -> usize {
        self.page_bytes() - self.header().fence_bytes()
    }

    /// Where `key` is or would be.
    ///
    /// # Errors
    /// A record outside of the page.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<KeySearch, Corrupt> {
        let suffix = match key.split_at_checked(self.prefix.len()) {
            Some((start, suffix)) if start == self.prefix => suffix,
            _ if key < self.prefix => return Ok(KeySearch::Absent(0)),
            _ => return Ok(KeySearch::Absent(self.len())),
        };
        let head = head_of(suffix);
        let low = self.slots.partition_point(|slot| head_at(slot) < head);
        let rest = self.slots.get(low..).unwrap_or_default();
        let equal_count = match rest {
            [first, ..] if head_at(first) != head => 0,
            [_, second, ..] if head_at(second) == head => {
                rest.partition_point(|slot| head_at(slot) == head)
            }
            [] => 0,
            _ => 1,
        };
        self.find_in(low..low + equal_count, suffix)
    }

    /// Binary search by whole suffixes. It halves the range whatever the comparison says, so that a processor has
    /// nothing to guess.
    fn find_in(&self, range: Range<usize>, suffix: &[u8]) -> Result<KeySearch, Corrupt> {
        let (mut low, mut count) = (range.start, range.len());
        while count > 1 {
            let half = count / 2;
            let is_not_greater = self.suffix(low + half)? <= suffix;
            low = if is_not_greater { low + half } else { low };
            count -= half;
        }
        if count == 0 {
            return Ok(KeySearch::Absent(low));
        }
        Ok(match self.suffix(low)?.cmp(suffix) {
            Ordering::Less => KeySearch::Absent(low + 1),
            Ordering::Equal => KeySearch::Found(low),
            Ordering::Greater => KeySearch::Absent(low),
        })
    }

    /// The entry with that key.
    ///
    /// # Errors
    /// A record outside of the page.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Result<Option<PageEntryRef<'a>>, Corrupt> {
        match self.find(key)? {
            KeySearch::Found(index) => self.entry(index).map(Some),
            KeySearch::Absent(_) => Ok(None),
        }
    }

    /// Index of the first entry whose key is not less than `key`.
    ///
    /// # Errors
    /// A record outside of the page.
    pub fn lower_bound(&self, key: &[u8]) -> Result<usize, Corrupt> {
        self.find(key).map(KeySearch::lower_bound)
    }

    /// The entry of an inner page under which `key` is, and its page. A key below the lower fence is taken for
    /// the fence.
    ///
    /// # Errors
    /// A page without entries, a leaf, or a value that is no number of a page.
    pub fn child(&self, key: &[u8]) -> Result<(usize, PageId), Corrupt> {
        let index = match self.find(key)? {
            KeySearch::Found(index) => index,
            KeySearch::Absent(index) => index.saturating_sub(1),
        };
        Ok((index, self.child_at(index)?))
    }

    /// The page under entry `index` of an inner page.
    ///
    /// # Errors
    /// No such entry, a leaf, or a value that is no number of a page.
    pub fn child_at(&self, index: usize) -> Result<PageId, Corrupt> {
        let offset = slot_offset(index);
        if self.kind() != TreePageKind::Inner {
            return Err(Corrupt::new("a leaf has no children", offset));
        }
        ChildPointer::page(self.entry(index)?.value).map_err(|error| Corrupt { offset, ..error })
    }

    /// Entry number `index`, counted from 0.
    ///
    /// # Errors
    /// No such entry, or a record outside of the page.
    #[inline]
    pub fn entry(&self, index: usize) -> Result<PageEntryRef<'a>, Corrupt> {
        let slot = self.slot(index)?;
        let record = self.record(index, &slot)?;
        let parts = record.split_at_checked(usize::from(slot.key_bytes));
        let (suffix, value) = parts.ok_or_else(|| outside(index))?;
        Ok(PageEntryRef {
            prefix: self.prefix,
            suffix,
            value,
            overflow: slot.overflow,
        })
    }

    /// Entries by ascending key, from either end.
    #[must_use]
    pub fn entries(&self) -> PageEntries<'a> {
        self.entries_in(0..self.len())
    }

    /// The entries with these indexes, as far as there are any, from either end.
    #[must_use]
    pub fn entries_in(&self, range: Range<usize>) -> PageEntries<'a> {
        let end = range.end.min(self.len());
        PageEntries {
            page: *self,
            range: range.start.min(end)..end,
        }
    }

    #[inline]
    pub(super) fn slot(&self, index: usize) -> Result<PageSlot, Corrupt> {
        let found = self.slots.get(index).map(PageSlot::read);
        found.ok_or_else(|| no_entry(index, self.len()))
    }

    #[inline]
    pub(super) fn suffix(&self, index: usize) -> Result<&'a [u8], Corrupt> {
        let slot = self.slot(index)?;
        let start = usize::from(slot.offset);
        let found = self.bytes.get(start..start + usize::from(slot.key_bytes));
        found.ok_or_else(|| outside(index))
    }

    #[inline]
    pub(super) fn record(&self, index: usize, slot: &PageSlot) -> Result<&'a [u8], Corrupt> {
        let start = usize::from(slot.offset);
        let found = self.bytes.get(start..start + slot.record_bytes());
        found.ok_or_else(|| outside(index))
    }
}

#[cold]
fn wrong_length(bytes: usize) -> Corrupt {
    Corrupt::new(format!("row page of {bytes} bytes"), bytes)
}

#[cold]
fn no_entry(index: usize, entry_count: usize) -> Corrupt {
    let what = format!("page of {entry_count} entries has no entry {index}");
    Corrupt::new(what, slot_offset(entry_count))
}

#[cold]
fn outside(index: usize) -> Corrupt {
    let what = format!("record of entry {index} is outside of the page");
    Corrupt::new(what, slot_offset(index))
}

/// Entries of a page, from either end.
#[derive(Clone, Debug)]
pub struct PageEntries<'a> {
    page: RowPage<'a>,
    range: Range<usize>,
}

impl<'a> Iterator for PageEntries<'a> {
    type Item = Result<PageEntryRef<'a>, Corrupt>;

    fn next(&mut self) -> Option<Self::Item> {
        self.range.next().map(|index| self.page.entry(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for PageEntries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().map(|index| self.page.entry(index))
    }
}

impl ExactSizeIterator for PageEntries<'_> {}

const _: () = assert!(SLOT_BYTES == size_of::<SlotBytes>());
