//! The functions that are computed along rows, and how far the frames of these go.
//!
//! A frame begins with its partition, and ends with the row, with its peers, or with the partition. `row_number`, `rank` and `dense_rank` have
//! no frame. Aggregates are those that have a state of ours that grows row by row. All other functions and frames get the rows of a partition at once.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::logical_expr::{AggregateUDF, WindowFrame, WindowFrameBound, WindowFrameUnits};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::window::{PlainAggregateWindowExpr, StandardWindowExpr, WindowExpr};
use quire_functions::{PrefixAggregate, PrefixResults, prefix_aggregate};

use super::ranks::{RankCounts, RankKind};
use super::results::{ResultPart, ResultQueue};
use super::spans::BatchSpans;

/// With what a frame ends that begins with its partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameEnd {
    Row,
    Peers,
    Partition,
}

/// A function of a window.
#[derive(Debug, Clone)]
pub(super) enum WindowCall {
    Rank(RankKind),
    Aggregate(FrameAggregate),
    /// DataFusion's function, over the rows of one partition at a time.
    OfPartitions(Arc<dyn WindowExpr>),
}

#[derive(Debug, Clone)]
pub(super) struct FrameAggregate {
    function: Arc<AggregateUDF>,
    argument: Arc<dyn PhysicalExpr>,
    argument_field: FieldRef,
    result_field: FieldRef,
    end: FrameEnd,
}

impl WindowCall {
    /// A function over rows of `schema`.
    pub(super) fn of(function: &Arc<dyn WindowExpr>, schema: &Schema) -> Result<Self> {
        let along_rows = Self::along_rows(function.as_ref(), schema)?;
        Ok(along_rows.unwrap_or_else(|| Self::OfPartitions(Arc::clone(function))))
    }

    /// `None` for a function without a state that grows row by row.
    fn along_rows(function: &dyn WindowExpr, schema: &Schema) -> Result<Option<Self>> {
        if let Some(rank) = function.as_any().downcast_ref::<StandardWindowExpr>() {
            let is_signed = *rank.field()?.data_type() == DataType::Int64;
            let kind = RankKind::of(rank.get_standard_func_expr().as_ref());
            return Ok(kind.filter(|_| is_signed).map(Self::Rank));
        }
        match function.as_any().downcast_ref::<PlainAggregateWindowExpr>() {
            Some(plain) => FrameAggregate::of(plain, schema),
            None => Ok(None),
        }
    }

    /// Whether it needs all rows of a partition at once.
    pub(super) fn keeps_partitions(&self) -> bool {
        matches!(self, Self::OfPartitions(_))
    }

    /// Whether it must be known which rows are peers.
    pub(super) fn compares_peers(&self) -> bool {
        match self {
            Self::Rank(kind) => kind.compares_peers(),
            Self::Aggregate(call) => call.end == FrameEnd::Peers,
            Self::OfPartitions(_) => false,
        }
    }

    /// The function before the first row.
    pub(super) fn start(&self) -> Result<CallState> {
        let progress = match self {
            Self::Rank(kind) => CallProgress::Rank(RankCounts::new(*kind)),
            Self::Aggregate(call) => CallProgress::Aggregate(call.clone(), call.state()?),
            Self::OfPartitions(function) => CallProgress::OfPartitions(Arc::clone(function)),
        };
        Ok(CallState {
            progress,
            results: ResultQueue::default(),
        })
    }
}

impl FrameAggregate {
    fn of(plain: &PlainAggregateWindowExpr, schema: &Schema) -> Result<Option<WindowCall>> {
        let aggregate = plain.get_aggregate_expr();
        let arguments = aggregate.expressions();
        let is_plain = !aggregate.is_distinct() && aggregate.order_bys().is_empty();
        let ([argument], true) = (arguments.as_slice(), is_plain && !is_filtered(plain)) else {
            return Ok(None);
        };
        let Some(end) = frame_end(plain.get_window_frame(), !plain.order_by().is_empty()) else {
            return Ok(None);
        };
        let call = Self {
            function: Arc::new(aggregate.fun().clone()),
            argument: Arc::clone(argument),
            argument_field: argument.return_field(schema)?,
            result_field: plain.field()?,
            end,
        };
        Ok(call.prefixes().map(|_| WindowCall::Aggregate(call)))
    }

