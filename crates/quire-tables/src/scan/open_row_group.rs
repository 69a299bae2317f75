//! A row group that a reader is in: its opened columns, and what is known of the predicates there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use quire_codec::{CodecId, Corrupt};
use quire_format::relation::ColumnRelation;
use quire_format::row_group::{ColumnChunk, GROUP_ROWS, RowGroup};
use quire_format::row_position::RowPosition;
use quire_format::segment::{SegmentImage, SegmentReader};

use super::column::ColumnReader;
use super::column_image::OpenBlock;
use super::dictionary::CodeMask;
use super::selection::Selection;
use super::{Decompression, SharedTableScan};
use crate::delta::DeletedRows;
use crate::error::ScanError;
use crate::predicate::StoredTests;

/// The state of one reader in one row group. Segments are opened when first needed.
pub(super) struct OpenRowGroup {
    pub(super) index: usize,
    pub(super) row_group: Arc<RowGroup>,
    deleted: Option<Arc<DeletedRows>>,
    pub(super) columns: Vec<Option<Box<ColumnReader>>>,
    /// The stored form of columns that others follow, unless they are read in that form themselves.
    references: Vec<Option<SegmentReader>>,
    block: OpenBlock,
    /// One per predicate, for those that are evaluated on a dictionary.
    masks: Vec<Option<CodeMask>>,
    /// One per predicate: whether its tests drop few rows of this row group.
    has_idle_tests: Vec<bool>,
    /// One per predicate: whether it fails on a shared dictionary, so that only rows tell.
    fails_on_dictionary: Vec<bool>,
}

impl OpenRowGroup {
    pub(super) fn new(
        scan: &SharedTableScan,
        index: usize,
        row_group: Arc<RowGroup>,
        deleted: Option<Arc<DeletedRows>>,
    ) -> Self {
        OpenRowGroup {
            index,
            deleted,
            columns: row_group.columns.iter().map(|_| None).collect(),
            references: row_group.columns.iter().map(|_| None).collect(),
            block: OpenBlock::default(),
            masks: scan.options.predicates.iter().map(|_| None).collect(),
            has_idle_tests: vec![false; scan.options.predicates.len()],
            fails_on_dictionary: vec![false; scan.options.predicates.len()],
            row_group,
        }
    }

    pub(super) fn group_rows(&self, group: usize) -> usize {
        self.row_group.group_rows(group)
    }

    /// The rows of a vector group that are not deleted and satisfy all predicates.
    pub(super) fn select(
        &mut self,
        scan: &SharedTableScan,
        group: usize,
    ) -> Result<Selection, ScanError> {
        let deleted = self.deleted.as_ref();
        let mut selection = match deleted.filter(|deleted| deleted.count_in_group(group) > 0) {
            Some(deleted) => Selection::rows(deleted.left_in_group(group)),
            None => Selection::All(self.group_rows(group)),
        };
        let predicates = scan.options.predicates.iter();
        let stored: Vec<_> = predicates.map(|one| one.stored_tests()).collect();
        for (predicate, stored) in stored.iter().enumerate() {
            if let Some(stored) = stored {
                selection = self.refine_cheaply(scan, predicate, stored, group, selection)?;
            }
        }
        for (predicate, stored) in stored.iter().enumerate() {
            if selection.len() == 0 {
                break;
            }
            let stored = stored.as_deref();
            selection = self.refine(scan, predicate, stored, group, selection)?;
        }
        Ok(selection)
    }

    /// Refines a selection by the cheap tests of a predicate.
    fn refine_cheaply(
        &mut self,
        scan: &SharedTableScan,
        predicate: usize,
        stored: &StoredTests,
        group: usize,
        selection: Selection,
    ) -> Result<Selection, ScanError> {
        if self.has_idle_tests[predicate] {
            return Ok(selection);
        }
        let cheap = stored.tests.iter().filter(|test| test.is_cheap());
        let refined = self.refine_by_tests(scan, cheap, group, selection.clone())?;
        // All rows of a vector are copied at once, some of them one by one. It does not pay for the few that the tests drop, if the predicate
        // is evaluated on all that are left anyway.
        if !stored.is_complete && refined.len() * 8 > selection.len() * 7 {
            self.has_idle_tests[predicate] = true;
            return Ok(selection);
        }
        Ok(refined)
    }

