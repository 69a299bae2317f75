//! Entries in any order become a tree, built from below.

use std::cmp::Ordering;
use std::path::PathBuf;

use quire_format::row_page::PageOp;
use quire_kv::btree::{BTree, Direction, TreeError, TreeLevels, TreeOptions, check_size};
use quire_kv::mvcc::{KeyWriteError, SpillError, TreeSpec};
use quire_kv::progress::{Cancelled, RowProgress, StatementWork};
use quire_store::PageId;
use quire_store::pool::PageCodec;

use super::page_writers::PageWriters;
use super::sorter::{EntrySorter, SortedEntries};
use crate::error::{EngineError, RowScanError, RowWriteError};

/// Entries that come in order are written from here on, and not kept to be sorted.
const STREAM_BYTES: usize = 1 << 20;

/// Why entries become no tree.
pub(super) enum FillError {
    /// Two have this key; the value is that of one of them.
    Duplicate { key: Vec<u8>, value: Vec<u8> },
    /// Something else.
    Other(RowWriteError),
}

impl From<RowWriteError> for FillError {
    fn from(error: RowWriteError) -> Self {
        Self::Other(error)
    }
}

impl From<EngineError> for FillError {
    fn from(error: EngineError) -> Self {
        Self::Other(error.into())
    }
}

impl From<StoreError> for FillError {
    fn from(error: StoreError) -> Self {
        Self::Other(match error {
            StoreError::Tree(error) => RowWriteError::Write(KeyWriteError::Tree(error)),
            StoreError::Engine(error) => error.into(),
        })
    }
}

fn tree_error(error: TreeError) -> FillError {
    FillError::Other(RowWriteError::Write(KeyWriteError::Tree(error)))
}

fn spill_error(error: SpillError) -> FillError {
    FillError::Other(RowWriteError::Write(KeyWriteError::Spill(error)))
}

fn duplicate(key: &[u8], value: &[u8]) -> FillError {
    FillError::Duplicate {
        key: key.to_vec(),
        value: value.to_vec(),
    }
}

/// A tree that is being filled. As long as entries come in order, pages are built at once; from the first that does not on
/// they are sorted, and what was built before becomes one of the sorted runs.
pub(super) struct TreeFill {
    codec: PageCodec,
    options: TreeOptions,
    sorter: EntrySorter,
    built: Option<Building>,
    is_streaming: bool,
    entry_count: u64,
}

/// Pages of entries that came in order.
struct Building {
    levels: TreeLevels,
    codec: PageCodec,
    made: Vec<PageId>,
    /// How many of them there were when it was asked how large leaves may be.
    limited_at: usize,
    last_key: Vec<u8>,
    is_empty: bool,
}

impl Building {
    fn new(codec: PageCodec, options: TreeOptions) -> Result<Self, FillError> {
        Ok(Self {
            // Pages of before the first commit that concerns the tree.
            levels: TreeLevels::new(options, 0).map_err(tree_error)?,
            codec,
            made: Vec::new(),
            limited_at: usize::MAX,
            last_key: Vec::new(),
            is_empty: true,
        })
    }

    /// How a key compares with the last.
    fn order(&self, key: &[u8]) -> Ordering {
        if self.is_empty {
            Ordering::Greater
        } else {
            key.cmp(&self.last_key)
        }
    }

    /// Adds an entry whose key is not less than the last.
    fn push(&mut self, key: &[u8], value: &[u8], writers: &PageWriters) -> Result<(), FillError> {
        if self.order(key) == Ordering::Equal {
            return Err(duplicate(key, value));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.is_empty = false;
        let (codec, made) = (self.codec, &mut self.made);
        if self.limited_at != made.len() {
            self.limited_at = made.len();
            if let Some(bytes) = writers.pool().built_bytes(codec) {
                self.levels.limit_leaves(bytes);
            }
        }
        let pushed = self.levels.push(key, value, &mut |bytes| {
            write_page(bytes, codec, made, writers)
        });
        Ok(pushed?)
    }

    /// Ends the tree, whose root will be `root`. Returns its pages.
    fn finish(mut self, root: PageId, writers: &PageWriters) -> Result<Vec<PageId>, FillError> {
        let (codec, made) = (self.codec, &mut self.made);
        let bytes = self
            .levels
            .finish(&mut |bytes| write_page(bytes, codec, made, writers))?;
        writers.write(root, bytes, codec)?;
        self.made.push(root);
        Ok(self.made)
    }
}

fn write_page(
    bytes: Vec<u8>,
    codec: PageCodec,
    made: &mut Vec<PageId>,
    writers: &PageWriters,
) -> Result<PageId, StoreError> {
    let page = writers.name_page()?;
    writers.write(page, bytes, codec)?;
    made.push(page);
    Ok(page)
}

/// What adding an entry to pages may fail with.
enum StoreError {
    Tree(TreeError),
    Engine(EngineError),
}

impl From<TreeError> for StoreError {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

impl From<EngineError> for StoreError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl TreeFill {
    /// A tree whose pages are kept as `spec` says. About `memory_bytes` of entries out of order are kept in memory, more go into a
    /// file in that directory.
    pub(super) fn new(spec: &TreeSpec, memory_bytes: usize, directory: Option<PathBuf>) -> Self {
        Self {
            codec: spec.codec,
            options: spec.options,
            sorter: EntrySorter::new(memory_bytes, directory),
            built: None,
            is_streaming: false,
            entry_count: 0,
        }
    }

