//! Rows into row groups.
//!
//! The caller's thread checks each batch and cuts the stream of rows into row groups; worker threads encode
//! them, one column at a time, and write the segments. Row groups in work are at most one more than there are
//! workers, so an append holds at most `workers + 2` row groups of raw values (128 MiB each at the most, the one being
//! filled included) and, per worker, one column as a plain array with its encoded form.
//!
//! The first rows of an append are held back until it is known how many there are, at most a row group: then
//! small row groups at the end of the table are read back and written again in front of them, if they hold no more
//! rows than what follows, and the table has no trees of changed rows. How many rows a block of a PAX table gets: see `blocks`. Sizes thus fall geometrically, a row is rewritten at most 17 times by any number
//! of small appends, and a table has at most 17 row groups that are not full.

mod batch_bytes;
mod blocks;
pub(crate) mod column_values;
mod cutter;
mod dictionaries;
mod encode;
mod follow;
pub(crate) mod lone_column;
mod options;
mod pipeline;
mod precedent;
mod relations;
pub(crate) mod statistics;
mod validate;

use std::sync::Arc;

use arrow_array::RecordBatch;
use quire_format::row_group::RowGroup;
use quire_format::table_root::{ROW_GROUP_NUMBERS, RowGroupPointer, TableRoot};
use quire_format::zone::ZoneBounds;

use crate::catalog::{TableEntry, TableState};
use crate::error::TableAppendError;
use crate::pages::{PageSource, TransactionPages};
use crate::row_group_entry::RowGroupEntry;
use crate::scan::{ScanOptions, SharedTableScan};
use crate::table::ColumnTable;
use crate::types::SqlType;
use blocks::{BlockPlan, LAG_ROW_GROUPS};
use column_values::ColumnValues;
use cutter::{Cutter, RowGroupRows, raw_bytes};
use dictionaries::DictionaryChain;
use encode::{EncodedRowGroup, Encoder};
pub use options::AppendOptions;
use pipeline::AppendPipeline;

/// Raw bytes up to which a row group is encoded on the caller's thread.
const INLINE_BYTES: usize = 256 << 10;

/// Rows for one table, and what the table has when they are in it.
pub(crate) struct TableAppend {
    entry: Arc<TableEntry>,
    state: Arc<TableState>,
    pages: Arc<TransactionPages>,
    source: Arc<PageSource>,
    workers: usize,
    /// The first rows, until it is known whether there is a full row group of them.
    held: Option<Vec<RecordBatch>>,
    held_rows: usize,
    held_bytes: usize,
    cutter: Cutter,
    /// Of a PAX table.
    blocks: Option<BlockPlan>,
    encoder: Arc<Encoder>,
    pipeline: Option<AppendPipeline>,
    row_groups_cut: usize,
    row_count: u64,
    /// Row groups at the end of the table that are written again.
    absorbed: Vec<Arc<RowGroup>>,
    failed: bool,
}

impl TableAppend {
    /// Writes to `pages`; what the table has already is read from `source`.
    pub(crate) fn new(
        pages: &Arc<TransactionPages>,
        source: &Arc<PageSource>,
        entry: Arc<TableEntry>,
        state: Arc<TableState>,
        options: AppendOptions,
    ) -> Self {
        let dictionaries = DictionaryChain::new(&entry.definition, &state.root);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        TableAppend {
            workers: options.workers.unwrap_or_else(cores).max(1),
            held: Some(Vec::new()),
            held_rows: 0,
            held_bytes: 0,
            cutter: Cutter::new(&options, dictionaries),
            blocks: BlockPlan::new(&entry.definition, &options),
            encoder: Arc::new(Encoder::new(
                Arc::clone(&entry.definition),
                Arc::clone(pages),
                Arc::clone(source),
                options.beneath,
            )),
            entry,
            state,
            pages: Arc::clone(pages),
            source: Arc::clone(source),
            pipeline: None,
            row_groups_cut: 0,
            row_count: 0,
            absorbed: Vec::new(),
            failed: false,
        }
    }

    /// See [`Appender::append`](crate::Appender::append).
    pub(crate) fn append(&mut self, batch: &RecordBatch) -> Result<(), TableAppendError> {
        if self.failed {
            return Err(TableAppendError::Failed);
        }
        let result = self.append_checked(batch);
        self.failed = result.is_err();
        result
    }

    fn append_checked(&mut self, batch: &RecordBatch) -> Result<(), TableAppendError> {
        let batch = validate::validate(&self.entry, batch, self.row_count)?;
        self.row_count += batch.num_rows() as u64;
        let Some(held) = &mut self.held else {
            return self.cut(batch);
        };
        self.held_rows += batch.num_rows();
        self.held_bytes += batch_bytes::batch_bytes(&batch);
        held.push(batch);
        if self.held_rows >= self.cutter.rows_max || self.held_bytes >= self.cutter.bytes_max {
            self.release_held()?;
        }
        Ok(())
    }

