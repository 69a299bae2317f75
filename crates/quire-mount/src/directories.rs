//! Where readers of directories are.
//!
//! A directory is read in the order of its names. The kernel goes on from a number that came with a name; a reader keeps which name
//! each number stands for, so that it goes on behind that name whatever has been removed or added since.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Offsets of `.` and `..`; those of names follow.
pub(crate) const DOT: u64 = 1;
pub(crate) const DOT_DOT: u64 = 2;

/// The names that a reader has got, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct DirectoryReader {
    names: Vec<u8>,
    ends: Vec<usize>,
}

impl DirectoryReader {
    /// The offset behind a name that was found behind the offset `before`. Whoever reads a part of an unchanged directory again gets the
    /// offsets that it had, so going back takes no more memory.
    pub(crate) fn offset_behind(&mut self, before: u64, name: &[u8]) -> u64 {
        let next = before.max(DOT_DOT).saturating_add(1);
        if self.name_before(next) == Some(name) {
            return next;
        }
        self.names.extend_from_slice(name);
        self.ends.push(self.names.len());
        DOT_DOT + self.ends.len() as u64
    }

    /// The name that an offset is behind. `None` if it is none of this reader's.
    pub(crate) fn name_before(&self, offset: u64) -> Option<&[u8]> {
        let index = usize::try_from(offset.checked_sub(DOT_DOT + 1)?).ok()?;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.names.get(start..end)
    }

    /// Begins again.
    pub(crate) fn rewind(&mut self) {
        self.names.clear();
        self.ends.clear();
    }
}

/// Directories that are open.
#[derive(Debug, Default)]
pub(crate) struct OpenDirectories {
    readers: Mutex<OpenReaders>,
}

#[derive(Debug, Default)]
struct OpenReaders {
    last_handle: u64,
    by_handle: HashMap<u64, Arc<Mutex<DirectoryReader>>>,
}

impl OpenDirectories {
    fn lock(&self) -> MutexGuard<'_, OpenReaders> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self) -> u64 {
        let mut readers = self.lock();
        readers.last_handle += 1;
        let handle = readers.last_handle;
        readers.by_handle.insert(handle, Arc::default());
        handle
    }

    pub(crate) fn reader(&self, handle: u64) -> Option<Arc<Mutex<DirectoryReader>>> {
        self.lock().by_handle.get(&handle).cloned()
    }

    pub(crate) fn close(&self, handle: u64) {
        self.lock().by_handle.remove(&handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_stands_for_the_name_that_it_came_with() {
        let mut reader = DirectoryReader::default();
        let names: [&[u8]; 3] = [b"a", b"long name", b"z"];
        let mut last = DOT_DOT;
        let offsets = names.map(|name| {
            last = reader.offset_behind(last, name);
            last
        });
        assert_eq!(offsets, [3, 4, 5]);
        for (offset, name) in offsets.into_iter().zip(names) {
            assert_eq!(reader.name_before(offset), Some(name));
        }
        assert_eq!(reader.name_before(DOT_DOT), None);
        assert_eq!(reader.name_before(6), None);
        // Again, and with a name that has come in between.
        assert_eq!(reader.offset_behind(3, b"long name"), 4);
        assert_eq!(reader.offset_behind(3, b"b"), 6);
        assert_eq!(reader.offset_behind(6, b"long name"), 7);
        assert_eq!(reader.name_before(4), Some(&b"long name"[..]));
        assert_eq!(reader.offset_behind(3, b"b"), 8);
        reader.rewind();
        assert_eq!(reader.name_before(3), None);
    }
}