    fn prefixes(&self) -> Option<Box<dyn PrefixAggregate>> {
        prefix_aggregate(&self.function, &self.argument_field, &self.result_field)
    }

    fn state(&self) -> Result<Box<dyn PrefixAggregate>> {
        let name = self.function.name();
        self.prefixes()
            .ok_or_else(|| internal_datafusion_err!("{name} is not computed along rows"))
    }

    fn advance(
        &self,
        state: &mut dyn PrefixAggregate,
        values: &ArrayRef,
        spans: &BatchSpans,
    ) -> Result<ResultPart> {
        let spans = match self.end {
            FrameEnd::Row => {
                let segments = &spans.partitions.segments;
                let results = state.advance(values, segments, PrefixResults::EachRow)?;
                return Ok(ResultPart::OfRows(results));
            }
            FrameEnd::Peers => &spans.peers,
            FrameEnd::Partition => &spans.partitions,
        };
        let results = state.advance(values, &spans.segments, PrefixResults::SegmentEnds)?;
        Ok(ResultPart::of_spans(results, spans.ended_rows.clone()))
    }
}

/// Whether a condition says which rows an aggregate takes. The expression keeps it to itself but for its text, which says at its end that there is
/// none. A text of another form says nothing, and the window stays.
fn is_filtered(plain: &PlainAggregateWindowExpr) -> bool {
    !format!("{plain:?}").ends_with(", filter: None }")
}

/// With what a frame ends; `None` if it does not begin with its partition, or ends elsewhere.
fn frame_end(frame: &WindowFrame, has_order: bool) -> Option<FrameEnd> {
    let begins = matches!(frame.start_bound, WindowFrameBound::Preceding(_));
    if !begins || !frame.start_bound.is_unbounded() {
        return None;
    }
    match (&frame.end_bound, frame.units) {
        (WindowFrameBound::Following(_), _) if frame.end_bound.is_unbounded() => {
            Some(FrameEnd::Partition)
        }
        (WindowFrameBound::CurrentRow, WindowFrameUnits::Rows) => Some(FrameEnd::Row),
        // Without an order all rows of a partition are peers.
        (WindowFrameBound::CurrentRow, _) if has_order => Some(FrameEnd::Peers),
        (WindowFrameBound::CurrentRow, _) => Some(FrameEnd::Partition),
        _ => None,
    }
}

/// A function, along the rows so far.
pub(super) struct CallState {
    progress: CallProgress,
    /// Of rows that have not been given out.
    pub(super) results: ResultQueue,
}

enum CallProgress {
    Rank(RankCounts),
    Aggregate(FrameAggregate, Box<dyn PrefixAggregate>),
    OfPartitions(Arc<dyn WindowExpr>),
}

impl CallState {
    /// Takes in the rows of a partition that has ended.
    pub(super) fn end_partition(&mut self, partition: &RecordBatch) -> Result<()> {
        if let CallProgress::OfPartitions(function) = &self.progress {
            let results = function.evaluate(partition)?;
            self.results.push(ResultPart::OfRows(results));
        }
        Ok(())
    }

    /// Takes in the rows of a batch. Without rows, what is open ends.
    pub(super) fn advance(&mut self, batch: &RecordBatch, spans: &BatchSpans) -> Result<()> {
        let part = match &mut self.progress {
            CallProgress::Rank(counts) => ResultPart::OfRows(counts.advance(spans)),
            CallProgress::Aggregate(call, state) => {
                let values = call.argument.evaluate(batch)?;
                let values = values.into_array(batch.num_rows())?;
                call.advance(state.as_mut(), &values, spans)?
            }
            // It waits for the end of its partition.
            CallProgress::OfPartitions(_) => return Ok(()),
        };
        self.results.push(part);
        Ok(())
    }
}
