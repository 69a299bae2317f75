//! A batch of writes: all of it becomes visible and durable at once, or nothing does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use quire_format::volume::{
    BLOCK_BYTES, FIRST_FREE_PAGE, ImageHeader, ImageKind, MAX_PAYLOAD_BYTES, PageId, PageKind,
    checksum,
};

use super::batch_runs::{BatchRuns, FlushedImage};
use super::checkpoint::Ending;
use super::floors::{CHECKPOINT_BLOCKS, cleaning_run_bytes};
use super::inner::{Volume, VolumeInner, WriterTurn};
use super::map_changes::SHORT_CHUNK_ITEMS;
use super::page_map::image_bytes;
use super::pin::ReadPattern;
use super::placement::Space;
use super::version::PinnedVersion;
use crate::error::{BatchWriteError, PageReadError};

/// A batch of writes. Dropping it without [`WriteBatch::commit`] leaves nothing of it.
///
/// Several threads may write to one batch at the same time.
pub struct WriteBatch {
    pub(super) inner: Arc<VolumeInner>,
    pub(super) base: Arc<PinnedVersion>,
    pub(super) runs: Mutex<BatchRuns>,
    /// Signalled when a thread has finished writing a run.
    pub(super) drained: Condvar,
    freed: Mutex<Freed>,
    /// Copies only.
    pub(super) is_cleaning: bool,
    purpose: Mutex<BatchPurpose>,
    /// Bytes of redo records in it, if it leaves room for their pages.
    redo_bytes: AtomicU64,
    /// Nothing is left to undo.
    pub(super) finished: bool,
    /// What may follow the commit is left to the caller.
    pub(super) is_tidied_later: bool,
    /// Held until everything else is done.
    _turn: WriterTurn,
}

/// What a batch is for, which decides how much of the reserve it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchPurpose {
    /// Anything. If it frees more than it writes, it makes room.
    Any,
    /// The log of a deletion.
    Deletion,
    /// The pages that have changed, after which their log goes.
    Flush,
    /// Copies out of dead space.
    Cleaning,
}

/// What the batch makes dead.
#[derive(Default)]
struct Freed {
    /// `true`: freed; `false`: replaced.
    pages: BTreeMap<PageId, bool>,
    /// Bytes of their images in the base.
    dead_bytes: u64,
}

impl WriteBatch {
    pub(super) fn begin(
        inner: Arc<VolumeInner>,
        turn: WriterTurn,
    ) -> Result<Self, BatchWriteError> {
        inner.may_write()?;
        let bytes_wanted = inner.options.run_bytes_wanted();
        let (sequence, after_commit, end) = {
            let mut writer = inner.lock_writer();
            if writer.space.tail.is_some() {
                inner.release_dead(&mut writer)?;
            }
            let contents = &writer.contents;
            let end = writer.space.free.end();
            (contents.next_sequence, contents.commit_sequence, end)
        };
        let runs = BatchRuns::new(sequence, after_commit, bytes_wanted, end);
        Ok(Self {
            base: inner.version(),
            runs: Mutex::new(runs),
            drained: Condvar::new(),
            freed: Mutex::default(),
            is_cleaning: false,
            purpose: Mutex::new(BatchPurpose::Any),
            redo_bytes: AtomicU64::new(0),
            finished: false,
            is_tidied_later: false,
            _turn: turn,
            inner,
        })
    }

    /// Writes a new page.
    ///
    /// # Errors
    /// [`BatchWriteError::TooLarge`] over [`MAX_PAYLOAD_BYTES`]; [`BatchWriteError::Full`], after which the
    /// batch can only be dropped; [`BatchWriteError::Io`], which also poisons the volume.
    pub fn write(&self, kind: PageKind, payload: &[u8]) -> Result<PageId, BatchWriteError> {
        check_length(payload)?;
        let page = self
            .inner
            .allocate_page()
            .ok_or(BatchWriteError::BatchFailed)?;
        self.append(page, kind, payload)?;
        Ok(page)
    }

    /// Writes an image of a page that [`crate::Volume::allocate_page`] has named, the first or a newer one. It must
    /// not have been freed.
    ///
    /// # Errors
    /// [`BatchWriteError::NotFound`] for a page that was not allocated, or that this batch frees; otherwise as
    /// [`WriteBatch::write`].
    pub fn put(&self, page: PageId, kind: PageKind, payload: &[u8]) -> Result<(), BatchWriteError> {
        check_length(payload)?;
        {
            let mut freed = self.lock_freed();
            let is_freed = freed.pages.get(&page).copied().unwrap_or(false);
            if is_freed || !(FIRST_FREE_PAGE..self.next_page()).contains(&page.get()) {
                return Err(self.not_found(page));
            }
            if self.exists(page) {
                self.count_dead(&mut freed, page, false);
            }
        }
        self.append(page, kind, payload)
    }

