//! What has changed in memory since the last batch: a layer over the tree.
//!
//! A data set has at most two of these: the one that operations change, and the one that is being written. A look-up goes
//! through them from the newest to the tree.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bookkeeping of an item, a cut or a record, about.
const ENTRY_BYTES: usize = 128;

/// What a layer says of a key or a record.
#[derive(Debug)]
pub(crate) enum Layered<T> {
    /// It is this.
    Is(T),
    /// There is none.
    Gone,
    /// Nothing: ask the layer below.
    Below,
}

/// Changes of items and records that are not in the volume yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generation {
    /// Items other than records; `None`: removed.
    items: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Of an inode: records from this index on that lower layers have are gone.
    cuts: BTreeMap<u64, u64>,
    /// By inode and index; `None`: a hole. They are above the cuts.
    records: BTreeMap<(u64, u64), Option<Arc<Vec<u8>>>>,
    bytes: usize,
    /// All is being removed, so nothing is kept of what files take.
    is_erasing: bool,
}

impl Generation {
    /// One that removes all items of a data set, step by step.
    pub(crate) fn erasing() -> Self {
        Self {
            is_erasing: true,
            ..Self::default()
        }
    }

    pub(crate) fn is_erasing(&self) -> bool {
        self.is_erasing
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.cuts.is_empty() && self.records.is_empty()
    }

