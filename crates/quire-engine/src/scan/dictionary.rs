//! Predicates on dictionary segments: evaluated once per distinct value, then looked up by code.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::SchemaRef;
use quire_codec::{BytesVector, Corrupt, PhysicalType};
use quire_format::segment::SegmentReader;

use super::column::{ColumnReader, bytes_array};
use super::selection::Selection;
use crate::error::ScanError;
use crate::predicate::Predicate;
use crate::scalar_array::scalar_array;
use crate::types::SqlType;

/// Which codes satisfy a predicate.
pub(super) struct CodeMask {
    generation: u64,
    /// One per code.
    matches: Vec<bool>,
    null_matches: bool,
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
        let value = |code| match segment.dictionary_is_valid(code) {
            true => segment.dictionary_value(code).map(Some).ok_or_else(missing),
            false => Ok(None),
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

impl CodeMask {
    /// Evaluates a predicate on a dictionary and NULL.
    pub(super) fn new(
        predicate: &dyn Predicate,
        schema: &SchemaRef,
        dictionary: &ArrayRef,
    ) -> Result<Self, ScanError> {
        let generation = predicate.generation();
        let field = schema.field(0).clone().with_nullable(true);
        let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![Arc::clone(dictionary)])
            .map_err(|error| ScanError::Predicate(error.to_string()))?;
        let result = predicate.evaluate(&batch).map_err(ScanError::Predicate)?;
        if result.len() != dictionary.len() {
            return Err(ScanError::Predicate(
                "predicate returned a wrong number of rows".to_owned(),
            ));
        }
        let mut matches: Vec<bool> = (0..result.len())
            .map(|row| result.is_valid(row) && result.value(row))
            .collect();
        let null_matches = matches.pop().unwrap_or(false);
        Ok(CodeMask {
            generation,
            matches,
            null_matches,
        })
    }

    /// Whether the predicate still means what it did when the mask was made.
    pub(super) fn is_current(&self, predicate: &dyn Predicate) -> bool {
        self.generation == predicate.generation()
    }

    /// Keeps the selected rows whose code satisfies the predicate.
    pub(super) fn refine(
        &self,
        column: &mut ColumnReader,
        group: usize,
        selection: &Selection,
    ) -> Result<Selection, Corrupt> {
        let has_nulls = column.segment().null_count() > 0;
        let same = |value: bool| self.matches.iter().all(|&matches| matches == value);
        if (!has_nulls || !self.null_matches) && same(false) {
            return Ok(Selection::rows(Vec::new()));
        }
        if (!has_nulls || self.null_matches) && same(true) {
            return Ok(selection.clone());
        }
        let codes = column.codes(group, selection)?;
        let mut matches: Vec<bool> = codes
            .iter()
            .map(|&code| self.matches.get(code as usize) == Some(&true))
            .collect();
        if let Some(nulls) = column.null_mask(group, selection)? {
            for (matches, valid) in matches.iter_mut().zip(nulls.iter()) {
                *matches = if valid { *matches } else { self.null_matches };
            }
        }
        Ok(selection.refine(&matches.into()))
    }
}