    /// Refines a selection that has passed the cheap tests of the predicate.
    fn refine(
        &mut self,
        scan: &SharedTableScan,
        index: usize,
        stored: Option<&StoredTests>,
        group: usize,
        selection: Selection,
    ) -> Result<Selection, ScanError> {
        let predicate = &scan.options.predicates[index];
        let tests = stored.iter().flat_map(|stored| &stored.tests);
        let costly = tests.filter(|test| !test.is_cheap());
        let selection = &self.refine_by_tests(scan, costly, group, selection)?;
        if selection.len() == 0 || stored.is_some_and(|stored| stored.is_complete) {
            return Ok(selection.clone());
        }
        if let &[column] = predicate.columns()
            && predicate.is_deterministic()
            && scan.options.decompression == Decompression::IntoCache
            && has_dictionary(&self.row_group.columns[column])
            && !self.fails_on_dictionary[index]
            && !self.column(scan, column)?.are_few(selection.len())
            && let Some(kept) = self.refine_by_code(scan, index, column, group, selection)?
        {
            return Ok(kept);
        }
        if let &[column] = predicate.columns()
            && predicate.is_deterministic()
            && scan.options.decompression == Decompression::IntoCache
            && has_runs(&self.row_group.columns[column])
            && let Some(kept) = self.refine_by_runs(scan, index, column, group, selection)?
        {
            return Ok(kept);
        }
        let schema = &scan.predicate_schemas[index];
        let batch = self.batch(scan, schema, predicate.columns(), group, selection)?;
        let kept = predicate.evaluate(&batch).map_err(ScanError::Predicate)?;
        if kept.len() != selection.len() {
            return Err(ScanError::Predicate(
                "predicate returned a wrong number of rows".to_owned(),
            ));
        }
        Ok(selection.refine(&kept))
    }

    /// `None` if the predicate fails on a shared dictionary: no row need have the value on which it does.
    fn refine_by_code(
        &mut self,
        scan: &SharedTableScan,
        index: usize,
        column: usize,
        group: usize,
        selection: &Selection,
    ) -> Result<Option<Selection>, ScanError> {
        let is_shared = self.row_group.columns[column].dictionary.is_some();
        let predicate = scan.options.predicates[index].as_ref();
        let row_group = self.index;
        let reader = self.column(scan, column)?;
        let corrupt = |source| corrupt(scan, row_group, column, source);
        let dictionary = reader.dictionary().map_err(corrupt)?;
        let dictionary = dictionary.ok_or_else(|| {
            corrupt(Corrupt::new(
                "segment has no dictionary, its row group says it has",
                0,
            ))
        })?;
        if !self.masks[index]
            .as_ref()
            .is_some_and(|mask| mask.is_current(predicate))
        {
            let schema = &scan.predicate_schemas[index];
            let mask = CodeMask::new(predicate, schema, &dictionary);
            if is_shared && matches!(mask, Err(ScanError::Predicate(_))) {
                self.fails_on_dictionary[index] = true;
                return Ok(None);
            }
            self.masks[index] = Some(mask?);
        }
        let kept = match (&self.masks[index], &mut self.columns[column]) {
            (Some(mask), Some(reader)) => mask.refine(reader, group, selection).map_err(corrupt)?,
            _ => selection.clone(),
        };
        Ok(Some(kept))
    }

