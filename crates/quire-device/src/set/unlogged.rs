//! What has changed since the newest batch and is in no log.

/// A log page has no more bytes of files.
const LOG_BYTES_MAX: usize = 1 << 20;
/// What a range takes in a log page and in memory besides its bytes, about.
const RANGE_BYTES: usize = 32;
/// No more log pages are written before a batch. Each sync stores the list of them anew, so it must stay short.
const LOG_PAGES_MAX: usize = 1024;

/// A range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenRange {
    pub(super) inode: u64,
    pub(super) offset: u64,
    pub(super) length: usize,
}

/// Writes of which the bytes are in no log page.
#[derive(Debug, Default)]
struct RangeList {
    /// In their order; what one write continues of the one before is one range.
    ranges: Vec<WrittenRange>,
    bytes: usize,
    /// Something that cannot be logged has changed: names, lengths, attributes.
    has_others: bool,
}

/// What has changed since the newest batch or log page, and how long the log is.
#[derive(Debug, Default)]
pub(super) struct UnloggedWrites {
    /// In the batch that is being written.
    frozen: RangeList,
    current: RangeList,
    /// The log pages that the next batch does not have if one is being written now, and their bytes.
    logged_pages: usize,
    logged_bytes: usize,
}

impl RangeList {
    fn note_other(&mut self) {
        self.has_others = true;
        self.ranges.clear();
    }

    fn is_empty(&self) -> bool {
        !self.has_others && self.ranges.is_empty()
    }
}

impl UnloggedWrites {
    pub(super) fn note_write(&mut self, inode: u64, offset: u64, length: usize) {
        let list = &mut self.current;
        let is_next = list
            .ranges
            .last()
            .is_some_and(|last| last.inode == inode && last.offset + last.length as u64 == offset);
        list.bytes += length + if is_next { 0 } else { RANGE_BYTES };
        // Then they are not logged anyway, and need not be remembered.
        if list.has_others || list.bytes > LOG_BYTES_MAX {
            list.note_other();
            return;
        }
        match list.ranges.last_mut() {
            Some(last) if is_next => last.length += length,
            _ => list.ranges.push(WrittenRange {
                inode,
                offset,
                length,
            }),
        }
    }

    pub(super) fn note_other(&mut self) {
        self.current.note_other();
    }

    /// Nothing has changed that is in no log and no batch.
    pub(super) fn is_empty(&self) -> bool {
        self.frozen.is_empty() && self.current.is_empty()
    }

    /// What a log page is to have. `None` when a batch has to be written instead: because of other changes, or since the log
    /// would become longer than `limit_bytes`.
    pub(super) fn take(&mut self, limit_bytes: usize) -> Option<Vec<WrittenRange>> {
        let bytes = self.frozen.bytes + self.current.bytes;
        let is_long = self.logged_pages >= LOG_PAGES_MAX
            || self.logged_bytes + bytes > limit_bytes
            || bytes > LOG_BYTES_MAX;
        if self.frozen.has_others || self.current.has_others || is_long {
            return None;
        }
        self.logged_pages += 1;
        self.logged_bytes += bytes;
        let mut ranges = std::mem::take(&mut self.frozen).ranges;
        ranges.append(&mut std::mem::take(&mut self.current).ranges);
        Some(ranges)
    }

    /// All that has changed so far is being written in a batch, and in the log until now. Until it is committed, it can be logged as well.
    pub(super) fn begin_batch(&mut self) {
        *self = Self {
            frozen: std::mem::take(&mut self.current),
            ..Self::default()
        };
    }

    /// The batch has been committed.
    pub(super) fn end_batch(&mut self) {
        self.frozen = RangeList::default();
    }

    /// What was to be in a log page is in none, so batches have to be written.
    pub(super) fn fail_log(&mut self) {
        self.frozen.note_other();
        self.current.note_other();
    }

    /// The batch has failed, and the next one has what it had.
    pub(super) fn fail_batch(&mut self) {
        self.frozen = RangeList::default();
        self.current.note_other();
    }

    /// So many log pages with so many bytes are there already.
    pub(super) fn set_logged(&mut self, pages: usize, bytes: usize) {
        *self = Self {
            logged_pages: pages,
            logged_bytes: bytes,
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_logged_until_something_else_changes_or_the_log_is_long() {
        let mut unlogged = UnloggedWrites::default();
        for offset in [0, 10, 20, 50] {
            unlogged.note_write(7, offset, 10);
        }
        let ranges = unlogged.take(1000).unwrap();
        let found: Vec<_> = ranges
            .iter()
            .map(|range| (range.offset, range.length))
            .collect();
        assert_eq!(found, [(0, 30), (50, 10)]);
        assert!(unlogged.is_empty());
        unlogged.note_write(7, 0, 865);
        assert_eq!(unlogged.take(1000), None, "104 and 897 bytes");
        unlogged.note_other();
        assert_eq!(unlogged.take(1 << 30), None);
        unlogged.set_logged(0, 0);
        assert_eq!(unlogged.take(1000), Some(Vec::new()));
        unlogged.note_write(7, 0, LOG_BYTES_MAX + 1);
        assert_eq!(unlogged.take(1 << 30), None);
        assert!(!unlogged.is_empty());
        unlogged.begin_batch();
        unlogged.note_write(7, 0, 1);
        assert_eq!(unlogged.take(1 << 30), None, "the batch has something else");
        unlogged.end_batch();
        assert_eq!(unlogged.take(1 << 30).map(|ranges| ranges.len()), Some(1));
        unlogged.note_write(7, 5, 1);
        unlogged.begin_batch();
        unlogged.note_write(7, 9, 1);
        let ranges = unlogged.take(1 << 30).unwrap();
        assert_eq!((ranges[0].offset, ranges[1].offset), (5, 9));
        unlogged.set_logged(LOG_PAGES_MAX - 1, 0);
        assert_eq!(unlogged.take(1000), Some(Vec::new()));
        assert_eq!(unlogged.take(1000), None, "as many pages as may be");
    }
}
