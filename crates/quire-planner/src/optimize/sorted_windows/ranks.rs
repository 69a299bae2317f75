//! `row_number`, `rank` and `dense_rank`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::physical_expr::window::StandardWindowFunctionExpr;
use datafusion::physical_plan::windows::WindowUDFExpr;
use quire_functions::PrefixSegment;

use super::spans::BatchSpans;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankKind {
    /// Rows.
    RowNumber,
    /// Rows before the peer group.
    Rank,
    /// Peer groups.
    DenseRank,
}

impl RankKind {
    pub(super) fn of(function: &dyn StandardWindowFunctionExpr) -> Option<Self> {
        let function = function.as_any().downcast_ref::<WindowUDFExpr>()?;
        match function.fun().name() {
            "row_number" => Some(Self::RowNumber),
            "rank" => Some(Self::Rank),
            "dense_rank" => Some(Self::DenseRank),
            _ => None,
        }
    }

    pub(super) fn compares_peers(self) -> bool {
        self != Self::RowNumber
    }
}

/// The numbers of the last row.
pub(super) struct RankCounts {
    kind: RankKind,
    row_number: i64,
    rank: i64,
    dense_rank: i64,
}

impl RankCounts {
    pub(super) fn new(kind: RankKind) -> Self {
        Self {
            kind,
            row_number: 0,
            rank: 0,
            dense_rank: 0,
        }
    }

    /// The results of all rows of a batch.
    pub(super) fn advance(&mut self, spans: &BatchSpans) -> ArrayRef {
        let mut results = Vec::new();
        if self.kind == RankKind::RowNumber {
            for partition in &spans.partitions.segments {
                self.number_rows(partition, &mut results);
            }
        } else {
            for (place, peers) in spans.peers.segments.iter().enumerate() {
                // The first one may go on from the batch before.
                self.rank_peers(peers, peers.starts || place > 0, &mut results);
            }
        }
        Arc::new(Int64Array::from(results))
    }

    fn number_rows(&mut self, partition: &PrefixSegment, results: &mut Vec<i64>) {
        if partition.starts {
            self.row_number = 0;
        }
        let first = self.row_number + 1;
        self.row_number += row_count(partition);
        results.extend(first..=self.row_number);
    }

    fn rank_peers(&mut self, peers: &PrefixSegment, is_new: bool, results: &mut Vec<i64>) {
        if peers.starts {
            (self.row_number, self.dense_rank) = (0, 0);
        }
        if is_new {
            self.rank = self.row_number + 1;
            self.dense_rank += 1;
        }
        self.row_number += row_count(peers);
        let result = match self.kind {
            RankKind::DenseRank => self.dense_rank,
            RankKind::Rank | RankKind::RowNumber => self.rank,
        };
        results.extend(std::iter::repeat_n(result, peers.rows.len()));
    }
}

fn row_count(segment: &PrefixSegment) -> i64 {
    i64::try_from(segment.rows.len()).unwrap_or(i64::MAX)
}
