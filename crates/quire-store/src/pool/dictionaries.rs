//! Which dictionary the leaves of a tree are compressed with.
//!
//! Leaves of a table repeat words that none of them repeats often enough for itself. A dictionary is learnt from a sample of the
//! first leaves, and again when there are eight times as many (`training`). It is kept only if leaves that were set aside become
//! so much smaller that it pays. An image names its dictionary by the number of the dictionary's page, and is undone from that
//! alone, so dictionaries of any age are beside each other. A dictionary is written by the first flush that may have images
//! made with it, in the same batch; and freed by the one that frees the pages of its tree.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodecId, ZstdDictionary};
use quire_format::page_dictionary::{DictionaryList, decode_dictionary, encode_dictionary};
use quire_format::volume::{DICTIONARY_LIST_PAGE, PageId, PageKind};

use super::codec::PageCodec;
use super::error::GetError;
use super::training::TrainingSample;
use crate::error::BatchWriteError;
use crate::volume::{Volume, WriteBatch};

/// Dictionaries of one tree. One that has so many keeps its newest.
const DICTIONARIES_MAX: usize = 8;

/// Contents that are kept beside the newest one of each tree, about.
const CONTENTS_MAX: usize = 64;

/// The dictionaries of a volume, as far as they have been asked for.
pub(super) struct Dictionaries {
    volume: Volume,
    /// None for a tree that is gone.
    trees: RwLock<HashMap<u64, Option<Arc<TreeDictionary>>>>,
    contents: Mutex<HashMap<PageId, ZstdDictionary>>,
    list: Mutex<ListState>,
}

/// What the next flush makes of the list.
#[derive(Default)]
struct ListState {
    /// As it is in the volume; none before it was read.
    stored: Option<DictionaryList>,
    /// Trained, and not in the volume yet.
    unwritten: Vec<(u64, PageId, ZstdDictionary)>,
    /// Trees whose pages are free as of the next instant of a flush.
    forgotten: Vec<u64>,
}

/// A tree whose leaves may have a dictionary.
pub(super) struct TreeDictionary {
    tree: u64,
    codec: PageCodec,
    state: Mutex<TreeState>,
}

#[derive(Default)]
struct TreeState {
    newest: Option<ZstdDictionary>,
    /// Whether `newest` is what the volume has, or newer.
    is_known: bool,
    sample: TrainingSample,
}

/// How a leaf is to be compressed.
pub(super) struct LeafDictionary {
    pub(super) tree: Arc<TreeDictionary>,
    pub(super) dictionary: Option<ZstdDictionary>,
    /// Whether the leaf is to become part of the sample.
    pub(super) is_sampled: bool,
}

/// A full sample, to learn a dictionary from.
pub(super) struct TrainingJob {
    tree: Arc<TreeDictionary>,
    sample: TrainingSample,
}

/// What a flush does to the list.
pub(super) struct ListChange {
    list: DictionaryList,
    written: Vec<PageId>,
}

impl Dictionaries {
    pub(super) fn new(volume: Volume) -> Self {
        Self {
            volume,
            trees: RwLock::default(),
            contents: Mutex::default(),
            list: Mutex::default(),
        }
    }

    /// `codec` for the tree with that number.
    pub(super) fn add(&self, codec: PageCodec, tree: u64) -> PageCodec {
        if self.volume.is_read_only() {
            return codec;
        }
        // Of a tree that was dropped nobody knows the codec; dictionaries that it has go with it all the same.
        if codec.id() != BlockCodecId::Zstd {
            return codec.of_tree(tree);
        }
        let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
        match trees.get(&tree) {
            Some(None) => return codec,
            Some(Some(known)) if known.codec == codec.plain() => {}
            _ => {
                let dictionary = TreeDictionary {
                    tree,
                    codec: codec.plain(),
                    state: Mutex::default(),
                };
                trees.insert(tree, Some(Arc::new(dictionary)));
            }
        }
        codec.of_tree(tree)
    }

