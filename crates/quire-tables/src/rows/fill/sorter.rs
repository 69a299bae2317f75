//! Entries in any order become entries by ascending key, in memory, or with a file when they are many.
//!
//! D. Knuth, *The Art of Computer Programming*, volume 3, §5.4: what fits memory is sorted and written as a run, and the runs are
//! merged at the end. The places of entries are sorted, not the entries; the first eight bytes of a key are in its place.

use std::cmp::Ordering;
use std::path::PathBuf;

use quire_kv::btree::KeyAndValue;
use quire_kv::mvcc::SpillError;

use super::key_head::head_of;
use super::runs::{RunFile, RunReader};

/// Sorts entries. Those with the same key come one behind the other, in any order.
pub(super) struct EntrySorter {
    memory_bytes: usize,
    directory: Option<PathBuf>,
    buffer: SortBuffer,
    file: Option<RunFile>,
}

/// Entries one behind the other, and where they are.
#[derive(Default)]
struct SortBuffer {
    bytes: Vec<u8>,
    places: Vec<SortEntry>,
    /// A key is not greater than the one before it.
    is_unordered: bool,
}

#[derive(Clone, Copy)]
struct SortEntry {
    /// First bytes of the key, filled up with zeros.
    head: u64,
    start: u32,
    key_bytes: u16,
    value_bytes: u16,
}

/// Bytes of an entry besides those of key and value.
const PLACE_BYTES: usize = size_of::<SortEntry>();

impl SortBuffer {
    fn key(&self, place: &SortEntry) -> &[u8] {
        let start = place.start as usize;
        &self.bytes[start..start + usize::from(place.key_bytes)]
    }

    fn value(&self, place: &SortEntry) -> &[u8] {
        let start = place.start as usize + usize::from(place.key_bytes);
        &self.bytes[start..start + usize::from(place.value_bytes)]
    }

    /// Keys and values have fewer than 2^16 bytes, and all together fewer than 2^32.
    fn push(&mut self, key: &[u8], value: &[u8]) {
        let place = SortEntry {
            head: head_of(key),
            start: self.bytes.len() as u32,
            key_bytes: key.len() as u16,
            value_bytes: value.len() as u16,
        };
        if let Some(last) = self.places.last()
            && !self.is_unordered
        {
            self.is_unordered = last.head >= place.head && self.key(last) >= key;
        }
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.places.push(place);
    }

    fn sort(&mut self) {
        if !self.is_unordered {
            return;
        }
        let mut places = std::mem::take(&mut self.places);
        places.sort_unstable_by(|one, other| match one.head.cmp(&other.head) {
            Ordering::Equal => self.key(one).cmp(self.key(other)),
            unequal => unequal,
        });
        self.places = places;
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.is_unordered = false;
    }

    /// About what it takes of memory.
    fn len_bytes(&self) -> usize {
        self.bytes.len() + self.places.len() * PLACE_BYTES
    }
}

impl EntrySorter {
    /// A sorter that takes about so much memory, and puts what is more into a file without a name in that directory.
    pub(super) fn new(memory_bytes: usize, directory: Option<PathBuf>) -> Self {
        Self {
            // Places have 32 bits.
            memory_bytes: memory_bytes.min(1 << 30),
            directory,
            buffer: SortBuffer::default(),
            file: None,
        }
    }

    /// Adds an entry; what is in memory goes into the file when it is too much. Keys and values have fewer than 2^16 bytes.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), SpillError> {
        self.buffer.push(key, value);
        if self.buffer.len_bytes() > self.memory_bytes {
            self.write_run()?;
        }
        Ok(())
    }

    /// Bytes of entries if each came with a greater key than the one before, and none is in a file.
    pub(super) fn ascending_bytes(&self) -> Option<usize> {
        let is_ascending = self.file.is_none() && !self.buffer.is_unordered;
        is_ascending.then_some(self.buffer.len_bytes())
    }

    /// Shows what is in memory, in the order in which it came, and forgets it.
    pub(super) fn drain<E>(
        &mut self,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let buffer = std::mem::take(&mut self.buffer);
        let mut places = buffer.places.iter();
        places.try_for_each(|place| visit(buffer.key(place), buffer.value(place)))
    }

    fn write_run(&mut self) -> Result<(), SpillError> {
        self.buffer.sort();
        let file = match &mut self.file {
            Some(file) => file,
            None => self
                .file
                .insert(RunFile::create(self.directory.as_deref())?),
        };
        let buffer = &self.buffer;
        let entries = buffer.places.iter();
        file.write_run(entries.map(|place| (buffer.key(place), buffer.value(place))))?;
        self.buffer.clear();
        Ok(())
    }

    /// All entries.
    pub(super) fn into_sorted(mut self) -> Result<SortedEntries, SpillError> {
        self.buffer.sort();
        let mut sources = Vec::new();
        if let Some(file) = self.file {
            for run in file.into_readers()? {
                sources.push(MergeSource::Run(run));
            }
        }
        if !self.buffer.places.is_empty() {
            let buffer = self.buffer;
            sources.push(MergeSource::Memory { buffer, at: 0 });
        }
        Ok(SortedEntries {
            sources,
            current: None,
        })
    }
}

