//! The rows of a join, from those of one partition of its probe side.

use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::BatchCoalescer;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{JoinType, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::metrics::{Count, Time};
use futures::StreamExt;
use quire_vector::{MatchCursor, NO_KEY};

use super::build_side::IndexedBuildSide;
use super::join_shape::{JoinShape, SideRows};
use super::matched_rows::MatchedRows;
use super::probe_rows::ProbeRows;

/// A partition of a join under way.
pub(super) struct JoinProbe {
    shape: Arc<JoinShape>,
    build: Arc<IndexedBuildSide>,
    rows: SendableRecordBatchStream,
    probe_schema: SchemaRef,
    batch_rows: usize,
    /// Results, until they are a batch.
    results: BatchCoalescer,
    /// More rows than this become a batch by themselves, if anything is said.
    copied_rows_max: Option<usize>,
    /// The numbers of the keys of a batch, whose memory is used again for the next.
    numbers: Vec<u32>,
    state: ProbeState,
    metrics: ProbeMetrics,
}

/// What is counted of a partition.
pub(super) struct ProbeMetrics {
    pub(super) elapsed: Time,
    pub(super) rows: Count,
}

enum ProbeState {
    /// The next batch of the probe side comes.
    Reading,
    /// A batch, whose rows have been matched up to the cursor; and whether a match of the cursor's row has been seen.
    Matching(RecordBatch, MatchCursor, bool),
    OfBuild(BuildRows),
    Ended,
}

/// Rows of the build side that are in the result.
struct BuildRows {
    rows: Vec<u32>,
    /// Of each row, if the join marks rows.
    marks: Option<BooleanArray>,
    /// How many have been handed on.
    start: usize,
}

impl JoinProbe {
    pub(super) fn new(
        shape: Arc<JoinShape>,
        build: Arc<IndexedBuildSide>,
        rows: SendableRecordBatchStream,
        batch_rows: usize,
        metrics: ProbeMetrics,
    ) -> Self {
        let batch_rows = batch_rows.max(1);
        let results = BatchCoalescer::new(Arc::clone(&shape.schema), batch_rows);
        // Rows with texts are always copied: those taken from the build side hold the bytes of all of its texts, which whoever keeps such rows
        // would count once for each batch, and the copies hold their own.
        let copied_rows_max = (!has_views(&shape.schema)).then_some(batch_rows / 2);
        Self {
            probe_schema: rows.schema(),
            results: results.with_biggest_coalesce_batch_size(copied_rows_max),
            copied_rows_max,
            shape,
            build,
            rows,
            batch_rows,
            numbers: Vec::new(),
            state: ProbeState::Reading,
            metrics,
        }
    }

    /// The next batch of the result, and what comes behind it.
    pub(super) async fn next(mut self) -> Result<Option<(RecordBatch, Self)>> {
        loop {
            if let Some(batch) = self.results.next_completed_batch() {
                return Ok(Some((batch, self)));
            }
            let elapsed = self.metrics.elapsed.clone();
            self.state = match std::mem::replace(&mut self.state, ProbeState::Ended) {
                ProbeState::Reading => {
                    let batch = self.rows.next().await.transpose()?;
                    let _timed = elapsed.timer();
                    match batch {
                        Some(batch) => self.begin(batch)?,
                        None => self.behind_probe_side()?,
                    }
                }
                ProbeState::Matching(batch, cursor, is_seen) => {
                    let _timed = elapsed.timer();
                    self.matched(batch, cursor, is_seen)?
                }
                ProbeState::OfBuild(rows) => {
                    let _timed = elapsed.timer();
                    self.rows_of_build(rows)?
                }
                ProbeState::Ended => return Ok(None),
            }
        }
    }

    /// Looks up the keys of a batch.
    fn begin(&mut self, batch: RecordBatch) -> Result<ProbeState> {
        let row_count = batch.num_rows();
        self.metrics.rows.add(row_count);
        let values = evaluate_expressions_to_arrays(&self.shape.probe_keys, &batch)?;
        let index = &self.build.index;
        index.look_up(&values, row_count, &mut self.numbers)?;
        if self.shape.filter.is_some() {
            return Ok(ProbeState::Matching(batch, MatchCursor::default(), false));
        }
        if let (Some(matched), true) = (&self.build.matched, self.shape.is_null_aware) {
            matched.note_probe_keys(values[0].as_ref());
        }
        match (&self.build.matched, self.shape.kind) {
            (Some(matched), _) if matched.are_numbers() => matched.mark(&self.numbers),
            (_, kind @ (JoinType::RightSemi | JoinType::RightAnti)) => {
                let is_wanted = |number: &u32| (*number != NO_KEY) == (kind == JoinType::RightSemi);
                let rows = (0..).zip(&self.numbers);
                let rows = rows.filter_map(|(row, number)| is_wanted(number).then_some(row));
                let rows = rows.collect::<Vec<u32>>().into();
                self.hand_on_probe_rows(&batch, &rows)?;
            }
            (_, JoinType::RightMark) => {
                let marks = self.numbers.iter().map(|number| Some(*number != NO_KEY));
                let marks: BooleanArray = marks.collect();
                let result = self.shape.marked(&batch, SideRows::All, marks)?;
                self.push(result)?;
            }
            _ => return Ok(ProbeState::Matching(batch, MatchCursor::default(), false)),
        }
        Ok(ProbeState::Reading)
    }

    /// Matches rows of a batch, some of them if they have many matches.
    fn matched(
        &mut self,
        batch: RecordBatch,
        mut cursor: MatchCursor,
        is_seen: bool,
    ) -> Result<ProbeState> {
        let first = cursor.row as u32;
        let (mut build, mut probe) = (Vec::new(), Vec::new());
        self.build.index.lists.matches(
            &self.numbers,
            &mut cursor,
            self.batch_rows,
            &mut build,
            &mut probe,
        );
        let of_build = (&self.build.batch, UInt32Array::from(build));
        let of_probe = (&batch, UInt32Array::from(probe));
        let (build, probe) = self.shape.passing(of_build, of_probe)?;
        let next = cursor.row as u32;
        let is_next_seen = cursor.is_within_row()
            && (is_seen && next == first || probe.values().last() == Some(&next));
        let rows = ProbeRows {
            complete: first..next,
            seen: is_seen.then_some(first),
        };
        self.hand_on_pairs(&batch, build, probe, &rows)?;
        Ok(match cursor.row < batch.num_rows() {
            true => ProbeState::Matching(batch, cursor, is_next_seen),
            false => ProbeState::Reading,
        })
    }

    /// What the result has for the pairs of some rows of the probe side.
    fn hand_on_pairs(
        &mut self,
        batch: &RecordBatch,
        build: UInt32Array,
        probe: UInt32Array,
        rows: &ProbeRows,
    ) -> Result<()> {
        if let Some(matched) = &self.build.matched {
            matched.mark(build.values());
        }
        match self.shape.kind {
            JoinType::Inner | JoinType::Left => self.hand_on(batch, &build, &probe),
            JoinType::Right | JoinType::Full => {
                let (build, probe) = rows.with_unmatched(&build, &probe);
                self.hand_on(batch, &build, &probe)
            }
            JoinType::RightSemi => self.hand_on_probe_rows(batch, &rows.matched(&probe)),
            JoinType::RightAnti => self.hand_on_probe_rows(batch, &rows.unmatched(&probe)),
            JoinType::RightMark => {
                let (rows, marks) = rows.marked(&probe);
                let result = self.shape.marked(batch, SideRows::Some(&rows), marks)?;
                self.push(result)
            }
            JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => Ok(()),
        }
    }

    fn hand_on(
        &mut self,
        batch: &RecordBatch,
        build: &UInt32Array,
        probe: &UInt32Array,
    ) -> Result<()> {
        // Each row once, in their order: pairs of the probe side are ascending, and unique where the rows of a key are.
        let are_all = probe.len() == batch.num_rows() && self.build.index.lists.are_unique();
        let of_probe = match are_all {
            true => SideRows::All,
            false => SideRows::Some(probe),
        };
        let of_build = (&self.build.batch, SideRows::Some(build));
        let result = self
            .shape
            .result(probe.len(), of_build, (batch, of_probe))?;
        self.push(result)
    }

    fn hand_on_probe_rows(&mut self, batch: &RecordBatch, rows: &UInt32Array) -> Result<()> {
        let of_probe = match rows.len() == batch.num_rows() {
            true => SideRows::All,
            false => SideRows::Some(rows),
        };
        let of_build = (&self.build.batch, SideRows::All);
        let result = self.shape.result(rows.len(), of_build, (batch, of_probe))?;
        self.push(result)
    }

    /// Puts rows behind those that wait to be a batch.
    fn push(&mut self, result: RecordBatch) -> Result<()> {
        if self
            .copied_rows_max
            .is_some_and(|rows| result.num_rows() > rows)
        {
            self.results.finish_buffered_batch()?;
        }
        for start in (0..result.num_rows()).step_by(self.batch_rows) {
            let rows = self.batch_rows.min(result.num_rows() - start);
            self.results.push_batch(result.slice(start, rows))?;
        }
        Ok(())
    }

    /// What comes when the probe side has ended: rows of the build side, from the partition that ends last.
    fn behind_probe_side(&mut self) -> Result<ProbeState> {
        self.rows = Box::pin(datafusion::physical_plan::EmptyRecordBatchStream::new(
            Arc::clone(&self.probe_schema),
        ));
        if let Some(matched) = &self.build.matched
            && matched.ended()
        {
            return Ok(ProbeState::OfBuild(self.of_matches(matched)));
        }
        self.results.finish_buffered_batch()?;
        Ok(ProbeState::Ended)
    }

    /// The rows of the build side that the result has, and which of them have matches.
    fn of_matches(&self, matched: &MatchedRows) -> BuildRows {
        let row_count = self.build.batch.num_rows();
        let of_matches = |are_marked: bool| {
            let lists = &self.build.index.lists;
            matched.rows(lists, row_count, are_marked)
        };
        let (rows, marks) = match self.shape.kind {
            JoinType::LeftMark => {
                let mut marks = vec![false; row_count];
                for row in of_matches(true) {
                    marks[row as usize] = true;
                }
                ((0..row_count as u32).collect(), Some(marks.into()))
            }
            JoinType::LeftSemi => (of_matches(true), None),
            _ if self.shape.is_null_aware => {
                let known_keys = self.build.known_keys.as_ref();
                (matched.known_absent(of_matches(false), known_keys), None)
            }
            _ => (of_matches(false), None),
        };
        BuildRows {
            rows,
            marks,
            start: 0,
        }
    }

    fn rows_of_build(&mut self, of_build: BuildRows) -> Result<ProbeState> {
        let BuildRows { rows, marks, start } = of_build;
        let end = rows.len().min(start + self.batch_rows);
        let chunk = UInt32Array::from(rows[start..end].to_vec());
        let (shape, build) = (&self.shape, &self.build.batch);
        let result = match &marks {
            Some(marks) => {
                let marks = marks.slice(start, end - start);
                shape.marked(build, SideRows::Some(&chunk), marks)?
            }
            None => shape.result_of_build(build, &chunk, &self.probe_schema)?,
        };
        self.push(result)?;
        if end < rows.len() {
            return Ok(ProbeState::OfBuild(BuildRows {
                rows,
                marks,
                start: end,
            }));
        }
        self.results.finish_buffered_batch()?;
        Ok(ProbeState::Ended)
    }
}

/// Whether some columns are views of bytes that lie elsewhere.
fn has_views(schema: &SchemaRef) -> bool {
    let mut fields = schema.fields().iter();
    let is_view =
        |data_type: &DataType| matches!(data_type, DataType::Utf8View | DataType::BinaryView);
    fields.any(|field| field.data_type().is_nested() || is_view(field.data_type()))
}
