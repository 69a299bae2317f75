//! Where the fields of a row page are.

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};

/// Lengths a row page may have, in bytes.
pub const PAGE_BYTES_ALLOWED: [usize; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Whether a row page may have this length.
pub(super) const fn is_page_bytes(bytes: usize) -> bool {
    let [least, .., most] = PAGE_BYTES_ALLOWED;
    bytes.is_power_of_two() && least <= bytes && bytes <= most
}

/// Length of a row page when the table does not say.
pub const PAGE_BYTES_DEFAULT: usize = 16 << 10;

/// Version of the layout that this program writes, and the only one it reads.
pub const ROW_PAGE_VERSION: u8 = 1;

/// Bytes of the header.
pub(super) const ROW_PAGE_HEADER_BYTES: usize = 36;

/// Bytes of a slot.
pub(super) const SLOT_BYTES: usize = 10;

/// Bytes of a key that its slot repeats.
const HEAD_BYTES: usize = 4;

const VERSION: usize = 0;
const KIND: usize = 1;
const LEVEL: usize = 2;
const FLAGS: usize = 3;
const SLOT_COUNT: usize = 4;
const APPEND_RUN: usize = 6;
const PREFIX_BYTES: usize = 8;
const LOWER_BYTES: usize = 10;
const UPPER_BYTES: usize = 12;
const RESERVED: usize = 14;
const HEAP_START: usize = 16;
const DEAD_BYTES: usize = 20;
const LSN: usize = 24;
const LAYOUT: usize = 32;

const SLOT_OFFSET: usize = 0;
const SLOT_KEY_BYTES: usize = 2;
const SLOT_VALUE_BYTES: usize = 4;
const SLOT_HEAD: usize = 6;

/// Bit of the slot's value length: the value is a reference to an overflow page.
const OVERFLOW: u16 = 1 << 15;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Row page",
    about: "\
A page of the B+tree of a row table, as it is in memory: 4, 8, 16, 32 or 64 KiB. Header, then slots in
the order of their keys, free space, the heap, the lower fence, the upper fence at the end of the page.
The heap holds for each slot a record: the key without the prefix, then the value. Keys are compared as
bytes; every key is at least the lower fence and less than the upper fence. A fence of no bytes is
infinite. The prefix is what both fences have in common, and so every key: the first `prefix_bytes` of
the lower fence. In an inner page a value is the number of a page, little endian without the zero bytes
at its end, and the first key is the lower fence. The checksum is that of the image that holds the page.",
    fixed_bytes: Some(ROW_PAGE_HEADER_BYTES),
    fields: &[
        StructureField::at(VERSION, "1", "version", "1"),
        StructureField::at(KIND, "1", "kind", "1 leaf, 2 inner page"),
        StructureField::at(LEVEL, "1", "level", "0 of a leaf, 1 of the pages above leaves …"),
        StructureField::at(FLAGS, "1", "flags", "0"),
        StructureField::at(SLOT_COUNT, "2", "slot_count", "entries"),
        StructureField::at(
            APPEND_RUN,
            "2",
            "append_run",
            "latest insertions that were all at the end, as far as counted; a hint",
        ),
        StructureField::at(PREFIX_BYTES, "2", "prefix_bytes", "length of the prefix"),
        StructureField::at(LOWER_BYTES, "2", "lower_bytes", "length of the lower fence"),
        StructureField::at(UPPER_BYTES, "2", "upper_bytes", "length of the upper fence"),
        StructureField::at(RESERVED, "2", "reserved", "0"),
        StructureField::at(HEAP_START, "4", "heap_start", "first byte of the heap"),
        StructureField::at(DEAD_BYTES, "4", "dead_bytes", "of the heap that belong to no record"),
        StructureField::at(LSN, "8", "lsn", "of the last change"),
        StructureField::at(LAYOUT, "4", "layout", "number of the layout of the tuples"),
    ],
};

pub(crate) const SLOT_STRUCTURE: DiskStructure = DiskStructure {
    name: "Slot of a row page",
    about: "Behind the header, one for each entry, by ascending key. Records do not overlap.",
    fixed_bytes: Some(SLOT_BYTES),
    fields: &[
        StructureField::at(
            SLOT_OFFSET,
            "2",
            "offset",
            "first byte of the record, 0 when it has no bytes",
        ),
        StructureField::at(
            SLOT_KEY_BYTES,
            "2",
            "key_bytes",
            "of the key behind the prefix",
        ),
        StructureField::at(
            SLOT_VALUE_BYTES,
            "2",
            "value_bytes",
            "bits 0–14: of the value; bit 15: the value refers to overflow pages",
        ),
        StructureField::at(
            SLOT_HEAD,
            "4",
            "head",
            "first bytes of the key behind the prefix, filled up with zeros",
        ),
    ],
};

