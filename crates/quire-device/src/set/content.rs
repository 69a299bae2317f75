//! The bytes of files.

use quire_format::data_set::{DataSetItem, InodeAttributes};
use quire_store::Durability;

use super::access::{Access, RecordPlace, View, with_content};
use super::state::{DataSet, SetState};
use crate::context::DeviceContext;
use crate::error::{DeviceStorageError, FileError};
use crate::generation::Layered;

/// Longest file.
pub(super) const FILE_BYTES_MAX: u64 = i64::MAX as u64;
/// A longer write is several.
const PIECE_BYTES_MAX: usize = 1 << 20;

/// The part of a record that a range of bytes covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecordPart {
    index: u64,
    /// Within the record.
    start: usize,
    end: usize,
}

/// What a read needs of the state, so that it can go on without the lock.
struct PlacedRead {
    /// Of the bytes that the file has.
    length: u64,
    places: Vec<(RecordPart, RecordPlace)>,
    view: View,
}

/// The records of a range of bytes, in their order.
fn parts(record_bytes: u32, offset: u64, length: u64) -> impl Iterator<Item = RecordPart> {
    let first = offset / u64::from(record_bytes);
    let behind = if length == 0 {
        first
    } else {
        (offset + length).div_ceil(u64::from(record_bytes))
    };
    (first..behind).map(move |index| part_of(record_bytes, offset, length, index))
}

/// The part of record `index` that a range covers, which reaches into it.
fn part_of(record_bytes: u32, offset: u64, length: u64, index: u64) -> RecordPart {
    let record_bytes = u64::from(record_bytes);
    let base = index * record_bytes;
    RecordPart {
        index,
        start: offset.saturating_sub(base) as usize,
        end: (offset + length - base).min(record_bytes) as usize,
    }
}

