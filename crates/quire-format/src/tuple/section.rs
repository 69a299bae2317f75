//! The five parts of some columns: where each value is.

use std::sync::Arc;

use quire_codec::field::{FieldLayout, FieldType, TupleField, order_of_fewest_bytes};
use quire_codec::text::StringCodes;
use quire_codec::transform::LayoutColumn;

use super::column::{LayoutError, OPEN_MAX, TupleColumn, TupleCompression};
use super::dictionary::TupleDictionary;
use super::value::TupleType;
use crate::row_page::{RowPageShape, ShapeError};

/// How the bytes of an uncompressed field are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum FixedKind {
    Bool,
    Int16,
    Int32,
    Int64,
    /// A decimal that 8 bytes hold.
    Decimal,
    /// A decimal of 16 bytes.
    Wide,
    Float32,
    Float64,
    /// The length of a string.
    Length,
}

impl FixedKind {
    fn of(column_type: TupleType) -> Self {
        match column_type {
            TupleType::Bool => Self::Bool,
            TupleType::Int16 => Self::Int16,
            TupleType::Int32 | TupleType::Date { .. } => Self::Int32,
            TupleType::Int64 | TupleType::Timestamp => Self::Int64,
            TupleType::Int128 { digits: 0..=18 } => Self::Decimal,
            TupleType::Int128 { .. } => Self::Wide,
            TupleType::Float32 => Self::Float32,
            TupleType::Float64 => Self::Float64,
            TupleType::Text | TupleType::Bytes => Self::Length,
        }
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::Float32 | Self::Length => 4,
            Self::Int64 | Self::Decimal | Self::Float64 => 8,
            Self::Wide => 16,
        }
    }
}

/// How a compressed field is stored; none for types that null suppression does not shorten.
fn field_type(column_type: TupleType) -> Option<FieldType> {
    match column_type {
        TupleType::Int16 | TupleType::Int128 { digits: 0..=4 } => Some(FieldType::Int16),
        TupleType::Int32 | TupleType::Int128 { digits: 0..=9 } => Some(FieldType::Int32),
        TupleType::Int64 | TupleType::Timestamp | TupleType::Int128 { digits: 0..=18 } => {
            Some(FieldType::Int64)
        }
        TupleType::Int128 { .. } => Some(FieldType::Int128),
        TupleType::Float64 => Some(FieldType::Double),
        TupleType::Date { base_days } => Some(FieldType::Date { base_days }),
        TupleType::Text | TupleType::Bytes => Some(FieldType::UInt32),
        TupleType::Bool | TupleType::Float32 => None,
    }
}

/// A field of part 3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    pub(super) offset: usize,
    pub(super) kind: FixedKind,
    /// The bit of part 1 that is set when the value is NULL.
    pub(super) null_bit: Option<usize>,
}

/// A field of part 4.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallTupleField {
    /// Its number in the layout of these fields.
    pub(super) field: usize,
    pub(super) kind: SmallKind,
}

/// What a field of part 4 is to its column.
#[derive(Clone, Copy, Debug)]
pub(super) enum SmallKind {
    Number,
    /// A decimal that 8 bytes hold.
    Decimal,
    /// A decimal of up to 16 bytes.
    Wide,
}

impl SmallKind {
    fn of(column_type: TupleType) -> Self {
        match column_type {
            TupleType::Int128 { digits: 0..=18 } => Self::Decimal,
            TupleType::Int128 { .. } => Self::Wide,
            _ => Self::Number,
        }
    }
}

/// A field of part 4, in its order.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallField {
    pub(super) column: usize,
    pub(super) kind: SmallKind,
}

/// The code of a column in part 1 that says that the value is in part 4, if it is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCode {
    pub(super) column: usize,
    pub(super) bit: usize,
    pub(super) width: u32,
    /// Index of the dictionary.
    pub(super) dictionary: usize,
    /// Where other values are.
    pub(super) other: OtherPlace,
}

