//! Where a file has records, and where it has none.

use super::state::DataSet;
use crate::error::FileError;

/// Records that are looked for at once.
const RECORDS_AT_ONCE: usize = 512;

impl DataSet {
    /// The first byte from `offset` on that a record has. `None` when only zeros follow that take no space.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::IsDirectory`], [`FileError::Storage`].
    pub fn next_data(&self, inode: u64, offset: u64) -> Result<Option<u64>, FileError> {
        let access = self.read_access();
        let attributes = access.file(inode)?;
        let record_bytes = u64::from(attributes.record_bytes);
        let end = attributes.size.div_ceil(record_bytes);
        let indices = access.record_indices(inode, offset / record_bytes, end, 1)?;
        let start = indices
            .first()
            .map(|index| offset.max(index * record_bytes));
        Ok(start.filter(|start| *start < attributes.size))
    }

    /// The first byte from `offset` on that no record has, or the end of the file. `None` behind the end.
    ///
    /// # Errors
    /// As [`DataSet::next_data`].
    pub fn next_hole(&self, inode: u64, offset: u64) -> Result<Option<u64>, FileError> {
        let access = self.read_access();
        let attributes = access.file(inode)?;
        if offset >= attributes.size {
            return Ok(None);
        }
        let record_bytes = u64::from(attributes.record_bytes);
        let end = attributes.size.div_ceil(record_bytes);
        let mut index = offset / record_bytes;
        loop {
            let indices = access.record_indices(inode, index, end, RECORDS_AT_ONCE)?;
            let whole = (index..).zip(&indices).take_while(|(a, b)| a == *b).count();
            index += whole as u64;
            if whole < RECORDS_AT_ONCE {
                let start = offset.max(index.saturating_mul(record_bytes));
                return Ok(Some(start.min(attributes.size)));
            }
        }
    }
}
