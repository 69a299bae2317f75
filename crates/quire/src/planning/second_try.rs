//! A plan whose joins are hash tables, and what runs instead if these do not fit.

use std::future::Future;

use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};
use quire_planner::optimize::is_out_of_memory;

/// The rows of `first`. If it finds no memory before it has given a row, they are those of `second`, which then starts.
pub(super) fn or_else(
    mut first: SendableRecordBatchStream,
    second: impl Future<Output = Result<SendableRecordBatchStream>> + Send + 'static,
) -> SendableRecordBatchStream {
    let schema = first.schema();
    let decided = async move {
        match first.next().await {
            Some(Err(error)) if is_out_of_memory(&error) => {
                // What it holds is free before the other one begins.
                drop(first);
                second.await
            }
            begun => {
                let schema = first.schema();
                let begun = stream::iter(begun);
                let rows = RecordBatchStreamAdapter::new(schema, begun.chain(first));
                Ok(Box::pin(rows) as SendableRecordBatchStream)
            }
        }
    };
    let rows = stream::once(decided).try_flatten();
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}
