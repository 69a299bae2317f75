//! The disk of a device, with all that is below it.

use std::io;
use std::sync::Arc;

use quire_store::Disk;
use quire_store::disk::ThrottledDisk;

use crate::disk::DataSetDisk;
use crate::volume::DataSetVolume;

/// The file of a device as a disk. When it is dropped, the data set is closed, and the volume checkpointed.
pub(super) struct WholeDevice {
    /// `None` once it is being dropped.
    file: Option<DataSetDisk>,
    pub(super) sets: DataSetVolume,
    pub(super) set_name: &'static str,
    /// The disk below the volume, if it is slowed down.
    pub(super) slow_below: Option<Arc<ThrottledDisk>>,
    /// Path of the file, for messages.
    path: String,
}

impl WholeDevice {
    pub(super) fn new(
        file: DataSetDisk,
        sets: DataSetVolume,
        set_name: &'static str,
        slow_below: Option<Arc<ThrottledDisk>>,
    ) -> Self {
        Self {
            file: Some(file),
            path: sets.volume().file().to_string(),
            sets,
            set_name,
            slow_below,
        }
    }

    fn file(&self) -> io::Result<&DataSetDisk> {
        let closed = || io::Error::other("the device has been closed");
        self.file.as_ref().ok_or_else(closed)
    }
}

impl Drop for WholeDevice {
    fn drop(&mut self) {
        self.file = None;
        // Nobody is left to tell. What the database has synced is in the volume's log if it is not checkpointed.
        let _ = self.sets.close_set(self.set_name);
        let _ = self.sets.volume().clone().close();
    }
}

impl Disk for WholeDevice {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file()?.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file()?.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file()?.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.file()?.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file()?.set_len(bytes)
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.file()?.discard(offset, bytes)
    }

    fn wants_discards(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        self.path.clone()
    }
}