    /// For a leaf that is about to be compressed.
    pub(super) fn for_leaf(&self, codec: PageCodec) -> Option<LeafDictionary> {
        if codec.id() != BlockCodecId::Zstd {
            return None;
        }
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        let tree = Arc::clone(trees.get(&codec.tree()?)?.as_ref()?);
        drop(trees);
        let mut state = tree.lock();
        if !state.is_known {
            let (newest, count) = self.newest_stored(tree.tree);
            state
                .sample
                .begin(count < DICTIONARIES_MAX, newest.is_some());
            state.newest = newest;
            state.is_known = true;
        }
        let (dictionary, is_sampled) = (state.newest.clone(), state.sample.note_leaf());
        drop(state);
        Some(LeafDictionary {
            tree,
            dictionary,
            is_sampled,
        })
    }

    /// The newest dictionary of a tree in the volume, and how many there are. One that cannot be read is not used; who reads an
    /// image that names it is told.
    fn newest_stored(&self, tree: u64) -> (Option<ZstdDictionary>, usize) {
        let mut list = self.lock_list();
        // Nothing is added to a list that cannot be read.
        let Some(stored) = self.stored_list(&mut list) else {
            return (None, DICTIONARIES_MAX);
        };
        let pages = stored.trees.get(&tree).cloned().unwrap_or_default();
        drop(list);
        let newest = pages.last().and_then(|page| self.find(*page).ok());
        (newest, pages.len())
    }

