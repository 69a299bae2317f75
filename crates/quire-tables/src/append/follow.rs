//! A column that may follow others: stored beside them if that is smaller by much, else alone.
//!
//! Both ways are estimated and only the smaller is encoded; a map is so much less work that it is made to be measured.

use std::sync::Arc;

use quire_codec::correlated::{self, Combination};
use quire_codec::{CodecId, EncodeError, RowGroupValues};
use quire_format::relation::ColumnRelation;
use quire_format::row_group::Decision;
use quire_format::segment::{
    ChooseOptions, CodecChoice, EncodeMapError, SegmentInput, SegmentReader, choose_codec,
    encode_map, encode_segment,
};

use super::column_values::ColumnValues;
use super::cutter::RowGroupRows;
use crate::definition::TableDefinition;

/// Size of a column beside its references, in per cent of what it takes alone, above which it stays alone: whoever
/// reads it reads the references too.
const FOLLOWING_PERCENT_MAX: usize = 85;

/// Half bits of each row that a map saves at least if it takes longer to read than the column alone.
const SAVED_HALF_BITS_MIN: usize = 3;

/// Bits of each row that a dictionary takes at least if it is taken for one whose values miss the first cache.
const LARGE_DICTIONARY_BITS_MIN: usize = 10;

/// A column of a row group, not yet written.
pub(super) struct UnwrittenColumn {
    pub(super) choice: CodecChoice,
    pub(super) segment: Vec<u8>,
    pub(super) decision: Decision,
    pub(super) relation: Option<ColumnRelation>,
    /// Fingerprint of the shared dictionary that the segment refers to.
    pub(super) dictionary: Option<u64>,
}

/// Encodes a column as `relation` says, or alone; the runner-up of the former is the latter. `leader` is the segment
/// of the column that a map is from.
pub(super) fn encode_following(
    definition: &TableDefinition,
    rows: &RowGroupRows,
    relation: ColumnRelation,
    leader: Option<&Arc<[u8]>>,
    input: &SegmentInput<'_>,
) -> Result<UnwrittenColumn, EncodeMapError> {
    let alone = choose_codec(input, &ChooseOptions::default());
    let following = match relation.combination() {
        Some(combination) => combined(definition, rows, (relation, combination), &alone, input)?,
        None => mapped(relation, leader, &alone, input)?,
    };
    if let Some(mut following) = following {
        following.choice.runner_up = Some((alone.codec, alone.estimated_bytes));
        following.choice.raw_bytes = alone.raw_bytes;
        return Ok(following);
    }
    Ok(UnwrittenColumn {
        segment: encode_segment(input, alone.codec)?,
        choice: alone,
        decision: Decision::Analysed,
        relation: None,
        dictionary: None,
    })
}

fn is_much_smaller(bytes: usize, alone: &CodecChoice) -> bool {
    bytes * 100 <= alone.estimated_bytes * FOLLOWING_PERCENT_MAX
}

/// Whether a value of the column alone is decoded in less time than it is looked up by that of another column.
fn is_cheap_to_read(alone: &CodecChoice, rows: usize) -> bool {
    match alone.codec {
        CodecId::Dictionary => alone.estimated_bytes * 8 < rows * LARGE_DICTIONARY_BITS_MIN,
        CodecId::Rle
        | CodecId::Fsst
        | CodecId::Zstd
        | CodecId::Words
        | CodecId::Shape
        | CodecId::Phrases
        | CodecId::Huffman => false,
        CodecId::Plain
        | CodecId::Constant
        | CodecId::Pfor
        | CodecId::PforDelta
        | CodecId::Pdict
        | CodecId::Sparse
        | CodecId::Alp
        | CodecId::AlpRd => true,
    }
}

fn combined(
    definition: &TableDefinition,
    rows: &RowGroupRows,
    (relation, combination): (ColumnRelation, Combination),
    alone: &CodecChoice,
    input: &SegmentInput<'_>,
) -> Result<Option<UnwrittenColumn>, EncodeError> {
    let expected = expected(definition, rows, relation, combination);
    let residuals = expected.and_then(|expected| correlated::residuals(&input.values, &expected));
    let Some(residuals) = residuals else {
        return Ok(None);
    };
    let left = SegmentInput {
        values: residuals.values(),
        validity: input.validity,
    };
    let choice = choose_codec(&left, &ChooseOptions::default());
    if !is_much_smaller(choice.estimated_bytes, alone) {
        return Ok(None);
    }
    Ok(Some(UnwrittenColumn {
        segment: encode_segment(&left, choice.codec)?,
        choice,
        decision: Decision::Analysed,
        relation: Some(relation),
        dictionary: None,
    }))
}

/// What the references say of every row; `None` if they are no integers.
fn expected(
    definition: &TableDefinition,
    rows: &RowGroupRows,
    relation: ColumnRelation,
    combination: Combination,
) -> Option<Vec<i64>> {
    let wide = |reference: usize| {
        let sql_type = definition.columns[reference].sql_type;
        let column = ColumnValues::collect(sql_type, &rows.batches, reference)?;
        let values: RowGroupValues<'_> = column.values();
        correlated::wide(&values, column.validity.as_deref())
    };
    let (first, second) = relation.references();
    let mut expected = wide(first)?;
    if let Some(second) = second {
        combination.apply(&mut expected, &wide(second)?);
    }
    Some(expected)
}

fn mapped(
    relation: ColumnRelation,
    leader: Option<&Arc<[u8]>>,
    alone: &CodecChoice,
    input: &SegmentInput<'_>,
) -> Result<Option<UnwrittenColumn>, EncodeMapError> {
    let Some(leader) = leader else {
        return Ok(None);
    };
    let mut reference = SegmentReader::open(Arc::clone(leader))?;
    let Some(map) = encode_map(input, &mut reference)? else {
        return Ok(None);
    };
    let saved_bytes = alone.estimated_bytes.saturating_sub(map.image.len());
    let rows = input.values.len();
    let saves_bits = saved_bytes * 16 >= rows * SAVED_HALF_BITS_MIN;
    let is_worth_it = map.is_direct || saves_bits || !is_cheap_to_read(alone, rows);
    if !is_worth_it || !is_much_smaller(map.image.len(), alone) {
        return Ok(None);
    }
    Ok(Some(UnwrittenColumn {
        choice: CodecChoice {
            codec: map.codec,
            estimated_bytes: map.image.len(),
            ..*alone
        },
        segment: map.image,
        decision: Decision::Analysed,
        relation: Some(relation),
        dictionary: None,
    }))
}
