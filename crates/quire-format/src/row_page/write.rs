//! Changing a row page, one entry at a time.

use quire_codec::Corrupt;
use thiserror::Error;

use super::child::ChildPointer;
use super::layout::{PageHeaderFields, PageSlot, SLOT_BYTES, TreePageKind, head_of, slot_offset};
use super::read::{KeySearch, PageEntryRef, RowPage};
use super::space::{self, Room};

/// A row page, to read and change. After an error it is as it was, unless it was corrupt.
#[derive(Debug)]
pub struct RowPageMut<'a> {
    pub(super) bytes: &'a mut [u8],
}

/// Why an entry cannot be changed. The page is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApplyError {
    #[error("page has {free_bytes} bytes free and {needed_bytes} are needed; split it and repeat")]
    Full {
        needed_bytes: usize,
        free_bytes: usize,
    },
    #[error(
        "key of {key_bytes} bytes and value of {value_bytes}: a page of {page_bytes} bytes holds keys \
         of up to {} and entries of up to {}; shorten the key, move the value to overflow pages, or use larger pages",
        space::key_bytes_max(*.page_bytes),
        space::entry_bytes_max(*.page_bytes)
    )]
    TooLong {
        key_bytes: usize,
        value_bytes: usize,
        page_bytes: usize,
    },
    #[error("key is outside of the fences of the page; descend from the root again")]
    OutsideFences,
    #[error("there is an entry with this key; update it")]
    KeyExists,
    #[error("there is no entry with this key; insert it")]
    NoSuchKey,
    #[error("a patch keeps {kept_bytes} bytes of a value of {value_bytes}; put the whole value")]
    PatchTooLong {
        kept_bytes: usize,
        value_bytes: usize,
    },
    #[error("value of an inner page that is no number of a page; this is a defect of the caller")]
    NotAChild,
    #[error(
        "the first child of an inner page stays under the lower fence; replace it, or free the page"
    )]
    FirstChild,
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl<'a> RowPageMut<'a> {
    /// A page from bytes that nobody vouches for; see [`RowPage::open`].
    ///
    /// # Errors
    /// The first thing found that is wrong.
    pub fn open(bytes: &'a mut [u8]) -> Result<Self, Corrupt> {
        RowPage::open(bytes)?;
        Ok(Self { bytes })
    }

    /// A page from bytes that were opened before and have been changed by this module only; see
    /// [`RowPage::trusted`]. If they are something else, changes may make it worse, but do no harm outside of it.
    ///
    /// # Errors
    /// A header that contradicts itself or the length of the page.
    pub fn trusted(bytes: &'a mut [u8]) -> Result<Self, Corrupt> {
        RowPage::trusted(bytes)?;
        Ok(Self { bytes })
    }

    /// The page, to read.
    ///
    /// # Errors
    /// A header that contradicts itself, which this module writes never.
    pub fn page(&self) -> Result<RowPage<'_>, Corrupt> {
        RowPage::trusted(self.bytes)
    }

    /// Notes the LSN of the last change.
    ///
    /// # Errors
    /// Never: a page has a header.
    pub fn set_lsn(&mut self, lsn: u64) -> Result<(), Corrupt> {
        PageHeaderFields::write_lsn(self.bytes, lsn)
    }

    /// Adds an entry whose key is not there yet; returns its index.
    ///
    /// # Errors
    /// As the variants say.
    pub fn insert(
        &mut self,
        key: &[u8],
        value: &[u8],
        overflow: bool,
    ) -> Result<usize, ApplyError> {
        let page = self.page()?;
        check_entry(&page, key, value, overflow)?;
        let KeySearch::Absent(index) = page.find(key)? else {
            return Err(ApplyError::KeyExists);
        };
        self.insert_at(index, key, value, overflow)?;
        Ok(index)
    }

    /// Replaces the value of an entry, in its place when the new one is not longer; returns its index.
    ///
    /// # Errors
    /// As the variants say.
    pub fn update(
        &mut self,
        key: &[u8],
        value: &[u8],
        overflow: bool,
    ) -> Result<usize, ApplyError> {
        let page = self.page()?;
        check_entry(&page, key, value, overflow)?;
        let KeySearch::Found(index) = page.find(key)? else {
            return Err(ApplyError::NoSuchKey);
        };
        self.replace_at(index, key, value, overflow)?;
        Ok(index)
    }

    /// Adds an entry or replaces its value; returns whether there was one.
    ///
    /// # Errors
    /// As the variants say.
    pub fn put(&mut self, key: &[u8], value: &[u8], overflow: bool) -> Result<bool, ApplyError> {
        let page = self.page()?;
        check_entry(&page, key, value, overflow)?;
        match page.find(key)? {
            KeySearch::Found(index) => self.replace_at(index, key, value, overflow).map(|()| true),
            KeySearch::Absent(index) => self.insert_at(index, key, value, overflow).map(|()| false),
        }
    }

    /// Removes an entry; returns the index it had.
    ///
    /// # Errors
    /// As the variants say.
    pub fn remove(&mut self, key: &[u8]) -> Result<usize, ApplyError> {
        let page = self.page()?;
        let KeySearch::Found(index) = page.find(key)? else {
            return Err(not_here(&page, key));
        };
        if page.kind() == TreePageKind::Inner && index == 0 {
            return Err(ApplyError::FirstChild);
        }
        self.remove_at(index)?;
        Ok(index)
    }

    /// Replaces the middle of a value; returns the index of the entry.
    ///
    /// # Errors
    /// As the variants say.
    pub fn patch(
        &mut self,
        key: &[u8],
        [keep_prefix_bytes, keep_suffix_bytes]: [usize; 2],
        middle: &[u8],
    ) -> Result<usize, ApplyError> {
        let page = self.page()?;
        let KeySearch::Found(index) = page.find(key)? else {
            return Err(not_here(&page, key));
        };
        let PageEntryRef {
            value, overflow, ..
        } = page.entry(index)?;
        let value_bytes = value.len();
        let kept_bytes = keep_prefix_bytes.saturating_add(keep_suffix_bytes);
        let (Some(first), Some(last)) = (
            value.get(..keep_prefix_bytes),
            value_bytes
                .checked_sub(keep_suffix_bytes)
                .and_then(|start| value.get(start..)),
        ) else {
            return Err(ApplyError::PatchTooLong {
                kept_bytes,
                value_bytes,
            });
        };
        if kept_bytes > value_bytes {
            return Err(ApplyError::PatchTooLong {
                kept_bytes,
                value_bytes,
            });
        }
        if page.kind() == TreePageKind::Leaf && kept_bytes + middle.len() == value_bytes {
            let slot = page.slot(index)?;
            let start = usize::from(slot.offset) + usize::from(slot.key_bytes) + keep_prefix_bytes;
            put(self.bytes, start, middle)?;
            return Ok(index);
        }
        let value = [first, middle, last].concat();
        self.update(key, &value, overflow)
    }

    /// Gathers the records, so that the dead bytes become free. Their order is that of the slots, from the end.
    ///
    /// # Errors
    /// A record outside of the page.
    pub fn compact(&mut self) -> Result<(), Corrupt> {
        let before = self.bytes.to_vec();
        let page = RowPage::trusted(&before)?;
        let mut header = PageHeaderFields {
            slot_count: 0,
            heap_start: page.heap_end() as u32,
            dead_bytes: 0,
            ..page.header()
        };
        for entry in page.entries() {
            let entry = entry?;
            push(
                self.bytes,
                &mut header,
                [&[], entry.suffix],
                entry.value,
                entry.overflow,
            )?;
        }
        let gap = header.slots_end()..header.heap_start as usize;
        self.bytes.get_mut(gap).unwrap_or_default().fill(0);
        header.write(self.bytes)
    }

    fn insert_at(
        &mut self,
        index: usize,
        key: &[u8],
        value: &[u8],
        overflow: bool,
    ) -> Result<(), ApplyError> {
        let page = self.page()?;
        let suffix = key.get(page.prefix().len()..).unwrap_or_default();
        let needed_bytes = SLOT_BYTES + suffix.len() + value.len();
        let mut header = page.header();
        match space::room(page.gap_bytes(), page.dead_bytes(), needed_bytes) {
            Room::Gap => {}
            Room::Compaction => {
                self.compact()?;
                header = self.page()?.header();
            }
            Room::Full => {
                let free_bytes = page.gap_bytes() + page.dead_bytes();
                return Err(ApplyError::Full {
                    needed_bytes,
                    free_bytes,
                });
            }
        }
        let at_end = index == usize::from(header.slot_count);
        header.append_run = if at_end {
            header.append_run.saturating_add(1)
        } else {
            0
        };
        let slot = write_record(self.bytes, &mut header, [&[], suffix], value, overflow)?;
        let tail = slot_offset(index)..header.slots_end() + SLOT_BYTES;
        let tail = self.bytes.get_mut(tail).ok_or_else(no_room)?;
        tail.copy_within(..tail.len() - SLOT_BYTES, SLOT_BYTES);
        slot.write(tail.first_chunk_mut().ok_or_else(no_room)?);
        header.slot_count += 1;
        Ok(header.write_entries(self.bytes)?)
    }

    fn replace_at(
        &mut self,
        index: usize,
        key: &[u8],
        value: &[u8],
        overflow: bool,
    ) -> Result<(), ApplyError> {
        let page = self.page()?;
        let old = page.slot(index)?;
        let suffix = key.get(page.prefix().len()..).unwrap_or_default();
        let record_bytes = suffix.len() + value.len();
        let mut header = page.header();
        let new = if record_bytes <= old.record_bytes() {
            let start = usize::from(old.offset) + suffix.len();
            put(self.bytes, start, value)?;
            header.dead_bytes += (old.record_bytes() - record_bytes) as u32;
            PageSlot {
                offset: if record_bytes == 0 { 0 } else { old.offset },
                value_bytes: value.len() as u16,
                overflow,
                ..old
            }
        } else {
            let dead_bytes = page.dead_bytes() + old.record_bytes();
            match space::room(page.gap_bytes(), dead_bytes, record_bytes) {
                Room::Gap => header.dead_bytes += old.record_bytes() as u32,
                Room::Compaction => {
                    let append_run = header.append_run;
                    self.remove_at(index)?;
                    self.insert_at(index, key, value, overflow)?;
                    let header = self.page()?.header();
                    return Ok(PageHeaderFields {
                        append_run,
                        ..header
                    }
                    .write_entries(self.bytes)?);
                }
                Room::Full => {
                    let free_bytes = page.gap_bytes() + dead_bytes;
                    return Err(ApplyError::Full {
                        needed_bytes: record_bytes,
                        free_bytes,
                    });
                }
            }
            write_record(self.bytes, &mut header, [&[], suffix], value, overflow)?
        };
        let slot = self.bytes.get_mut(slot_offset(index)..).unwrap_or_default();
        new.write(slot.first_chunk_mut().ok_or_else(no_room)?);
        Ok(header.write_entries(self.bytes)?)
    }

    fn remove_at(&mut self, index: usize) -> Result<(), Corrupt> {
        let page = self.page()?;
        let slot = page.slot(index)?;
        page.record(index, &slot)?;
        let mut header = page.header();
        let slots = self.bytes.get_mut(slot_offset(index)..header.slots_end());
        let slots = slots
            .filter(|slots| slots.len() >= SLOT_BYTES)
            .ok_or_else(no_room)?;
        slots.copy_within(SLOT_BYTES.., 0);
        header.slot_count -= 1;
        if u32::from(slot.offset) == header.heap_start {
            header.heap_start += slot.record_bytes() as u32;
        } else {
            header.dead_bytes += slot.record_bytes() as u32;
        }
        header.write_entries(self.bytes)
    }
}

