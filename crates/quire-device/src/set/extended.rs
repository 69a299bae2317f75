//! Extended attributes.

use quire_format::data_set::{DataSetItem, ITEM_VALUE_BYTES_MAX};

use super::access::check_name_bytes;
use super::state::DataSet;
use crate::error::{FileError, name_text};

/// What must be the case when an extended attribute is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtendedMode {
    /// Nothing.
    Any,
    /// It is not there.
    Create,
    /// It is there.
    Replace,
}

impl DataSet {
    /// The value of an extended attribute.
    ///
    /// # Errors
    /// [`FileError::NoAttribute`], [`FileError::NotFound`], [`FileError::Storage`].
    pub fn extended(&self, inode: u64, name: &[u8]) -> Result<Vec<u8>, FileError> {
        self.attributes(inode)?;
        let (value, _) = self.glance(DataSetItem::Extended(inode, name))?;
        value.ok_or_else(|| no_attribute(name))
    }

    /// The names of all extended attributes, in the order of their bytes.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::Storage`].
    pub fn extended_names(&self, inode: u64) -> Result<Vec<Vec<u8>>, FileError> {
        let access = self.read_access();
        access.inode(inode)?;
        let prefix = DataSetItem::Extended(inode, &[]).key();
        let items = access.items(&prefix, None, usize::MAX)?;
        let names = items
            .into_iter()
            .map(|entry| entry.key[prefix.len()..].to_vec());
        Ok(names.collect())
    }

    /// Sets an extended attribute: a name of 1 to 255 bytes, a value of at most 3,072.
    ///
    /// # Errors
    /// [`FileError::AttributeTooLong`], [`FileError::NameTooLong`], [`FileError::Invalid`]; [`FileError::Exists`] or
    /// [`FileError::NoAttribute`] as `mode` says; [`FileError::NotFound`], [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn set_extended(
        &self,
        inode: u64,
        name: &[u8],
        value: &[u8],
        mode: ExtendedMode,
    ) -> Result<(), FileError> {
        check_name_bytes(name)?;
        if name.is_empty() || name.contains(&0) {
            return Err(FileError::Invalid {
                what: "the name of an attribute is not empty and has no byte 0",
            });
        }
        if value.len() > ITEM_VALUE_BYTES_MAX {
            return Err(FileError::AttributeTooLong {
                bytes: value.len(),
                limit_bytes: ITEM_VALUE_BYTES_MAX,
            });
        }
        let mut access = self.growing_access(name.len() + value.len())?;
        let mut attributes = access.inode(inode)?;
        let is_there = access.item(DataSetItem::Extended(inode, name))?.is_some();
        match mode {
            ExtendedMode::Create if is_there => return Err(FileError::exists(name)),
            ExtendedMode::Replace if !is_there => return Err(no_attribute(name)),
            _ => {}
        }
        access.set_item(DataSetItem::Extended(inode, name), Some(value.to_vec()));
        attributes.changed = access.now();
        access.set_inode(inode, &attributes);
        Ok(())
    }

    /// Removes an extended attribute.
    ///
    /// # Errors
    /// [`FileError::NoAttribute`], [`FileError::NotFound`], [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn remove_extended(&self, inode: u64, name: &[u8]) -> Result<(), FileError> {
        self.relieve_if_possible();
        let mut access = self.removal_access()?;
        let mut attributes = access.inode(inode)?;
        if access.item(DataSetItem::Extended(inode, name))?.is_none() {
            return Err(no_attribute(name));
        }
        access.set_item(DataSetItem::Extended(inode, name), None);
        attributes.changed = access.now();
        access.set_inode(inode, &attributes);
        Ok(())
    }
}

fn no_attribute(name: &[u8]) -> FileError {
    let name = name_text(name);
    FileError::NoAttribute { name }
}
