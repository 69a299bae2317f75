//! Decoded byte strings, and dictionaries, as Arrow arrays.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, BinaryViewArray, StringArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use quire_codec::{BytesVector, Corrupt, PhysicalType};
use quire_format::segment::SegmentReader;

use crate::scalar_array::scalar_array;
use crate::types::SqlType;

/// Byte strings as the Arrow array of a text or BYTEA column. Text is checked to be UTF-8, all at once;
/// the views share one buffer.
pub(super) fn bytes_array(
    sql_type: SqlType,
    values: BytesVector,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Corrupt> {
    if values.data.len() > i32::MAX as usize {
        return Err(Corrupt::new("a vector group decodes to more than 2 GiB", 0));
    }
    let offsets: Vec<i32> = values
        .offsets
        .into_iter()
        .map(|offset| offset as i32)
        .collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let data = Buffer::from_vec(values.data);
    if sql_type.is_text() {
        let array = StringArray::try_new(offsets, data, nulls).map_err(unbuildable)?;
        Ok(Arc::new(StringViewArray::from(&array)))
    } else {
        let array = BinaryArray::try_new(offsets, data, nulls).map_err(unbuildable)?;
        Ok(Arc::new(BinaryViewArray::from(&array)))
    }
}

/// Decoded values that Arrow does not accept, such as text that is not UTF-8.
pub(super) fn unbuildable(error: arrow_schema::ArrowError) -> Corrupt {
    Corrupt::new(error.to_string(), 0)
}

/// The distinct values of a dictionary segment, or the values of a map, and a NULL behind them; `None` for other
/// segments.
pub(super) fn dictionary_array(
    sql_type: SqlType,
    segment: &SegmentReader,
) -> Result<Option<ArrayRef>, Corrupt> {
    let Some(length) = segment.dictionary_len() else {
        return Ok(None);
    };
    let missing = || Corrupt::new("dictionary has fewer values than it says", 0);
    let codes = 0..u32::try_from(length).map_err(|_| missing())?;
    if sql_type.physical_type() != PhysicalType::Bytes {
        let value = |code| {
            if segment.dictionary_is_valid(code) {
                segment.dictionary_value(code).map(Some).ok_or_else(missing)
            } else {
                Ok(None)
            }
        };
        let values = codes.map(value).collect::<Result<Vec<_>, _>>()?;
        return Ok(Some(scalar_array(
            sql_type,
            values.iter().map(Option::as_ref).chain([None]),
        )));
    }
    let mut values = BytesVector::new();
    let mut nulls = NullBufferBuilder::new(length + 1);
    for code in codes {
        values.push(segment.dictionary_bytes(code).ok_or_else(missing)?)?;
        nulls.append(segment.dictionary_is_valid(code));
    }
    values.push(&[])?;
    nulls.append_null();
    bytes_array(sql_type, values, nulls.finish()).map(Some)
}
