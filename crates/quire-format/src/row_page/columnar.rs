//! The raw base of an image whose values are stored by columns (Y. Qiao et al., *Improving Relational Database Upon the Arrival of
//! Storage Hardware with Built-in Transparent Compression*, §III).
//!
//! A page in memory has rows, since that is what is changed and looked up; its image has columns, since these are what
//! repeats. Tuples are of varying length: null-suppressed fields are expanded to their longest form first, which their length
//! codes undo, and strings go behind, column by column. Pages that hold a value of another shape are stored as rows.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;
use quire_codec::transform::{self, Transform};

use super::expand::{Expanded, ExpandedValues, string_lengths};
use super::packing::{ColumnPacking, ColumnarRows, read_packed};
use super::page_transform::PageTransform;
use super::planes::{PageKeys, push_planes, read_keys, take_planes, whole};
use super::raw_base::{RawBaseParts, Restored, gather_head};
use super::read::RowPage;
use super::shape::RowPageShape;
use super::text::TextMode;
use crate::document::{DiskStructure, StructureField};

/// The raw base of columns may be longer than the page: fields are expanded.
const RAW_PAGES_MAX: usize = 4;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Raw base of an image by columns",
    about: "\
What the block codec compresses when the transform is not 0. A row here is a value whose null-suppressed fields have their
longest length: first the columns of the fixed part, then one of 2, 4, 8 or 16 bytes for each field, with the sign repeated.
*Planes* are the first byte of all items, then the second …. If all keys have the same length, they are planes too; and with
transform 6, if it is at most 8 bytes, a column of numbers, highest byte first. With transform 6, *columns* are the planes of
keys and columns that are not packed, and the packed ones are in front of what the block codec compresses. Transform 7 is 6 with strings.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "…", "head", "header and fences, as in the raw base by rows"),
        StructureField::next("1", "version", "of the shape: 1"),
        StructureField::next(
            "list",
            "columns",
            "of the fixed part, in runs: 0 numbers or 1 bytes, width (varint), count (varint)",
        ),
        StructureField::next("varint", "codes_at", "where the length codes are in the fixed part"),
        StructureField::next(
            "list",
            "fields",
            "in runs: 1 Int16, 2 Int32, 3 UInt32, 4 Int64, 5 Int128, 6 date, 7 double, and 128 if nullable; count (varint)",
        ),
        StructureField::next("list of varint", "strings", "for each, the column with its length"),
        StructureField::next("2 each", "key_bytes", "planes: of each entry, as in its slot"),
        StructureField::next(
            "2 each",
            "surplus",
            "planes: the length of the value as in its slot, less what row and strings take",
        ),
        StructureField::next(
            "… each",
            "modes",
            "transform 6: of keys that are numbers, and of each number of at most 8 bytes. 255 planes; 0–64 bits of the distance \
             from a base (signed); 128–192 bits of that of the differences, the first number (signed), a base (signed); 254 a base (signed) \
             and a radix (varint, 3 at least): distances less than the radix, of which a word of as few bits as its values need has as many \
             as 64 bits hold, the first in the lowest digit",
        ),
        StructureField::next(
            "… each",
            "text modes",
            "transform 7: of each column of strings. 0 as they are; 1 an alphabet (its symbols ascending, count (varint) first), of which all bytes \
             are; 2 alphabets, and runs of all strings but empty ones: number of the alphabet (1) and bytes (varint), or 255 and the bytes that are the same in \
             all (count first). Packed, column by column and alphabet by alphabet: a word has as many symbols as make it smallest for each (at most 11 \
             bits, unless it is one symbol; 8 symbols; the most of equals), the first in the lowest digit",
        ),
        StructureField::next("…", "keys", "of each entry, without the prefix"),
        StructureField::next("…", "columns", "as the transform has them"),
        StructureField::next("…", "strings", "of the first column that is not packed, of the second …"),
        StructureField::next("…", "tails", "what follows the strings in each value"),
    ],
};

/// Most bytes of a raw base.
pub(super) fn raw_bytes_max(transform: PageTransform, page_bytes: usize) -> usize {
    match transform {
        PageTransform::ROWS => page_bytes,
        _ => RAW_PAGES_MAX * page_bytes,
    }
}

/// What an image by columns is made of.
pub(super) struct Columnar {
    /// For the block codec.
    pub(super) raw: Vec<u8>,
    /// Stored as it is.
    pub(super) packed: Vec<u8>,
}

