//! What a row page says, without how it lies in memory: what the block codec of an image compresses.

use quire_codec::Corrupt;

use super::create::{PageSetup, SetupError};
use super::layout::{PageHeaderFields, PageSlot};
use super::read::RowPage;
use super::write::{RowPageMut, push};
use crate::document::{DiskStructure, StructureField};

const RAW_LEVEL: usize = 0;
const RAW_RESERVED: usize = 1;
const RAW_ENTRY_COUNT: usize = 2;
const RAW_APPEND_RUN: usize = 4;
const RAW_LOWER_BYTES: usize = 6;
const RAW_UPPER_BYTES: usize = 8;
const RAW_LAYOUT: usize = 10;
const RAW_HEADER_BYTES: usize = 14;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Raw base of an image of a row page",
    about: "What the block codec compresses. The prefix is what both fences have in common.",
    fixed_bytes: Some(RAW_HEADER_BYTES),
    fields: &[
        StructureField::at(RAW_LEVEL, "1", "level", "as in the page"),
        StructureField::at(RAW_RESERVED, "1", "reserved", "0"),
        StructureField::at(
            RAW_ENTRY_COUNT,
            "2",
            "entry_count",
            "as `slot_count` in the page",
        ),
        StructureField::at(RAW_APPEND_RUN, "2", "append_run", "as in the page"),
        StructureField::at(RAW_LOWER_BYTES, "2", "lower_bytes", "as in the page"),
        StructureField::at(RAW_UPPER_BYTES, "2", "upper_bytes", "as in the page"),
        StructureField::at(RAW_LAYOUT, "4", "layout", "as in the page"),
        StructureField::at(RAW_HEADER_BYTES, "…", "fences", "the lower, then the upper"),
        StructureField::next("2 each", "key_bytes", "of each entry, as in its slot"),
        StructureField::next("2 each", "value_bytes", "of each entry, as in its slot"),
        StructureField::next("…", "keys", "of each entry, without the prefix"),
        StructureField::next("…", "values", "of each entry, to the end"),
    ],
};

/// What every raw base begins with: header and fences.
pub(super) fn gather_head(page: &RowPage<'_>) -> Vec<u8> {
    let header = page.header();
    let mut raw = Vec::with_capacity(page.page_bytes());
    raw.extend_from_slice(&[header.level, 0]);
    raw.extend_from_slice(&header.slot_count.to_le_bytes());
    raw.extend_from_slice(&header.append_run.to_le_bytes());
    raw.extend_from_slice(&header.lower_bytes.to_le_bytes());
    raw.extend_from_slice(&header.upper_bytes.to_le_bytes());
    raw.extend_from_slice(&header.layout.to_le_bytes());
    raw.extend_from_slice(page.lower_fence());
    raw.extend_from_slice(page.upper_fence());
    raw
}

/// The raw base of a page.
pub(super) fn gather(page: &RowPage<'_>) -> Result<Vec<u8>, Corrupt> {
    let mut raw = gather_head(page);
    let slots = || page.slots.iter().map(PageSlot::read);
    raw.extend(slots().flat_map(|slot| slot.key_bytes.to_le_bytes()));
    raw.extend(slots().flat_map(|slot| slot.value_field().to_le_bytes()));
    for entry in page.entries() {
        raw.extend_from_slice(entry?.suffix);
    }
    for entry in page.entries() {
        raw.extend_from_slice(entry?.value);
    }
    // An entry takes four bytes here and ten in a page, and the header less than there.
    if raw.len() > page.page_bytes() {
        return Err(Corrupt::new("records of a row page overlap", 0));
    }
    Ok(raw)
}

/// What every raw base begins with.
pub(super) struct RawHead<'a> {
    pub(super) level: u8,
    pub(super) entry_count: usize,
    append_run: u16,
    layout: u32,
    pub(super) lower: &'a [u8],
    pub(super) upper: &'a [u8],
}

