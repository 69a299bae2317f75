//! One reader of a scan: takes vector groups, filters them, and hands out batches.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

use super::SharedTableScan;
use super::cursor::Morsel;
use super::delta::DeltaReader;
use super::open_row_group::OpenRowGroup;
use super::piece::ScanPiece;
use super::selection::Selection;
use super::vector_groups::{ScanStep, SelectedGroup};
use crate::error::ScanError;

/// Reads its share of a scan; one per thread. After an error it is done.
pub struct ScanReader {
    scan: Arc<SharedTableScan>,
    open: Option<OpenRowGroup>,
    /// Groups of the open row group that are still to be read.
    groups: VecDeque<usize>,
    /// The range of the delta that is read; then no row group is open.
    delta: Option<DeltaReader>,
    /// Batches that are too small to be handed out alone.
    small: Vec<RecordBatch>,
    small_rows: usize,
    done: bool,
}

/// What a reader is to do next.
enum NextWork {
    Group(usize),
    Nothing,
    End,
}

/// What a step came to, before the row group is lent.
enum StepWork {
    Selected(usize, Selection),
    Rows(RecordBatch),
    Nothing,
    End,
}

impl ScanReader {
    pub(super) fn new(scan: Arc<SharedTableScan>) -> Self {
        scan.pages.begin_reader();
        ScanReader {
            scan,
            open: None,
            groups: VecDeque::new(),
            delta: None,
            small: Vec::new(),
            small_rows: 0,
            done: false,
        }
    }

    /// The next batch; `None` when there are no more rows for this reader.
    ///
    /// # Errors
    /// A page cannot be read, does not decode to what its row group says, or a predicate fails.
    #[allow(clippy::should_implement_trait)] // An iterator would hide that an error ends the scan.
    pub fn next(&mut self) -> Result<Option<RecordBatch>, ScanError> {
        let batch = self.produce();
        if !matches!(batch, Ok(Some(_))) {
            self.end();
        }
        batch
    }

