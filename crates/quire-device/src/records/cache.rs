//! Decompressed records that have not changed.
//!
//! A record's page never changes, and its number is not used again while a volume is open, so the number is the key and nothing
//! has to be taken out but for room. Which record goes is decided by CLOCK: the hand passes over those that were used since it
//! was there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_store::PageId;

/// Bytes of bookkeeping for each record.
const ENTRY_BYTES: usize = 96;

/// Records by their pages.
pub(crate) struct RecordCache {
    budget_bytes: usize,
    kept: Mutex<KeptRecords>,
}

#[derive(Default)]
struct KeptRecords {
    records: HashMap<PageId, KeptRecord>,
    /// In the order in which the hand comes to them.
    order: VecDeque<PageId>,
    bytes: usize,
}

struct KeptRecord {
    content: Arc<[u8]>,
    was_used: bool,
}

impl RecordCache {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Self {
            budget_bytes,
            kept: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, page: PageId) -> Option<Arc<[u8]>> {
        let mut kept = self.lock();
        let record = kept.records.get_mut(&page)?;
        record.was_used = true;
        Some(Arc::clone(&record.content))
    }

    pub(crate) fn insert(&self, page: PageId, content: &Arc<[u8]>) {
        let bytes = content.len() + ENTRY_BYTES;
        if bytes > self.budget_bytes {
            return;
        }
        let mut kept = self.lock();
        if kept.records.contains_key(&page) {
            return;
        }
        kept.make_room(self.budget_bytes - bytes);
        let content = Arc::clone(content);
        let was_used = false;
        kept.records.insert(page, KeptRecord { content, was_used });
        kept.order.push_back(page);
        kept.bytes += bytes;
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, KeptRecords> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptRecords {
    /// Lets records go until no more than `bytes` are kept.
    fn make_room(&mut self, bytes: usize) {
        while self.bytes > bytes {
            let Some(page) = self.order.pop_front() else {
                return;
            };
            let is_used = self.records.get_mut(&page);
            if is_used.is_some_and(|record| std::mem::take(&mut record.was_used)) {
                self.order.push_back(page);
            } else if let Some(record) = self.records.remove(&page) {
                self.bytes -= record.content.len() + ENTRY_BYTES;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_budget_holds() {
        let cache = RecordCache::new(10 * (1000 + ENTRY_BYTES));
        let content: Arc<[u8]> = vec![1; 1000].into();
        for number in 16..100 {
            let page = PageId::new(number).unwrap();
            cache.insert(page, &content);
            cache.insert(page, &content);
            assert!(cache.get(PageId::new(16).unwrap()).is_some(), "{number}");
            assert!(cache.bytes() <= 10 * (1000 + ENTRY_BYTES));
        }
        assert!(cache.get(PageId::new(17).unwrap()).is_none());
        let large: Arc<[u8]> = vec![1; 20_000].into();
        cache.insert(PageId::new(200).unwrap(), &large);
        assert!(cache.get(PageId::new(200).unwrap()).is_none());
    }
}
