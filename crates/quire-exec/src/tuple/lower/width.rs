//! About how many bytes the values of a column take: in their table, and kept as they are or null-suppressed.
//!
//! What `ANALYZE` has found says it: the bounds of numbers, and what strings take on the average. Of a compressed value of which nothing is known
//! half is left, the rule of thumb of paper 1 §4.2.

use quire_format::tuple::TupleType;
use quire_tables::row_table::{FieldDecoding, RowLayout};
use quire_tables::{RowColumnStatistics, RowStatistics};

use crate::access::of_scalar;
use crate::plan::ValueKind;
use crate::tuple::kept_shape::tuple_type;

/// What is left of a value that is compressed: the paper's rule of thumb.
pub(super) const COMPRESSED_SHARE: f64 = 0.5;

/// Bytes of a string of which nothing is known.
const TEXT_BYTES: f64 = 12.0;
/// Bytes of the length of a string as it is, and null-suppressed.
const LENGTH_BYTES: f64 = 4.0;
const SHORT_LENGTH_BYTES: f64 = 1.0;
/// A length code has one to five bits.
const LENGTH_CODE_BYTES: f64 = 0.375;
/// Codes of dictionaries have 12 bits at most, and most have fewer.
const DICTIONARY_CODE_BYTES: f64 = 1.0;
const BIT_BYTES: f64 = 0.125;
/// The key of a row that is numbered.
const ROW_NUMBER_BYTES: f64 = 8.0;
/// Strings in a key end with two bytes.
const KEY_TEXT_END_BYTES: f64 = 2.0;

/// The type of a column's values in tuples, and about how many bytes one of them takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tuple) struct ColumnWidth {
    pub(super) column_type: TupleType,
    /// As it is.
    pub(super) plain_bytes: f64,
    pub(super) suppressed_bytes: f64,
    /// In the tuples of its table, which may have it in their keys only; of what is computed, null-suppressed.
    pub(super) stored_bytes: f64,
}

impl ColumnWidth {
    /// Of a value that is computed: nothing is known of it.
    pub(super) fn of_kind(kind: ValueKind) -> Self {
        Self::of_type(tuple_type(kind), None)
    }

    /// Of a column of a table, by the ordinal of which its layout knows it.
    pub(super) fn of_column(
        layout: &RowLayout,
        statistics: &RowStatistics,
        ordinal: usize,
    ) -> Self {
        let Some(column_type) = layout.tuple_type(ordinal) else {
            // The key of the row.
            let key_bytes = key_bytes(layout, statistics);
            return Self {
                stored_bytes: 0.0,
                ..Self::of_length(TupleType::Bytes, key_bytes)
            };
        };
        let width = Self::of_type(column_type, statistics.column(ordinal));
        let stored_bytes = match layout.decoding(ordinal) {
            FieldDecoding::Plain | FieldDecoding::PlainText => width.plain_bytes,
            FieldDecoding::Suppressed | FieldDecoding::SuppressedText => width.suppressed_bytes,
            FieldDecoding::Dictionary => DICTIONARY_CODE_BYTES,
            FieldDecoding::FsstText | FieldDecoding::HuffmanText => {
                width.suppressed_bytes * COMPRESSED_SHARE
            }
            FieldDecoding::Key => 0.0,
        };
        Self {
            stored_bytes,
            ..width
        }
    }

    fn of_type(column_type: TupleType, known: Option<&RowColumnStatistics>) -> Self {
        let Some(plain_bytes) = fixed_bytes(column_type) else {
            let length = known.and_then(mean_length);
            return Self::of_length(column_type, length.unwrap_or(TEXT_BYTES));
        };
        let suppressed_bytes = match column_type {
            TupleType::Bool => BIT_BYTES,
            TupleType::Float32 => plain_bytes,
            _ => {
                let known = known.and_then(|known| number_bytes(column_type, known));
                known.unwrap_or(plain_bytes * COMPRESSED_SHARE) + LENGTH_CODE_BYTES
            }
        };
        Self {
            column_type,
            plain_bytes,
            suppressed_bytes: suppressed_bytes.min(plain_bytes + LENGTH_CODE_BYTES),
            stored_bytes: suppressed_bytes,
        }
    }

    /// Of strings of so many bytes.
    fn of_length(column_type: TupleType, length: f64) -> Self {
        let suppressed_bytes = length + SHORT_LENGTH_BYTES + LENGTH_CODE_BYTES;
        Self {
            column_type,
            plain_bytes: length + LENGTH_BYTES,
            suppressed_bytes,
            stored_bytes: suppressed_bytes,
        }
    }

    /// Whether registers of this kind have values of this type.
    pub(super) fn is_of(&self, kind: ValueKind) -> bool {
        match self.column_type {
            TupleType::Bool => kind == ValueKind::Boolean,
            TupleType::Int16
            | TupleType::Int32
            | TupleType::Int64
            | TupleType::Date { .. }
            | TupleType::Timestamp => kind == ValueKind::Integer,
            TupleType::Int128 { .. } => kind == ValueKind::Decimal,
            TupleType::Float32 => kind == ValueKind::Real,
            TupleType::Float64 => kind == ValueKind::Double,
            TupleType::Text | TupleType::Bytes => kind == ValueKind::Bytes,
        }
    }
}