    fn stored_list<'a>(&self, state: &'a mut ListState) -> Option<&'a DictionaryList> {
        if state.stored.is_none() {
            state.stored = read_list(&self.volume);
        }
        state.stored.as_ref()
    }

    /// The dictionary that an image names.
    pub(super) fn named(&self, page: PageId, id: u64) -> Result<ZstdDictionary, GetError> {
        let dictionary = PageId::new(id).ok_or_else(|| GetError::Image {
            file: self.volume.pin().file(),
            page,
            source: Corrupt::new("number of a dictionary", 0),
        })?;
        self.find(dictionary)
    }

    fn find(&self, page: PageId) -> Result<ZstdDictionary, GetError> {
        if let Some(found) = self.lock_contents().get(&page) {
            return Ok(found.clone());
        }
        let payload = self.volume.read(page)?;
        let wrong = |source| GetError::Image {
            file: self.volume.pin().file(),
            page,
            source,
        };
        let content = decode_dictionary(&payload).map_err(wrong)?;
        let dictionary = ZstdDictionary::from_bytes(content)
            .map_err(|error| wrong(Corrupt::new(error.to_string(), 0)))?;
        Ok(self.keep(page, dictionary))
    }

    fn keep(&self, page: PageId, dictionary: ZstdDictionary) -> ZstdDictionary {
        let dictionary = dictionary.with_id(page.get());
        let mut contents = self.lock_contents();
        if contents.len() >= CONTENTS_MAX {
            let stored: Vec<PageId> = contents.keys().copied().collect();
            let pin = self.volume.pin();
            let other = stored.into_iter().find(|page| pin.contains(*page));
            other.and_then(|other| contents.remove(&other));
        }
        contents.insert(page, dictionary.clone());
        dictionary
    }

    /// Learns a dictionary, and uses it if it pays. Not on a full disk: it takes room first, and gains some later.
    pub(super) fn train(&self, job: TrainingJob) {
        let TrainingJob { tree, sample } = job;
        if self.volume.is_full() {
            return;
        }
        let before = tree.lock().newest.clone();
        let Some(dictionary) = sample.train(tree.codec, before) else {
            return;
        };
        let Some(page) = self.volume.allocate_page() else {
            return;
        };
        let dictionary = self.keep(page, dictionary);
        let mut list = self.lock_list();
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        // A tree that was dropped meanwhile has no images any more.
        let known = trees.get(&tree.tree).and_then(Option::as_ref);
        if known.is_none_or(|known| !Arc::ptr_eq(known, &tree)) {
            return;
        }
        list.unwritten.push((tree.tree, page, dictionary.clone()));
        drop((trees, list));
        tree.lock().newest = Some(dictionary);
    }

    /// The disk is full: from now on leaves are compressed with what is in the volume.
    pub(super) fn use_stored_only(&self) {
        let unwritten: Vec<u64> = {
            let state = self.lock_list();
            state.unwritten.iter().map(|(tree, ..)| *tree).collect()
        };
        for tree in unwritten {
            let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
            let known = trees.get(&tree).and_then(Option::as_ref).map(Arc::clone);
            drop(trees);
            if let Some(known) = known {
                let mut state = known.lock();
                state.newest = self.newest_stored(tree).0;
            }
        }
    }

    /// The pages of a tree are being freed, under a guard that the caller holds.
    pub(super) fn forget(&self, codec: PageCodec) {
        let Some(tree) = codec.tree() else {
            return;
        };
        let mut list = self.lock_list();
        list.forgotten.push(tree);
        let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
        trees.insert(tree, None);
    }

    /// At the instant of a flush: trees that have no pages as of then.
    pub(super) fn take_forgotten(&self) -> Vec<u64> {
        let mut state = self.lock_list();
        let forgotten = std::mem::take(&mut state.forgotten);
        state
            .unwritten
            .retain(|(tree, ..)| !forgotten.contains(tree));
        forgotten
    }

    /// That flush came to nothing.
    pub(super) fn give_back(&self, forgotten: Vec<u64>) {
        self.lock_list().forgotten.extend(forgotten);
    }

    /// Adds to the batch of a flush what its images name, and frees what nothing names any more.
    pub(super) fn write(
        &self,
        batch: &WriteBatch,
        forgotten: &[u64],
        named: &HashSet<u64>,
    ) -> Result<Option<ListChange>, BatchWriteError> {
        let mut state = self.lock_list();
        let is_there = |id: &u64| {
            PageId::new(*id).is_some_and(|page| {
                batch.existed(page) || state.unwritten.iter().any(|(_, it, _)| *it == page)
            })
        };
        assert!(named.iter().all(is_there), "an image names no dictionary");
        if state.unwritten.is_empty() && forgotten.is_empty() {
            return Ok(None);
        }
        // Where it cannot be read nothing was trained either.
        let Some(mut list) = self.stored_list(&mut state).cloned() else {
            return Ok(None);
        };
        let mut written = Vec::with_capacity(state.unwritten.len());
        for tree in forgotten {
            let pages = list.trees.remove(tree).unwrap_or_default();
            for page in pages.into_iter().filter(|page| batch.existed(*page)) {
                batch.free(page)?;
            }
        }
        // A sweep may have freed dictionaries of trees that no catalog has.
        list.trees.retain(|_, pages| {
            pages.retain(|page| batch.existed(*page));
            !pages.is_empty()
        });
        let unwritten = state.unwritten.iter();
        for (tree, page, dictionary) in unwritten.filter(|(_, page, _)| named.contains(&page.get()))
        {
            let payload = encode_dictionary(dictionary.bytes());
            batch.put(*page, PageKind::Dictionary, &payload)?;
            list.trees.entry(*tree).or_default().push(*page);
            written.push(*page);
        }
        if Some(&list) != state.stored.as_ref() {
            batch.replace(
                DICTIONARY_LIST_PAGE,
                PageKind::DictionaryList,
                &list.encode(),
            )?;
        }
        Ok(Some(ListChange { list, written }))
    }

    /// The batch is committed.
    pub(super) fn written(&self, change: ListChange) {
        let mut state = self.lock_list();
        state.stored = Some(change.list);
        state
            .unwritten
            .retain(|(_, page, _)| !change.written.contains(page));
    }

    fn lock_list(&self) -> MutexGuard<'_, ListState> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_contents(&self) -> MutexGuard<'_, HashMap<PageId, ZstdDictionary>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TreeDictionary {
    /// Adds a leaf to the sample. When that is full it is to be trained from.
    pub(super) fn add_sample(
        self: &Arc<Self>,
        first_key: &[u8],
        raw: Vec<u8>,
        image_bytes: usize,
    ) -> Option<TrainingJob> {
        let mut state = self.lock();
        let sample = state.sample.add(first_key, raw, image_bytes)?;
        Some(TrainingJob {
            tree: Arc::clone(self),
            sample,
        })
    }

    fn lock(&self) -> MutexGuard<'_, TreeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list in the newest version of a volume; none if it cannot be read.
fn read_list(volume: &Volume) -> Option<DictionaryList> {
    let pin = volume.pin();
    if !pin.contains(DICTIONARY_LIST_PAGE) {
        return Some(DictionaryList::default());
    }
    let payload = pin.read(DICTIONARY_LIST_PAGE).ok()?;
    DictionaryList::decode(&payload).ok()
}
