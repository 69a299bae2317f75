//! The dictionaries with which records were compressed, as far as they have been needed of late.
//!
//! A dictionary's page never changes, and its number is not used again while a volume is open, so the number is the key.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quire_codec::block::ZstdDictionary;
use quire_store::PageId;

/// At most 112 KiB each, as this program learns them.
const KEPT_MAX: usize = 64;

/// Dictionaries by the numbers of their pages, which are their names.
#[derive(Default)]
pub(crate) struct DictionaryCache {
    /// The one that was used last is at the end.
    kept: Mutex<VecDeque<ZstdDictionary>>,
}

impl DictionaryCache {
    pub(crate) fn get(&self, page: PageId) -> Option<ZstdDictionary> {
        let mut kept = self.lock();
        let at = kept.iter().rposition(|one| one.id() == page.get())?;
        let found = kept.remove(at)?;
        kept.push_back(found.clone());
        Some(found)
    }

    /// Keeps a dictionary with a name.
    pub(crate) fn insert(&self, dictionary: &ZstdDictionary) {
        let mut kept = self.lock();
        if kept.iter().any(|one| one.id() == dictionary.id()) {
            return;
        }
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(dictionary.clone());
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ZstdDictionary>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_were_used_last_are_kept() {
        let cache = DictionaryCache::default();
        let page = |number| PageId::new(number).unwrap();
        for number in 16..16 + 2 * KEPT_MAX as u64 {
            let dictionary = ZstdDictionary::from_bytes(number.to_le_bytes()).unwrap();
            cache.insert(&dictionary.with_id(number));
            assert!(cache.get(page(16)).is_some(), "{number}");
        }
        assert_eq!(cache.lock().len(), KEPT_MAX);
        assert!(cache.get(page(17)).is_none());
        let last = cache.get(page(15 + 2 * KEPT_MAX as u64)).unwrap();
        assert_eq!(last.bytes(), (15 + 2 * KEPT_MAX as u64).to_le_bytes());
    }
}