    /// How many rows have been appended.
    pub(crate) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// Encodes what is left. Returns what the table has then; nothing if there were no rows.
    ///
    /// # Errors
    /// The volume fails, or a worker did.
    pub(crate) fn finish(mut self) -> Result<Option<TableState>, TableAppendError> {
        if self.failed {
            return Err(TableAppendError::Failed);
        }
        if self.row_count == 0 {
            return Ok(None);
        }
        self.release_held()?;
        let mut encoded = Vec::new();
        if let Some(rest) = self.cutter.finish() {
            if self.pipeline.is_none() && rest.raw_bytes <= INLINE_BYTES {
                encoded.push(self.encoder.encode_row_group(&rest)?);
            } else {
                self.submit(rest)?;
            }
        }
        if let Some(pipeline) = self.pipeline.take() {
            encoded = pipeline.finish()?;
        }
        Ok(Some(self.new_state(encoded)?))
    }

    /// Hands the first rows on, behind those of small row groups at the end of the table.
    fn release_held(&mut self) -> Result<(), TableAppendError> {
        let Some(held) = self.held.take() else {
            return Ok(());
        };
        let mut batches = self.absorb_small_row_groups()?;
        batches.extend(held);
        self.plan_first_block(&batches)?;
        batches.into_iter().try_for_each(|batch| self.cut(batch))
    }

    fn absorb_small_row_groups(&mut self) -> Result<Vec<RecordBatch>, TableAppendError> {
        let source = Arc::clone(&self.source);
        let (entry, state) = (Arc::clone(&self.entry), Arc::clone(&self.state));
        // Rows of row groups may be deleted at any time if there is a tree for that.
        if !entry.trees.is_empty() {
            return Ok(Vec::new());
        }
        let table = Arc::new(ColumnTable::of_state(entry, state, source, None));
        let mut rows = self.held_rows as u64;
        let mut first = table.row_group_count();
        while first > 0 && table.row_group_rows(first - 1) <= rows {
            let row_group = table.row_group(first - 1)?;
            let is_full = match &self.blocks {
                Some(blocks) => blocks.is_full(&row_group),
                None => self.cutter.is_full(&row_group),
            };
            if is_full {
                break;
            }
            rows += row_group.row_count;
            first -= 1;
            self.absorbed.push(row_group);
            let absorbed = self.absorbed.iter().map(|one| one.encoded_bytes());
            let absorbed_bytes = absorbed.fold(0, u64::saturating_add);
            if let Some(blocks) = &self.blocks
                && blocks.are_enough(absorbed_bytes)
            {
                break;
            }
        }
        if self.absorbed.is_empty() {
            return Ok(Vec::new());
        }
        let projection = (0..self.entry.definition.columns.len()).collect();
        let options = ScanOptions {
            projection,
            ..ScanOptions::default()
        };
        let scan = SharedTableScan::start(
            Arc::clone(&table),
            options,
            first..table.row_group_count(),
            false,
        )?;
        let mut reader = scan.reader();
        let mut batches = Vec::new();
        while let Some(batch) = reader.next()? {
            batches.push(batch);
        }
        for row_group in &self.absorbed {
            self.pages.free_segments(row_group)?;
        }
        for entry in &self.state.row_groups[first..] {
            self.pages.free(&entry.pointer.pages)?;
        }
        Ok(batches)
    }

    /// Decides how many rows the first block of a PAX table gets, of `batches` and maybe more.
    fn plan_first_block(&mut self, batches: &[RecordBatch]) -> Result<(), TableAppendError> {
        let Some(blocks) = &self.blocks else {
            return Ok(());
        };
        // Encoded they are shorter still.
        let Some(sample) = blocks.sample_of(batches) else {
            return Ok(());
        };
        let (rows, raw_bytes, bytes) = match self.last_kept_row_group()? {
            Some(last) => (last.row_count, raw_bytes(&last), last.encoded_bytes()),
            None => {
                let sample = RowGroupRows::alone(sample);
                let bytes = self.encoder.encoded_bytes(&sample)?;
                (sample.row_count as u64, sample.raw_bytes as u64, bytes)
            }
        };
        if let Some(blocks) = &mut self.blocks {
            blocks.first_rows = blocks.rows_like(rows, bytes);
            blocks.first_raw_bytes = blocks.raw_bytes_like(raw_bytes, bytes);
        }
        Ok(())
    }

    /// The last row group that the table keeps, if it says how long those to come will be.
    fn last_kept_row_group(&self) -> Result<Option<Arc<RowGroup>>, TableAppendError> {
        let kept = self.state.row_groups.len() - self.absorbed.len();
        let Some(entry) = self.state.row_groups[..kept].last() else {
            return Ok(None);
        };
        let last = entry.row_group(&self.entry.definition, kept - 1, |pages| {
            self.source.read(pages)
        })?;
        let is_typical = |blocks: &BlockPlan| blocks.is_typical(&last);
        Ok(self.blocks.as_ref().is_some_and(is_typical).then_some(last))
    }