    /// The memory it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn items(&self) -> &BTreeMap<Vec<u8>, Option<Vec<u8>>> {
        &self.items
    }

    pub(crate) fn cuts(&self) -> &BTreeMap<u64, u64> {
        &self.cuts
    }

    pub(crate) fn records(&self) -> &BTreeMap<(u64, u64), Option<Arc<Vec<u8>>>> {
        &self.records
    }

    /// The records of an inode that this layer has, by their indices; `None` is a hole.
    pub(crate) fn records_of(
        &self,
        inode: u64,
    ) -> impl Iterator<Item = (u64, Option<&Arc<Vec<u8>>>)> {
        let records = self.records.range((inode, 0)..=(inode, u64::MAX));
        records.map(|((_, index), content)| (*index, content.as_ref()))
    }

    pub(crate) fn item(&self, key: &[u8]) -> Layered<&Vec<u8>> {
        match self.items.get(key) {
            Some(Some(value)) => Layered::Is(value),
            Some(None) => Layered::Gone,
            None => Layered::Below,
        }
    }

    pub(crate) fn record(&self, inode: u64, index: u64) -> Layered<&Arc<Vec<u8>>> {
        match self.records.get(&(inode, index)) {
            Some(Some(content)) => Layered::Is(content),
            Some(None) => Layered::Gone,
            None if self.cuts.get(&inode).is_some_and(|from| *from <= index) => Layered::Gone,
            None => Layered::Below,
        }
    }

    /// Sets or removes an item.
    pub(crate) fn set_item(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) {
        let bytes = |value: &Option<Vec<u8>>| value.as_ref().map_or(0, Vec::len);
        self.bytes += bytes(&value);
        let key_bytes = key.len();
        match self.items.insert(key, value) {
            Some(old) => self.bytes -= bytes(&old),
            None => self.bytes += key_bytes + ENTRY_BYTES,
        }
    }

    /// Sets a record, or makes it a hole.
    pub(crate) fn set_record(&mut self, inode: u64, index: u64, content: Option<Vec<u8>>) {
        let bytes = |content: Option<&Vec<u8>>| content.map_or(0, Vec::capacity);
        self.bytes += bytes(content.as_ref());
        match self.records.insert((inode, index), content.map(Arc::new)) {
            Some(old) => self.bytes -= bytes(old.as_deref()),
            None => self.bytes += ENTRY_BYTES,
        }
    }

    /// Makes holes of all records of a file that this layer has.
    pub(crate) fn clear_records(&mut self, inode: u64) {
        for (_, content) in self.records.range_mut((inode, 0)..=(inode, u64::MAX)) {
            self.bytes -= content.take().map_or(0, |content| content.capacity());
        }
    }

    /// Changes a record that this layer has; false if it has not.
    pub(crate) fn change_record(
        &mut self,
        inode: u64,
        index: u64,
        change: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let Some(Some(content)) = self.records.get_mut(&(inode, index)) else {
            return false;
        };
        let before = content.capacity();
        let content = Arc::make_mut(content);
        change(content);
        self.bytes = self.bytes + content.capacity() - before;
        true
    }

    /// Removes the records of a file from `from` on.
    pub(crate) fn cut(&mut self, inode: u64, from: u64) {
        let cut = self.records.range((inode, from)..=(inode, u64::MAX));
        let cut: Vec<(u64, u64)> = cut.map(|(key, _)| *key).collect();
        for key in cut {
            let content = self.records.remove(&key).flatten();
            self.bytes -= ENTRY_BYTES + content.map_or(0, |content| content.capacity());
        }
        if !self.cuts.contains_key(&inode) {
            self.bytes += ENTRY_BYTES;
        }
        let lowest = self.cuts.entry(inode).or_insert(from);
        *lowest = from.min(*lowest);
    }

    /// Puts a layer beneath this one that could not be written.
    pub(crate) fn put_beneath(&mut self, below: Self) {
        for (key, value) in below.items {
            if !self.items.contains_key(&key) {
                self.set_item(key, value);
            }
        }
        for ((inode, index), content) in below.records {
            if matches!(self.record(inode, index), Layered::Below) {
                self.bytes +=
                    ENTRY_BYTES + content.as_ref().map_or(0, |content| content.capacity());
                self.records.insert((inode, index), content);
            }
        }
        for (inode, from) in below.cuts {
            if !self.cuts.contains_key(&inode) {
                self.bytes += ENTRY_BYTES;
            }
            let lowest = self.cuts.entry(inode).or_insert(from);
            *lowest = from.min(*lowest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(layers: &[&Generation], index: u64) -> Option<Vec<u8>> {
        for layer in layers {
            match layer.record(1, index) {
                Layered::Is(content) => return Some(content.to_vec()),
                Layered::Gone => return None,
                Layered::Below => {}
            }
        }
        Some(b"tree".to_vec())
    }

    #[test]
    fn a_layer_put_beneath_is_as_two_layers_were() {
        let mut below = Generation::default();
        below.set_record(1, 2, Some(b"old".to_vec()));
        below.cut(1, 4);
        below.set_record(1, 5, Some(b"behind".to_vec()));
        below.set_record(1, 9, Some(b"far".to_vec()));
        below.set_record(1, 3, None);
        below.set_item(b"a".to_vec(), Some(b"1".to_vec()));
        below.set_item(b"b".to_vec(), Some(b"2".to_vec()));
        let mut above = Generation::default();
        above.cut(1, 8);
        above.set_record(1, 2, Some(b"new".to_vec()));
        above.set_record(1, 11, Some(b"end".to_vec()));
        above.set_item(b"b".to_vec(), None);
        let before: Vec<_> = (0..20)
            .map(|index| found(&[&above, &below], index))
            .collect();
        assert_eq!(before[5].as_deref(), Some(&b"behind"[..]));
        assert_eq!((&before[9], &before[6], &before[3]), (&None, &None, &None));
        above.put_beneath(below);
        let after: Vec<_> = (0..20).map(|index| found(&[&above], index)).collect();
        assert_eq!(after, before);
        assert!(matches!(above.item(b"a"), Layered::Is(_)));
        assert!(matches!(above.item(b"b"), Layered::Gone));
    }

    #[test]
    fn its_bytes_follow_its_content() {
        let mut layer = Generation::default();
        layer.set_record(1, 0, Some(vec![0; 100]));
        layer.set_record(1, 0, Some(vec![0; 50]));
        assert!(layer.change_record(1, 0, |content| {
            content.reserve_exact(20);
            content.resize(70, 1);
        }));
        assert!(!layer.change_record(1, 1, |_| {}));
        assert_eq!(layer.bytes(), 70 + ENTRY_BYTES);
        layer.set_record(2, 0, Some(vec![0; 10]));
        layer.cut(1, 0);
        assert_eq!(layer.bytes(), 10 + 2 * ENTRY_BYTES);
        layer.set_item(vec![1], Some(vec![2; 5]));
        layer.set_item(vec![1], None);
        assert_eq!(layer.bytes(), 11 + 3 * ENTRY_BYTES);
    }
}
