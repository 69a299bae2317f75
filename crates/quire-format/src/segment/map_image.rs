//! The parts of a map segment's image. The layout is that of [`super::map`].

use std::ops::Range;
use std::sync::Arc;

use quire_codec::{Corrupt, ImageCursor, PhysicalType, ROWS_MAX, VECTOR_VALUES};

use super::map_keys::are_keys;
use super::plain::{PlainSegment, SegmentHeader};

/// The version this code writes, and the only one it reads.
pub(super) const MAP_VERSION: u8 = 1;
pub(super) const MAP_HEADER_BYTES: usize = 28;

pub(super) const KEYS_ARE_CODES: u8 = 0;
pub(super) const KEYS_ARE_INTEGERS: u8 = 1;

/// An open image.
pub(super) struct MapImage {
    image: Arc<[u8]>,
    pub(super) row_count: usize,
    pub(super) null_count: usize,
    /// Where the keys are, if they are integers.
    keys: Option<Range<usize>>,
    pub(super) values: PlainSegment,
    /// Positions and values.
    pub(super) exceptions: Option<(PlainSegment, PlainSegment)>,
}

impl MapImage {
    /// Opens the map that part of an image holds.
    pub(super) fn open(image: &Arc<[u8]>, range: Range<usize>) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(image, range)?;
        let version = cursor.u8("map version")?;
        if version != MAP_VERSION {
            let what = format!("map version {version}, this program reads {MAP_VERSION}");
            return Err(Corrupt::new(what, 0));
        }
        let form = cursor.u8("form of the keys")?;
        if form > KEYS_ARE_INTEGERS || cursor.bytes(2, "reserved")? != [0, 0] {
            return Err(Corrupt::new("unknown form of the keys of a map", 1));
        }
        let row_count = cursor.u32("row count")? as usize;
        let null_count = cursor.u32("NULL count")? as usize;
        if row_count > ROWS_MAX || null_count > row_count {
            return Err(Corrupt::new("row or NULL count is out of range", 4));
        }
        let mut lengths = [0; 4];
        for length in &mut lengths {
            *length = cursor.u32("bytes of a part of a map")? as usize;
        }
        let [keys, values, positions, others] = lengths;
        let is_shaped =
            (keys > 0) == (form == KEYS_ARE_INTEGERS) && (positions > 0) == (others > 0);
        if !is_shaped {
            return Err(Corrupt::new("map lacks a part, or has one too many", 12));
        }
        let mut part = |length| cursor.take(length, "part of a map");
        let open = |range| PlainSegment::open_part(Arc::clone(image), range, None);
        let keys = (keys > 0).then(|| part(keys)).transpose()?;
        let values = open(part(values)?)?;
        let exceptions = match positions {
            0 => None,
            _ => Some((open(part(positions)?)?, open(part(others)?)?)),
        };
        cursor.finish("map")?;
        Ok(Self {
            image: Arc::clone(image),
            row_count,
            null_count,
            keys,
            values,
            exceptions,
        })
    }

    /// What the column says of itself.
    pub(super) fn header(&self) -> SegmentHeader {
        SegmentHeader {
            row_count: self.row_count,
            null_count: self.null_count,
            ..*self.values.header()
        }
    }

    /// The bytes of the keys, if they are integers: maps of one reference have the same.
    pub(super) fn key_bytes(&self) -> Option<&[u8]> {
        self.image.get(self.keys.clone()?)
    }

    /// The keys, which ascend, if they are integers.
    pub(super) fn integer_keys(&self) -> Result<Option<Vec<i64>>, Corrupt> {
        let Some(range) = self.keys.clone() else {
            return Ok(None);
        };
        let mut keys = PlainSegment::open_part(Arc::clone(&self.image), range, None)?;
        let keys = integers(&mut keys, PhysicalType::Int64)?;
        if are_keys(&keys) {
            Ok(Some(keys))
        } else {
            let what = "keys of a map do not ascend, or lie too far apart";
            Err(Corrupt::new(what, 0))
        }
    }
}

/// All values of a segment of integers, which has no NULLs.
pub(super) fn integers(
    segment: &mut PlainSegment,
    expected: PhysicalType,
) -> Result<Vec<i64>, Corrupt> {
    if segment.physical_type() != expected || segment.null_count() > 0 {
        let what = "part of a map is of another type, or has NULLs";
        return Err(Corrupt::new(what, 1));
    }
    let mut integers = Vec::with_capacity(segment.row_count());
    let mut values = [0; VECTOR_VALUES];
    for vector in 0..segment.vector_count() {
        let rows = segment.decode_wide(vector, &mut values)?;
        integers.extend_from_slice(&values[..rows]);
    }
    Ok(integers)
}