impl DataSet {
    /// At most `length` bytes of a file, or of the target of a symbolic link; fewer where it ends.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::IsDirectory`], [`FileError::Storage`].
    pub fn read(&self, inode: u64, offset: u64, length: usize) -> Result<Vec<u8>, FileError> {
        let PlacedRead {
            length,
            places,
            view,
        } = self.placed_read(inode, offset, length)?;
        let mut bytes = Vec::with_capacity(length as usize);
        for (part, place) in places {
            view.append(&self.context, inode, part, &place, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// How many of `length` bytes a file has from `offset` on, and where. No lock is held while the disk is read: the view keeps
    /// what is read in the volume.
    fn placed_read(&self, inode: u64, offset: u64, length: usize) -> Result<PlacedRead, FileError> {
        let covered = |attributes: &InodeAttributes| {
            let length = (length as u64).min(attributes.size.saturating_sub(offset));
            (length, parts(attributes.record_bytes, offset, length))
        };
        let key = DataSetItem::Attributes(inode).key();
        let access = self.read_access();
        if let Layered::Below = access.state.current.item(&key) {
            // A change of records changes the attributes, also when it fails, so all of the file is as the view has it.
            let Access { view, state, .. } = access;
            drop(state);
            let attributes = view.attributes(inode, view.item(&key)?)?;
            let (length, parts) = covered(&with_content(inode, attributes)?);
            let places = parts.map(|part| (part, view.place(inode, part.index)));
            let places = places.collect();
            return Ok(PlacedRead {
                length,
                places,
                view,
            });
        }
        let (length, parts) = covered(&access.file(inode)?);
        let places = parts.map(|part| (part, access.place(inode, part.index)));
        Ok(PlacedRead {
            length,
            places: places.collect(),
            view: access.view,
        })
    }

    /// Writes bytes into a file, which becomes longer if need be. What is between its end and `offset` is zeros.
    ///
    /// # Errors
    /// [`FileError::QuotaExceeded`], after which a part may have been written; [`FileError::TooLarge`], [`FileError::NotFound`],
    /// [`FileError::IsDirectory`], [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn write(&self, inode: u64, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        check_end(offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return self.write_access()?.regular(inode).map(|_| ());
        }
        let piece_bytes = PIECE_BYTES_MAX
            .min(self.context.options.dirty_bytes / 4)
            .max(1);
        let mut offset = offset;
        for piece in bytes.chunks(piece_bytes) {
            self.load_before(inode, offset, piece.len() as u64)?;
            let mut access = self.access_with_room(piece.len() as u64)?;
            access.write(inode, offset, piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Makes a part of a file zeros, and gives the space of whole records back. The file does not become shorter or longer.
    ///
    /// # Errors
    /// As [`DataSet::write`], but for the quota.
    pub fn punch_hole(&self, inode: u64, offset: u64, length: u64) -> Result<(), FileError> {
        check_end(offset, length)?;
        self.relieve_if_possible();
        self.load_before(inode, offset, length)?;
        let mut access = self.removal_access()?;
        let attributes = access.regular(inode)?;
        let record_bytes = u64::from(attributes.record_bytes);
        let length = length.min(attributes.size.saturating_sub(offset));
        let end = offset + length;
        // The last record is whole if the file ends in it.
        let whole_end = if end == attributes.size {
            end.div_ceil(record_bytes)
        } else {
            end / record_bytes
        };
        let whole = offset.div_ceil(record_bytes)..whole_end;
        let holes = if whole.start < whole.end {
            access.record_indices(inode, whole.start, whole.end, usize::MAX)?
        } else {
            Vec::new()
        };
        // First: reads look for changed records if the attributes have changed.
        access.touch(inode, attributes);
        for index in holes {
            access.state.current.set_record(inode, index, None);
        }
        let first = offset / record_bytes;
        let last = end.saturating_sub(1) / record_bytes;
        let ends: &[u64] = if first == last {
            &[first]
        } else {
            &[first, last]
        };
        for index in ends
            .iter()
            .copied()
            .filter(|index| length > 0 && !whole.contains(index))
        {
            let part = part_of(attributes.record_bytes, offset, length, index);
            access.clear(inode, part)?;
        }
        Ok(())
    }

    /// Makes a file at least as long as `offset` and `length` together, unless `keeps_size`. Space is not set aside: a record is written to
    /// another place when it changes, so space that it has is of no use to it.
    ///
    /// # Errors
    /// As [`DataSet::write`], and [`FileError::Invalid`] for a length of 0.
    pub fn allocate(
        &self,
        inode: u64,
        offset: u64,
        length: u64,
        keeps_size: bool,
    ) -> Result<(), FileError> {
        let end = check_end(offset, length)?;
        if length == 0 {
            return Err(FileError::Invalid {
                what: "a length of 0 cannot be allocated; give another one",
            });
        }
        let mut access = self.write_access()?;
        let mut attributes = access.regular(inode)?;
        if !keeps_size && end > attributes.size {
            attributes.size = end;
            access.touch(inode, attributes);
        }
        Ok(())
    }

    /// Reads the records that a change of a range leaves in part, without the lock, so that they are in the cache when it is made.
    fn load_before(&self, inode: u64, offset: u64, length: u64) -> Result<(), FileError> {
        // With this the tree's nodes are in the cache, too.
        let attributes = with_content(inode, self.attributes(inode)?)?;
        let access = self.read_access();
        let record_bytes = u64::from(attributes.record_bytes);
        let end = (offset + length).min(attributes.size);
        let mut indices = Vec::new();
        if !offset.is_multiple_of(record_bytes) {
            indices.push(offset / record_bytes);
        }
        if !end.is_multiple_of(record_bytes) && end < attributes.size && end > offset {
            indices.push(end / record_bytes);
        }
        indices.retain(|index| matches!(access.place(inode, *index), RecordPlace::InTree));
        let Access { view, state, .. } = access;
        drop(state);
        for index in indices {
            view.stored(&self.context, inode, index)?;
        }
        Ok(())
    }

    /// Access for a write that takes so many bytes more, if the quota permits.
    pub(super) fn access_with_room(&self, bytes: u64) -> Result<Access<'_>, FileError> {
        let quota_bytes = self.properties().quota_bytes.unwrap_or(u64::MAX);
        self.relieve()?;
        let access = self.loggable_access()?;
        if access.state.used_bytes().saturating_add(bytes) <= quota_bytes {
            return Ok(access);
        }
        // What is in memory counts as if it could not be compressed.
        drop(access);
        self.flush(Durability::Unsynced)?;
        let access = self.loggable_access()?;
        let used_bytes = access.state.used_bytes();
        if used_bytes.saturating_add(bytes) <= quota_bytes {
            return Ok(access);
        }
        Err(FileError::QuotaExceeded {
            name: self.name.clone(),
            used_bytes,
            quota_bytes,
        })
    }

    /// As [`DataSet::relieve`] for removals, which have to go on when nothing can be written.
    pub(super) fn relieve_if_possible(&self) {
        // The next write or sync reports the error.
        let _ = self.relieve();
    }
}

impl View {
    /// Appends a part of a record that is in `place`.
    fn append(
        &self,
        context: &DeviceContext,
        inode: u64,
        part: RecordPart,
        place: &RecordPlace,
        bytes: &mut Vec<u8>,
    ) -> Result<(), DeviceStorageError> {
        let target = bytes.len() + part.end - part.start;
        let mut append = |content: &[u8]| {
            let end = part.end.min(content.len());
            bytes.extend_from_slice(content.get(part.start..end).unwrap_or_default());
        };
        match place {
            RecordPlace::Hole => {}
            RecordPlace::Changed(content) => append(content),
            RecordPlace::InTree => {
                if let Some(content) = self.stored(context, inode, part.index)? {
                    append(&content);
                }
            }
        }
        bytes.resize(target, 0);
        Ok(())
    }
}

impl SetState {
    /// Bytes in use, and those in memory as they are.
    fn used_bytes(&self) -> u64 {
        let frozen = self.frozen.as_ref().map_or(0, |frozen| frozen.bytes());
        let changed_bytes = (self.current.bytes() + frozen) as u64;
        self.head.used_bytes.saturating_add(changed_bytes)
    }
}

impl Access<'_> {
    pub(super) fn write(&mut self, inode: u64, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        let mut attributes = self.regular(inode)?;
        if let Err(error) = self.write_records(inode, &attributes, offset, bytes) {
            // Some records may have changed: reads look for them if the attributes have, and the log has no such write.
            self.touch(inode, attributes);
            self.state.unlogged.note_other();
            return Err(error);
        }
        attributes.size = attributes.size.max(offset + bytes.len() as u64);
        self.touch(inode, attributes);
        self.state.unlogged.note_write(inode, offset, bytes.len());
        Ok(())
    }

    fn write_records(
        &mut self,
        inode: u64,
        attributes: &InodeAttributes,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), FileError> {
        let mut rest = bytes;
        for part in parts(attributes.record_bytes, offset, bytes.len() as u64) {
            let (now, later) = rest.split_at(part.end - part.start);
            rest = later;
            let base = part.index * u64::from(attributes.record_bytes);
            let ends_here = base + part.end as u64 >= attributes.size;
            let is_whole = part.end == attributes.record_bytes as usize;
            let is_replaced = part.start == 0 && (is_whole || ends_here);
            self.change_record(inode, part.index, is_replaced, |content| {
                if content.len() < part.start {
                    content.resize(part.start, 0);
                }
                // What is appended need not be zeros first.
                let replaced = (content.len() - part.start).min(now.len());
                let (over, behind) = now.split_at(replaced);
                content[part.start..part.start + replaced].copy_from_slice(over);
                content.extend_from_slice(behind);
            })?;
        }
        Ok(())
    }

    /// Bytes of a file through all layers.
    pub(super) fn bytes(
        &self,
        inode: u64,
        attributes: &InodeAttributes,
        offset: u64,
        length: usize,
    ) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::with_capacity(length);
        for part in parts(attributes.record_bytes, offset, length as u64) {
            let place = self.place(inode, part.index);
            self.view
                .append(&self.set.context, inode, part, &place, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Makes a part of a record zeros.
    fn clear(&mut self, inode: u64, part: RecordPart) -> Result<(), FileError> {
        if self.is_hole(inode, part.index)? {
            return Ok(());
        }
        self.change_record(inode, part.index, false, |content| {
            let end = part.end.min(content.len());
            if part.start < end {
                content[part.start..end].fill(0);
            }
        })
    }

    fn is_hole(&self, inode: u64, index: u64) -> Result<bool, FileError> {
        Ok(match self.place(inode, index) {
            RecordPlace::Hole => true,
            RecordPlace::Changed(_) => false,
            RecordPlace::InTree => self.view.pointer(inode, index)?.is_none(),
        })
    }

    /// Makes a file as long as `size`. `attributes` are those before, and get the new length.
    pub(super) fn resize(
        &mut self,
        inode: u64,
        attributes: &mut InodeAttributes,
        size: u64,
    ) -> Result<(), FileError> {
        if size > FILE_BYTES_MAX {
            let limit = FILE_BYTES_MAX;
            return Err(FileError::TooLarge { limit });
        }
        if size < attributes.size {
            let record_bytes = u64::from(attributes.record_bytes);
            let kept = (size % record_bytes) as usize;
            if kept > 0 && !self.is_hole(inode, size / record_bytes)? {
                self.change_record(inode, size / record_bytes, false, |content| {
                    content.truncate(kept);
                })?;
            }
            self.state.current.cut(inode, size.div_ceil(record_bytes));
        }
        attributes.size = size;
        attributes.modified = self.now();
        Ok(())
    }
}

/// The end of a range of bytes of a file.
fn check_end(offset: u64, length: u64) -> Result<u64, FileError> {
    let end = offset
        .checked_add(length)
        .filter(|end| *end <= FILE_BYTES_MAX);
    end.ok_or(FileError::TooLarge {
        limit: FILE_BYTES_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_at_the_ends_of_records() {
        for offset in 0..40 {
            for length in 0..40 {
                let mut bytes = Vec::new();
                for part in parts(16, offset, length) {
                    assert!(part.start < part.end && part.end <= 16);
                    bytes.extend((part.start..part.end).map(|at| part.index * 16 + at as u64));
                }
                assert_eq!(bytes, (offset..offset + length).collect::<Vec<_>>());
            }
        }
    }
}
