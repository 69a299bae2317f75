//! Which columns of a leaf are packed, and the packed ones back.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;

use super::expand::{Expanded, string_lengths};
use super::packed::{ColumnPackingMode, PackedBitReader, PackedBitWriter};
use super::page_transform::PageTransform;
use super::planes::{
    PACKED_BYTES_MAX, PageKeys, key_bytes, read_keys, reverse, take_planes, whole,
};
use super::raw_base::RawBaseParts;
use super::shape::{ExpandedColumn, RowPageShape};
use super::text::TextMode;
use crate::wire::{WireItemReader, WireItemWriter};

/// Numbers of `count` rows that lie `row_bytes` apart, as signed integers.
fn numbers(rows: &[u8], row_bytes: usize, place: ExpandedColumn) -> Vec<i64> {
    let shift = 64 - 8 * place.width as u32;
    let number = |row: &[u8]| {
        let mut word = [0; 8];
        let found = row
            .get(place.offset..)
            .and_then(|row| row.get(..place.width));
        if let (Some(found), Some(word)) = (found, word.get_mut(..place.width)) {
            word.copy_from_slice(found);
        }
        i64::from_le_bytes(word) << shift >> shift
    };
    rows.chunks_exact(row_bytes.max(1)).map(number).collect()
}

/// Which columns are packed.
#[derive(Default)]
pub(super) struct ColumnPacking {
    pub(super) has_keys: bool,
    /// Of every column of an expanded row.
    pub(super) is_packed: Vec<bool>,
    /// Of every column of strings, where such can be packed.
    pub(super) texts: Vec<TextMode>,
    pub(super) packed: PackedBitWriter,
}

fn can_be_packed(place: &ExpandedColumn) -> bool {
    place.is_number && place.width <= PACKED_BYTES_MAX
}

impl ColumnPacking {
    /// Packs what is better packed, and appends the modes to `raw`. Keys that are numbers become little endian.
    pub(super) fn choose(
        transform: PageTransform,
        shape: &RowPageShape,
        values: &Expanded,
        keys: &mut PageKeys,
        codec: BlockCodecId,
        raw: &mut Vec<u8>,
    ) -> Self {
        let has_entropy_coding = matches!(codec, BlockCodecId::Zlib | BlockCodecId::Zstd);
        let row_bytes = shape.expanded.row_bytes();
        let mut packing = Self::default();
        let mut modes = WireItemWriter::default();
        let mut pack = |numbers: &[i64], width, packed: &mut PackedBitWriter| {
            let mode = ColumnPackingMode::choose(numbers, width, has_entropy_coding);
            mode.write(&mut modes);
            mode.pack(numbers, packed);
            mode != ColumnPackingMode::Planes
        };
        if let Some(width) = keys.number_width() {
            reverse(&mut keys.bytes, width);
            let numbers = numbers(&keys.bytes, width, whole(width));
            packing.has_keys = pack(&numbers, width, &mut packing.packed);
        }
        for place in &shape.places {
            packing.is_packed.push(
                can_be_packed(place) && {
                    let numbers = numbers(&values.rows, row_bytes, *place);
                    pack(&numbers, place.width, &mut packing.packed)
                },
            );
        }
        if transform == PageTransform::PackedText {
            packing.choose_texts(shape, values, has_entropy_coding, &mut modes);
        }
        raw.extend_from_slice(&modes.finish());
        packing
    }

    fn choose_texts(
        &mut self,
        shape: &RowPageShape,
        values: &Expanded,
        has_entropy_coding: bool,
        modes: &mut WireItemWriter,
    ) {
        for (place, strings) in shape.string_lengths().zip(&values.columns) {
            let (lengths, _) = string_lengths(shape, &values.rows, place);
            let mode = TextMode::choose(strings, &lengths, has_entropy_coding);
            mode.write(modes);
            mode.pack(strings, &mut self.packed);
            self.texts.push(mode);
        }
    }
}

/// The modes of the columns of an image.
struct PackingModes {
    keys: ColumnPackingMode,
    /// Of every column of an expanded row.
    numbers: Vec<ColumnPackingMode>,
    /// Of every column of strings, where such can be packed.
    texts: Vec<TextMode>,
}

impl PackingModes {
    fn read(
        transform: PageTransform,
        shape: &RowPageShape,
        has_key_mode: bool,
        parts: &mut RawBaseParts<'_>,
    ) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::unversioned(parts.0);
        let keys = if has_key_mode {
            ColumnPackingMode::read(&mut reader)?
        } else {
            ColumnPackingMode::Planes
        };
        let mut numbers = Vec::with_capacity(shape.places.len());
        for place in &shape.places {
            numbers.push(if can_be_packed(place) {
                ColumnPackingMode::read(&mut reader)?
            } else {
                ColumnPackingMode::Planes
            });
        }
        let mut texts = Vec::new();
        if transform == PageTransform::PackedText {
            for _ in shape.string_lengths() {
                texts.push(TextMode::read(&mut reader)?);
            }
        }
        parts.take(reader.position())?;
        Ok(Self {
            keys,
            numbers,
            texts,
        })
    }
}

