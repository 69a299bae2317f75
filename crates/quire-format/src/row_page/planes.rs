//! Planes, the first byte of all items, then the second …, and the keys of a page as an image by columns has them.

use quire_codec::Corrupt;

use super::raw_base::RawBaseParts;
use super::read::RowPage;
use super::shape::ExpandedColumn;

/// Longest numbers that can be packed, in bytes.
pub(super) const PACKED_BYTES_MAX: usize = 8;

/// The first byte of all items of `width` bytes, then the second …, appended to `raw`.
pub(super) fn push_planes(
    items: &[u8],
    item_bytes: usize,
    place: ExpandedColumn,
    raw: &mut Vec<u8>,
) {
    for byte in place.offset..place.offset + place.width {
        let items = items.chunks_exact(item_bytes.max(1));
        raw.extend(items.filter_map(|item| item.get(byte)));
    }
}

/// Puts planes back where they were.
pub(super) fn take_planes(
    parts: &mut RawBaseParts<'_>,
    items: &mut [u8],
    item_bytes: usize,
    place: ExpandedColumn,
) -> Result<(), Corrupt> {
    let count = items.len() / item_bytes.max(1);
    for byte in place.offset..place.offset + place.width {
        let plane = parts.take(count)?;
        for (item, value) in items.chunks_exact_mut(item_bytes.max(1)).zip(plane) {
            if let Some(target) = item.get_mut(byte) {
                *target = *value;
            }
        }
    }
    Ok(())
}

pub(super) fn whole(width: usize) -> ExpandedColumn {
    ExpandedColumn {
        offset: 0,
        width,
        is_number: true,
    }
}

/// The keys of a page behind its prefix.
pub(super) struct PageKeys {
    pub(super) bytes: Vec<u8>,
    pub(super) lengths: Vec<u8>,
    /// The length of all of them, if there is one.
    pub(super) width: Option<usize>,
}

impl PageKeys {
    pub(super) fn of(page: &RowPage<'_>) -> Result<Self, Corrupt> {
        let (mut bytes, mut lengths, mut width) = (Vec::new(), Vec::new(), None);
        let mut same = true;
        for entry in page.entries() {
            let suffix = entry?.suffix;
            same &= *width.get_or_insert(suffix.len()) == suffix.len();
            bytes.extend_from_slice(suffix);
            lengths.extend_from_slice(&(suffix.len() as u16).to_le_bytes());
        }
        Ok(Self {
            bytes,
            lengths,
            width: width.filter(|width| same && *width > 0),
        })
    }

    /// The width of keys that can be packed.
    pub(super) fn number_width(&self) -> Option<usize> {
        self.width.filter(|width| *width <= PACKED_BYTES_MAX)
    }
}

/// Reverses the bytes of each number, so that keys are little endian.
pub(super) fn reverse(bytes: &mut [u8], width: usize) {
    for number in bytes.chunks_exact_mut(width.max(1)) {
        number.reverse();
    }
}

/// What all keys take, and the length of each if it is the same.
pub(super) fn key_bytes(lengths: &[[u8; 2]]) -> (usize, Option<usize>) {
    let length = |length: &[u8; 2]| usize::from(u16::from_le_bytes(*length));
    let same = lengths.windows(2).all(|pair| pair[0] == pair[1]);
    let width = lengths
        .first()
        .map(length)
        .filter(|width| same && *width > 0);
    (lengths.iter().map(length).sum(), width)
}

pub(super) fn read_keys(
    lengths: &[[u8; 2]],
    parts: &mut RawBaseParts<'_>,
) -> Result<Vec<u8>, Corrupt> {
    let (bytes, width) = key_bytes(lengths);
    let stored = parts.take(bytes)?;
    let mut keys = stored.to_vec();
    if let Some(width) = width {
        take_planes(&mut RawBaseParts(stored), &mut keys, width, whole(width))?;
    }
    Ok(keys)
}
