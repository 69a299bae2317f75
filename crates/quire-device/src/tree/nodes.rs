//! Nodes that are written.

use quire_store::{PageId, PageKind, WriteBatch};

use crate::error::DeviceStorageError;

/// The new nodes of a batch, counted.
pub(crate) struct NewNodes<'a> {
    batch: &'a WriteBatch,
    pub(crate) count: u64,
    /// Of their payloads.
    pub(crate) bytes: u64,
}

impl<'a> NewNodes<'a> {
    pub(super) fn new(batch: &'a WriteBatch) -> Self {
        Self {
            batch,
            count: 0,
            bytes: 0,
        }
    }

    pub(super) fn write(&mut self, payload: &[u8]) -> Result<PageId, DeviceStorageError> {
        self.count += 1;
        self.bytes += payload.len() as u64;
        Ok(self.batch.write(PageKind::DataSetNode, payload)?)
    }
}