    /// The next piece of work, for a caller that computes on vectors. Not to be mixed with [`ScanReader::next`].
    ///
    /// # Errors
    /// As [`ScanReader::next`].
    pub fn step(&mut self) -> Result<ScanStep<'_>, ScanError> {
        let work = self.step_work();
        if matches!(work, Ok(StepWork::End) | Err(_)) {
            self.end();
        }
        Ok(match work? {
            StepWork::Selected(group, selection) => {
                self.count_rows(selection.len());
                match &mut self.open {
                    Some(open) => ScanStep::Group(SelectedGroup {
                        scan: &self.scan,
                        open,
                        group,
                        selection,
                    }),
                    None => ScanStep::Nothing,
                }
            }
            StepWork::Rows(batch) => {
                self.count_rows(batch.num_rows());
                ScanStep::Rows(batch)
            }
            StepWork::Nothing => ScanStep::Nothing,
            StepWork::End => ScanStep::End,
        })
    }

    fn step_work(&mut self) -> Result<StepWork, ScanError> {
        if self.done {
            return Ok(StepWork::End);
        }
        if let Some(delta) = &mut self.delta {
            match delta.next_batch(&self.scan)? {
                ScanPiece::Rows(batch) => return Ok(StepWork::Rows(batch)),
                ScanPiece::Nothing => return Ok(StepWork::Nothing),
                ScanPiece::End => {}
            }
        }
        Ok(match self.next_work()? {
            NextWork::Group(group) => match self.select_group(group)? {
                Some(selection) => StepWork::Selected(group, selection),
                None => StepWork::Nothing,
            },
            NextWork::Nothing => StepWork::Nothing,
            NextWork::End => StepWork::End,
        })
    }

    fn produce(&mut self) -> Result<Option<RecordBatch>, ScanError> {
        while !self.done {
            let piece = match &mut self.delta {
                Some(delta) => delta.next_batch(&self.scan)?,
                None => ScanPiece::End,
            };
            let piece = match piece {
                ScanPiece::End => self.next_piece()?,
                piece => piece,
            };
            let batch = match piece {
                ScanPiece::Rows(batch) => batch,
                ScanPiece::Nothing => continue,
                ScanPiece::End => {
                    self.end();
                    break;
                }
            };
            self.small_rows += batch.num_rows();
            self.small.push(batch);
            if 2 * self.small_rows >= self.scan.options.batch_rows {
                return self.join_small();
            }
        }
        self.join_small()
    }

    /// The rows of the next group of the open row group, or the beginning of other work.
    fn next_piece(&mut self) -> Result<ScanPiece, ScanError> {
        Ok(match self.next_work()? {
            NextWork::Group(group) => self
                .read_group(group)?
                .map_or(ScanPiece::Nothing, ScanPiece::Rows),
            NextWork::Nothing => ScanPiece::Nothing,
            NextWork::End => ScanPiece::End,
        })
    }

    /// The next group of the open row group, or the beginning of other work.
    fn next_work(&mut self) -> Result<NextWork, ScanError> {
        self.delta = None;
        if self.scan.limit_reached() {
            return Ok(NextWork::End);
        }
        if self.groups.is_empty() {
            self.report();
            let mut cursor = self
                .scan
                .cursor
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let morsel = cursor.next(&self.scan)?;
            drop(cursor);
            match morsel {
                None => return Ok(NextWork::End),
                Some(Morsel::Delta(source)) => {
                    self.leave_row_group();
                    self.delta = Some(DeltaReader::new(&self.scan, source)?);
                    return Ok(NextWork::Nothing);
                }
                Some(Morsel::Groups(work)) => {
                    let index = work.index;
                    if self.open.as_ref().is_none_or(|open| open.index != index) {
                        let (row_group, deleted) = (work.row_group, work.deleted);
                        self.leave_row_group();
                        self.scan.pages.enter(index);
                        self.open = Some(OpenRowGroup::new(&self.scan, index, row_group, deleted));
                    }
                    self.groups = work.groups.into();
                }
            }
        }
        let group = self.groups.pop_front();
        Ok(group.map_or(NextWork::Nothing, NextWork::Group))
    }

    /// The rows of a group that satisfy the predicates, if any.
    fn read_group(&mut self, group: usize) -> Result<Option<RecordBatch>, ScanError> {
        let Some(selection) = self.select_group(group)? else {
            return Ok(None);
        };
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let projection = &self.scan.options.projection;
        let batch = open.batch(&self.scan, &self.scan.schema, projection, group, &selection)?;
        Ok(Some(batch))
    }

    /// Which rows of a group are to come out, if any.
    fn select_group(&mut self, group: usize) -> Result<Option<Selection>, ScanError> {
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let selection = open.select(&self.scan, group)?;
        self.scan.note_read(open.group_rows(group) as u64, 0);
        let count = self.scan.reserve_rows(selection.len());
        Ok((count > 0).then(|| selection.truncate(count)))
    }

    fn count_rows(&self, rows: usize) {
        let counter = &self.scan.counters.rows;
        counter.fetch_add(rows as u64, Ordering::Relaxed);
    }

    fn join_small(&mut self) -> Result<Option<RecordBatch>, ScanError> {
        self.count_rows(self.small_rows);
        self.small_rows = 0;
        let batches = std::mem::take(&mut self.small);
        match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => Ok(Some(batch)),
            Err(batches) if batches.is_empty() => Ok(None),
            Err(batches) => match concat_batches(&self.scan.schema, &batches) {
                Ok(batch) => Ok(Some(batch)),
                Err(error) => Err(ScanError::Batch {
                    table: self.scan.table.definition().name.clone(),
                    what: error.to_string(),
                }),
            },
        }
    }

    fn report(&mut self) {
        if let Some(open) = &mut self.open {
            open.report(&self.scan);
        }
    }

    /// Nothing more is read.
    fn end(&mut self) {
        self.report();
        self.leave_row_group();
        if !std::mem::replace(&mut self.done, true) {
            self.scan.pages.end_reader();
        }
    }

    fn leave_row_group(&mut self) {
        if let Some(open) = self.open.take() {
            self.scan.pages.leave(open.index);
        }
    }
}

impl Drop for ScanReader {
    fn drop(&mut self) {
        self.end();
    }
}
