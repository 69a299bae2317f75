//! Where metadata and segments are read from and written to.

use std::sync::{Arc, PoisonError, RwLock};

use quire_format::row_group::RowGroup;
use quire_format::volume::MAX_PAYLOAD_BYTES;
use quire_store::{BatchWriteError, PageId, PageKind, Pin, ReadAhead, Volume};

use crate::error::EngineError;
use crate::page_cluster::PageCluster;
use crate::staging::{Staging, StagingPoint};

/// The pages that one state of the tables can see.
pub(crate) enum PageSource {
    /// A committed state; its pages stay as they are while this lives.
    Committed(Pin),
    /// The state a write transaction sees: what was committed when it looked, and its own pages.
    Transaction {
        pages: Arc<TransactionPages>,
        /// Pages of others stay as they are while this lives. Without it, they are those of the moment.
        base: Option<Pin>,
    },
}

/// The pages of a write transaction, shared by its encoding threads and its readers.
pub(crate) struct TransactionPages {
    /// Empty once the transaction has ended.
    staging: RwLock<Option<Staging>>,
    volume: Volume,
}

impl PageSource {
    /// The version of the volume that is read.
    pub(crate) fn newest_pin(&self) -> Pin {
        match self {
            PageSource::Committed(pin) => pin.clone(),
            PageSource::Transaction { pages, .. } => pages.volume().pin(),
        }
    }

    fn read_page(&self, id: PageId) -> Result<Arc<[u8]>, EngineError> {
        match self {
            PageSource::Committed(pin) => Ok(pin.read_scattered(id)?),
            PageSource::Transaction { pages, base } => pages.read(id, base.as_ref()),
        }
    }

    /// The payloads of some pages, joined.
    pub(crate) fn read(&self, ids: &[PageId]) -> Result<Arc<[u8]>, EngineError> {
        joined(ids, |id| self.read_page(id))
    }

    /// The same, where `read` reads what is in a version of the volume that stays: see [`PageSource::read_ahead`].
    pub(crate) fn read_by(
        &self,
        ids: &[PageId],
        mut read: impl FnMut(PageId) -> Result<Arc<[u8]>, EngineError>,
    ) -> Result<Arc<[u8]>, EngineError> {
        joined(ids, |id| match self {
            PageSource::Committed(_) => read(id),
            // Pages of the transaction itself are in its buffer, or newer than the version.
            PageSource::Transaction {
                base: Some(base), ..
            } if base.contains(id) => read(id),
            PageSource::Transaction { .. } => self.read_page(id),
        })
    }

    /// The version of the volume that has all these pages and stays, if there is one.
    pub(crate) fn pin_of(&self, ids: &[PageId]) -> Option<&Pin> {
        match self {
            PageSource::Committed(pin) => Some(pin),
            PageSource::Transaction { base, .. } => {
                let base = base.as_ref();
                base.filter(|base| ids.iter().all(|id| base.contains(*id)))
            }
        }
    }

    /// For a scan that is to read ahead, if there is a version of the volume that stays while it lasts.
    pub(crate) fn read_ahead(&self) -> Option<ReadAhead> {
        match self {
            PageSource::Committed(pin) => Some(pin.read_ahead()),
            PageSource::Transaction { base, .. } => base.as_ref().map(Pin::read_ahead),
        }
    }
}

/// The payloads of some pages, joined.
fn joined(
    ids: &[PageId],
    mut read: impl FnMut(PageId) -> Result<Arc<[u8]>, EngineError>,
) -> Result<Arc<[u8]>, EngineError> {
    if let [id] = ids {
        return read(*id);
    }
    let mut joined = Vec::new();
    for &id in ids {
        joined.extend_from_slice(&read(id)?);
    }
    Ok(joined.into())
}

impl TransactionPages {
    pub(crate) fn new(staging: Staging) -> Self {
        TransactionPages {
            volume: staging.volume().clone(),
            staging: RwLock::new(Some(staging)),
        }
    }

    /// Where to read, as others have it in `base`.
    pub(crate) fn source(self: &Arc<Self>, base: Option<Pin>) -> PageSource {
        PageSource::Transaction {
            pages: Arc::clone(self),
            base,
        }
    }

    fn volume(&self) -> &Volume {
        &self.volume
    }

    fn with<R, E>(&self, act: impl FnOnce(&Staging) -> Result<R, E>) -> Result<R, EngineError>
    where
        EngineError: From<E>,
    {
        let guard = self.staging.read().unwrap_or_else(PoisonError::into_inner);
        let staging = guard.as_ref().ok_or(EngineError::TransactionEnded)?;
        Ok(act(staging)?)
    }

    fn read(&self, id: PageId, base: Option<&Pin>) -> Result<Arc<[u8]>, EngineError> {
        self.with(|staging| staging.read(id, base))
    }

    /// Writes bytes of any length to as many pages as they need.
    pub(crate) fn write(
        &self,
        kind: PageKind,
        cluster: PageCluster,
        bytes: &[u8],
    ) -> Result<Vec<PageId>, EngineError> {
        self.with(|staging| {
            let payloads = bytes.chunks(MAX_PAYLOAD_BYTES);
            let pages = payloads.map(|payload| staging.write(kind, cluster, payload));
            pages.collect::<Result<_, BatchWriteError>>()
        })
    }

    /// Names a page that [`TransactionPages::write_at`] is to write.
    pub(crate) fn name_page(&self) -> Result<PageId, EngineError> {
        self.with(Staging::name_page)
    }

    /// Writes a page that has been named.
    pub(crate) fn write_at(
        &self,
        page: PageId,
        kind: PageKind,
        payload: Arc<[u8]>,
    ) -> Result<(), EngineError> {
        self.with(|staging| staging.write_at(page, kind, PageCluster::Other, payload))
    }

    /// Has all pages that were written in the volume.
    pub(crate) fn write_buffer(&self) -> Result<(), EngineError> {
        self.with(Staging::write_buffer)
    }

    pub(crate) fn free(&self, ids: &[PageId]) -> Result<(), EngineError> {
        self.with(|staging| ids.iter().try_for_each(|&id| staging.free(id)))
    }

    /// Frees the pages of all segments of a row group.
    pub(crate) fn free_segments(&self, row_group: &RowGroup) -> Result<(), EngineError> {
        let mut pages = row_group.segment_pages();
        self.with(|staging| pages.try_for_each(|&page| staging.free(page)))
    }

    /// The transaction removes the rows of a table.
    pub(crate) fn set_makes_room(&self) -> Result<(), EngineError> {
        self.with(|staging| {
            staging.set_makes_room();
            Ok::<_, EngineError>(())
        })
    }

    /// Says in the volume that pages are written ahead.
    pub(crate) fn mark(&self) -> Result<(), EngineError> {
        self.with(Staging::mark)
    }

    /// What has been written and freed until now.
    pub(crate) fn savepoint(&self) -> Result<StagingPoint, EngineError> {
        self.with(|staging| Ok::<_, EngineError>(staging.savepoint()))
    }

    /// Goes back to a savepoint, or to the beginning.
    pub(crate) fn go_back_to(&self, point: Option<&StagingPoint>) -> Result<(), EngineError> {
        self.with(|staging| {
            let beginning = staging.beginning();
            staging.go_back_to(point.unwrap_or(&beginning));
            Ok::<_, EngineError>(())
        })
    }

    /// Ends the transaction; only the first call gets what it has written.
    pub(crate) fn take(&self) -> Option<Staging> {
        self.staging
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
