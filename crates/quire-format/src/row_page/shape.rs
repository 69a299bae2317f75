//! What an image must know of the values of a leaf to store them column by column.

use quire_codec::Corrupt;
use quire_codec::field::{FieldType, TupleField};
use quire_codec::transform::{LayoutColumn, Transform, TransformError, TransformRowLayout};
use thiserror::Error;

use crate::wire::{WireItemReader, WireItemWriter};

/// Version of the stored form.
const SHAPE_VERSION: u8 = 1;

/// Most bytes of an expanded row: a few of the longest pages.
const ROW_BYTES_MAX: usize = 1 << 18;

/// Stands for a length code that means nothing.
pub(super) const NO_LENGTH: u8 = u8::MAX;

/// Where the columns of a table are in the values of its leaves. All values of a table have this shape; one
/// that is shorter (an older row, say) makes its page be stored by rows.
///
/// A value is its fixed part, then its null-suppressed fields, then its strings, then anything. An image has its fields
/// expanded: then every row has the same columns, first those of the fixed part, then one of the longest length for each field.
#[derive(Clone, Debug)]
pub struct RowPageShape {
    columns: Vec<LayoutColumn>,
    codes_at: usize,
    fields: Vec<TupleField>,
    strings: Vec<usize>,
    pub(super) fixed_bytes: usize,
    pub(super) field_codes: Vec<FieldCode>,
    /// Every column of an expanded row.
    pub(super) places: Vec<ExpandedColumn>,
    pub(super) expanded: TransformRowLayout,
}

impl PartialEq for RowPageShape {
    fn eq(&self, other: &Self) -> bool {
        self.encode() == other.encode()
    }
}

/// How the length of a field is found, and what it expands to.
#[derive(Clone, Debug)]
pub(super) struct FieldCode {
    /// Of the byte with its length code in the fixed part.
    pub(super) byte: usize,
    pub(super) shift: u32,
    pub(super) mask: u8,
    /// The length of each code, or [`NO_LENGTH`].
    pub(super) lengths: [u8; 32],
    pub(super) width: usize,
    pub(super) signed: bool,
}

/// A column of an expanded row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpandedColumn {
    pub(super) offset: usize,
    pub(super) width: usize,
    pub(super) is_number: bool,
}

/// Why there is no such shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    #[error("length codes or lengths of strings are not within the columns")]
    Outside,
    #[error("a row of {row_bytes} bytes, but at most {ROW_BYTES_MAX} are possible; store rows")]
    RowTooLong { row_bytes: usize },
    #[error(transparent)]
    Columns(#[from] TransformError),
}

impl RowPageShape {
    /// Whether a transform does to these columns what no simpler one does.
    #[must_use]
    pub fn distinguishes(&self, transform: Transform) -> bool {
        self.expanded.distinguishes(transform)
    }

    /// A shape whose fixed part has these columns, one behind the other. The length codes of `fields`, packed as
    /// [`quire_codec::field`] does, are in the bytes of the fixed part from `codes_at` on, each of them a column of one byte.
    /// `strings` says for each string which column has its length: a number of at most 4 bytes, counted through the columns of
    /// the fixed part and then the fields.
    ///
    /// # Errors
    /// No columns, too many, or of no width; lengths among them; codes or strings that are not within them.
    pub fn new(
        columns: &[LayoutColumn],
        codes_at: usize,
        fields: &[TupleField],
        strings: &[usize],
    ) -> Result<Self, ShapeError> {
        let mut places = Vec::with_capacity(columns.len() + fields.len());
        let mut offset = 0;
        for column in columns {
            let (width, is_number) = match *column {
                LayoutColumn::Number(width) => (usize::from(width), true),
                LayoutColumn::Bytes(width) => (usize::from(width), false),
                LayoutColumn::Length1 | LayoutColumn::Length2 => return Err(ShapeError::Outside),
            };
            places.push(ExpandedColumn {
                offset,
                width,
                is_number,
            });
            offset += width;
        }
        let fixed_bytes = offset;
        let field_codes = field_codes(codes_at, fields);
        if field_codes.iter().any(|field| field.byte >= fixed_bytes) {
            return Err(ShapeError::Outside);
        }
        let mut expanded = columns.to_vec();
        for field in &field_codes {
            expanded.push(LayoutColumn::Number(field.width as u16));
            places.push(ExpandedColumn {
                offset,
                width: field.width,
                is_number: true,
            });
            offset += field.width;
        }
        let is_length = |&column: &usize| {
            let place = places.get(column);
            place.is_some_and(|place| place.is_number && place.width <= 4)
        };
        if !strings.iter().all(is_length) {
            return Err(ShapeError::Outside);
        }
        if offset > ROW_BYTES_MAX {
            return Err(ShapeError::RowTooLong { row_bytes: offset });
        }
        Ok(Self {
            columns: columns.to_vec(),
            codes_at,
            fields: fields.to_vec(),
            strings: strings.to_vec(),
            fixed_bytes,
            field_codes,
            places,
            expanded: TransformRowLayout::new(&expanded)?,
        })
    }

    /// Where the length of each string is in an expanded row.
    pub(super) fn string_lengths(&self) -> impl Iterator<Item = ExpandedColumn> {
        let place = |&column: &usize| self.places.get(column).copied();
        self.strings.iter().filter_map(place)
    }

