//! Pages written ahead of their commit.
//!
//! A load may be larger than memory, and while it runs others must be able to commit. So its pages are collected in a
//! buffer, and a full buffer goes into the volume in a short batch of its own, a *staged* one, which is not synced. Nobody
//! refers to staged pages until the last batch of the transaction: it has the rest of the pages, what becomes free, and
//! the catalog. A sync of it covers the staged ones, for batches become durable in their order.
//!
//! The first staged batch also writes the *staging mark*, the last one frees it. A mark that is found when nobody
//! writes says that a transaction was ended by a crash: see `sweep`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use quire_format::staging_mark::StagingMark;
use quire_store::{
    CATALOG_PAGE, CommitError, Durability, PageId, PageKind, STAGING_PAGE, Volume, WriteBatch,
    WriteError,
};

use crate::error::{EngineError, TransactionError};

/// What a write transaction has written and freed. Several threads may write at the same time.
pub(crate) struct Staging {
    volume: Volume,
    /// Lowest page that the transaction can have named.
    first_page: PageId,
    /// The mark of an earlier transaction could not be swept. It stays, and stands for this one too.
    inherits_mark: bool,
    buffer_bytes: usize,
    state: Mutex<State>,
    /// Signalled when a full buffer has been written.
    written: Condvar,
}

#[derive(Default)]
struct State {
    filling: Buffer,
    /// The buffer that a thread is writing.
    writing: Option<Arc<Buffer>>,
    /// Pages of this transaction that are in the volume.
    staged: Vec<PageId>,
    /// Pages that the last batch frees: of the state before, or staged.
    freed: BTreeSet<PageId>,
    /// Pages below are those of a savepoint: freed ones stay until the transaction commits.
    kept_below: Option<PageId>,
    is_marked: bool,
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
struct Buffer {
    pages: BTreeMap<PageId, (PageKind, Arc<[u8]>)>,
    bytes: usize,
}

impl Buffer {
    fn get(&self, page: PageId) -> Option<Arc<[u8]>> {
        let (_, payload) = self.pages.get(&page)?;
        Some(Arc::clone(payload))
    }

    fn remove(&mut self, page: PageId) -> bool {
        let removed = self.pages.remove(&page);
        self.bytes -= removed.as_ref().map_or(0, |(_, payload)| payload.len());
        removed.is_some()
    }

    fn put_into(&self, batch: &WriteBatch) -> Result<(), WriteError> {
        self.pages
            .iter()
            .try_for_each(|(page, (kind, payload))| batch.put(*page, *kind, payload))
    }
}

impl Staging {
    /// `inherits_mark`: there is a staging mark, and it could not be swept.
    pub(crate) fn new(
        volume: &Volume,
        buffer_bytes: usize,
        inherits_mark: bool,
    ) -> Result<Self, WriteError> {
        volume.check_writable()?;
        let state = State {
            is_marked: inherits_mark,
            ..State::default()
        };
        Ok(Self {
            first_page: volume.next_page().ok_or(WriteError::BatchFailed)?,
            volume: volume.clone(),
            inherits_mark,
            buffer_bytes,
            state: Mutex::new(state),
            written: Condvar::new(),
        })
    }

    pub(crate) fn volume(&self) -> &Volume {
        &self.volume
    }

    pub(crate) fn read(&self, page: PageId) -> Result<Arc<[u8]>, EngineError> {
        let state = self.lock();
        let writing = || state.writing.as_ref().and_then(|buffer| buffer.get(page));
        if let Some(payload) = state.filling.get(page).or_else(writing) {
            return Ok(payload);
        }
        drop(state);
        // No page of a column table is freed but by the last batch of a transaction, and there is one transaction.
        Ok(self.volume.read(page)?)
    }

    /// Writes a new page.
    pub(crate) fn write(&self, kind: PageKind, payload: &[u8]) -> Result<PageId, WriteError> {
        let page = self.name_page()?;
        self.write_at(page, kind, payload.into())?;
        Ok(page)
    }

    /// Names a page that [`Staging::write_at`] is to write.
    pub(crate) fn name_page(&self) -> Result<PageId, WriteError> {
        self.volume.allocate_page().ok_or(WriteError::BatchFailed)
    }

    /// Writes a new page that this transaction has named.
    pub(crate) fn write_at(
        &self,
        page: PageId,
        kind: PageKind,
        payload: Arc<[u8]>,
    ) -> Result<(), WriteError> {
        let mut state = self.lock();
        state.filling.bytes += payload.len();
        state.filling.pages.insert(page, (kind, payload));
        match state.filling.bytes >= self.buffer_bytes {
            true => self.stage(state)?,
            false if state.failed => return Err(WriteError::BatchFailed),
            false => {}
        }
        Ok(())
    }