    /// Adds an entry.
    pub(super) fn push(
        &mut self,
        key: &[u8],
        value: &[u8],
        writers: &PageWriters,
    ) -> Result<(), FillError> {
        self.entry_count += 1;
        if self.is_streaming
            && let Some(building) = &mut self.built
        {
            if building.order(key) != Ordering::Less {
                return building.push(key, value, writers);
            }
            self.is_streaming = false;
        }
        let overflow = false;
        let put = PageOp::Put {
            key,
            value,
            overflow,
        };
        check_size(&put, self.options.page_bytes).map_err(tree_error)?;
        self.sorter.push(key, value).map_err(spill_error)?;
        if self.built.is_none()
            && self
                .sorter
                .ascending_bytes()
                .is_some_and(|bytes| bytes > STREAM_BYTES)
        {
            self.stream(writers)?;
        }
        Ok(())
    }

    /// Builds pages from now on.
    fn stream(&mut self, writers: &PageWriters) -> Result<(), FillError> {
        let mut building = Building::new(self.codec, self.options)?;
        self.sorter
            .drain(|key, value| building.push(key, value, writers))?;
        self.built = Some(building);
        self.is_streaming = true;
        Ok(())
    }

    /// Entries that will be put in order when the tree is ended.
    pub(super) fn unsorted_count(&self) -> u64 {
        if self.is_streaming {
            0
        } else {
            self.entry_count
        }
    }

    /// Ends the tree, whose root will be `root`; false when there is none because it has no entries.
    pub(super) fn finish(
        self,
        root: PageId,
        writers: &PageWriters,
        work: Option<&StatementWork>,
    ) -> Result<bool, FillError> {
        let mut count = RowProgress::new(work);
        let mut sorted = self.sorter.into_sorted().map_err(spill_error)?;
        match self.built {
            Some(built) if self.is_streaming => {
                built.finish(root, writers)?;
                return Ok(true);
            }
            Some(built) => {
                let base_root = writers.name_page()?;
                let base = built.finish(base_root, writers)?;
                writers.drain()?;
                let tree =
                    BTree::open(writers.pool(), self.codec, base_root).map_err(tree_error)?;
                let merged = Building::new(self.codec, self.options)?;
                let merged = merge(merged, &tree, &mut sorted, (writers, &mut count))?;
                merged.finish(root, writers)?;
                writers.free(&base)?;
            }
            None => {
                let mut building = Building::new(self.codec, self.options)?;
                while let Some((key, value)) = sorted.next().map_err(spill_error)? {
                    building.push(key, value, writers)?;
                    count.count().map_err(stopped)?;
                }
                if building.is_empty {
                    return Ok(false);
                }
                building.finish(root, writers)?;
            }
        }
        Ok(true)
    }
}

fn stopped(cancelled: Cancelled) -> FillError {
    FillError::Other(RowScanError::from(cancelled).into())
}

/// The entries of a tree and those that were sorted, in their common order.
fn merge(
    mut target: Building,
    tree: &BTree,
    sorted: &mut SortedEntries,
    (writers, count): (&PageWriters, &mut RowProgress<'_>),
) -> Result<Building, FillError> {
    let mut cursor = tree.cursor(&[], &[], Direction::Forward);
    let mut left = cursor.next_entry().map_err(tree_error)?;
    let mut right = sorted.next().map_err(spill_error)?;
    loop {
        let is_left = match (left, right) {
            (Some((left, _)), Some((right, _))) => left <= right,
            (left, _) => left.is_some(),
        };
        let next = if is_left { left } else { right };
        let Some((key, value)) = next else {
            return Ok(target);
        };
        target.push(key, value, writers)?;
        count.count().map_err(stopped)?;
        if is_left {
            left = cursor.next_entry().map_err(tree_error)?;
        } else {
            right = sorted.next().map_err(spill_error)?;
        }
    }
}