    /// The stored form: version, columns in runs, codes_at, fields in runs, strings.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(SHAPE_VERSION);
        let runs: Vec<_> = self.columns.chunk_by(|left, right| left == right).collect();
        writer.varint(runs.len() as u64);
        for run in runs {
            let (kind, width) = match run.first() {
                Some(LayoutColumn::Bytes(width)) => (1, *width),
                Some(LayoutColumn::Number(width)) => (0, *width),
                _ => (0, 0),
            };
            writer.byte(kind);
            writer.varint(width.into());
            writer.varint(run.len() as u64);
        }
        writer.varint(self.codes_at as u64);
        let fields: Vec<u8> = self.fields.iter().map(|field| field_byte(*field)).collect();
        let runs: Vec<_> = fields.chunk_by(|left, right| left == right).collect();
        writer.varint(runs.len() as u64);
        for run in runs {
            writer.byte(run.first().copied().unwrap_or_default());
            writer.varint(run.len() as u64);
        }
        writer.varint(self.strings.len() as u64);
        for &column in &self.strings {
            writer.varint(column as u64);
        }
        writer.finish()
    }

    /// Reads what [`Self::encode`] wrote at the start of `bytes`, and says how many it took.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Self, usize), Corrupt> {
        let mut reader = WireItemReader::new(bytes, SHAPE_VERSION, "shape of a row page")?;
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for _ in 0..reader.count(3)? {
            let kind = reader.byte()?;
            let width = u16::try_from(reader.varint_u32()?)
                .map_err(|_| reader.corrupt("width of a column"))?;
            let column = match kind {
                0 => LayoutColumn::Number(width),
                1 => LayoutColumn::Bytes(width),
                _ => return Err(reader.corrupt("kind of a column")),
            };
            repeat(&mut reader, &mut columns, column)?;
        }
        let codes_at = reader.varint_u32()? as usize;
        for _ in 0..reader.count(2)? {
            let byte = reader.byte()?;
            let field = field_of(byte).ok_or_else(|| reader.corrupt("type of a field"))?;
            repeat(&mut reader, &mut fields, field)?;
        }
        let mut strings = Vec::new();
        for _ in 0..reader.count(1)? {
            strings.push(reader.varint_u32()? as usize);
        }
        let position = reader.position();
        let shape = Self::new(&columns, codes_at, &fields, &strings);
        let shape = shape.map_err(|error| Corrupt::new(error.to_string(), position))?;
        Ok((shape, position))
    }
}

fn repeat<T: Clone>(
    reader: &mut WireItemReader<'_>,
    items: &mut Vec<T>,
    item: T,
) -> Result<(), Corrupt> {
    let count = reader.varint_u32()? as usize;
    if count > TransformRowLayout::COLUMNS_MAX - items.len().min(TransformRowLayout::COLUMNS_MAX) {
        return Err(reader.corrupt("a row of too many columns"));
    }
    items.extend(std::iter::repeat_n(item, count));
    Ok(())
}

/// Bit of a stored field: it may be NULL.
const NULLABLE: u8 = 0x80;

fn field_byte(field: TupleField) -> u8 {
    let number = match field.field_type {
        FieldType::Int16 => 1,
        FieldType::Int32 => 2,
        FieldType::UInt32 => 3,
        FieldType::Int64 => 4,
        FieldType::Int128 => 5,
        FieldType::Date { .. } => 6,
        FieldType::Double => 7,
    };
    number | if field.nullable { NULLABLE } else { 0 }
}

/// The base of dates is not stored: here only lengths matter.
fn field_of(byte: u8) -> Option<TupleField> {
    let field_type = match byte & !NULLABLE {
        1 => FieldType::Int16,
        2 => FieldType::Int32,
        3 => FieldType::UInt32,
        4 => FieldType::Int64,
        5 => FieldType::Int128,
        6 => FieldType::Date { base_days: 0 },
        7 => FieldType::Double,
        _ => return None,
    };
    Some(TupleField {
        field_type,
        nullable: byte & NULLABLE != 0,
    })
}

/// The codes of a byte are as many as fit, the first in the highest of the bits that are used.
fn field_codes(codes_at: usize, fields: &[TupleField]) -> Vec<FieldCode> {
    let (mut codes, mut first): (Vec<FieldCode>, usize) = (Vec::with_capacity(fields.len()), 0);
    let (mut byte, mut used_bits) = (codes_at, 0);
    for field in fields {
        let bits = field.code_bits();
        if used_bits + bits > u8::BITS {
            first = codes.len();
            (byte, used_bits) = (byte.saturating_add(1), 0);
        }
        used_bits += bits;
        for before in codes.iter_mut().skip(first) {
            before.shift += bits;
        }
        let mut lengths = [NO_LENGTH; 32];
        for (code, length) in lengths.iter_mut().enumerate().take(1 << bits) {
            *length = field.length_of(code as u8).unwrap_or(NO_LENGTH);
        }
        codes.push(FieldCode {
            byte,
            shift: 0,
            mask: (1_u8 << bits) - 1,
            lengths,
            width: field.bytes_max(),
            signed: !matches!(field.field_type, FieldType::UInt32 | FieldType::Double),
        });
    }
    codes
}

impl FieldCode {
    /// Bytes of the field in a value with this fixed part; none when the code means nothing.
    #[inline]
    pub(super) fn length(&self, fixed: &[u8]) -> Option<usize> {
        let codes = *fixed.get(self.byte)?;
        let code = (codes >> self.shift) & self.mask;
        let length = *self.lengths.get(usize::from(code))?;
        (length != NO_LENGTH).then_some(usize::from(length))
    }
}
