//! The volume: one file of pages, written out of place.
//!
//! Reading needs no lock that a writer holds for long: a reader takes the current [`PinnedVersion`]
//! (one pointer) and then only touches the disk and the cache. Writing is done by one batch at a
//! time, whose turn is passed through a gate. See the crate's README for the protocols.

mod batch;
mod batch_runs;
mod cache;
mod cache_entry;
mod check;
mod checkpoint;
mod clean;
mod commit;
mod contents;
mod copies;
mod derived;
mod discard;
mod duplicate;
mod floors;
mod flush;
mod free_space;
mod gate;
mod inner;
mod log;
mod map_chain;
mod map_changes;
mod options;
mod page_map;
mod pin;
mod placement;
mod read_ahead;
mod read_ahead_bound;
mod read_threads;
mod rebuild;
mod recovery;
mod release;
mod report;
mod run_images;
mod runs;
mod scan;
mod stretch;
mod superblocks;
mod version;
mod writer;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use quire_format::volume::PageId;

pub use batch::WriteBatch;
pub use inner::Volume;
pub use options::{Durability, VolumeOptions};
pub use pin::Pin;
pub(crate) use pin::ReadFrom;
pub use read_ahead::{
    ReadAhead, ReadAheadPage, ReadAheadSource, ReadAheadStatistics, RequestedBytes,
};
pub use report::{CheckReport, CleanReport, Finding, RebuildReport, VolumeStats};

use crate::disk::{CountedDisk, Disk, DiskTraffic, OpenMode};
use crate::error::{BatchWriteError, CheckpointError, PageReadError, VolumeOpenError};
use cache::Cache;
use checkpoint::Ending;
use gate::Gate;
use inner::{VolumeInner, WriterTurn};
use read_threads::ReadThreads;
use version::PinnedVersion;
use writer::VolumeWriterState;

impl Volume {
    /// Makes an empty volume on a disk that holds nothing.
    ///
    /// # Errors
    /// [`VolumeOpenError::NotEmpty`] when the disk holds something else than what a creation leaves
    /// that was killed; [`VolumeOpenError::Io`].
    pub fn create(disk: Arc<dyn Disk>, options: VolumeOptions) -> Result<Self, VolumeOpenError> {
        recovery::create(&*disk, &options)?;
        Self::open_with(disk, OpenMode::ReadWrite, options)
    }

    /// Opens a volume with the default options.
    ///
    /// # Errors
    /// See [`VolumeOpenError`].
    pub fn open(disk: Arc<dyn Disk>, mode: OpenMode) -> Result<Self, VolumeOpenError> {
        Self::open_with(disk, mode, VolumeOptions::default())
    }

    /// Opens a volume. Opening writes nothing, not even when the log has to be read; the first
    /// batch, or closing, brings the file up to date.
    ///
    /// # Errors
    /// See [`VolumeOpenError`].
    pub fn open_with(
        disk: Arc<dyn Disk>,
        mode: OpenMode,
        options: VolumeOptions,
    ) -> Result<Self, VolumeOpenError> {
        let disk = CountedDisk::new(disk);
        let (writer, notices) = recovery::recover(&disk)?;
        Ok(Self::from_writer(disk, mode, options, writer, notices))
    }

    /// Opens a volume for writing, and creates it when the disk is blank: empty, or left by a
    /// creation that was killed.
    ///
    /// # Errors
    /// See [`VolumeOpenError`].
    pub fn open_or_create(
        disk: Arc<dyn Disk>,
        options: VolumeOptions,
    ) -> Result<Self, VolumeOpenError> {
        if recovery::is_blank(&*disk)? {
            recovery::create(&*disk, &options)?;
        }
        Self::open_with(disk, OpenMode::ReadWrite, options)
    }

    /// Opens a damaged volume for writing from its page images and commit records alone, and
    /// writes a new page map and new superblocks. For files that [`Volume::open`] refuses; it
    /// reads the whole file. Free space may be overwritten: keep a copy of the file.
    ///
    /// # Errors
    /// [`VolumeOpenError::Io`] when the disk fails, [`VolumeOpenError::NotQuire`] when there is no image.
    pub fn rebuild(
        disk: Arc<dyn Disk>,
        options: VolumeOptions,
    ) -> Result<(Self, RebuildReport), VolumeOpenError> {
        let disk = CountedDisk::new(disk);
        let (writer, report) = rebuild::rebuild(&disk, &options)?;
        let volume = Self::from_writer(disk, OpenMode::ReadWrite, options, writer, Vec::new());
        volume.checkpoint().map_err(|error| VolumeOpenError::Io {
            file: volume.inner.file.to_string(),
            operation: "write the rebuilt page map of",
            source: std::io::Error::other(error.to_string()),
        })?;
        Ok((volume, report))
    }