/// Where values are that a dictionary does not have.
#[derive(Clone, Copy, Debug)]
pub(super) enum OtherPlace {
    Small(SmallTupleField),
    /// A string in part 5; its number among them.
    Text(usize),
}

/// Where the value of a column is.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnLocation {
    /// A code in part 1.
    Code {
        bit: usize,
        width: u32,
        nullable: bool,
        /// Index of the dictionary.
        dictionary: usize,
    },
    /// A code in part 1, or a value elsewhere; its number among them.
    Open(usize),
    /// A boolean in part 1.
    Bit {
        bit: usize,
        null_bit: Option<usize>,
    },
    Fixed(Fixed),
    Small(SmallTupleField),
    /// A string in part 5; its number among them.
    Text {
        number: usize,
    },
    /// A padded string in part 3; its number among them.
    Padded(usize),
}

/// Where the length of a string is.
#[derive(Clone, Copy, Debug)]
pub(super) enum LengthPlace {
    Fixed(Fixed),
    Small(SmallTupleField),
}

/// A string of part 5.
#[derive(Clone, Debug)]
pub(super) struct TextColumn {
    pub(super) column: usize,
    pub(super) length: LengthPlace,
    pub(super) coded: Option<CodedColumn>,
}

/// Of a column whose strings may be in codes.
#[derive(Clone, Debug)]
pub(super) struct CodedColumn {
    /// The bit of part 1 that is set when the string is in codes.
    pub(super) bit: usize,
    pub(super) table: Arc<StringCodes>,
}

/// A column of part 3 whose strings are padded with blanks.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaddedColumn {
    pub(super) column: usize,
    pub(super) offset: usize,
    /// Width of the field.
    pub(super) bytes: usize,
    /// The bit of part 1 that is set when the value is NULL.
    pub(super) null_bit: Option<usize>,
}

/// The layout of columns that are stored together: all columns of a table when it was made, or those of one `ALTER TABLE`.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) columns: Vec<TupleColumn>,
    /// One for each column.
    pub(super) places: Vec<ColumnLocation>,
    pub(super) dictionaries: Vec<Arc<TupleDictionary>>,
    pub(super) open: Vec<OpenCode>,
    pub(super) texts: Vec<TextColumn>,
    pub(super) padded: Vec<PaddedColumn>,
    pub(super) small: FieldLayout,
    /// One for each field of `small`.
    pub(super) small_fields: Vec<SmallField>,
    /// Bits in use of part 1.
    pub(super) part_1_bits: usize,
    /// Where parts 2, 3 and 4 start. Part 5 starts where the values of part 4 end.
    pub(super) part_2: usize,
    pub(super) part_3: usize,
    pub(super) part_4: usize,
}

/// Hands out the bits of part 1 and the bytes of part 3.
#[derive(Default)]
struct Allocator {
    bits: usize,
    fixed_bytes: usize,
}

impl Allocator {
    fn bits(&mut self, count: u32) -> usize {
        let first = self.bits;
        self.bits += count as usize;
        first
    }

    fn null_bit(&mut self, nullable: bool) -> Option<usize> {
        nullable.then(|| self.bits(1))
    }

    /// Where the next field of part 3 is, which counts from its start as yet.
    fn part_3_bytes(&mut self, count: usize) -> usize {
        let first = self.fixed_bytes;
        self.fixed_bytes += count;
        first
    }

    fn fixed(&mut self, column: &TupleColumn) -> Fixed {
        let kind = FixedKind::of(column.column_type);
        Fixed {
            offset: self.part_3_bytes(kind.bytes()),
            kind,
            null_bit: self.null_bit(column.nullable),
        }
    }
}

