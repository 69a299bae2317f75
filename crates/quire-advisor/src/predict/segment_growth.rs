//! How long is a segment of more rows than the sample has?
//!
//! Most codecs take so much a row. Three parts are not in proportion to the rows: what a segment has once (a header, a table of symbols, words), which two
//! samples of different lengths tell apart; dictionaries and maps, which have an entry for each different value; and codes, which get longer
//! as there are more of these.

use quire_codec::{CodecId, PhysicalType};
use quire_format::relation::ColumnRelation;
use quire_format::segment::SEGMENT_HEADER_BYTES;

use crate::distinct_values::DistinctValues;
use crate::measure::StoredSegment;

/// What a segment of a codec without tables has once, in bytes, at most.
const SMALL_PART_BYTES: f64 = 64.0;
/// The same of a table of symbols.
const SYMBOLS_BYTES: f64 = 2_400.0;
/// What a seam between two pieces of the sample costs at most: a vector of 1,024 values in the width of the distance between the pieces.
const SEAM_BYTES: f64 = 8_192.0;

/// What a column of a row group takes, by its number of rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SegmentGrowth {
    /// So much once, and so much a row.
    Linear { once_bytes: f64, row_bytes: f64 },
    /// A dictionary or a map with one entry for each different value, and codes.
    ByValue {
        distinct: DistinctValues,
        /// Different values in the measured segment.
        measured_values: f64,
        entry_bytes: f64,
        row_bytes: f64,
    },
    /// The shorter of two codecs, of which the measured one may be the worse one with more rows.
    Shorter(Box<SegmentGrowth>, Box<SegmentGrowth>),
}

impl SegmentGrowth {
    /// By a segment of the sample and one of half of it, where that has the same codec; `distinct` of the column, or of the one that it is a map from.
    pub(super) fn of(
        column: &StoredSegment,
        half: Option<&StoredSegment>,
        distinct: &DistinctValues,
        seam_count: usize,
    ) -> Self {
        let header = SEGMENT_HEADER_BYTES as f64;
        let rows = column.row_count.max(1) as f64;
        let bytes = (column.encoded_bytes as f64 - header).max(0.0);
        let values = distinct
            .in_rows(column.row_count)
            .min(distinct.met as f64)
            .max(1.0);
        let entries_bytes = match (column.relation, column.codec) {
            (Some(ColumnRelation::Map(_)), _) => bytes,
            (None, CodecId::Dictionary) => match column.dictionary_bytes {
                Some(stored) => (stored as f64).min(bytes),
                None => (bytes - rows * code_bits(values) / 8.0).max(0.0),
            },
            _ => return Self::linear(column, half, seam_count),
        };
        Self::ByValue {
            distinct: distinct.clone(),
            measured_values: values,
            entry_bytes: entries_bytes / values,
            row_bytes: (bytes - entries_bytes) / rows,
        }
    }

    fn linear(column: &StoredSegment, half: Option<&StoredSegment>, seam_count: usize) -> Self {
        let (rows, bytes) = (column.row_count.max(1) as f64, column.encoded_bytes as f64);
        let header = SEGMENT_HEADER_BYTES as f64;
        let same = |half: &&StoredSegment| {
            half.codec == column.codec
                && half.relation == column.relation
                && half.row_count > 0
                && half.row_count < column.row_count
        };
        // What a line through both has at no rows.
        let once = half.filter(same).map_or(header, |half| {
            let (half_rows, half_bytes) = (half.row_count as f64, half.encoded_bytes as f64);
            half_bytes - (bytes - half_bytes) / (rows - half_rows) * half_rows
        });
        // Of what does not grow with the rows, the whole has no seams.
        let table_bytes_max = once_bytes_max(column).min(bytes);
        let seam_bytes_max = seam_count as f64 * SEAM_BYTES;
        let once = once.clamp(0.0, (table_bytes_max + seam_bytes_max).min(bytes));
        Self::Linear {
            once_bytes: once.min(table_bytes_max),
            row_bytes: (bytes - once) / rows,
        }
    }

    /// Bytes of a segment of so many rows, its shared part included.
    pub(super) fn bytes(&self, rows: u64) -> f64 {
        match self {
            Self::Linear {
                once_bytes,
                row_bytes,
            } => once_bytes + row_bytes * rows as f64,
            Self::ByValue {
                distinct,
                measured_values,
                row_bytes,
                ..
            } => {
                let longer = code_bits(distinct.in_rows(rows)) / code_bits(*measured_values);
                let codes = row_bytes * rows as f64 * longer.max(1.0);
                SEGMENT_HEADER_BYTES as f64 + self.entries_bytes(rows) + codes
            }
            Self::Shorter(one, other) => one.bytes(rows).min(other.bytes(rows)),
        }
    }

    /// Bytes of its dictionary among so many rows; 0 without one.
    fn entries_bytes(&self, rows: u64) -> f64 {
        match self {
            Self::Linear { .. } => 0.0,
            Self::ByValue {
                distinct,
                entry_bytes,
                ..
            } => distinct.in_rows(rows) * entry_bytes,
            Self::Shorter(one, other) => {
                let shorter = if one.bytes(rows) <= other.bytes(rows) {
                    one
                } else {
                    other
                };
                shorter.entries_bytes(rows)
            }
        }
    }

    /// What row groups save that use the dictionary of the first, `full_rows` being the rows of a full one; by the rule of `quire_tables`' `append/dictionaries`: nine of ten values
    /// are in it, and a dictionary is 4 KiB or more.
    pub(super) fn shared_bytes(&self, full_rows: u64, other_row_groups: &[u64]) -> f64 {
        const DICTIONARY_BYTES_MIN: f64 = 4_096.0;
        const VALUES_IN_IT_MIN: f64 = 0.9;
        const VALUES_OF_IT_MIN: f64 = 0.25;
        let full_bytes = self.entries_bytes(full_rows);
        let (Some(distinct), true) = (self.distinct(), full_bytes >= DICTIONARY_BYTES_MIN) else {
            return 0.0;
        };
        let in_full = distinct.in_rows(full_rows);
        let saved = other_row_groups.iter().map(|&rows| {
            // Values of both together, less those of the first, are not in its dictionary.
            let own = distinct.in_rows(rows).max(1.0);
            let new = (distinct.in_rows(full_rows + rows) - in_full).clamp(0.0, own);
            let known = 1.0 - new / own;
            let suits = known >= VALUES_IN_IT_MIN && own >= in_full * VALUES_OF_IT_MIN;
            if suits {
                self.entries_bytes(rows) * known
            } else {
                0.0
            }
        });
        saved.sum()
    }

    fn distinct(&self) -> Option<&DistinctValues> {
        match self {
            Self::Linear { .. } => None,
            Self::ByValue { distinct, .. } => Some(distinct),
            Self::Shorter(one, other) => one.distinct().or_else(|| other.distinct()),
        }
    }
}

/// What a segment has once, at most.
fn once_bytes_max(column: &StoredSegment) -> f64 {
    match column.codec {
        CodecId::Constant => f64::INFINITY,
        // A sample is too short to have seen all words, and half of it shorter still.
        CodecId::Words | CodecId::Phrases | CodecId::Shape | CodecId::Pdict => f64::INFINITY,
        CodecId::Zstd => f64::INFINITY,
        CodecId::Fsst => SYMBOLS_BYTES,
        _ if column.physical_type == PhysicalType::Bytes => SYMBOLS_BYTES,
        _ => SMALL_PART_BYTES,
    }
}

/// Bits of a code for one of so many values.
fn code_bits(values: f64) -> f64 {
    values.max(2.0).log2().ceil()
}
