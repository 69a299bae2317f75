//! Predicates on dictionary segments: evaluated once per distinct value, then looked up by code.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use quire_codec::{Corrupt, RowMask};
use quire_format::segment::SegmentReader;

use super::column::ColumnReader;
use super::selection::Selection;
use crate::error::ScanError;
use crate::predicate::Predicate;

/// Which codes satisfy a predicate.
pub(super) struct CodeMask {
    generation: u64,
    wanted: Wanted,
    null_matches: bool,
}

/// Some of the codes of a dictionary.
enum Wanted {
    None,
    All,
    Some {
        /// Code `c` is bit `c % 64` of word `c / 64`.
        bits: Vec<u64>,
        /// The same codes if they are neighbours, as most comparisons want them: values ascend with their codes.
        range: Option<Range<u32>>,
    },
}

impl Wanted {
    fn new(matches: &BooleanArray, codes: usize) -> Self {
        let wanted = |code: usize| matches.is_valid(code) && matches.value(code);
        let count = (0..codes).filter(|&code| wanted(code)).count();
        if count == 0 {
            return Wanted::None;
        }
        if count == codes {
            return Wanted::All;
        }
        let first = (0..codes).find(|&code| wanted(code)).unwrap_or(0);
        let are_neighbours = (first..first + count).all(wanted);
        let range = are_neighbours.then(|| first as u32..(first + count) as u32);
        let mut bits = vec![0; codes.div_ceil(64)];
        for code in (0..codes).filter(|&code| wanted(code)) {
            bits[code / 64] |= 1 << (code % 64);
        }
        Wanted::Some { bits, range }
    }

    /// Marks the rows of a vector that have wanted codes.
    fn select(
        &self,
        segment: &mut SegmentReader,
        vector: usize,
        mask: &mut RowMask,
    ) -> Result<(), Corrupt> {
        match self {
            Wanted::None => *mask = RowMask::default(),
            Wanted::All => *mask = RowMask::default().map(|_| u64::MAX),
            Wanted::Some { bits, range } => {
                let marked = match range {
                    Some(range) => segment.select_code_range(vector, range.clone(), mask)?,
                    None => None,
                };
                if marked.is_none() {
                    segment.select_codes(vector, bits, mask)?;
                }
            }
        }
        Ok(())
    }
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
        let codes = result.len() - 1;
        Ok(CodeMask {
            generation,
            wanted: Wanted::new(&result, codes),
            null_matches: result.is_valid(codes) && result.value(codes),
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
        match self.wanted {
            Wanted::None if !has_nulls || !self.null_matches => {
                return Ok(Selection::none());
            }
            Wanted::All if !has_nulls || self.null_matches => return Ok(selection.clone()),
            _ => {}
        }
        selection.refine_by_masks(|vector| {
            column.mask(group, vector, self.null_matches, |segment, vector, mask| {
                self.wanted.select(segment, vector, mask)
            })
        })
    }
}