impl Section {
    pub(super) fn new(columns: &[TupleColumn]) -> Result<Self, LayoutError> {
        for (index, column) in columns.iter().enumerate() {
            column.check(index)?;
        }
        let (small_fields, fields) = small_fields(columns);
        let mut section = Self {
            columns: columns.to_vec(),
            places: Vec::with_capacity(columns.len()),
            dictionaries: Vec::new(),
            open: Vec::new(),
            texts: Vec::new(),
            padded: Vec::new(),
            small: FieldLayout::new(&fields),
            small_fields,
            part_1_bits: 0,
            part_2: 0,
            part_3: 0,
            part_4: 0,
        };
        let mut allocator = Allocator::default();
        for index in 0..columns.len() {
            let place = section.place(index, &mut allocator);
            let place = section.behind_code(index, place, &mut allocator)?;
            section.places.push(place);
        }
        let dictionaries = section.open.len();
        if dictionaries > OPEN_MAX {
            return Err(LayoutError::TooManyOpen { dictionaries });
        }
        section.part_1_bits = allocator.bits;
        section.part_2 = allocator.bits.div_ceil(8);
        section.part_3 = section.part_2 + section.small.code_bytes();
        section.part_4 = section.part_3 + allocator.fixed_bytes;
        section.move_part_3();
        Ok(section)
    }

    fn place(&mut self, index: usize, allocator: &mut Allocator) -> ColumnLocation {
        let column = &self.columns[index];
        if let TupleCompression::Dictionary(dictionary) = &column.compression {
            self.dictionaries.push(Arc::clone(dictionary));
            return ColumnLocation::Code {
                bit: allocator.bits(dictionary.code_bits()),
                width: dictionary.code_bits(),
                nullable: column.nullable,
                dictionary: self.dictionaries.len() - 1,
            };
        }
        if let &TupleCompression::Padded { bytes } = &column.compression {
            self.padded.push(PaddedColumn {
                column: index,
                offset: allocator.part_3_bytes(bytes.into()),
                bytes: bytes.into(),
                null_bit: allocator.null_bit(column.nullable),
            });
            return ColumnLocation::Padded(self.padded.len() - 1);
        }
        let small = self.small_fields.iter().position(|of| of.column == index);
        let small = small.map(|field| SmallTupleField {
            field,
            kind: SmallKind::of(column.column_type),
        });
        let suppressed = matches!(column.compression, TupleCompression::NullSuppressed);
        let table = match &column.compression {
            TupleCompression::StringCodes(table) => Some(Arc::clone(table)),
            _ => None,
        };
        match (small, column.column_type) {
            (None, TupleType::Bool) if suppressed => ColumnLocation::Bit {
                null_bit: allocator.null_bit(column.nullable),
                bit: allocator.bits(1),
            },
            (small, column_type) if column_type.is_string() => {
                let length = match small {
                    Some(small) => LengthPlace::Small(small),
                    None => LengthPlace::Fixed(allocator.fixed(column)),
                };
                let coded = table.map(|table| CodedColumn {
                    bit: allocator.bits(1),
                    table,
                });
                self.texts.push(TextColumn {
                    column: index,
                    length,
                    coded,
                });
                ColumnLocation::Text {
                    number: self.texts.len() - 1,
                }
            }
            (Some(small), _) => ColumnLocation::Small(small),
            (None, _) => ColumnLocation::Fixed(allocator.fixed(column)),
        }
    }

    /// Puts the code of an open dictionary in front of `place`, if the column has one.
    fn behind_code(
        &mut self,
        column: usize,
        place: ColumnLocation,
        allocator: &mut Allocator,
    ) -> Result<ColumnLocation, LayoutError> {
        let TupleCompression::OpenDictionary(dictionary) = &self.columns[column].compression else {
            return Ok(place);
        };
        let column_type = self.columns[column].column_type;
        let other = match place {
            ColumnLocation::Small(small) => OtherPlace::Small(small),
            ColumnLocation::Text { number } => OtherPlace::Text(number),
            _ => {
                return Err(LayoutError::NoOtherPlace {
                    column,
                    column_type,
                });
            }
        };
        self.open.push(OpenCode {
            column,
            bit: allocator.bits(dictionary.code_bits()),
            width: dictionary.code_bits(),
            dictionary: self.dictionaries.len(),
            other,
        });
        self.dictionaries.push(Arc::clone(dictionary));
        Ok(ColumnLocation::Open(self.open.len() - 1))
    }