    /// The selected rows of some columns of a vector group.
    pub(super) fn batch(
        &mut self,
        scan: &SharedTableScan,
        schema: &SchemaRef,
        columns: &[usize],
        group: usize,
        selection: &Selection,
    ) -> Result<RecordBatch, ScanError> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for &column in columns {
            if column == self.columns.len() {
                arrays.push(self.row_keys(scan, group, selection));
                continue;
            }
            let array = self.column(scan, column)?.array(group, selection);
            arrays.push(array.map_err(|source| corrupt(scan, self.index, column, source))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(selection.len()));
        RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(|error| {
            ScanError::Batch {
                table: scan.table.definition().name.clone(),
                what: error.to_string(),
            }
        })
    }

    /// The keys of the selected rows.
    fn row_keys(&self, scan: &SharedTableScan, group: usize, selection: &Selection) -> ArrayRef {
        let row_group = scan.table.row_group_number(self.index);
        let first = (group * GROUP_ROWS) as u32;
        let key = |row: u32| {
            let row = first + row;
            RowPosition { row_group, row }.key()
        };
        let mut keys = BinaryViewBuilder::with_capacity(selection.len());
        for row in selection.numbers() {
            keys.append_value(key(row));
        }
        Arc::new(keys.finish())
    }

    pub(super) fn column(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
    ) -> Result<&mut ColumnReader, ScanError> {
        let reader = match self.columns[column].take() {
            Some(reader) => reader,
            None => Box::new(self.open_column(scan, column)?),
        };
        Ok(self.columns[column].insert(reader))
    }

    fn open_column(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
    ) -> Result<ColumnReader, ScanError> {
        let segment = match scan.options.decompression {
            Decompression::IntoCache => self.open_stored(scan, column)?,
            Decompression::IntoMemory => self.open_decoded(scan, column)?,
            Decompression::IntoPool => self.open_pooled(scan, column)?,
        };
        let sql_type = scan.table.definition().columns[column].sql_type;
        let mut reader = ColumnReader::open(sql_type, self.row_group.row_count, segment)
            .map_err(|source| corrupt(scan, self.index, column, source))?;
        if let Some(fingerprint) = self.row_group.columns[column].dictionary
            && reader.segment().has_shared_codes()
        {
            reader.set_shared_array(scan.shared_arrays.of(column, fingerprint));
        }
        Ok(reader)
    }

    /// Opens the stored form of a column.
    pub(super) fn open_stored(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
    ) -> Result<SegmentReader, ScanError> {
        match self.row_group.columns[column].relation {
            Some(relation) => self.open_related(scan, column, relation),
            None => match self.references[column].take() {
                Some(known) => Ok(known),
                None => self.open_alone(scan, column),
            },
        }
    }

    /// Opens a column that follows no others.
    fn open_alone(
        &self,
        scan: &SharedTableScan,
        column: usize,
    ) -> Result<SegmentReader, ScanError> {
        let Some(fingerprint) = self.row_group.columns[column].dictionary else {
            return self.open_segment(scan, column, SegmentReader::open_part);
        };
        let table = &scan.table;
        let dictionary = table.shared_dictionary(column, fingerprint, |pages| {
            let bytes = scan.pages.read(pages)?;
            scan.note_bytes(bytes.len() as u64);
            Ok(bytes)
        })?;
        let open = |image| SegmentReader::open_shared_part(image, &dictionary);
        self.open_segment(scan, column, open)
    }

    /// Opens a column that follows others. These are opened once for all that follow them.
    fn open_related(
        &mut self,
        scan: &SharedTableScan,
        column: usize,
        relation: ColumnRelation,
    ) -> Result<SegmentReader, ScanError> {
        let (first, second) = relation.references();
        self.open_reference(scan, first)?;
        if let Some(second) = second {
            self.open_reference(scan, second)?;
        }
        let missing = || Corrupt::new("column that others follow is not open", 0);
        let first = self.reference(first).ok_or_else(missing);
        let second = second.map(|second| self.reference(second).ok_or_else(missing));
        let related = match relation.combination() {
            Some(combination) => {
                let residuals = self.open_segment(scan, column, SegmentReader::open_part)?;
                first.and_then(|first| residuals.combined(combination, first, second.transpose()?))
            }
            None => {
                let open = |image| SegmentReader::open_map_part(image, first?);
                return self.open_segment(scan, column, open);
            }
        };
        related.map_err(|source| corrupt(scan, self.index, column, source))
    }

