//! Pages written ahead of their commit.
//!
//! A load may be larger than memory, and while it runs others must be able to commit. So its pages are collected in a
//! buffer, and a full buffer goes into the volume in a short batch of its own, a *staged* one, which is not synced. Nobody
//! refers to staged pages until the last batch of the transaction: it has the rest of the pages, what becomes free, and
//! the catalog. A sync of it covers the staged ones, for batches become durable in their order.
//!
//! The first staged batch also writes the *staging mark*, the last batch of the last transaction frees it: see `stagings`. A mark that is
//! found when nobody writes says that a transaction was ended by a crash: see `sweep`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use quire_format::staging_mark::StagingMark;
use quire_store::{
    BatchWriteError, CATALOG_PAGE, CommitError, Durability, PageId, PageKind, Pin, STAGING_PAGE,
    Volume, WriteBatch,
};

use crate::error::{EngineError, TransactionError};
use crate::page_cluster::PageCluster;
use crate::stagings::{Registered, Stagings};

/// What a write transaction has written and freed. Several threads may write at the same time.
pub(crate) struct Staging {
    volume: Volume,
    /// Lowest page that the transaction can have named.
    first_page: PageId,
    registered: Registered,
    buffer_bytes: usize,
    state: Mutex<StagingState>,
    /// Signalled when a full buffer has been written.
    written: Condvar,
    /// Its end has left the mark to a batch of its own.
    leaves_mark: AtomicBool,
}

#[derive(Default)]
struct StagingState {
    filling: StagingBuffer,
    /// The buffer that a thread is writing.
    writing: Option<Arc<StagingBuffer>>,
    /// Pages of this transaction that are in the volume.
    staged: Vec<PageId>,
    /// Pages that the last batch frees: of the state before, or staged.
    freed: BTreeSet<PageId>,
    /// Pages below are those of a savepoint: freed ones stay until the transaction commits.
    kept_below: Option<PageId>,
    /// Rows are removed all at once: on a full disk the batches may use what is set aside for deletions.
    makes_room: bool,
    /// A batch could not be written: the transaction can only be aborted.
    failed: bool,
}

/// What a transaction had written and freed at one moment.
#[derive(Clone)]
pub(crate) struct StagingPoint {
    next_page: PageId,
    freed: BTreeSet<PageId>,
}

/// Pages that are not in the volume yet.
#[derive(Default)]
struct StagingBuffer {
    pages: BTreeMap<PageId, StagedPage>,
    bytes: usize,
}

struct StagedPage {
    kind: PageKind,
    cluster: PageCluster,
    payload: Arc<[u8]>,
}

impl StagingBuffer {
    fn get(&self, page: PageId) -> Option<Arc<[u8]>> {
        Some(Arc::clone(&self.pages.get(&page)?.payload))
    }

    fn remove(&mut self, page: PageId) -> bool {
        let removed = self.pages.remove(&page);
        self.bytes -= removed.as_ref().map_or(0, |page| page.payload.len());
        removed.is_some()
    }

    /// Puts the pages that are wanted into a batch, cluster by cluster.
    fn put_into(
        &self,
        batch: &WriteBatch,
        is_wanted: impl Fn(&PageId) -> bool,
    ) -> Result<(), BatchWriteError> {
        let pages = self.pages.iter().filter(|(id, _)| is_wanted(id));
        let mut pages: Vec<_> = pages.collect();
        // The sort is stable: within a cluster pages keep the order of their names.
        pages.sort_by_key(|(_, page)| page.cluster);
        let mut pages = pages.into_iter();
        pages.try_for_each(|(id, page)| batch.put(*id, page.kind, &page.payload))
    }
}

impl Staging {
    /// One beside others.
    pub(crate) fn new(
        volume: &Volume,
        buffer_bytes: usize,
        others: &Arc<Stagings>,
    ) -> Result<Self, BatchWriteError> {
        volume.check_writable()?;
        let first_page = volume.next_page().ok_or(BatchWriteError::BatchFailed)?;
        Ok(Self {
            first_page,
            registered: others.register(first_page),
            volume: volume.clone(),
            buffer_bytes,
            state: Mutex::default(),
            written: Condvar::new(),
            leaves_mark: AtomicBool::new(false),
        })
    }

    pub(crate) fn volume(&self) -> &Volume {
        &self.volume
    }

    /// A page of this transaction, or of the state that it sees of others.
    pub(crate) fn read(&self, page: PageId, base: Option<&Pin>) -> Result<Arc<[u8]>, EngineError> {
        let state = self.lock();
        let writing = || state.writing.as_ref().and_then(|buffer| buffer.get(page));
        if let Some(payload) = state.filling.get(page).or_else(writing) {
            return Ok(payload);
        }
        drop(state);
        // Others may have freed what this transaction still sees.
        if let Some(base) = base
            && base.contains(page)
        {
            return Ok(base.read_scattered(page)?);
        }
        Ok(self.volume.read(page)?)
    }

    /// Writes a new page.
    pub(crate) fn write(
        &self,
        kind: PageKind,
        cluster: PageCluster,
        payload: &[u8],
    ) -> Result<PageId, BatchWriteError> {
        let page = self.name_page()?;
        self.write_at(page, kind, cluster, payload.into())?;
        Ok(page)
    }

