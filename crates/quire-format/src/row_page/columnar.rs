//! The raw base of an image whose values are stored by columns (Y. Qiao et al., *Improving Relational Database Upon the Arrival of
//! Storage Hardware with Built-in Transparent Compression*, §III).
//!
//! A page in memory has rows, since that is what is changed and looked up; its image has columns, since these are what
//! repeats. Tuples are of varying length: null-suppressed fields are expanded to their longest form first, which their length
//! codes undo, and strings go behind, column by column. Pages that hold a value of another shape are stored as rows.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;
use quire_codec::transform::{self, Transform};

use super::expand::{Expanded, Values};
use super::packed::{BitReader, BitWriter, Mode};
use super::raw_base::{Parts, Restored, gather_head};
use super::read::RowPage;
use super::shape::{ColumnPlace, PageShape};
use crate::document::{Field, Structure};
use crate::wire::{Reader, Writer};

/// The raw base of columns may be longer than the page: fields are expanded.
const RAW_PAGES_MAX: usize = 4;

/// Longest numbers that can be packed, in bytes.
const PACKED_BYTES_MAX: usize = 8;

pub(crate) const STRUCTURE: Structure = Structure {
    name: "Raw base of an image by columns",
    about: "\
What the block codec compresses when the transform is not 0. A row here is a value whose null-suppressed fields have their
longest length: first the columns of the fixed part, then one of 2, 4, 8 or 16 bytes for each field, with the sign repeated.
*Planes* are the first byte of all items, then the second …. If all keys have the same length, they are planes too; and with
transform 6, if it is at most 8 bytes, a column of numbers, highest byte first. With transform 6, *columns* are the planes of
keys and columns that are not packed, and the packed ones are in front of what the block codec compresses.",
    fixed_bytes: None,
    fields: &[
        Field::at(0, "…", "head", "header and fences, as in the raw base by rows"),
        Field::next("1", "version", "of the shape: 1"),
        Field::next(
            "list",
            "columns",
            "of the fixed part, in runs: 0 numbers or 1 bytes, width (varint), count (varint)",
        ),
        Field::next("varint", "codes_at", "where the length codes are in the fixed part"),
        Field::next(
            "list",
            "fields",
            "in runs: 1 Int16, 2 Int32, 3 UInt32, 4 Int64, 5 Int128, 6 date, 7 double, and 128 if nullable; count (varint)",
        ),
        Field::next("list of varint", "strings", "for each, the column with its length"),
        Field::next("2 each", "key_bytes", "planes: of each entry, as in its slot"),
        Field::next(
            "2 each",
            "surplus",
            "planes: the length of the value as in its slot, less what row and strings take",
        ),
        Field::next(
            "… each",
            "modes",
            "transform 6: of keys that are numbers, and of each number of at most 8 bytes. 255 planes; 0–64 bits of the distance \
             from a base (signed); 128–192 bits of that of the differences, the first number (signed), a base (signed); 254 a base (signed) \
             and a radix (varint, 3 at least): distances less than the radix, of which a word of as few bits as its values need has as many \
             as 64 bits hold, the first in the lowest digit",
        ),
        Field::next("…", "keys", "of each entry, without the prefix"),
        Field::next("…", "columns", "as the transform has them"),
        Field::next("…", "strings", "of the first column, of the second …"),
        Field::next("…", "tails", "what follows the strings in each value"),
    ],
};

/// How the values of a leaf lie in its image. The numbers are stored and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageTransform {
    /// As rows (0), or by columns as the paper has them (1 to 5).
    Columns(Transform),
    /// By columns, numbers in as many bits as their range needs (6).
    Packed,
}

impl PageTransform {
    /// As rows.
    pub const ROWS: Self = Self::Columns(Transform::Rows);

    /// Every transform, in the order of the stored number.
    pub const ALL: [Self; 7] = [
        Self::ROWS,
        Self::Columns(Transform::R2c),
        Self::Columns(Transform::Rlt),
        Self::Columns(Transform::Clt),
        Self::Columns(Transform::Xor),
        Self::Columns(Transform::XorRlt),
        Self::Packed,
    ];

    /// The stored number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Columns(transform) => transform as u8,
            Self::Packed => 6,
        }
    }

    /// The transform a stored number stands for.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.number() == number)
    }

    /// Name, as written in SQL (`storage_format = 'xor_rlt'`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Columns(transform) => transform.name(),
            Self::Packed => "packed",
        }
    }

    /// The transform of that name, in any letter case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.name().eq_ignore_ascii_case(name))
    }
}

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

