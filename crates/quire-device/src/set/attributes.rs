//! What is known of an inode besides its content.

use quire_format::data_set::{DataSetItem, FileSpace, FileTime, InodeAttributes};

use super::state::DataSet;
use crate::error::FileError;

/// What is to become of an inode; `None` stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeChange {
    /// Permissions; other bits are ignored.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Bytes of a file: what is behind is gone, what comes is zeros.
    pub size: Option<u64>,
    /// When it was read.
    pub accessed: Option<FileTime>,
    /// When its content changed; if that is not given, a new size changes it.
    pub modified: Option<FileTime>,
}

impl DataSet {
    /// The attributes of an inode. Reading a file does not change them.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::Storage`].
    pub fn attributes(&self, inode: u64) -> Result<InodeAttributes, FileError> {
        let (value, view) = self.glance(DataSetItem::Attributes(inode))?;
        view.attributes(inode, value)
    }

    /// Changes attributes, all or none. Returns the new ones.
    ///
    /// # Errors
    /// [`FileError::IsDirectory`] and [`FileError::Invalid`] for the size of what is no file; [`FileError::TooLarge`],
    /// [`FileError::NotFound`], [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn set_attributes(
        &self,
        inode: u64,
        change: &AttributeChange,
    ) -> Result<InodeAttributes, FileError> {
        let times = [change.accessed, change.modified];
        // Others could be written, and not read again.
        let is_wrong = |time: &FileTime| time.nanoseconds >= 1_000_000_000;
        if times.iter().flatten().any(is_wrong) {
            return Err(FileError::Invalid {
                what: "a time has less than 1,000,000,000 nanoseconds; carry the rest over to its seconds",
            });
        }
        self.relieve_if_possible();
        let mut access = self.removal_access()?;
        let mut attributes = access.inode(inode)?;
        if let Some(size) = change.size {
            attributes = access.regular(inode)?;
            access.resize(inode, &mut attributes, size)?;
        }
        attributes.mode = change.mode.map_or(attributes.mode, |mode| mode & 0o7777);
        attributes.uid = change.uid.unwrap_or(attributes.uid);
        attributes.gid = change.gid.unwrap_or(attributes.gid);
        attributes.accessed = change.accessed.unwrap_or(attributes.accessed);
        attributes.modified = change.modified.unwrap_or(attributes.modified);
        attributes.changed = access.now();
        access.set_inode(inode, &attributes);
        Ok(attributes)
    }

    /// What a file takes as of the newest batch: its records, their lengths before and after compression, and the codec if that is measured.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::Storage`].
    pub fn space(&self, inode: u64) -> Result<FileSpace, FileError> {
        let access = self.read_access();
        access.inode(inode)?;
        let value = access.item(DataSetItem::Space(inode))?;
        let space = value.map(|value| access.view.decoded(&value, FileSpace::decode));
        Ok(space.transpose()?.unwrap_or_default())
    }
}
