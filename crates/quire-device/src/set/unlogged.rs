//! What has changed since the newest batch and is in no log.

/// A log page has no more bytes of files.
const LOG_BYTES_MAX: usize = 1 << 20;
/// What a range takes in a log page and in memory besides its bytes, about.
const RANGE_BYTES: usize = 32;
/// No more log pages are written before a batch. Each sync stores the list of them anew, so it must stay short.
const LOG_PAGES_MAX: usize = 512;

/// A range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenRange {
    pub(super) inode: u64,
    pub(super) offset: u64,
    pub(super) length: usize,
}

/// Writes since the newest batch or log page, and whether anything else has changed.
#[derive(Debug, Default)]
pub(super) struct UnloggedWrites {
    /// In their order; what one write continues of the one before is one range.
    ranges: Vec<WrittenRange>,
    bytes: usize,
    /// Something that cannot be logged has changed: names, lengths, attributes.
    has_others: bool,
    /// The log pages since the newest batch, and their bytes.
    logged_pages: usize,
    logged_bytes: usize,
}

impl UnloggedWrites {
    pub(super) fn note_write(&mut self, inode: u64, offset: u64, length: usize) {
        let is_next = self
            .ranges
            .last()
            .is_some_and(|last| last.inode == inode && last.offset + last.length as u64 == offset);
        self.bytes += length + if is_next { 0 } else { RANGE_BYTES };
        // Then they are not logged anyway, and need not be remembered.
        if self.has_others || self.bytes > LOG_BYTES_MAX {
            self.ranges.clear();
            self.has_others = true;
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if is_next => last.length += length,
            _ => self.ranges.push(WrittenRange {
                inode,
                offset,
                length,
            }),
        }
    }

    pub(super) fn note_other(&mut self) {
        self.has_others = true;
        self.ranges.clear();
    }

    /// Nothing has changed that is in no log and no batch.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_others && self.ranges.is_empty()
    }

    /// What a log page is to have. `None` when a batch has to be written instead: because of other changes, or since the log
    /// would become longer than `limit_bytes`.
    pub(super) fn take(&mut self, limit_bytes: usize) -> Option<Vec<WrittenRange>> {
        let is_long =
            self.logged_pages >= LOG_PAGES_MAX || self.logged_bytes + self.bytes > limit_bytes;
        if self.has_others || is_long {
            return None;
        }
        self.logged_pages += 1;
        self.logged_bytes += self.bytes;
        self.bytes = 0;
        Some(std::mem::take(&mut self.ranges))
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
        unlogged.set_logged(LOG_PAGES_MAX - 1, 0);
        assert_eq!(unlogged.take(1000), Some(Vec::new()));
        assert_eq!(unlogged.take(1000), None, "as many pages as may be");
    }
}