/// What a sorter has sorted.
pub(super) struct SortedEntries {
    /// Each has an entry: those that have ended are gone.
    sources: Vec<MergeSource>,
    /// The source of the entry that was shown last.
    current: Option<usize>,
}

enum MergeSource {
    Memory { buffer: SortBuffer, at: usize },
    Run(RunReader),
}

impl MergeSource {
    fn head(&self) -> u64 {
        match self {
            Self::Memory { buffer, at } => buffer.places[*at].head,
            Self::Run(run) => run.head(),
        }
    }

    fn entry(&self) -> (&[u8], &[u8]) {
        match self {
            Self::Memory { buffer, at } => {
                let place = &buffer.places[*at];
                (buffer.key(place), buffer.value(place))
            }
            Self::Run(run) => run.entry(),
        }
    }

    fn precedes(&self, other: &Self) -> bool {
        match self.head().cmp(&other.head()) {
            Ordering::Less => true,
            Ordering::Equal => self.entry().0 < other.entry().0,
            Ordering::Greater => false,
        }
    }

    /// Goes to the next entry; false when there is none.
    fn advance(&mut self) -> Result<bool, SpillError> {
        match self {
            Self::Memory { buffer, at } => {
                *at += 1;
                Ok(*at < buffer.places.len())
            }
            Self::Run(run) => run.advance(),
        }
    }
}

impl SortedEntries {
    /// The next entry.
    pub(super) fn next(&mut self) -> Result<Option<KeyAndValue<'_>>, SpillError> {
        if let Some(current) = self.current.take()
            && !self.sources[current].advance()?
        {
            self.sources.swap_remove(current);
        }
        let mut sources = 0..self.sources.len();
        let Some(mut least) = sources.next() else {
            return Ok(None);
        };
        for other in sources {
            if self.sources[other].precedes(&self.sources[least]) {
                least = other;
            }
        }
        self.current = Some(least);
        Ok(Some(self.sources[least].entry()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn sorted(entries: &[(Vec<u8>, Vec<u8>)], memory_bytes: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut sorter = EntrySorter::new(memory_bytes, None);
        for (key, value) in entries {
            sorter.push(key, value).unwrap();
        }
        let mut sorted = sorter.into_sorted().unwrap();
        let mut found = Vec::new();
        while let Some((key, value)) = sorted.next().unwrap() {
            found.push((key.to_vec(), value.to_vec()));
        }
        found
    }

    #[test]
    fn entries_come_by_ascending_key_from_memory_and_from_runs() {
        let mut random = 7_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for memory_bytes in [200, 5_000, 100_000, 10 << 20] {
            let entry = |_| {
                let number = next();
                // Keys of 0 to 11 bytes, of which many are the same, and many begin with the same eight.
                let key = [
                    &[b'k'; 8][..(number % 9) as usize],
                    &number.to_le_bytes()[..(number >> 8 & 3) as usize],
                ];
                (
                    key.concat(),
                    vec![number as u8; (number >> 16) as usize % 300],
                )
            };
            let entries: Vec<_> = (0..2_000).map(entry).collect();
            let mut expected = entries.clone();
            expected.sort();
            let mut found = sorted(&entries, memory_bytes);
            assert!(found.is_sorted_by(|one, other| one.0 <= other.0));
            found.sort();
            assert_eq!(found, expected, "{memory_bytes} bytes");
        }
    }

    #[test]
    fn what_comes_in_order_is_known_to() {
        let mut sorter = EntrySorter::new(1 << 20, None);
        for key in [b"".as_slice(), b"a", b"aaaaaaaa", b"aaaaaaaab", b"b"] {
            sorter.push(key, b"v").unwrap();
            assert!(sorter.ascending_bytes().is_some());
        }
        sorter.push(b"b", b"w").unwrap();
        assert_eq!(sorter.ascending_bytes(), None);
    }
}
