//! What a batch is made of.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::data_set::DataSetHead;
use quire_store::CATALOG_PAGE;

use crate::dead::Boundaries;
use crate::error::DeviceStorageError;
use crate::generation::Generation;
use crate::tree::PageReader;

/// What is written, and upon what.
pub(super) struct FrozenState {
    pub(super) generation: Arc<Generation>,
    /// As of the newest batch, but for `next_inode`.
    pub(super) head: DataSetHead,
    pub(super) boundaries: Boundaries,
    pub(super) reader: PageReader,
    /// So many pages of the log have nothing that `generation` has not, and go with its batch. Later ones stay.
    pub(super) logged_pages: usize,
}

impl FrozenState {
    /// What an item of the tree says.
    pub(super) fn decoded<T>(
        &self,
        value: &[u8],
        decode: impl FnOnce(&[u8]) -> Result<T, Corrupt>,
    ) -> Result<T, DeviceStorageError> {
        decode(value).map_err(|corrupt| self.corrupt(&corrupt))
    }

    /// The tree contradicts itself.
    pub(super) fn corrupt(&self, corrupt: &Corrupt) -> DeviceStorageError {
        let page = self.head.root.unwrap_or(CATALOG_PAGE);
        self.reader.corrupt(page, corrupt)
    }
}