    /// Writes what is in the buffer, so that all pages are in the volume.
    pub(crate) fn write_buffer(&self) -> Result<(), WriteError> {
        let mut state = self.lock();
        while state.writing.is_some() {
            let woken = self.written.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        match (state.failed, state.filling.pages.is_empty()) {
            (true, _) => Err(WriteError::BatchFailed),
            (false, true) => Ok(()),
            (false, false) => self.write_out(state),
        }
    }

    /// Frees a page: one of this transaction at once, unless a savepoint has it, others when it commits.
    pub(crate) fn free(&self, page: PageId) -> Result<(), WriteError> {
        let mut state = self.lock();
        let is_kept = state.kept_below.is_some_and(|kept| page < kept);
        if !is_kept && state.filling.remove(page) {
            return Ok(());
        }
        let is_written = |buffer: &Arc<Buffer>| buffer.pages.contains_key(&page);
        let exists = state.filling.pages.contains_key(&page)
            || state.writing.as_ref().is_some_and(is_written)
            || self.volume.pin().contains(page);
        if exists && state.freed.insert(page) {
            return Ok(());
        }
        let file = self.volume.file();
        Err(WriteError::NotFound { file, page })
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
    pub(crate) fn mark(&self) -> Result<(), WriteError> {
        let state = self.lock();
        if state.is_marked {
            Ok(())
        } else {
            self.stage(state)
        }
    }

    /// Writes the buffer while other threads fill a new one.
    fn stage(&self, mut state: MutexGuard<'_, State>) -> Result<(), WriteError> {
        while state.writing.is_some() {
            let woken = self.written.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if state.failed {
            return Err(WriteError::BatchFailed);
        }
        if state.is_marked && state.filling.bytes < self.buffer_bytes {
            // Another thread was here meanwhile.
            return Ok(());
        }
        self.write_out(state)
    }

    /// The same, when no other thread does.
    fn write_out(&self, mut state: MutexGuard<'_, State>) -> Result<(), WriteError> {
        let buffer = Arc::new(std::mem::take(&mut state.filling));
        state.writing = Some(Arc::clone(&buffer));
        let marks = !state.is_marked;
        let makes_room = state.makes_room;
        drop(state);
        let mut writing = Writing {
            staging: self,
            is_written: false,
        };
        self.write_staged(&buffer, marks, makes_room)?;
        writing.is_written = true;
        Ok(())
    }

    fn write_staged(
        &self,
        buffer: &Buffer,
        marks: bool,
        makes_room: bool,
    ) -> Result<(), WriteError> {
        let batch = self.volume.begin()?;
        if makes_room {
            batch.use_reserve();
        }
        if marks {
            let mark = StagingMark {
                first_page: self.first_page,
            };
            batch.replace(STAGING_PAGE, PageKind::Staging, &mark.encode())?;
        }
        buffer.put_into(&batch)?;
        match batch.commit_with(Durability::Unsynced) {
            Ok(_) => Ok(()),
            Err(CommitError::Write(error)) => Err(error),
            Err(_) => Err(WriteError::BatchFailed),
        }
    }

    /// The last batch. `end` commits it.
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
            return Err(EngineError::from(WriteError::BatchFailed).into());
        }
        let batch = self.volume.begin().map_err(EngineError::from)?;
        if state.makes_room {
            batch.use_reserve();
        }
        self.prepare(&state, catalog, &batch)
            .map_err(EngineError::from)?;
        Ok(end(batch)?)
    }

    fn prepare(
        &self,
        state: &State,
        catalog: Option<&[u8]>,
        batch: &WriteBatch,
    ) -> Result<(), WriteError> {
        for (page, (kind, payload)) in &state.filling.pages {
            if !state.freed.contains(page) {
                batch.put(*page, *kind, payload)?;
            }
        }
        let filling = &state.filling.pages;
        let in_volume = state.freed.iter();
        let mut in_volume = in_volume.filter(|page| !filling.contains_key(page));
        in_volume.try_for_each(|page| batch.free(*page))?;
        if state.is_marked && !self.inherits_mark {
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
        let frees_mark = state.is_marked && !self.inherits_mark && !keeps_mark;
        if state.staged.is_empty() && !frees_mark {
            return Ok(false);
        }
        let batch = self.volume.begin()?;
        batch.use_reserve();
        state.staged.iter().try_for_each(|page| batch.free(*page))?;
        if frees_mark {
            batch.free(STAGING_PAGE)?;
        }
        batch.commit_with(Durability::Unsynced)?;
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
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
            state.is_marked = true;
        }
        state.failed |= !self.is_written;
        drop(state);
        self.staging.written.notify_all();
    }
}