/// Keys and expanded rows of an image.
pub(super) struct ColumnarRows {
    pub(super) keys: Vec<u8>,
    pub(super) rows: Vec<u8>,
    /// The strings of each column that was packed.
    pub(super) texts: Vec<Option<Vec<u8>>>,
}

pub(super) fn read_packed(
    transform: PageTransform,
    shape: &RowPageShape,
    key_lengths: &[[u8; 2]],
    parts: &mut RawBaseParts<'_>,
    packed: &[u8],
    raw_bytes_max: usize,
) -> Result<ColumnarRows, Corrupt> {
    let (count, row_bytes) = (key_lengths.len(), shape.expanded.row_bytes());
    let (all_key_bytes, width) = key_bytes(key_lengths);
    let key_width = width.filter(|width| *width <= PACKED_BYTES_MAX);
    if all_key_bytes > raw_bytes_max {
        return Err(Corrupt::new("keys of an image are longer than pages", 0));
    }
    let modes = PackingModes::read(transform, shape, key_width.is_some(), parts)?;
    let (mut bits, mut numbers) = (PackedBitReader::new(packed), vec![0; count]);
    let mut keys = match modes.keys {
        ColumnPackingMode::Planes => read_keys(key_lengths, parts)?,
        _ => vec![0; all_key_bytes],
    };
    if let Some(width) = key_width {
        if modes.keys != ColumnPackingMode::Planes {
            modes.keys.unpack(&mut numbers, &mut bits);
            put_numbers(&numbers, &mut keys, width, whole(width));
        }
        reverse(&mut keys, width);
    }
    let mut rows = vec![0; count * row_bytes];
    for (place, mode) in shape.places.iter().zip(modes.numbers) {
        if mode == ColumnPackingMode::Planes {
            take_planes(parts, &mut rows, row_bytes, *place)?;
        } else {
            mode.unpack(&mut numbers, &mut bits);
            put_numbers(&numbers, &mut rows, row_bytes, *place);
        }
    }
    let texts = read_texts(shape, &rows, &modes.texts, &mut bits, raw_bytes_max)?;
    if bits.position().div_ceil(8) == packed.len() {
        Ok(ColumnarRows { keys, rows, texts })
    } else {
        Err(Corrupt::new("length of the packed columns", 0))
    }
}

/// The strings of every column whose mode is not plain.
fn read_texts(
    shape: &RowPageShape,
    rows: &[u8],
    modes: &[TextMode],
    bits: &mut PackedBitReader<'_>,
    raw_bytes_max: usize,
) -> Result<Vec<Option<Vec<u8>>>, Corrupt> {
    let mut texts = Vec::with_capacity(modes.len());
    for (place, mode) in shape.string_lengths().zip(modes) {
        let (lengths, string_bytes) = string_lengths(shape, rows, place);
        if string_bytes > raw_bytes_max {
            return Err(Corrupt::new("strings of an image are longer than pages", 0));
        }
        texts.push(match mode {
            TextMode::Plain => None,
            mode => Some(mode.unpack(&lengths, bits)?),
        });
    }
    Ok(texts)
}

/// Writes the low bytes of each number to its row.
fn put_numbers(numbers: &[i64], rows: &mut [u8], row_bytes: usize, place: ExpandedColumn) {
    match place.width {
        1 => put_sized::<1>(numbers, rows, row_bytes, place.offset),
        2 => put_sized::<2>(numbers, rows, row_bytes, place.offset),
        3 => put_sized::<3>(numbers, rows, row_bytes, place.offset),
        4 => put_sized::<4>(numbers, rows, row_bytes, place.offset),
        5 => put_sized::<5>(numbers, rows, row_bytes, place.offset),
        6 => put_sized::<6>(numbers, rows, row_bytes, place.offset),
        7 => put_sized::<7>(numbers, rows, row_bytes, place.offset),
        _ => put_sized::<8>(numbers, rows, row_bytes, place.offset),
    }
}

/// The same for a width that is known when this is compiled.
fn put_sized<const N: usize>(numbers: &[i64], rows: &mut [u8], row_bytes: usize, offset: usize) {
    for (row, number) in rows.chunks_exact_mut(row_bytes.max(1)).zip(numbers) {
        let target = row.get_mut(offset..).and_then(<[u8]>::first_chunk_mut::<N>);
        if let (Some(target), Some(bytes)) = (target, number.to_le_bytes().first_chunk::<N>()) {
            *target = *bytes;
        }
    }
}
