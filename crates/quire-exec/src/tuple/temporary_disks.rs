//! Where the files without a name are that iterators write.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use quire_store::{Disk, FileDisk, VolumeOpenError};

type MakeDisk = dyn Fn() -> Result<Arc<dyn Disk>, VolumeOpenError> + Send + Sync;

/// Makes the file of an iterator whose rows do not fit memory. The file is gone when the iterator is.
#[derive(Clone, Default)]
pub struct TemporaryDisks(TemporaryDisksKind);

#[derive(Clone, Default)]
enum TemporaryDisksKind {
    /// Where the system has its temporary files.
    #[default]
    System,
    Directory(PathBuf),
    Made(Arc<MakeDisk>),
}

impl TemporaryDisks {
    /// Files of this directory.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self(TemporaryDisksKind::Directory(directory.into()))
    }

    /// What `make` makes, once for each iterator that needs a file: an empty disk that nobody else uses.
    #[must_use]
    pub fn made_by(
        make: impl Fn() -> Result<Arc<dyn Disk>, VolumeOpenError> + Send + Sync + 'static,
    ) -> Self {
        Self(TemporaryDisksKind::Made(Arc::new(make)))
    }

    /// An empty file.
    pub(super) fn file(&self) -> Result<Arc<dyn Disk>, VolumeOpenError> {
        let directory = match &self.0 {
            TemporaryDisksKind::Made(make) => return make(),
            TemporaryDisksKind::System => None,
            TemporaryDisksKind::Directory(directory) => Some(directory.as_path()),
        };
        Ok(Arc::new(FileDisk::temporary(directory)?))
    }
}

impl fmt::Debug for TemporaryDisks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            TemporaryDisksKind::System => f.write_str("System"),
            TemporaryDisksKind::Directory(directory) => write!(f, "Directory({directory:?})"),
            TemporaryDisksKind::Made(_) => f.write_str("Made"),
        }
    }
}