    /// Parts 1 to 3 as columns, and part 4 as fields.
    pub(super) fn page_shape(&self) -> Result<RowPageShape, ShapeError> {
        let mut columns = vec![LayoutColumn::Number(1); self.part_3];
        let places = self.places.iter().filter_map(|place| match place {
            ColumnLocation::Fixed(fixed) => Some(*fixed),
            _ => None,
        });
        let lengths = self.texts.iter().filter_map(|text| match text.length {
            LengthPlace::Fixed(fixed) => Some(fixed),
            LengthPlace::Small(_) => None,
        });
        let number = |fixed: Fixed| {
            let width = fixed.kind.bytes() as u16;
            (fixed.offset, LayoutColumn::Number(width))
        };
        let padded = self.padded.iter().map(|padded| {
            let width = padded.bytes as u16;
            (padded.offset, LayoutColumn::Bytes(width))
        });
        let numbers = places.chain(lengths).map(number);
        let mut fixed: Vec<(usize, LayoutColumn)> = numbers.chain(padded).collect();
        fixed.sort_by_key(|(offset, _)| *offset);
        columns.extend(fixed.iter().map(|(_, column)| *column));
        let column_count = columns.len();
        let string = |text: &TextColumn| match text.length {
            LengthPlace::Small(small) => column_count + small.field,
            LengthPlace::Fixed(length) => {
                let before = fixed.iter();
                let before = before.take_while(|(offset, _)| *offset < length.offset);
                self.part_3 + before.count()
            }
        };
        let strings: Vec<usize> = self.texts.iter().map(string).collect();
        let (_, fields) = small_fields(&self.columns);
        RowPageShape::new(&columns, self.part_2, &fields, &strings)
    }

    /// Makes offsets within part 3 offsets within the tuple.
    fn move_part_3(&mut self) {
        for place in &mut self.places {
            if let ColumnLocation::Fixed(fixed) = place {
                fixed.offset += self.part_3;
            }
        }
        for text in &mut self.texts {
            if let LengthPlace::Fixed(fixed) = &mut text.length {
                fixed.offset += self.part_3;
            }
        }
        for padded in &mut self.padded {
            padded.offset += self.part_3;
        }
    }
}

/// Columns of part 4 in its order, and their fields: the order of the table as in the paper, unless another needs
/// fewer length bytes.
fn small_fields(columns: &[TupleColumn]) -> (Vec<SmallField>, Vec<TupleField>) {
    let field = |column: &TupleColumn| match column.compression {
        TupleCompression::NullSuppressed | TupleCompression::StringCodes(_) => {
            field_type(column.column_type).map(|kind| TupleField {
                field_type: kind,
                nullable: column.nullable,
            })
        }
        // A value that has a code is NULL here.
        TupleCompression::OpenDictionary(_) => {
            field_type(column.column_type).map(|kind| TupleField {
                field_type: kind,
                nullable: true,
            })
        }
        TupleCompression::None
        | TupleCompression::Dictionary(_)
        | TupleCompression::Padded { .. } => None,
    };
    let small = |(index, column): (usize, &TupleColumn)| {
        let kind = SmallKind::of(column.column_type);
        let column_and_kind = SmallField {
            column: index,
            kind,
        };
        Some((column_and_kind, field(column)?))
    };
    let (small_fields, fields): (Vec<SmallField>, Vec<TupleField>) =
        columns.iter().enumerate().filter_map(small).unzip();
    let order = order_of_fewest_bytes(&fields);
    let ordered: Vec<TupleField> = order.iter().map(|&at| fields[at]).collect();
    if FieldLayout::new(&ordered).code_bytes() < FieldLayout::new(&fields).code_bytes() {
        let small_fields = order.into_iter().map(|at| small_fields[at]);
        (small_fields.collect(), ordered)
    } else {
        (small_fields, fields)
    }
}