/// Bytes of a number as it is; nothing for strings.
fn fixed_bytes(column_type: TupleType) -> Option<f64> {
    Some(match column_type {
        TupleType::Bool => 1.0,
        TupleType::Int16 => 2.0,
        TupleType::Int32 | TupleType::Date { .. } | TupleType::Float32 => 4.0,
        TupleType::Int64 | TupleType::Timestamp | TupleType::Float64 => 8.0,
        TupleType::Int128 { digits: ..=18 } => 8.0,
        TupleType::Int128 { .. } => 16.0,
        TupleType::Text | TupleType::Bytes => return None,
    })
}

/// About how many bytes of a number matter: those of the bound that has more, since most values between two bounds are of that length.
fn number_bytes(column_type: TupleType, known: &RowColumnStatistics) -> Option<f64> {
    let base = match column_type {
        // Some doubles fit 4 bytes, of which the bounds say nothing.
        TupleType::Float64 => return None,
        TupleType::Date { base_days } => f64::from(base_days),
        _ => 0.0,
    };
    let zone = &known.sample.as_ref()?.zone;
    let bounds = [zone.min.as_ref()?, zone.max.as_ref()?];
    let bytes = bounds.map(|bound| of_scalar(bound).map(|number| signed_bytes(number - base)));
    let [low, high] = bytes;
    Some((1.0 - known.null_share) * low?.max(high?))
}

/// Bytes of a number in two's complement.
fn signed_bytes(number: f64) -> f64 {
    let magnitude = if number < 0.0 { -number - 1.0 } else { number };
    // One bit for the sign.
    let bits = (magnitude + 1.0).log2().ceil() + 1.0;
    (bits / 8.0).ceil().max(1.0)
}

fn mean_length(known: &RowColumnStatistics) -> Option<f64> {
    let sample = known.sample.as_ref()?;
    let rows = sample.read_row_count as f64;
    (rows > 0.0).then(|| sample.value_bytes as f64 / rows)
}

/// About how many bytes the key of a row has.
pub(super) fn key_bytes(layout: &RowLayout, statistics: &RowStatistics) -> f64 {
    let ordinals = layout.key_ordinals();
    if ordinals.is_empty() {
        return ROW_NUMBER_BYTES;
    }
    let part_bytes = |ordinal: &usize| {
        let column_type = layout.tuple_type(*ordinal)?;
        let length = statistics.column(*ordinal).and_then(mean_length);
        let text_bytes = length.unwrap_or(TEXT_BYTES) + KEY_TEXT_END_BYTES;
        Some(fixed_bytes(column_type).unwrap_or(text_bytes))
    };
    ordinals.iter().filter_map(part_bytes).sum()
}

/// About how many bytes the tuple of a row has, without its key.
pub(super) fn tuple_bytes(layout: &RowLayout, statistics: &RowStatistics) -> f64 {
    let columns = layout.live_ordinals().iter();
    let widths = columns.map(|ordinal| ColumnWidth::of_column(layout, statistics, *ordinal));
    widths.map(|width| width.stored_bytes).sum()
}

/// About how many bytes a value of a column of a table takes that the tuple engine keeps.
pub fn kept_value_bytes(layout: &RowLayout, statistics: &RowStatistics, ordinal: usize) -> f64 {
    row_bytes([&ColumnWidth::of_column(layout, statistics, ordinal)])
}

/// About how many bytes a row of such columns takes that is kept.
pub(super) fn row_bytes<'w>(widths: impl IntoIterator<Item = &'w ColumnWidth>) -> f64 {
    let widths = widths.into_iter();
    widths
        .map(|width| width.plain_bytes.min(width.suppressed_bytes))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_two_s_complement_needs() {
        let examples = [
            (0_i64, 1.0),
            (127, 1.0),
            (128, 2.0),
            (-128, 1.0),
            (-129, 2.0),
            (32_767, 2.0),
            (32_768, 3.0),
            (-32_768, 2.0),
            (8_388_607, 3.0),
            (8_388_608, 4.0),
            (i64::from(i32::MIN), 4.0),
        ];
        for (number, bytes) in examples {
            assert_eq!(signed_bytes(number as f64), bytes, "{number}");
        }
    }

    #[test]
    fn of_an_unknown_value_half_is_left_when_it_is_compressed() {
        for (kind, plain_bytes) in [
            (ValueKind::Integer, 8.0),
            (ValueKind::Decimal, 16.0),
            (ValueKind::Double, 8.0),
        ] {
            let width = ColumnWidth::of_kind(kind);
            assert_eq!(width.plain_bytes, plain_bytes);
            let suppressed_bytes = plain_bytes / 2.0 + LENGTH_CODE_BYTES;
            assert_eq!(width.suppressed_bytes, suppressed_bytes);
            assert!(width.is_of(kind));
        }
        let real = ColumnWidth::of_kind(ValueKind::Real);
        assert_eq!(real.plain_bytes, real.suppressed_bytes);
    }
}