    /// Decides how many rows the next row group gets.
    fn plan_row_group(&mut self) -> Result<(), TableAppendError> {
        let Some(blocks) = &self.blocks else {
            return Ok(());
        };
        let (rows_max, bytes_max) = match (&self.pipeline, self.row_groups_cut) {
            (Some(pipeline), cut @ 1..) => {
                let before = pipeline.wait_for(cut.saturating_sub(LAG_ROW_GROUPS))?;
                let bytes = before.encoded_bytes();
                let raw_bytes_max = blocks.raw_bytes_like(raw_bytes(&before), bytes);
                (blocks.rows_like(before.row_count, bytes), raw_bytes_max)
            }
            _ => (blocks.first_rows, blocks.first_raw_bytes),
        };
        (self.cutter.rows_max, self.cutter.bytes_max) = (rows_max, bytes_max);
        Ok(())
    }

    fn cut(&mut self, mut batch: RecordBatch) -> Result<(), TableAppendError> {
        while batch.num_rows() > 0 {
            if self.cutter.is_empty() {
                self.plan_row_group()?;
            }
            if let Some(rows) = self.cutter.fill(&mut batch) {
                self.submit(rows)?;
            }
        }
        Ok(())
    }

    fn submit(&mut self, rows: RowGroupRows) -> Result<(), TableAppendError> {
        let sequence = self.row_groups_cut;
        self.row_groups_cut += 1;
        let pipeline = match self.pipeline.take() {
            Some(pipeline) => pipeline,
            None => AppendPipeline::start(Arc::clone(&self.encoder), self.workers)?,
        };
        self.pipeline.insert(pipeline).submit(sequence, rows)
    }

    fn new_state(&self, encoded: Vec<EncodedRowGroup>) -> Result<TableState, TableAppendError> {
        let mut root: TableRoot = self.state.root.clone();
        let mut entries = self.state.row_groups.clone();
        let kept = entries.len() - self.absorbed.len();
        entries.truncate(kept);
        root.row_groups.truncate(kept);
        let row_count = self.state.row_count;
        for (index, column) in root.columns.iter_mut().enumerate() {
            // Bounds and sketches only widen: the absorbed rows are among the encoded ones.
            let mut values = row_count - column.zone.null_count;
            for one in &encoded {
                let chunk = &one.row_group.columns[index];
                let chunk_values = one.row_group.row_count - chunk.zone.null_count;
                column.zone.merge(values, &chunk.zone, chunk_values);
                values += chunk_values;
                column.raw_bytes = column.raw_bytes.saturating_add(chunk.raw_bytes);
                column.encoded_bytes = column.encoded_bytes.saturating_add(chunk.encoded_bytes);
                column.sketch.merge(&one.sketches[index]);
            }
            for row_group in &self.absorbed {
                let chunk = &row_group.columns[index];
                column.zone.null_count =
                    column.zone.null_count.saturating_sub(chunk.zone.null_count);
                column.raw_bytes = column.raw_bytes.saturating_sub(chunk.raw_bytes);
                column.encoded_bytes = column.encoded_bytes.saturating_sub(chunk.encoded_bytes);
            }
        }
        for one in &encoded {
            for (column, dictionary) in &one.dictionaries {
                let dictionaries = &mut root.columns[*column].dictionaries;
                dictionaries.push(dictionary.clone());
            }
            root.note_references(&one.row_group);
        }
        for row_group in &self.absorbed {
            root.forget_references(row_group);
        }
        self.pages.free(&root.remove_unused_dictionaries())?;
        for one in encoded {
            let number = root.next_row_group;
            assert!(
                number < ROW_GROUP_NUMBERS,
                "numbers of row groups are not used up"
            );
            root.next_row_group += 1;
            let pointer = RowGroupPointer {
                number,
                row_count: one.row_group.row_count,
                pages: one.pages,
            };
            root.row_groups.push(pointer.clone());
            entries.push(Arc::new(RowGroupEntry::loaded(pointer, one.row_group)));
        }
        Ok(TableState::new(root, entries))
    }
}

/// Zones of the values of one column, given as batches of that column alone: of all rows and of
/// every vector group. `None` when its text passes 4 GiB.
pub(crate) fn chunk_zones(
    sql_type: SqlType,
    batches: &[RecordBatch],
) -> Option<(ZoneBounds, Vec<ZoneBounds>)> {
    let values = ColumnValues::collect(sql_type, batches, 0)?;
    let statistics = statistics::statistics(&values, sql_type.is_text());
    Some((statistics.zone, statistics.group_zones))
}
