//! What the handles of a volume share, whose turn it is to write, and what happens when the disk fails.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use quire_format::volume::{BLOCK_BYTES, LAST_PAGE, PageId};

use super::cache::Cache;
use super::gate::Gate;
use super::options::VolumeOptions;
use super::read_ahead_bound::ReadAheadBound;
use super::read_threads::ReadThreads;
use super::run_images::read_header;
use super::version::PinnedVersion;
use super::writer::VolumeWriterState;
use crate::disk::{CountedDisk, Disk, OpenMode, is_full};
use crate::error::BatchWriteError;

/// One file of pages. A cheap handle: clones are the same volume.
#[derive(Clone)]
pub struct Volume {
    pub(super) inner: Arc<VolumeInner>,
}

pub(super) struct VolumeInner {
    /// The one below.
    pub(super) disk: Arc<dyn Disk>,
    pub(super) counted_disk: Arc<CountedDisk>,
    /// Name of the disk, for messages.
    pub(super) file: Arc<str>,
    pub(super) mode: OpenMode,
    pub(super) options: VolumeOptions,
    pub(super) current: RwLock<Arc<PinnedVersion>>,
    pub(super) gate: Gate,
    pub(super) writer: Mutex<VolumeWriterState>,
    /// The first failure, after which nothing is written.
    pub(super) poison: OnceLock<String>,
    /// Shared with the threads that read ahead, which do not hold the volume.
    pub(super) cache: Arc<Cache>,
    pub(super) read_ahead: Arc<ReadAheadBound>,
    pub(super) read_threads: ReadThreads,
    /// The next page to be named. Pages named since the newest commit are named again after a crash.
    pub(super) next_page: AtomicU64,
    /// The disk could not make the file longer when that was last tried.
    pub(super) is_full: AtomicBool,
    /// Whether the writer's `undiscarded` has extents.
    pub(super) has_undiscarded: AtomicBool,
    /// What is set aside for a flush of what has changed in memory.
    pub(super) flush_room_bytes: AtomicU64,
    /// The same, or more.
    pub(super) flush_room_kept_bytes: AtomicU64,
    /// What images of row pages take of their pages.
    pub(super) image_permille: AtomicU64,
    pub(super) notices: Vec<String>,
}

/// The turn; dropping it lets the next writer in.
pub(super) struct WriterTurn {
    inner: Arc<VolumeInner>,
}

impl WriterTurn {
    /// Waits for the turn.
    pub(super) fn wait(inner: &Arc<VolumeInner>) -> Self {
        inner.gate.wait();
        Self {
            inner: Arc::clone(inner),
        }
    }
}

impl Drop for WriterTurn {
    fn drop(&mut self) {
        self.inner.discard_free();
        self.inner.gate.give_back();
    }
}

impl VolumeInner {
    pub(super) fn allocate_page(&self) -> Option<PageId> {
        PageId::new(self.next_page.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn next_page(&self) -> u64 {
        self.next_page.load(Ordering::Relaxed).min(LAST_PAGE + 1)
    }

    pub(super) fn version(&self) -> Arc<PinnedVersion> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn lock_writer(&self) -> MutexGuard<'_, VolumeWriterState> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses on a read-only or poisoned volume.
    pub(super) fn may_write(&self) -> Result<(), BatchWriteError> {
        let file = || Arc::clone(&self.file);
        if self.mode == OpenMode::ReadOnly {
            return Err(BatchWriteError::ReadOnly { file: file() });
        }
        match self.poison.get() {
            Some(reason) => Err(BatchWriteError::Poisoned {
                file: file(),
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// From now on nothing is written: what the disk holds is no longer known.
    pub(super) fn poison(&self, operation: &'static str, error: &io::Error) {
        let _ = self
            .poison
            .set(format!("it could not {operation} ({error})"));
    }

    /// Turns a failed write into an error. A full disk is survivable, everything else poisons.
    pub(super) fn write_failed(&self, error: io::Error, needed_bytes: u64) -> BatchWriteError {
        let file = Arc::clone(&self.file);
        if is_full(&error) {
            return BatchWriteError::Full { file, needed_bytes };
        }
        self.failed("write to", error)
    }

    /// Poisons the volume.
    pub(super) fn failed(&self, operation: &'static str, source: io::Error) -> BatchWriteError {
        self.poison(operation, &source);
        BatchWriteError::Io {
            file: Arc::clone(&self.file),
            operation,
            source,
        }
    }

    /// Overwrites the headers of runs that are free, so that no scan takes them for live ones. Headers in adjoining
    /// blocks are overwritten at once.
    pub(super) fn erase(
        &self,
        blocks: impl IntoIterator<Item = u64>,
    ) -> Result<(), BatchWriteError> {
        const BLOCKS_AT_ONCE: usize = 64;
        let mut blocks: Vec<u64> = blocks.into_iter().collect();
        blocks.sort_unstable();
        let zeros = vec![0; BLOCKS_AT_ONCE.min(blocks.len()) * BLOCK_BYTES as usize];
        for adjoining in blocks.chunk_by(|left, right| left + 1 == *right) {
            for piece in adjoining.chunks(BLOCKS_AT_ONCE) {
                let bytes = &zeros[..piece.len() * BLOCK_BYTES as usize];
                let erased = match self.disk.write_at(bytes, piece[0] * BLOCK_BYTES) {
                    Err(error) if is_full(&error) => self.erase_those_there_are(piece),
                    erased => erased,
                };
                erased.map_err(|error| self.failed("erase a free run of", error))?;
            }
        }
        Ok(())
    }

    /// On a full disk: a block that was discarded, and that a run which failed was to begin in, cannot be written, and need not be.
    fn erase_those_there_are(&self, blocks: &[u64]) -> io::Result<()> {
        let zeros = [0; BLOCK_BYTES as usize];
        for offset in blocks.iter().map(|block| block * BLOCK_BYTES) {
            if read_header(&*self.disk, offset)?.is_some() {
                self.disk.write_at(&zeros, offset)?;
            }
        }
        Ok(())
    }
}
