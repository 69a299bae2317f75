//! The log of row transactions: what was committed and is not yet in the row tables' pages.
//!
//! There is no second file and no second format. A batch of the volume already is a log: checksummed, chained, synced
//! once, recovered as a whole or not at all. A commit of row transactions is a batch with one more page, a *log page*
//! with the redo records of every transaction that waited at the time (`commit`). A checkpoint of the row tables is
//! a batch that writes their changed pages and frees the log pages that these make superfluous (`truncate`).
//! After a crash the pages of the volume are those of one commit, so the row tables are as of their newest checkpoint,
//! every log page since then is there, and `replay` hands their records to the engine in order.
//!
//! ```
//! use std::sync::Arc;
//! use quire_store::log::{VolumeLog, LogOptions};
//! use quire_store::{Durability, MemDisk, PageKind, Volume, VolumeOptions};
//!
//! let disk = Arc::new(MemDisk::new());
//! let volume = Volume::create(disk.clone(), VolumeOptions::default())?;
//! let log = VolumeLog::open(&volume, LogOptions::default())?;
//! log.commit(b"put 1", Durability::Synced)?;
//! let second = log.commit(b"put 2", Durability::Synced)?;
//! drop((log, volume)); // The process ends, now or in a worse way.
//!
//! let volume = Volume::open(disk, quire_store::OpenMode::ReadWrite)?;
//! let log = VolumeLog::open(&volume, LogOptions::default())?;
//! let mut redone = Vec::new();
//! log.replay(|sequence, records| {
//!     redone.push((sequence, records.to_vec()));
//!     Ok::<(), std::convert::Infallible>(())
//! })?;
//! assert_eq!(redone[1], (second, b"put 2".to_vec()));
//!
//! // A checkpoint: the changed pages and the shorter log, at once.
//! let batch = volume.begin()?;
//! batch.write(PageKind::Table, b"1 and 2")?;
//! log.truncate(&batch, second)?;
//! batch.commit()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod commit;
mod crowd;
mod error;
mod group;
mod inner;
mod large;
mod later;
mod live;
mod open;
mod replay;
mod sequence;
mod truncate;

use std::sync::Arc;

pub use error::{LogError, ReplayError};
pub use large::LargeCommit;
pub use quire_format::log::RECORDS_BYTES_MAX;
pub use sequence::LogSequence;

use crate::error::CommitError;
use crate::volume::{Durability, WriteBatch};
use inner::LogInner;

/// How commits are grouped.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// The first of a group waits this long for others before it asks for its turn to write. Without it, a group is
    /// what came while the one before was being synced, and those of that one who come again within an eighth of the time of a sync.
    pub commit_delay_us: u32,
}

/// The log of one volume. A cheap handle: clones are the same log. There must be one log for a volume.
#[derive(Clone)]
pub struct VolumeLog {
    inner: Arc<LogInner>,
}

impl VolumeLog {
    /// Commits a transaction by its redo records, together with those of other threads. Returns when the volume has them
    /// (as durably as the strictest of the group asked for), with the transaction's place in the order of commits.
    ///
    /// # Errors
    /// [`CommitError::Write`]: the transaction is not committed, nor is any other of its group. On a full disk the next
    /// try may succeed; `TooLarge` asks for [`VolumeLog::begin_large`]. [`CommitError::Unknown`]: opening the file again tells.
    pub fn commit(
        &self,
        records: &[u8],
        durability: Durability,
    ) -> Result<LogSequence, CommitError> {
        self.inner.join(records, None, durability, None)
    }

    /// As [`VolumeLog::commit`], for a transaction that deletes: on a full disk it may use the space that is set aside for
    /// what makes room, so that deleting and a checkpoint afterwards are possible. What it puts, `put_bytes`, says that things are gone; for
    /// the pages of that, room is left.
    ///
    /// # Errors
    /// As [`VolumeLog::commit`].
    pub fn commit_making_room(
        &self,
        records: &[u8],
        put_bytes: u64,
        durability: Durability,
    ) -> Result<LogSequence, CommitError> {
        self.inner.join(records, None, durability, Some(put_bytes))
    }

    /// Commits a batch, and with it a transaction by its redo records: both count, or neither. The batch keeps its turn until
    /// the log knows of it, so no group comes in between. The batch must not have been given to [`VolumeLog::truncate`].
    ///
    /// # Errors
    /// As [`VolumeLog::commit`]; the batch is dropped then, and the log is as it was.
    pub fn commit_batch(
        &self,
        batch: WriteBatch,
        records: &[u8],
        durability: Durability,
    ) -> Result<LogSequence, CommitError> {
        self.inner.commit_with(batch, records, None, durability)
    }

    /// Commits a batch that changes no rows. What [`VolumeLog::commit_later`] has left in memory is committed with it, so that a
    /// crash never leaves the batch without what was committed before. Returns the sequence of the volume's commit.
    ///
    /// # Errors
    /// As [`VolumeLog::commit_batch`].
    pub fn commit_pages(
        &self,
        batch: WriteBatch,
        durability: Durability,
    ) -> Result<u64, CommitError> {
        self.inner.commit_pages(batch, durability)
    }

    /// The newest commit; [`LogSequence::default`] when there never was one.
    #[must_use]
    pub fn last_sequence(&self) -> LogSequence {
        let filling = self.inner.lock_filling();
        let written = self.inner.lock_live().last_sequence();
        LogSequence(written.get() + filling.unwritten_count)
    }

    /// Bytes of the log pages that count: about what a replay reads.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.inner.lock_live().bytes()
    }
}