impl<'a> RawHead<'a> {
    /// The head of `raw`, and the rest.
    pub(super) fn read(raw: &'a [u8]) -> Result<(Self, RawBaseParts<'a>), Corrupt> {
        let header = raw.get(..RAW_HEADER_BYTES).ok_or_else(cut)?;
        if header[RAW_RESERVED] != 0 {
            return Err(Corrupt::new("unknown flags of a row page", RAW_RESERVED));
        }
        let mut parts = RawBaseParts(raw.get(RAW_HEADER_BYTES..).ok_or_else(cut)?);
        let head = Self {
            level: header[RAW_LEVEL],
            entry_count: u16_at(header, RAW_ENTRY_COUNT)?.into(),
            append_run: u16_at(header, RAW_APPEND_RUN)?,
            layout: u32_at(header, RAW_LAYOUT)? as u32,
            lower: parts.take(u16_at(header, RAW_LOWER_BYTES)?.into())?,
            upper: parts.take(u16_at(header, RAW_UPPER_BYTES)?.into())?,
        };
        Ok((head, parts))
    }
}

/// A page that is being restored from a raw base.
pub(super) struct Restored<'p> {
    page: RowPageMut<'p>,
    header: PageHeaderFields,
    pub(super) entry_count: usize,
}

impl<'p> Restored<'p> {
    /// Makes `page` one without entries, as the head of `raw` says, and returns the rest of `raw`.
    pub(super) fn head<'a>(
        raw: &'a [u8],
        lsn: u64,
        page: &'p mut [u8],
    ) -> Result<(Self, RawBaseParts<'a>), Corrupt> {
        let (head, parts) = RawHead::read(raw)?;
        let setup = PageSetup {
            level: head.level,
            layout: head.layout,
            lsn,
            lower: head.lower,
            upper: head.upper,
        };
        let as_corrupt = |error: SetupError| Corrupt::new(error.to_string(), 0);
        let made = RowPageMut::create(page, &setup).map_err(as_corrupt)?;
        let mut header_made = made.page()?.header();
        header_made.append_run = head.append_run;
        let restored = Self {
            page: made,
            header: header_made,
            entry_count: head.entry_count,
        };
        Ok((restored, parts))
    }

    /// Adds the next entry, given the stored length of its value.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8], field: u16) -> Result<(), Corrupt> {
        let (_, overflow) = PageSlot::split_value_field(field);
        push(
            self.page.bytes,
            &mut self.header,
            [&[], key],
            value,
            overflow,
        )
    }

    pub(super) fn finish(self) -> Result<(), Corrupt> {
        self.header.write(self.page.bytes)
    }
}

/// Makes `page` what its raw base says. Whether that is a legal page is not checked.
pub(super) fn restore(raw: &[u8], lsn: u64, page: &mut [u8]) -> Result<(), Corrupt> {
    let (mut restored, mut parts) = Restored::head(raw, lsn, page)?;
    let entry_count = restored.entry_count;
    let (key_lengths, _) = parts.take(2 * entry_count)?.as_chunks::<2>();
    let (value_lengths, _) = parts.take(2 * entry_count)?.as_chunks::<2>();
    let key_bytes = key_lengths
        .iter()
        .map(|length| usize::from(u16::from_le_bytes(*length)))
        .sum();
    let mut keys = RawBaseParts(parts.take(key_bytes)?);
    for (key_length, value_length) in key_lengths.iter().zip(value_lengths) {
        let field = u16::from_le_bytes(*value_length);
        let (value_bytes, _) = PageSlot::split_value_field(field);
        let key = keys.take(u16::from_le_bytes(*key_length).into())?;
        restored.push(key, parts.take(value_bytes.into())?, field)?;
    }
    if !parts.0.is_empty() {
        return Err(Corrupt::new(
            "bytes follow the last value of a row page",
            raw.len(),
        ));
    }
    restored.finish()
}

/// What is left of a raw base.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawBaseParts<'a>(pub(super) &'a [u8]);

impl<'a> RawBaseParts<'a> {
    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], Corrupt> {
        let (part, rest) = self.0.split_at_checked(bytes).ok_or_else(cut)?;
        self.0 = rest;
        Ok(part)
    }
}

pub(super) fn cut() -> Corrupt {
    Corrupt::new("raw base of a row page ends too early", 0)
}

pub(super) fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N], Corrupt> {
    let found = bytes.get(offset..).and_then(|rest| rest.first_chunk());
    found.copied().ok_or_else(cut)
}

pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Result<u16, Corrupt> {
    Ok(u16::from_le_bytes(array_at(bytes, offset)?))
}

pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Result<usize, Corrupt> {
    Ok(u32::from_le_bytes(array_at(bytes, offset)?) as usize)
}