fn check_entry(
    page: &RowPage<'_>,
    key: &[u8],
    value: &[u8],
    overflow: bool,
) -> Result<(), ApplyError> {
    let page_bytes = page.page_bytes();
    let (key_bytes, value_bytes) = (key.len(), value.len());
    if key_bytes > space::key_bytes_max(page_bytes)
        || value_bytes > space::entry_bytes_max(page_bytes) - key_bytes
    {
        return Err(ApplyError::TooLong {
            key_bytes,
            value_bytes,
            page_bytes,
        });
    }
    if !page.covers(key) {
        return Err(ApplyError::OutsideFences);
    }
    if page.kind() == TreePageKind::Inner {
        if overflow || ChildPointer::page(value).is_err() {
            return Err(ApplyError::NotAChild);
        }
        if page.is_empty() && key != page.lower_fence() {
            return Err(ApplyError::FirstChild);
        }
    }
    Ok(())
}

/// Why a key was not found: it belongs into another page, or is in none.
#[cold]
fn not_here(page: &RowPage<'_>, key: &[u8]) -> ApplyError {
    if page.covers(key) {
        ApplyError::NoSuchKey
    } else {
        ApplyError::OutsideFences
    }
}

/// Writes a record in front of the heap. The caller has seen that there is room.
#[inline]
fn write_record(
    bytes: &mut [u8],
    header: &mut PageHeaderFields,
    key: [&[u8]; 2],
    value: &[u8],
    overflow: bool,
) -> Result<PageSlot, Corrupt> {
    let key_bytes = key[0].len() + key[1].len();
    let record_bytes = key_bytes + value.len();
    let start = (header.heap_start as usize).checked_sub(record_bytes);
    let start = start
        .filter(|start| *start >= header.slots_end())
        .ok_or_else(no_room)?;
    put(bytes, start, key[0])?;
    put(bytes, start + key[0].len(), key[1])?;
    put(bytes, start + key_bytes, value)?;
    let head = match key[0] {
        [] => head_of(key[1]),
        _ => head_of(bytes.get(start..start + key_bytes).unwrap_or_default()),
    };
    header.heap_start = start as u32;
    Ok(PageSlot {
        offset: if record_bytes == 0 { 0 } else { start as u16 },
        key_bytes: key_bytes as u16,
        value_bytes: value.len() as u16,
        overflow,
        head,
    })
}

/// Adds an entry behind all others; its key behind the prefix is in two pieces. The header is not written back.
#[inline]
pub(super) fn push(
    bytes: &mut [u8],
    header: &mut PageHeaderFields,
    key: [&[u8]; 2],
    value: &[u8],
    overflow: bool,
) -> Result<(), Corrupt> {
    let slot = write_record(bytes, header, key, value, overflow)?;
    let slots_end = header.slots_end();
    if slots_end + SLOT_BYTES > header.heap_start as usize {
        return Err(no_room());
    }
    let target = bytes.get_mut(slots_end..).unwrap_or_default();
    slot.write(target.first_chunk_mut().ok_or_else(no_room)?);
    header.slot_count += 1;
    Ok(())
}

#[inline]
pub(super) fn put(bytes: &mut [u8], start: usize, part: &[u8]) -> Result<(), Corrupt> {
    let target = bytes.get_mut(start..start + part.len());
    target.ok_or_else(no_room)?.copy_from_slice(part);
    Ok(())
}

#[cold]
fn no_room() -> Corrupt {
    Corrupt::new(
        "records do not lie where the page's header and slots say",
        0,
    )
}