    fn from_writer(
        disk: CountedDisk,
        mode: OpenMode,
        options: VolumeOptions,
        writer: VolumeWriterState,
        notices: Vec<String>,
    ) -> Self {
        let counted_disk = Arc::new(disk);
        let current = PinnedVersion::of(&writer.contents);
        let next_page = writer.contents.next_page;
        let inner = VolumeInner {
            file: counted_disk.name().into(),
            disk: Arc::clone(&counted_disk) as Arc<dyn Disk>,
            counted_disk,
            mode,
            current: RwLock::new(current),
            gate: Gate::default(),
            writer: Mutex::new(writer),
            poison: OnceLock::new(),
            cache: Arc::new(Cache::new(options.cache_bytes)),
            read_ahead: Arc::default(),
            read_threads: ReadThreads::default(),
            next_page: AtomicU64::new(next_page),
            is_full: AtomicBool::new(false),
            has_undiscarded: AtomicBool::new(false),
            flush_room_bytes: AtomicU64::new(0),
            flush_room_kept_bytes: AtomicU64::new(0),
            image_permille: AtomicU64::new(1_000),
            options,
            notices,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// What the user should know about how the file was opened: a damaged superblock, a rebuilt
    /// page map. Empty when all was well.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    /// True when the volume was opened read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.inner.mode == OpenMode::ReadOnly
    }

    /// Sequence of the newest commit, 0 before the first.
    #[must_use]
    pub fn commit_sequence(&self) -> u64 {
        self.inner.version().sequence
    }

    /// A snapshot: the pages visible now stay readable until it is dropped.
    #[must_use]
    pub fn pin(&self) -> Pin {
        Pin {
            version: self.inner.version(),
            inner: Arc::clone(&self.inner),
        }
    }

    /// The payload of the newest committed image of a page.
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn read(&self, page: PageId) -> Result<Arc<[u8]>, PageReadError> {
        self.inner.read(&self.inner.version(), page)
    }

    /// Names a page that a later batch will [`put`](WriteBatch::put). Names ascend and are not used again, except
    /// those that no commit followed before a crash: nothing durable can know these. `None` when all are used up.
    #[must_use]
    pub fn allocate_page(&self) -> Option<PageId> {
        self.inner.allocate_page()
    }

    /// The lowest page that nobody has named; `None` when all are used up.
    #[must_use]
    pub fn next_page(&self) -> Option<PageId> {
        PageId::new(self.inner.next_page())
    }

    /// What was read from the disk and written to it since the volume was opened, recovery included. Costs no lock.
    #[must_use]
    pub fn disk_traffic(&self) -> DiskTraffic {
        self.inner.counted_disk.traffic()
    }

    /// Path of the file, for messages.
    #[must_use]
    pub fn file(&self) -> Arc<str> {
        Arc::clone(&self.inner.file)
    }

    /// Would [`Volume::begin`] be of use? Does not wait for a turn.
    ///
    /// # Errors
    /// [`BatchWriteError::ReadOnly`], [`BatchWriteError::Poisoned`].
    pub fn check_writable(&self) -> Result<(), BatchWriteError> {
        self.inner.may_write()
    }

    /// Begins a batch of writes. One batch exists at a time: this waits until the one before is
    /// committed or dropped, and so never returns when the caller itself holds one.
    ///
    /// # Errors
    /// [`BatchWriteError::ReadOnly`], [`BatchWriteError::Poisoned`]; [`BatchWriteError::Io`] when space that
    /// became free could not be taken back.
    pub fn begin(&self) -> Result<WriteBatch, BatchWriteError> {
        let turn = WriterTurn::wait(&self.inner);
        WriteBatch::begin(Arc::clone(&self.inner), turn)
    }

    /// Stores the page map, so that the next start need not read the log, and gives back the
    /// space of what is dead and not pinned. Waits for a batch in progress.
    ///
    /// # Errors
    /// See [`CheckpointError`].
    pub fn checkpoint(&self) -> Result<(), CheckpointError> {
        self.inner.read_ahead.wait_for_abandoned();
        let _turn = WriterTurn::wait(&self.inner);
        self.inner.may_write()?;
        let mut writer = self.inner.lock_writer();
        if writer.is_checkpointed() {
            self.inner.release_dead(&mut writer)?;
            if writer.space.tail.is_some() {
                self.inner.tidy_end(&mut writer)?;
            }
            return Ok(());
        }
        Ok(self.inner.checkpoint(&mut writer, Ending::GoesOn)?)
    }

    /// Cleans if much of the file is dead or free, or if this session has made it longer than it need be. For who drops a volume
    /// instead of closing it. Failures are left for the next writer.
    /// Returns how many bytes were moved: what has moved is pinned where it was by whoever pins the volume.
    pub fn pack(&self) -> u64 {
        let has_written = self.inner.lock_writer().space.tail.is_some();
        if has_written && self.inner.may_write().is_ok() {
            clean::clean_before_end(&self.inner)
        } else {
            0
        }
    }

    /// Ends the session: cleans when much is dead, stores the page map and marks the file as
    /// complete. Other handles stay usable; the next write begins a new session. Dropping the
    /// last handle does the same but cannot report errors.
    ///
    /// # Errors
    /// See [`CheckpointError`].
    pub fn close(self) -> Result<(), CheckpointError> {
        if self.is_read_only() {
            return Ok(());
        }
        self.inner.read_ahead.wait_for_abandoned();
        clean::clean_before_end(&self.inner);
        let _turn = WriterTurn::wait(&self.inner);
        self.inner.may_write()?;
        Ok(self.inner.end_session(&mut self.inner.lock_writer())?)
    }
}

impl VolumeInner {
    /// Checkpoints for the last time, unless the file is complete already.
    fn end_session(&self, writer: &mut VolumeWriterState) -> Result<(), BatchWriteError> {
        if writer.space.tail.is_none() && writer.is_checkpointed() {
            return Ok(());
        }
        self.checkpoint(writer, Ending::Closes)
    }
}

impl Drop for VolumeInner {
    fn drop(&mut self) {
        // Reads of scans that have ended: they hold a version, and the disk.
        self.read_threads.end();
        if self.may_write().is_ok() {
            let mut writer = self.lock_writer();
            // Nobody is left to tell; the log holds everything that was committed.
            let _ = self.end_session(&mut writer);
            // What was kept to be used again is not any more.
            let keeps_some = !writer.undiscarded.is_empty();
            self.has_undiscarded.store(keeps_some, Ordering::Relaxed);
            drop(writer);
            self.discard_free();
        }
    }
}