    /// Names a page that [`Staging::write_at`] is to write.
    pub(crate) fn name_page(&self) -> Result<PageId, BatchWriteError> {
        self.volume
            .allocate_page()
            .ok_or(BatchWriteError::BatchFailed)
    }

    /// Writes a new page that this transaction has named.
    pub(crate) fn write_at(
        &self,
        page: PageId,
        kind: PageKind,
        cluster: PageCluster,
        payload: Arc<[u8]>,
    ) -> Result<(), BatchWriteError> {
        let mut state = self.lock();
        state.filling.bytes += payload.len();
        let staged = StagedPage {
            kind,
            cluster,
            payload,
        };
        state.filling.pages.insert(page, staged);
        match state.filling.bytes >= self.buffer_bytes {
            true => self.stage(state)?,
            false if state.failed => return Err(BatchWriteError::BatchFailed),
            false => {}
        }
        Ok(())
    }

    /// Writes what is in the buffer, so that all pages are in the volume.
    pub(crate) fn write_buffer(&self) -> Result<(), BatchWriteError> {
        let mut state = self.lock();
        while state.writing.is_some() {
            let woken = self.written.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        match (state.failed, state.filling.pages.is_empty()) {
            (true, _) => Err(BatchWriteError::BatchFailed),
            (false, true) => Ok(()),
            (false, false) => self.write_out(state),
        }
    }

    /// Frees a page: one of this transaction at once, unless a savepoint has it, others when it commits.
    pub(crate) fn free(&self, page: PageId) -> Result<(), BatchWriteError> {
        let mut state = self.lock();
        let is_kept = state.kept_below.is_some_and(|kept| page < kept);
        if !is_kept && state.filling.remove(page) {
            return Ok(());
        }
        let is_written = |buffer: &Arc<StagingBuffer>| buffer.pages.contains_key(&page);
        let exists = state.filling.pages.contains_key(&page)
            || state.writing.as_ref().is_some_and(is_written)
            || self.volume.pin().contains(page);
        if exists && state.freed.insert(page) {
            return Ok(());
        }
        let file = self.volume.file();
        Err(BatchWriteError::NotFound { file, page })
    }

    /// What has been written and freed until now. It can be gone back to.
    pub(crate) fn savepoint(&self) -> StagingPoint {
        let mut state = self.lock();
        let next_page = self.volume.next_page();
        let next_page = next_page.unwrap_or(self.first_page);
        state.kept_below = Some(next_page);
        StagingPoint {
            next_page,
            freed: state.freed.clone(),
        }
    }

    /// What there was before anything was written.
    pub(crate) fn beginning(&self) -> StagingPoint {
        StagingPoint {
            next_page: self.first_page,
            freed: BTreeSet::new(),
        }
    }

    /// Goes back: what was written since is freed with the last batch, what was freed since is not. Nobody writes meanwhile.
    pub(crate) fn go_back_to(&self, point: &StagingPoint) {
        let mut state = self.lock();
        while state.writing.is_some() {
            let woken = self.written.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let filling = state.filling.pages.range(point.next_page..);
        for page in filling.map(|(page, _)| *page).collect::<Vec<_>>() {
            state.filling.remove(page);
        }
        let staged = state.staged.iter().copied();
        let since: Vec<PageId> = staged.filter(|page| *page >= point.next_page).collect();
        state.freed = point.freed.iter().copied().chain(since).collect();
    }

    /// The transaction removes the rows of a table.
    pub(crate) fn set_makes_room(&self) {
        self.lock().makes_room = true;
    }

    /// Writes the staging mark, unless it is there.
    pub(crate) fn mark(&self) -> Result<(), BatchWriteError> {
        let state = self.lock();
        if self.registered.is_marked() {
            Ok(())
        } else {
            self.stage(state)
        }
    }

    /// Writes the buffer while other threads fill a new one.
    fn stage(&self, mut state: MutexGuard<'_, StagingState>) -> Result<(), BatchWriteError> {
        while state.writing.is_some() {
            let woken = self.written.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if state.failed {
            return Err(BatchWriteError::BatchFailed);
        }
        if self.registered.is_marked() && state.filling.bytes < self.buffer_bytes {
            // Another thread was here meanwhile.
            return Ok(());
        }
        self.write_out(state)
    }

    /// The same, when no other thread does.
    fn write_out(&self, mut state: MutexGuard<'_, StagingState>) -> Result<(), BatchWriteError> {
        let buffer = Arc::new(std::mem::take(&mut state.filling));
        state.writing = Some(Arc::clone(&buffer));
        let makes_room = state.makes_room;
        drop(state);
        let mut writing = Writing {
            staging: self,
            is_written: false,
        };
        self.write_staged(&buffer, makes_room)?;
        writing.is_written = true;
        Ok(())
    }

    fn write_staged(
        &self,
        buffer: &StagingBuffer,
        makes_room: bool,
    ) -> Result<(), BatchWriteError> {
        let batch = self.volume.begin()?;
        // Nobody has the turn but this batch.
        let marks = !self.registered.is_marked();
        if makes_room {
            batch.use_reserve();
        }
        if marks {
            let first_page = self.registered.first_page().unwrap_or(self.first_page);
            let mark = StagingMark { first_page };
            batch.replace(STAGING_PAGE, PageKind::Staging, &mark.encode())?;
        }
        buffer.put_into(&batch, |_| true)?;
        match batch.commit_with(Durability::Unsynced) {
            Ok(_) => {
                self.registered.note_mark();
                Ok(())
            }
            Err(CommitError::Write(error)) => Err(error),
            Err(_) => Err(BatchWriteError::BatchFailed),
        }
    }

    /// The last batch. `end` commits it. Followed by [`Staging::tidy_up`], when nobody waits for this one any more.
    ///
    /// # Errors
    /// When a batch could not be written, or what `end` says. [`Staging::abort`] is due then.
    pub(crate) fn commit<R>(
        &self,
        catalog: Option<&[u8]>,
        end: impl FnOnce(WriteBatch) -> Result<R, CommitError>,
    ) -> Result<R, TransactionError> {
        let state = self.lock();
        if state.failed {
            return Err(EngineError::from(BatchWriteError::BatchFailed).into());
        }
        let mut batch = self.volume.begin().map_err(EngineError::from)?;
        batch.tidy_up_later();
        if state.makes_room {
            batch.use_reserve();
        }
        let frees_mark = self.registered.begin_end();
        let prepared = self.prepare(&state, catalog, &batch, frees_mark);
        let committed = match prepared.map_err(EngineError::from) {
            Ok(()) => end(batch).map_err(TransactionError::from),
            Err(error) => Err(error.into()),
        };
        self.note_end(frees_mark, committed.is_ok());
        committed
    }

    fn note_end(&self, frees_mark: bool, is_done: bool) {
        let is_left = self.registered.note_end(frees_mark, is_done);
        self.leaves_mark.store(is_left, Ordering::Relaxed);
    }

    /// What may follow the last batch.
    pub(crate) fn tidy_up(&self) {
        self.free_left_mark();
        self.volume.tidy_up();
    }

    /// Frees the mark, if the last batch left it to a batch of its own.
    fn free_left_mark(&self) {
        let is_left = self.leaves_mark.swap(false, Ordering::Relaxed);
        if is_left && self.registered.free_mark(&self.volume).is_err() {
            // The next sweep does.
            self.registered.keep_mark();
        }
    }

    fn prepare(
        &self,
        state: &StagingState,
        catalog: Option<&[u8]>,
        batch: &WriteBatch,
        frees_mark: bool,
    ) -> Result<(), BatchWriteError> {
        let is_wanted = |page: &PageId| !state.freed.contains(page);
        state.filling.put_into(batch, is_wanted)?;
        let filling = &state.filling.pages;
        let in_volume = state.freed.iter();
        let mut in_volume = in_volume.filter(|page| !filling.contains_key(page));
        in_volume.try_for_each(|page| batch.free(*page))?;
        if frees_mark {
            batch.free(STAGING_PAGE)?;
        }
        match catalog {
            Some(payload) => batch.replace(CATALOG_PAGE, PageKind::Catalog, payload),
            None => Ok(()),
        }
    }

    /// Frees what is staged, and, unless others have left pages that it covers, the mark. Returns whether there was something.
    ///
    /// # Errors
    /// The batch could not be written: the mark stays, and the next transaction or start sweeps.
    pub(crate) fn abort(&self, keeps_mark: bool) -> Result<bool, CommitError> {
        let state = self.lock();
        if keeps_mark {
            self.registered.keep_mark();
        }
        if state.staged.is_empty() {
            self.note_end(false, true);
            let is_left = self.leaves_mark.load(Ordering::Relaxed);
            self.free_left_mark();
            return Ok(is_left);
        }
        let freed = self.free_staged(&state);
        if freed.is_err() {
            self.registered.keep_mark();
            self.note_end(false, true);
        }
        self.free_left_mark();
        freed.map(|_| true)
    }

    fn free_staged(&self, state: &StagingState) -> Result<u64, CommitError> {
        let batch = self.volume.begin()?;
        batch.use_reserve();
        state.staged.iter().try_for_each(|page| batch.free(*page))?;
        let frees_mark = self.registered.begin_end();
        let freed = match frees_mark {
            true => batch.free(STAGING_PAGE).map_err(CommitError::from),
            false => Ok(()),
        };
        let committed = freed.and_then(|()| batch.commit_with(Durability::Unsynced));
        self.note_end(frees_mark, committed.is_ok());
        committed
    }

    fn lock(&self) -> MutexGuard<'_, StagingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the next buffer be written, even after a panic.
struct Writing<'a> {
    staging: &'a Staging,
    is_written: bool,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut state = self.staging.lock();
        if let Some(buffer) = state.writing.take()
            && self.is_written
        {
            state.staged.extend(buffer.pages.keys());
        }
        state.failed |= !self.is_written;
        drop(state);
        self.staging.written.notify_all();
    }
}