/// What a page of the tree holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TreePageKind {
    /// Rows.
    Leaf = 1,
    /// Pages of the level below.
    Inner = 2,
}

impl TreePageKind {
    pub(super) const fn of_level(level: u8) -> Self {
        match level {
            0 => Self::Leaf,
            _ => Self::Inner,
        }
    }
}

/// A header, as stored.
pub(super) type HeaderBytes = [u8; ROW_PAGE_HEADER_BYTES];

/// The fields of the header that vary. Kind follows from the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeaderFields {
    pub(super) level: u8,
    pub(super) slot_count: u16,
    pub(super) append_run: u16,
    pub(super) prefix_bytes: u16,
    pub(super) lower_bytes: u16,
    pub(super) upper_bytes: u16,
    pub(super) heap_start: u32,
    pub(super) dead_bytes: u32,
    pub(super) lsn: u64,
    pub(super) layout: u32,
}

impl PageHeaderFields {
    /// The bytes of a header of this version.
    #[inline]
    pub(super) fn check(page: &[u8]) -> Result<&HeaderBytes, Corrupt> {
        let Some(bytes) = page.first_chunk::<ROW_PAGE_HEADER_BYTES>() else {
            return Err(Corrupt::new("page ends in its header", page.len()));
        };
        let level = bytes[LEVEL];
        let kind = TreePageKind::of_level(level) as u8;
        let known = [ROW_PAGE_VERSION, kind, level, 0];
        if bytes[..4] != known || u16_at(bytes, RESERVED) != 0 {
            return Err(unknown_header(bytes));
        }
        Ok(bytes)
    }

    /// The fields. Inlined, so that a caller reads those it uses and no others.
    #[inline(always)]
    pub(super) fn read(bytes: &HeaderBytes) -> Self {
        Self {
            level: bytes[LEVEL],
            slot_count: u16_at(bytes, SLOT_COUNT),
            append_run: u16_at(bytes, APPEND_RUN),
            prefix_bytes: u16_at(bytes, PREFIX_BYTES),
            lower_bytes: u16_at(bytes, LOWER_BYTES),
            upper_bytes: u16_at(bytes, UPPER_BYTES),
            heap_start: u32_at(bytes, HEAP_START),
            dead_bytes: u32_at(bytes, DEAD_BYTES),
            lsn: u64::from_le_bytes(take(bytes, LSN)),
            layout: u32_at(bytes, LAYOUT),
        }
    }

    /// Writes all fields.
    pub(super) fn write(&self, page: &mut [u8]) -> Result<(), Corrupt> {
        let bytes = header_of(page)?;
        let kind = TreePageKind::of_level(self.level) as u8;
        put(bytes, VERSION, [ROW_PAGE_VERSION, kind, self.level, 0]);
        put(bytes, PREFIX_BYTES, self.prefix_bytes.to_le_bytes());
        put(bytes, LOWER_BYTES, self.lower_bytes.to_le_bytes());
        put(bytes, UPPER_BYTES, self.upper_bytes.to_le_bytes());
        put(bytes, RESERVED, [0; 2]);
        put(bytes, LAYOUT, self.layout.to_le_bytes());
        Self::write_lsn(page, self.lsn)?;
        self.write_entries(page)
    }

    /// Writes the fields that a change of one entry changes.
    #[inline]
    pub(super) fn write_entries(&self, page: &mut [u8]) -> Result<(), Corrupt> {
        let bytes = header_of(page)?;
        put(bytes, SLOT_COUNT, self.slot_count.to_le_bytes());
        put(bytes, APPEND_RUN, self.append_run.to_le_bytes());
        put(bytes, HEAP_START, self.heap_start.to_le_bytes());
        put(bytes, DEAD_BYTES, self.dead_bytes.to_le_bytes());
        Ok(())
    }

    pub(super) fn write_lsn(page: &mut [u8], lsn: u64) -> Result<(), Corrupt> {
        put(header_of(page)?, LSN, lsn.to_le_bytes());
        Ok(())
    }

    /// First byte behind the slots.
    pub(super) fn slots_end(&self) -> usize {
        slot_offset(usize::from(self.slot_count))
    }

    /// Bytes of both fences, which end the page.
    pub(super) fn fence_bytes(&self) -> usize {
        usize::from(self.lower_bytes) + usize::from(self.upper_bytes)
    }
}