    /// Writes a new image of a page. A page below 16 need not exist yet: [`crate::CATALOG_PAGE`]
    /// is made this way.
    ///
    /// # Errors
    /// [`BatchWriteError::NotFound`]; otherwise as [`WriteBatch::write`].
    pub fn replace(
        &self,
        page: PageId,
        kind: PageKind,
        payload: &[u8],
    ) -> Result<(), BatchWriteError> {
        check_length(payload)?;
        {
            let mut freed = self.lock_freed();
            let is_freed = freed.pages.get(&page).copied().unwrap_or(false);
            if is_freed || page.get() >= FIRST_FREE_PAGE && !self.exists(page) {
                return Err(self.not_found(page));
            }
            self.count_dead(&mut freed, page, false);
        }
        self.append(page, kind, payload)
    }

    /// Frees a page. Its name is not used again.
    ///
    /// # Errors
    /// [`BatchWriteError::NotFound`].
    pub fn free(&self, page: PageId) -> Result<(), BatchWriteError> {
        let mut freed = self.lock_freed();
        if freed.pages.get(&page).copied().unwrap_or(false) || !self.exists(page) {
            return Err(self.not_found(page));
        }
        self.count_dead(&mut freed, page, true);
        Ok(())
    }

    /// The payload of a page as this batch has left it.
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn read(&self, page: PageId) -> Result<Arc<[u8]>, PageReadError> {
        if self.lock_freed().pages.get(&page).copied().unwrap_or(false) {
            return Err(PageReadError::NotFound {
                file: Arc::clone(&self.inner.file),
                page,
            });
        }
        let runs = self.wait_until_drained(self.lock_runs());
        match runs.places.get(&page) {
            None => self.inner.read(&self.base, page),
            Some(FlushedImage::Buffered { position, header }) => {
                Ok(runs.buffered_payload(*position, header).into())
            }
            Some(FlushedImage::Placed(entry)) => {
                self.inner.read_payload(entry, ReadPattern::Sequential)
            }
        }
    }

    pub(crate) fn is_of(&self, volume: &Volume) -> bool {
        Arc::ptr_eq(&self.inner, &volume.inner)
    }

    /// Sequence that the commit of this batch will have.
    pub(crate) fn sequence(&self) -> u64 {
        self.lock_runs().sequence
    }

    /// Was there such a page before the batch?
    pub(crate) fn existed(&self, page: PageId) -> bool {
        self.base.pages.get(page).is_some()
    }

    /// The batch is the log of a deletion, or another that will make room, if not by itself: on a full disk it may use the
    /// part of the reserve that is there for it.
    pub fn use_reserve(&self) {
        self.set_purpose(BatchPurpose::Deletion);
    }

    /// The commit is not followed by a checkpoint or cleaning that may be due: the caller has others wait who need not wait for that, and
    /// calls [`Volume::tidy_up`] afterwards.
    pub fn tidy_up_later(&mut self) {
        self.is_tidied_later = true;
    }

    /// The batch shortens the log of row transactions, which deletions wait for.
    pub(crate) fn shortens_log(&self) {
        self.set_purpose(BatchPurpose::Flush);
    }

    /// The batch copies only.
    pub(super) fn only_cleans(&mut self) {
        self.is_cleaning = true;
        self.set_purpose(BatchPurpose::Cleaning);
        self.lock_runs().pack_images();
        if self.inner.is_full() {
            let end = self.inner.lock_writer().space.free.end();
            self.lock_runs().want_runs_of(cleaning_run_bytes(end));
        }
    }

    /// The batch has so many bytes of redo records, and leaves room for the pages that they change.
    pub fn leave_room_for_pages(&self, redo_bytes: u64) {
        self.redo_bytes.store(redo_bytes, Ordering::Relaxed);
    }

    fn set_purpose(&self, purpose: BatchPurpose) {
        *self.lock_purpose() = purpose;
    }

    fn lock_purpose(&self) -> MutexGuard<'_, BatchPurpose> {
        self.purpose.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many blocks of the reserve the batch leaves, if it may use it.
    pub(super) fn left_of_reserve(&self, runs: &BatchRuns, space: &Space) -> Option<u64> {
        let floors = &space.floors;
        let purpose = *self.lock_purpose();
        match purpose {
            // Other free blocks serve the checkpoint after it as well.
            BatchPurpose::Cleaning => {
                Some(left_by_cleaning(runs).saturating_sub(space.free.free_count()))
            }
            BatchPurpose::Flush => Some(floors.left_by_flushes()),
            _ if self.frees_more(runs) => Some(CHECKPOINT_BLOCKS),
            BatchPurpose::Deletion => Some(floors.left_by_deletions() + self.page_blocks(space)),
            BatchPurpose::Any => None,
        }
    }

    /// How many blocks the batch leaves free.
    pub(super) fn blocks_left(&self, runs: &BatchRuns, space: &Space) -> u64 {
        let others = || space.floors.left_by_others() + self.page_blocks(space);
        if self.is_cleaning {
            left_by_cleaning(runs)
        } else {
            self.left_of_reserve(runs, space).unwrap_or_else(others)
        }
    }