/// The raw base of a page by columns; `None` when it cannot be stored so.
pub(super) fn gather(
    page: &RowPage<'_>,
    transform: PageTransform,
    shape: &RowPageShape,
    codec: BlockCodecId,
) -> Result<Option<Columnar>, Corrupt> {
    let row_bytes = shape.expanded.row_bytes();
    let raw_bytes_max = raw_bytes_max(transform, page.page_bytes());
    if page.is_empty() || page.len() * row_bytes > raw_bytes_max {
        return Ok(None);
    }
    let Some(expanded) = Expanded::of(page, shape)? else {
        return Ok(None);
    };
    let mut keys = PageKeys::of(page)?;
    let mut raw = gather_head(page);
    raw.extend_from_slice(&shape.encode());
    push_planes(&keys.lengths, 2, whole(2), &mut raw);
    let surplus = expanded.surplus.iter();
    let surplus: Vec<u8> = surplus.flat_map(|surplus| surplus.to_le_bytes()).collect();
    push_planes(&surplus, 2, whole(2), &mut raw);
    let packing = if transform.is_packed() {
        ColumnPacking::choose(transform, shape, &expanded, &mut keys, codec, &mut raw)
    } else {
        ColumnPacking::default()
    };
    match keys.width {
        _ if packing.has_keys => {}
        Some(width) => push_planes(&keys.bytes, width, whole(width), &mut raw),
        None => raw.extend_from_slice(&keys.bytes),
    }
    match transform {
        PageTransform::Packed | PageTransform::PackedText => {
            let columns = shape.places.iter().zip(&packing.is_packed);
            for (place, _) in columns.filter(|(_, is_packed)| !**is_packed) {
                push_planes(&expanded.rows, row_bytes, *place, &mut raw);
            }
        }
        PageTransform::Columns(transform) => {
            let start = raw.len();
            raw.resize(start + expanded.rows.len(), 0);
            let (_, columns) = raw.split_at_mut(start);
            let rows = expanded_rows(shape, page.len());
            transform::to_storage(transform, rows, &expanded.rows, columns).map_err(wrong_shape)?;
        }
    }
    for (number, column) in expanded.columns.iter().enumerate() {
        if packing
            .texts
            .get(number)
            .is_none_or(|mode| *mode == TextMode::Plain)
        {
            raw.extend_from_slice(column);
        }
    }
    raw.extend_from_slice(&expanded.tails);
    Ok((raw.len() <= raw_bytes_max).then(|| Columnar {
        raw,
        packed: packing.packed.finish(),
    }))
}

fn expanded_rows(shape: &RowPageShape, row_count: usize) -> transform::TransformPageShape<'_> {
    transform::TransformPageShape {
        layout: &shape.expanded,
        lead_bytes: 0,
        row_count,
    }
}

fn wrong_shape(error: transform::TransformError) -> Corrupt {
    Corrupt::new(error.to_string(), 0)
}

/// Makes `page` what its raw base by columns says. Whether that is a legal page is not checked.
pub(super) fn restore(
    transform: PageTransform,
    [raw, packed]: [&[u8]; 2],
    lsn: u64,
    page: &mut [u8],
) -> Result<(), Corrupt> {
    let raw_bytes_max = raw_bytes_max(transform, page.len());
    let (mut restored, mut parts) = Restored::head(raw, lsn, page)?;
    let (shape, shape_bytes) = RowPageShape::decode(parts.0)?;
    parts.take(shape_bytes)?;
    let (entry_count, row_bytes) = (restored.entry_count, shape.expanded.row_bytes());
    if entry_count * row_bytes > raw_bytes_max {
        return Err(Corrupt::new("rows of an image are longer than pages", 0));
    }
    let mut key_lengths = vec![0; 2 * entry_count];
    take_planes(&mut parts, &mut key_lengths, 2, whole(2))?;
    let mut surplus = vec![0; 2 * entry_count];
    take_planes(&mut parts, &mut surplus, 2, whole(2))?;
    let (key_lengths, surplus) = (key_lengths.as_chunks::<2>().0, surplus.as_chunks::<2>().0);
    let columns = match transform {
        PageTransform::Packed | PageTransform::PackedText => read_packed(
            transform,
            &shape,
            key_lengths,
            &mut parts,
            packed,
            raw_bytes_max,
        )?,
        PageTransform::Columns(transform) => {
            read_columns(&shape, key_lengths, &mut parts, transform)?
        }
    };
    let mut texts = Vec::with_capacity(columns.texts.len());
    for (number, place) in shape.string_lengths().enumerate() {
        texts.push(match columns.texts.get(number) {
            Some(Some(text)) => text.as_slice(),
            _ => parts.take(string_lengths(&shape, &columns.rows, place).1)?,
        });
    }
    let mut values = ExpandedValues::new(&shape, texts, parts.0);
    let mut keys = RawBaseParts(&columns.keys);
    let lengths = key_lengths.iter().zip(surplus);
    for (number, (key_bytes, surplus)) in lengths.enumerate() {
        let key = keys.take(u16::from_le_bytes(*key_bytes).into())?;
        let rows = columns.rows.get(number * row_bytes..).unwrap_or_default();
        let (value, field) = values.next(rows, u16::from_le_bytes(*surplus))?;
        restored.push(key, value, field)?;
    }
    if values.is_at_end() {
        restored.finish()
    } else {
        Err(Corrupt::new(
            "bytes follow the last value of a row page",
            raw.len(),
        ))
    }
}

fn read_columns(
    shape: &RowPageShape,
    key_lengths: &[[u8; 2]],
    parts: &mut RawBaseParts<'_>,
    transform: Transform,
) -> Result<ColumnarRows, Corrupt> {
    let keys = read_keys(key_lengths, parts)?;
    let stored = parts.take(key_lengths.len() * shape.expanded.row_bytes())?;
    let mut rows = vec![0; stored.len()];
    let layout = expanded_rows(shape, key_lengths.len());
    transform::to_memory(transform, layout, stored, &mut rows).map_err(wrong_shape)?;
    let texts = Vec::new();
    Ok(ColumnarRows { keys, rows, texts })
}