fn header_of(page: &mut [u8]) -> Result<&mut HeaderBytes, Corrupt> {
    let page_bytes = page.len();
    let header = page.first_chunk_mut();
    header.ok_or_else(|| Corrupt::new("page ends in its header", page_bytes))
}

/// What is wrong with a header that is not known.
#[cold]
fn unknown_header(bytes: &HeaderBytes) -> Corrupt {
    let (version, level) = (bytes[VERSION], bytes[LEVEL]);
    if version != ROW_PAGE_VERSION {
        let what = format!(
            "row page has layout version {version}, this program reads version {ROW_PAGE_VERSION}"
        );
        return Corrupt::new(what, VERSION);
    }
    if bytes[KIND] != TreePageKind::of_level(level) as u8 {
        let what = format!("page of kind {} on level {level}", bytes[KIND]);
        return Corrupt::new(what, KIND);
    }
    Corrupt::new("unknown flags of a row page", FLAGS)
}

/// One slot, as stored.
pub(super) type SlotBytes = [u8; SLOT_BYTES];

/// One slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageSlot {
    pub(super) offset: u16,
    pub(super) key_bytes: u16,
    pub(super) value_bytes: u16,
    pub(super) overflow: bool,
    pub(super) head: u32,
}

impl PageSlot {
    pub(super) fn read(bytes: &SlotBytes) -> Self {
        let value = u16_at(bytes, SLOT_VALUE_BYTES);
        Self {
            offset: u16_at(bytes, SLOT_OFFSET),
            key_bytes: u16_at(bytes, SLOT_KEY_BYTES),
            value_bytes: value & !OVERFLOW,
            overflow: value & OVERFLOW != 0,
            head: head_at(bytes),
        }
    }

    pub(super) fn write(&self, bytes: &mut SlotBytes) {
        let value = self.value_field();
        put(bytes, SLOT_OFFSET, self.offset.to_le_bytes());
        put(bytes, SLOT_KEY_BYTES, self.key_bytes.to_le_bytes());
        put(bytes, SLOT_VALUE_BYTES, value.to_le_bytes());
        put(bytes, SLOT_HEAD, self.head.to_be_bytes());
    }

    /// Length of the value and the flag beside it, as stored.
    pub(super) fn value_field(&self) -> u16 {
        self.value_bytes | if self.overflow { OVERFLOW } else { 0 }
    }

    /// Length and flag from what `value_field` gave.
    pub(super) fn split_value_field(field: u16) -> (u16, bool) {
        (field & !OVERFLOW, field & OVERFLOW != 0)
    }

    /// Bytes of the record.
    pub(super) fn record_bytes(&self) -> usize {
        usize::from(self.key_bytes) + usize::from(self.value_bytes)
    }
}

/// The head in a stored slot, as a number that compares like the bytes.
pub(super) fn head_at(bytes: &SlotBytes) -> u32 {
    u32::from_be_bytes([bytes[6], bytes[7], bytes[8], bytes[9]])
}

/// The head of a key behind the prefix.
pub(super) fn head_of(suffix: &[u8]) -> u32 {
    if let Some(head) = suffix.first_chunk::<HEAD_BYTES>() {
        return u32::from_be_bytes(*head);
    }
    let mut head = [0; HEAD_BYTES];
    for (target, byte) in head.iter_mut().zip(suffix) {
        *target = *byte;
    }
    u32::from_be_bytes(head)
}

/// First byte of slot `index`.
pub(super) const fn slot_offset(index: usize) -> usize {
    ROW_PAGE_HEADER_BYTES + index * SLOT_BYTES
}

fn put<const N: usize, const M: usize>(target: &mut [u8; M], offset: usize, value: [u8; N]) {
    target[offset..offset + N].copy_from_slice(&value);
}

#[inline(always)]
fn take<const N: usize, const M: usize>(source: &[u8; M], offset: usize) -> [u8; N] {
    let mut value = [0; N];
    value.copy_from_slice(&source[offset..offset + N]);
    value
}

#[inline(always)]
fn u16_at<const M: usize>(bytes: &[u8; M], offset: usize) -> u16 {
    u16::from_le_bytes(take(bytes, offset))
}

#[inline(always)]
fn u32_at<const M: usize>(bytes: &[u8; M], offset: usize) -> u32 {
    u32::from_le_bytes(take(bytes, offset))
}

const _: () = assert!(SLOT_HEAD == 6, "head_at reads bytes 6 to 9");