    /// Blocks for the pages that its redo records change.
    fn page_blocks(&self, space: &Space) -> u64 {
        let redo_bytes = self.redo_bytes.load(Ordering::Relaxed);
        let page_bytes = match *self.lock_purpose() {
            // They are estimated when they have been changed.
            _ if !space.is_full => self.inner.image_bytes_of(redo_bytes),
            // Short keys one behind the other.
            BatchPurpose::Deletion => redo_bytes,
            // Rows take more in their pages than in the log, for these are not full.
            _ => 2 * redo_bytes,
        };
        page_bytes.div_ceil(BLOCK_BYTES)
    }

    fn append(&self, page: PageId, kind: PageKind, payload: &[u8]) -> Result<(), BatchWriteError> {
        self.inner.may_write()?;
        let payload_checksum = checksum(payload);
        let mut runs = self.lock_runs();
        if runs.failed {
            return Err(BatchWriteError::BatchFailed);
        }
        let header = ImageHeader {
            kind: ImageKind::Page(page, kind),
            payload_bytes: payload.len() as u32,
            sequence: runs.sequence,
            payload_checksum,
        };
        let is_full = self.inner.is_full();
        if is_full {
            self.fit_into_hole(&mut runs, payload.len())?;
        }
        runs.append(&header, payload);
        match runs.is_full() {
            true if is_full || *self.lock_purpose() != BatchPurpose::Any => {
                self.flush_alone(&mut runs)
            }
            true => self.flush_shared(runs),
            false => Ok(()),
        }
    }

    fn exists(&self, page: PageId) -> bool {
        self.base.pages.get(page).is_some() || self.lock_runs().places.contains_key(&page)
    }

    fn count_dead(&self, freed: &mut Freed, page: PageId, is_freed: bool) {
        let before = freed.pages.insert(page, is_freed);
        if let (None, Some(old)) = (before, self.base.pages.get(page)) {
            freed.dead_bytes += image_bytes(&old);
        }
    }

    fn not_found(&self, page: PageId) -> BatchWriteError {
        BatchWriteError::NotFound {
            file: Arc::clone(&self.inner.file),
            page,
        }
    }

    fn lock_freed(&self) -> MutexGuard<'_, Freed> {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_runs(&self) -> MutexGuard<'_, BatchRuns> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_until_drained<'a>(
        &'a self,
        mut runs: MutexGuard<'a, BatchRuns>,
    ) -> MutexGuard<'a, BatchRuns> {
        while runs.in_flight > 0 {
            runs = self
                .drained
                .wait(runs)
                .unwrap_or_else(PoisonError::into_inner);
        }
        runs
    }

    /// The pages to free, ascending.
    pub(super) fn freed_pages(&self) -> Vec<PageId> {
        let freed = self.lock_freed();
        freed
            .pages
            .iter()
            .filter(|(_, is_freed)| **is_freed)
            .map(|(page, _)| *page)
            .collect()
    }

    /// Does the batch make more room than it takes?
    fn frees_more(&self, runs: &BatchRuns) -> bool {
        let taken_bytes = runs.written_bytes + runs.buffer.len() as u64;
        self.lock_freed().dead_bytes > taken_bytes
    }

    /// May the batch make do with what is in the file? Then the file is not made longer in advance.
    pub(super) fn makes_room(&self, runs: &BatchRuns) -> bool {
        *self.lock_purpose() != BatchPurpose::Any || self.frees_more(runs)
    }

    /// Lowest page not given out by anybody.
    pub(super) fn next_page(&self) -> u64 {
        self.inner.next_page()
    }

    /// Undoes everything: gives the space back, and makes sure that no scan finds the runs.
    fn abort(&self) {
        let mut runs = self.wait_until_drained(self.lock_runs());
        if runs.placements.is_empty() || self.inner.may_write().is_err() {
            return;
        }
        let mut writer = self.inner.lock_writer();
        let mut undone = Vec::new();
        for placement in runs.placements.drain(..).rev() {
            writer.space.undo(&placement);
            undone.extend(placement.runs());
        }
        self.inner.note_undiscarded(&mut writer, &undone);
        writer.contents.next_sequence = runs.sequence + 1;
        let end = writer.space.free.end();
        // A failure poisons the volume, which the next caller is told.
        let _ = self.inner.erase(
            undone
                .iter()
                .map(|run| run.start)
                .filter(|start| *start < end),
        );
        let _ = self.inner.cut_file(&writer);
        if runs.failed && self.inner.may_write().is_ok() {
            // The disk is full: let the next try have the space that a checkpoint sets free.
            let _ = self.inner.checkpoint(&mut writer, Ending::GoesOn);
        }
    }
}

impl Drop for WriteBatch {
    fn drop(&mut self) {
        if !self.finished {
            self.abort();
        }
    }
}

fn check_length(payload: &[u8]) -> Result<(), BatchWriteError> {
    let (bytes, limit_bytes) = (payload.len(), MAX_PAYLOAD_BYTES);
    if bytes > limit_bytes {
        return Err(BatchWriteError::TooLarge { bytes, limit_bytes });
    }
    Ok(())
}

/// The checkpoint after cleaning has to list what was copied.
fn left_by_cleaning(runs: &BatchRuns) -> u64 {
    CHECKPOINT_BLOCKS + runs.image_count / SHORT_CHUNK_ITEMS
}
