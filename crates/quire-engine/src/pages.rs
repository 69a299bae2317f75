//! Where metadata and segments are read from and written to.

use std::sync::{Arc, PoisonError, RwLock};

use quire_format::volume::MAX_PAYLOAD_BYTES;
use quire_store::{PageId, PageKind, Pin, WriteBatch, WriteError};

use crate::error::EngineError;

/// The pages that one state of the tables can see.
pub(crate) enum PageSource {
    /// A committed state; its pages stay as they are while this lives.
    Committed(Pin),
    /// The state a write transaction sees: what was committed, and its own pages.
    Transaction(Arc<TransactionPages>),
}

/// The pages of a write transaction, shared by its encoding threads and its readers.
pub(crate) struct TransactionPages {
    /// Empty once the transaction has ended.
    batch: RwLock<Option<WriteBatch>>,
}

impl PageSource {
    fn read_page(&self, id: PageId) -> Result<Arc<[u8]>, EngineError> {
        match self {
            PageSource::Committed(pin) => Ok(pin.read(id)?),
            PageSource::Transaction(pages) => pages.read(id),
        }
    }

    /// The payloads of some pages, joined.
    pub(crate) fn read(&self, ids: &[PageId]) -> Result<Arc<[u8]>, EngineError> {
        if let [id] = ids {
            return self.read_page(*id);
        }
        let mut joined = Vec::new();
        for &id in ids {
            joined.extend_from_slice(&self.read_page(id)?);
        }
        Ok(joined.into())
    }
}

impl TransactionPages {
    pub(crate) fn new(batch: WriteBatch) -> Self {
        TransactionPages {
            batch: RwLock::new(Some(batch)),
        }
    }

    fn with<R>(&self, act: impl FnOnce(&WriteBatch) -> R) -> Result<R, EngineError> {
        let guard = self.batch.read().unwrap_or_else(PoisonError::into_inner);
        guard.as_ref().map(act).ok_or(EngineError::TransactionEnded)
    }

    fn read(&self, id: PageId) -> Result<Arc<[u8]>, EngineError> {
        Ok(self.with(|batch| batch.read(id))??)
    }

    /// Writes bytes of any length to as many pages as they need.
    pub(crate) fn write(&self, kind: PageKind, bytes: &[u8]) -> Result<Vec<PageId>, EngineError> {
        let written: Result<Vec<_>, WriteError> = self.with(|batch| {
            bytes
                .chunks(MAX_PAYLOAD_BYTES)
                .map(|payload| batch.write(kind, payload))
                .collect()
        })?;
        Ok(written?)
    }

    pub(crate) fn replace(
        &self,
        id: PageId,
        kind: PageKind,
        payload: &[u8],
    ) -> Result<(), EngineError> {
        Ok(self.with(|batch| batch.replace(id, kind, payload))??)
    }

    pub(crate) fn free(&self, ids: &[PageId]) -> Result<(), EngineError> {
        let freed: Result<(), WriteError> =
            self.with(|batch| ids.iter().try_for_each(|&id| batch.free(id)))?;
        Ok(freed?)
    }

    /// Ends the transaction; only the first call gets the batch.
    pub(crate) fn take(&self) -> Option<WriteBatch> {
        self.batch
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