/// Numbers of `count` rows that lie `row_bytes` apart, as signed integers.
fn numbers(rows: &[u8], row_bytes: usize, place: ColumnPlace) -> Vec<i64> {
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

/// The first byte of all items of `width` bytes, then the second …, appended to `raw`.
fn push_planes(items: &[u8], item_bytes: usize, place: ColumnPlace, raw: &mut Vec<u8>) {
    for byte in place.offset..place.offset + place.width {
        let items = items.chunks_exact(item_bytes.max(1));
        raw.extend(items.filter_map(|item| item.get(byte)));
    }
}

/// Puts planes back where they were.
fn take_planes(
    parts: &mut Parts<'_>,
    items: &mut [u8],
    item_bytes: usize,
    place: ColumnPlace,
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

fn whole(width: usize) -> ColumnPlace {
    ColumnPlace {
        offset: 0,
        width,
        is_number: true,
    }
}

/// The keys of a page behind its prefix.
struct Keys {
    bytes: Vec<u8>,
    lengths: Vec<u8>,
    /// The length of all of them, if there is one.
    width: Option<usize>,
}

impl Keys {
    fn of(page: &RowPage<'_>) -> Result<Self, Corrupt> {
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
    fn number_width(&self) -> Option<usize> {
        self.width.filter(|width| *width <= PACKED_BYTES_MAX)
    }
}

/// Reverses the bytes of each number, so that keys are little endian.
fn reverse(bytes: &mut [u8], width: usize) {
    for number in bytes.chunks_exact_mut(width.max(1)) {
        number.reverse();
    }
}

/// The raw base of a page by columns; `None` when it cannot be stored so.
pub(super) fn gather(
    page: &RowPage<'_>,
    transform: PageTransform,
    shape: &PageShape,
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
    let mut keys = Keys::of(page)?;
    let mut raw = gather_head(page);
    raw.extend_from_slice(&shape.encode());
    push_planes(&keys.lengths, 2, whole(2), &mut raw);
    let surplus = expanded.surplus.iter();
    let surplus: Vec<u8> = surplus.flat_map(|surplus| surplus.to_le_bytes()).collect();
    push_planes(&surplus, 2, whole(2), &mut raw);
    let mut packing = Packing::default();
    if transform == PageTransform::Packed {
        packing = Packing::choose(shape, &expanded.rows, &mut keys, codec, &mut raw);
    }
    match keys.width {
        _ if packing.has_keys => {}
        Some(width) => push_planes(&keys.bytes, width, whole(width), &mut raw),
        None => raw.extend_from_slice(&keys.bytes),
    }
    match transform {
        PageTransform::Packed => {
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
    raw.extend_from_slice(&expanded.strings);
    Ok((raw.len() <= raw_bytes_max).then(|| Columnar {
        raw,
        packed: packing.packed.finish(),
    }))
}

fn expanded_rows(shape: &PageShape, row_count: usize) -> transform::PageShape<'_> {
    transform::PageShape {
        layout: &shape.expanded,
        lead_bytes: 0,
        row_count,
    }
}

fn wrong_shape(error: transform::TransformError) -> Corrupt {
    Corrupt::new(error.to_string(), 0)
}

/// Which columns are packed.
#[derive(Default)]
struct Packing {
    has_keys: bool,
    /// Of every column of an expanded row.
    is_packed: Vec<bool>,
    packed: BitWriter,
}

fn can_be_packed(place: &ColumnPlace) -> bool {
    place.is_number && place.width <= PACKED_BYTES_MAX
}

impl Packing {
    /// Packs what is better packed, and appends the modes to `raw`. Keys that are numbers become little endian.
    fn choose(
        shape: &PageShape,
        rows: &[u8],
        keys: &mut Keys,
        codec: BlockCodecId,
        raw: &mut Vec<u8>,
    ) -> Self {
        let has_entropy_coding = matches!(codec, BlockCodecId::Zlib | BlockCodecId::Zstd);
        let row_bytes = shape.expanded.row_bytes();
        let mut packing = Self::default();
        let mut modes = Writer::default();
        let mut pack = |numbers: &[i64], width, packed: &mut BitWriter| {
            let mode = Mode::choose(numbers, width, has_entropy_coding);
            mode.write(&mut modes);
            mode.pack(numbers, packed);
            mode != Mode::Planes
        };
        if let Some(width) = keys.number_width() {
            reverse(&mut keys.bytes, width);
            let numbers = numbers(&keys.bytes, width, whole(width));
            packing.has_keys = pack(&numbers, width, &mut packing.packed);
        }
        for place in &shape.places {
            packing.is_packed.push(
                can_be_packed(place) && {
                    let numbers = numbers(rows, row_bytes, *place);
                    pack(&numbers, place.width, &mut packing.packed)
                },
            );
        }
        raw.extend_from_slice(&modes.finish());
        packing
    }
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
    let (shape, shape_bytes) = PageShape::decode(parts.0)?;
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
        PageTransform::Packed => {
            read_packed(&shape, key_lengths, &mut parts, packed, raw_bytes_max)?
        }
        PageTransform::Columns(transform) => {
            read_columns(&shape, key_lengths, &mut parts, transform)?
        }
    };
    let mut values = Values::new(&shape, &columns.rows, parts.0)?;
    let mut keys = Parts(&columns.keys);
    let lengths = key_lengths.iter().zip(surplus);
    for (number, (key_bytes, surplus)) in lengths.enumerate() {
        let key = keys.take(u16::from_le_bytes(*key_bytes).into())?;
        let rows = columns.rows.get(number * row_bytes..).unwrap_or_default();
        let (value, field) = values.next(rows, u16::from_le_bytes(*surplus))?;
        restored.push(key, value, field)?;
    }
    match values.is_at_end() {
        true => restored.finish(),
        false => Err(Corrupt::new(
            "bytes follow the last value of a row page",
            raw.len(),
        )),
    }
}

/// Keys and expanded rows of an image.
struct Columns {
    keys: Vec<u8>,
    rows: Vec<u8>,
}

/// What all keys take, and the length of each if it is the same.
fn key_bytes(lengths: &[[u8; 2]]) -> (usize, Option<usize>) {
    let length = |length: &[u8; 2]| usize::from(u16::from_le_bytes(*length));
    let same = lengths.windows(2).all(|pair| pair[0] == pair[1]);
    let width = lengths
        .first()
        .map(length)
        .filter(|width| same && *width > 0);
    (lengths.iter().map(length).sum(), width)
}

fn read_keys(lengths: &[[u8; 2]], parts: &mut Parts<'_>) -> Result<Vec<u8>, Corrupt> {
    let (bytes, width) = key_bytes(lengths);
    let stored = parts.take(bytes)?;
    let mut keys = stored.to_vec();
    if let Some(width) = width {
        take_planes(&mut Parts(stored), &mut keys, width, whole(width))?;
    }
    Ok(keys)
}

fn read_columns(
    shape: &PageShape,
    key_lengths: &[[u8; 2]],
    parts: &mut Parts<'_>,
    transform: Transform,
) -> Result<Columns, Corrupt> {
    let keys = read_keys(key_lengths, parts)?;
    let stored = parts.take(key_lengths.len() * shape.expanded.row_bytes())?;
    let mut rows = vec![0; stored.len()];
    let layout = expanded_rows(shape, key_lengths.len());
    transform::to_memory(transform, layout, stored, &mut rows).map_err(wrong_shape)?;
    Ok(Columns { keys, rows })
}

fn read_packed(
    shape: &PageShape,
    key_lengths: &[[u8; 2]],
    parts: &mut Parts<'_>,
    packed: &[u8],
    raw_bytes_max: usize,
) -> Result<Columns, Corrupt> {
    let (count, row_bytes) = (key_lengths.len(), shape.expanded.row_bytes());
    let (all_key_bytes, width) = key_bytes(key_lengths);
    let key_width = width.filter(|width| *width <= PACKED_BYTES_MAX);
    if all_key_bytes > raw_bytes_max {
        return Err(Corrupt::new("keys of an image are longer than pages", 0));
    }
    let mut reader = Reader::unversioned(parts.0);
    let key_mode = match key_width {
        Some(_) => Mode::read(&mut reader)?,
        None => Mode::Planes,
    };
    let mut modes = Vec::with_capacity(shape.places.len());
    for place in &shape.places {
        modes.push(match can_be_packed(place) {
            true => Mode::read(&mut reader)?,
            false => Mode::Planes,
        });
    }
    parts.take(reader.position())?;
    let all_modes = modes.iter().chain([&key_mode]);
    let bits: usize = all_modes.map(|mode| mode.packed_bits(count)).sum();
    if bits.div_ceil(8) != packed.len() {
        return Err(Corrupt::new("length of the packed columns", 0));
    }
    let (mut bits, mut numbers) = (BitReader::new(packed), vec![0; count]);
    let mut keys = match key_mode {
        Mode::Planes => read_keys(key_lengths, parts)?,
        _ => vec![0; all_key_bytes],
    };
    if let Some(width) = key_width {
        if key_mode != Mode::Planes {
            key_mode.unpack(&mut numbers, &mut bits);
            put_numbers(&numbers, &mut keys, width, whole(width));
        }
        reverse(&mut keys, width);
    }
    let mut rows = vec![0; count * row_bytes];
    for (place, mode) in shape.places.iter().zip(modes) {
        if mode == Mode::Planes {
            take_planes(parts, &mut rows, row_bytes, *place)?;
        } else {
            mode.unpack(&mut numbers, &mut bits);
            put_numbers(&numbers, &mut rows, row_bytes, *place);
        }
    }
    Ok(Columns { keys, rows })
}

/// Writes the low bytes of each number to its row.
fn put_numbers(numbers: &[i64], rows: &mut [u8], row_bytes: usize, place: ColumnPlace) {
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
