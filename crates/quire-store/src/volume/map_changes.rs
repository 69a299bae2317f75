//! What a checkpoint has to store: the changes since the last one, or the whole map.

use quire_format::volume::{BLOCK_BYTES, CHUNK_ITEMS_MAX, MapChunk, PageId, PageRange};

use super::checkpoint::Ending;
use super::free_space::Extent;
use super::runs::to_run_extent;
use super::writer::VolumeWriterState;

/// What an entry and a run of a stored map take, about.
const ENTRY_BYTES: u64 = 9;
const RUN_BYTES: u64 = 4;

/// A map up to this size is written whole when a session ends, so that small files stay small.
const SMALL_MAP_BYTES: u64 = 8 << 10;

/// A chunk with so many items takes a block, seldom two.
pub(super) const SHORT_CHUNK_ITEMS: u64 = 320;

/// What a chunk costs whoever reads the chain, besides its bytes.
const CHUNK_COST_BYTES: u64 = 64;

impl VolumeWriterState {
    /// The whole map is written when there is none to build upon, or when the chain has become
    /// more than twice as long as the map.
    pub(super) fn must_write_whole_map(&self, ending: Ending) -> bool {
        if self.needs_snapshot || self.superblock.map.is_none() {
            return true;
        }
        let whole_bytes = self.whole_map_bytes();
        let chain_bytes: u64 = self
            .chunks
            .iter()
            .map(|(_, bytes)| bytes + CHUNK_COST_BYTES)
            .sum();
        // A chunk takes a block at least. That is little, unless there are no more.
        let chain_blocks: u64 = self.chunks.iter().map(|(extent, _)| extent.count).sum();
        if self.space.is_full && chain_blocks > whole_bytes.div_ceil(BLOCK_BYTES) + 1 {
            return true;
        }
        let is_small = ending == Ending::Closes && whole_bytes <= SMALL_MAP_BYTES;
        chain_bytes > 2 * whole_bytes + 8 * CHUNK_COST_BYTES || is_small && !self.is_checkpointed()
    }

    /// What the whole map takes, about.
    pub(super) fn whole_map_bytes(&self) -> u64 {
        let run_count = self.contents.runs.run_count();
        self.contents.pages.page_count() * ENTRY_BYTES + run_count * RUN_BYTES
    }

    /// Need the whole map not be written?
    pub(super) fn may_append_to_map(&self) -> bool {
        !self.needs_snapshot && self.superblock.map.is_some()
    }

    /// The chunks of a checkpoint, without the pointers between them.
    pub(super) fn chunks_to_write(&self, whole: bool) -> Vec<MapChunk> {
        let mut chunks = if whole { self.all() } else { self.changes() };
        // There is always a chunk: its header is a second proof that the newest commit counts.
        if chunks.is_empty() && self.superblock.commit_sequence != self.contents.commit_sequence {
            chunks.push(MapChunk::default());
        }
        chunks
    }

    /// The checkpoint with those chunks is durable.
    pub(super) fn note_checkpointed(&mut self) {
        for start in std::mem::take(&mut self.contents.changed_runs) {
            self.contents.runs.note_checkpoint(start);
        }
        self.contents.changed_pages.clear();
    }

    /// On a full disk chunks are short, to find their place in holes.
    fn packer(&self) -> Packer {
        let items_max = if self.space.is_full {
            SHORT_CHUNK_ITEMS as usize
        } else {
            CHUNK_ITEMS_MAX
        };
        Packer {
            chunks: Vec::new(),
            items_max,
        }
    }

    fn all(&self) -> Vec<MapChunk> {
        let mut packer = self.packer();
        let runs = &self.contents.runs;
        for (extent, _) in runs
            .iter()
            .filter(|(extent, _)| runs.is_worth_listing(extent.start))
        {
            packer.chunk().added_runs.push(to_run_extent(extent));
        }
        self.contents
            .pages
            .for_each(&mut |entry| packer.chunk().entries.push(entry));
        packer.chunks
    }

    fn changes(&self) -> Vec<MapChunk> {
        let mut packer = self.packer();
        let runs = &self.contents.runs;
        let changed = || self.contents.changed_runs.iter().copied();
        let is_removed =
            |start: &u64| runs.is_in_checkpoint(*start) && !runs.is_worth_listing(*start);
        let is_added =
            |start: &u64| !runs.is_in_checkpoint(*start) && runs.is_worth_listing(*start);
        for start in changed().filter(is_removed) {
            packer.chunk().removed_runs.push(start * BLOCK_BYTES);
        }
        for start in changed().filter(is_added) {
            let count = runs.get(start).map_or(0, |run| run.block_count);
            packer
                .chunk()
                .added_runs
                .push(to_run_extent(Extent { start, count }));
        }
        let pages = || self.contents.changed_pages.iter().copied();
        let is_gone = |page: &PageId| self.contents.pages.get(*page).is_none();
        for range in PageRange::from_sorted(pages().filter(is_gone)) {
            packer.chunk().removed_pages.push(range);
        }
        for entry in pages().filter_map(|page| self.contents.pages.get(page)) {
            packer.chunk().entries.push(entry);
        }
        packer.chunks
    }
}

/// Fills chunks one after the other.
struct Packer {
    chunks: Vec<MapChunk>,
    items_max: usize,
}

impl Packer {
    /// The chunk that takes the next item.
    fn chunk(&mut self) -> &mut MapChunk {
        let is_full = |chunk: &MapChunk| chunk.item_count() >= self.items_max;
        if self.chunks.last().is_none_or(is_full) {
            self.chunks.push(MapChunk::default());
        }
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }
}