    /// Opens a column that others follow, unless it is open.
    fn open_reference(&mut self, scan: &SharedTableScan, column: usize) -> Result<(), ScanError> {
        if self.reference(column).is_none() {
            let opened = self.open_alone(scan, column)?;
            self.references[column] = Some(opened);
        }
        Ok(())
    }

    /// The stored form of a column that is open.
    fn reference(&self, column: usize) -> Option<&SegmentReader> {
        let read = self.columns[column].as_ref();
        let read = read.map(|reader| reader.segment());
        let stored = read.filter(|segment| segment.materialized_bytes().is_none());
        self.references[column].as_ref().or(stored)
    }

    /// Whether the values of other columns follow from those of this one.
    pub(super) fn is_followed(&self, column: usize) -> bool {
        let relations = self.row_group.columns.iter().filter_map(|one| one.relation);
        relations
            .map(ColumnRelation::references)
            .any(|(first, second)| first == column || second == Some(column))
    }

    /// Keeps the stored form of a column for those that follow it.
    pub(super) fn keep_reference(&mut self, column: usize, stored: SegmentReader) {
        self.references[column] = Some(stored);
    }

    fn open_segment(
        &self,
        scan: &SharedTableScan,
        column: usize,
        open: impl FnOnce(SegmentImage) -> Result<SegmentReader, Corrupt>,
    ) -> Result<SegmentReader, ScanError> {
        let chunk = &self.row_group.columns[column];
        scan.pages.note_open(self.index, column);
        let (image, bytes_read) = self
            .block
            .column_image(&scan.pages, &self.row_group, column)?;
        scan.note_bytes(bytes_read);
        let segment = image
            .and_then(open)
            .and_then(|segment| match segment.codec() {
                found if found == chunk.codec => Ok(segment),
                found => {
                    let what = format!("segment is encoded with {found}, expected {}", chunk.codec);
                    Err(Corrupt::new(what, 0))
                }
            });
        segment.map_err(|source| corrupt(scan, self.index, column, source))
    }

    /// Adds what was decoded and tested to the scan's counters.
    pub(super) fn report(&mut self, scan: &SharedTableScan) {
        for reader in self.columns.iter_mut().flatten() {
            if scan.options.decompression != Decompression::IntoCache {
                // Its vectors count since it was opened; to copy them takes time, but decodes nothing.
                (reader.vectors_decoded, reader.timer.decoded_bytes) = (0, 0);
            }
            let add = |counter: &AtomicU64, count: &mut u64| {
                counter.fetch_add(std::mem::take(count), Ordering::Relaxed);
            };
            add(&scan.counters.vectors_decoded, &mut reader.vectors_decoded);
            add(&scan.counters.vectors_tested, &mut reader.vectors_tested);
            add(&scan.counters.decode_ns, &mut reader.timer.decode_ns);
            add(
                &scan.counters.decoded_bytes,
                &mut reader.timer.decoded_bytes,
            );
        }
    }
}

/// Whether a predicate on a column can be asked once per distinct value: of a dictionary, or of a map.
fn has_dictionary(chunk: &ColumnChunk) -> bool {
    match chunk.relation {
        None => chunk.codec == CodecId::Dictionary,
        Some(relation) => matches!(relation, ColumnRelation::Map(_)),
    }
}

/// Whether a column is stored as runs.
fn has_runs(chunk: &ColumnChunk) -> bool {
    chunk.relation.is_none() && chunk.codec == CodecId::Rle
}

pub(super) fn corrupt(
    scan: &SharedTableScan,
    row_group: usize,
    column: usize,
    source: Corrupt,
) -> ScanError {
    let definition = scan.table.definition();
    ScanError::Corrupt {
        table: definition.name.clone(),
        row_group,
        column: definition.columns[column].name.clone(),
        source,
    }
}
