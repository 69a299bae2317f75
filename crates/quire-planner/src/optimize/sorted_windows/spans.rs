//! Where partitions and peer groups begin and end.
//!
//! Rows of one partition, and of one peer group in it, come one behind the other. So a row belongs to another one than the row before if their
//! keys differ, NULL being equal to NULL. All rows of a batch are compared at once, column by column, and the first one with the last row of the
//! batch before.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::compute::{concat, partition};
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use quire_functions::PrefixSegment;

/// The partitions or the peer groups of a batch, in its order.
#[derive(Default)]
pub(super) struct RowSpans {
    pub(super) segments: Vec<PrefixSegment>,
    /// The rows of those that end, with their rows in batches before.
    pub(super) ended_rows: Arc<[usize]>,
}

/// Both.
#[derive(Default)]
pub(super) struct BatchSpans {
    pub(super) partitions: RowSpans,
    /// Empty if nothing asks for them.
    pub(super) peers: RowSpans,
}

/// Finds them, batch by batch.
pub(super) struct SpanFinder {
    partition_keys: Keys,
    /// Nothing if nothing asks for peers.
    order_keys: Option<Keys>,
    /// Rows so far of the partition, and of the peer group, that is open.
    partition_rows: usize,
    peer_rows: usize,
}

impl SpanFinder {
    /// For functions with the keys of `function`.
    pub(super) fn new(function: &dyn WindowExpr, compares_peers: bool) -> Self {
        let order_keys = function.order_by().iter();
        let order_keys = order_keys.map(|key| Arc::clone(&key.expr)).collect();
        Self {
            partition_keys: Keys::new(function.partition_by().to_vec()),
            order_keys: compares_peers.then(|| Keys::new(order_keys)),
            partition_rows: 0,
            peer_rows: 0,
        }
    }

    /// Those of the next batch, which has rows.
    pub(super) fn find(&mut self, batch: &RecordBatch) -> Result<BatchSpans> {
        let row_count = batch.num_rows();
        let starts = self.partition_keys.changes(batch)?;
        let peers = match &mut self.order_keys {
            Some(order_keys) => {
                let peer_starts = united(&starts, &order_keys.changes(batch)?);
                spans(&peer_starts, &starts, row_count, &mut self.peer_rows)
            }
            None => RowSpans::default(),
        };
        Ok(BatchSpans {
            partitions: spans(&starts, &starts, row_count, &mut self.partition_rows),
            peers,
        })
    }

    /// The ends of those that are open behind the last batch.
    pub(super) fn finish(&mut self) -> BatchSpans {
        BatchSpans {
            partitions: last_end(&mut self.partition_rows),
            peers: last_end(&mut self.peer_rows),
        }
    }
}

/// Expressions by which rows are compared.
struct Keys {
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    /// Of the row before the batch.
    last: Option<Vec<ArrayRef>>,
}

impl Keys {
    fn new(exprs: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        Self { exprs, last: None }
    }

    /// The rows of the batch that differ from the row before them, among them the very first row.
    fn changes(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let row_count = batch.num_rows();
        let columns = evaluate_expressions_to_arrays(&self.exprs, batch)?;
        let last = columns.iter().map(|column| column.slice(row_count - 1, 1));
        let before = self.last.replace(last.collect());
        let first_differs = match before {
            Some(before) => first_row_differs(&before, &columns)?,
            None => true,
        };
        let mut changes = Vec::new();
        if first_differs {
            changes.push(0);
        }
        if !columns.is_empty() {
            let equal = partition(&columns)?.ranges();
            changes.extend(equal.iter().skip(1).map(|rows| rows.start));
        }
        Ok(changes)
    }
}

fn first_row_differs(before: &[ArrayRef], columns: &[ArrayRef]) -> Result<bool> {
    for (before, column) in before.iter().zip(columns) {
        let both = concat(&[before.as_ref(), column.slice(0, 1).as_ref()])?;
        if partition(&[both])?.len() > 1 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The numbers of two ascending lists.
fn united(one: &[usize], other: &[usize]) -> Vec<usize> {
    let mut united = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let least = match (one.peek(), other.peek()) {
            (Some(left), Some(right)) => **left.min(right),
            (Some(only), None) | (None, Some(only)) => **only,
            (None, None) => return united,
        };
        one.next_if(|number| **number == least);
        other.next_if(|number| **number == least);
        united.push(least);
    }
}

/// The spans that begin at `starts`, behind the one that is open, which has `open_rows`. Some of them begin with a partition.
fn spans(
    starts: &[usize],
    partition_starts: &[usize],
    row_count: usize,
    open_rows: &mut usize,
) -> RowSpans {
    let (mut segments, mut ended_rows) = (Vec::with_capacity(starts.len() + 1), Vec::new());
    let first_end = starts.first().copied().unwrap_or(row_count);
    if *open_rows > 0 {
        let ends = !starts.is_empty();
        segments.push(PrefixSegment {
            rows: 0..first_end,
            starts: false,
            ends,
        });
        *open_rows += first_end;
        if ends {
            ended_rows.push(*open_rows);
        }
    }
    let mut partition_starts = partition_starts.iter().peekable();
    for (place, start) in starts.iter().enumerate() {
        let next = starts.get(place + 1);
        let end = next.copied().unwrap_or(row_count);
        segments.push(PrefixSegment {
            rows: *start..end,
            starts: partition_starts.next_if_eq(&start).is_some(),
            ends: next.is_some(),
        });
        *open_rows = end - start;
        if next.is_some() {
            ended_rows.push(*open_rows);
        }
    }
    RowSpans {
        segments,
        ended_rows: ended_rows.into(),
    }
}

/// The end of the span that is open, if there is one.
fn last_end(open_rows: &mut usize) -> RowSpans {
    let rows = std::mem::take(open_rows);
    if rows == 0 {
        return RowSpans::default();
    }
    RowSpans {
        segments: vec![PrefixSegment {
            rows: 0..0,
            starts: false,
            ends: true,
        }],
        ended_rows: [rows].into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_united() {
        assert_eq!(united(&[0, 4, 9], &[2, 4, 5]), [0, 2, 4, 5, 9]);
        assert_eq!(united(&[], &[1]), [1]);
        assert_eq!(united(&[3], &[]), [3]);
    }

    #[test]
    fn a_span_goes_on_in_the_next_batch() {
        let mut open_rows = 0;
        let first = spans(&[0, 2], &[0], 5, &mut open_rows);
        assert_eq!((open_rows, first.ended_rows.as_ref()), (3, &[2][..]));
        let second = spans(&[], &[], 4, &mut open_rows);
        assert_eq!((open_rows, second.segments.len()), (7, 1));
        assert!(!second.segments[0].ends);
        let third = spans(&[0], &[0], 1, &mut open_rows);
        assert_eq!((open_rows, third.ended_rows.as_ref()), (1, &[7][..]));
        assert_eq!(third.segments[0].rows, 0..0);
        assert!(third.segments[1].starts);
        assert_eq!(last_end(&mut open_rows).ended_rows.as_ref(), [1]);
        assert!(last_end(&mut open_rows).segments.is_empty());
    }
}
