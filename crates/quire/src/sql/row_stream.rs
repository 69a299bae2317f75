//! The rows of a running query, as their reader gets them: in the background, through a short queue.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use futures::FutureExt;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::wait::wait;
use tokio::sync::mpsc;

use crate::opened::of_panic;
use crate::outcome::{OnFailure, Rows};
use crate::planning::next_of;
use crate::session::Session;

/// Batches that wait for a slow reader of the rows.
const QUEUED_BATCHES: usize = 2;

pub(super) fn rows_of(
    session: &Arc<Session>,
    mut stream: SendableRecordBatchStream,
    schema: SchemaRef,
    token: &CancelToken,
) -> Result<Rows, Error> {
    let (sender, receiver) = mpsc::channel(QUEUED_BATCHES);
    let (shown, waiting_token) = (Arc::clone(&schema), token.clone());
    let token = token.clone();
    let produce = async move {
        loop {
            // A panic would close the channel, as the end of the rows does.
            let next = AssertUnwindSafe(next_of(&mut stream, &token));
            let next = next.catch_unwind().await;
            let next = next.unwrap_or_else(|panic| Err(of_panic(&*panic)));
            if let Ok(Some(batch)) = &next {
                token.work().note_written(batch.num_rows() as u64, 0);
            }
            let item = next.and_then(|batch| batch.map(|b| renamed(&b, &shown)).transpose());
            let is_last = !matches!(item, Ok(Some(_)));
            let Some(item) = item.transpose() else { return };
            if sender.send(item).await.is_err() || is_last {
                return;
            }
        }
    };
    let task = session.database.spawn(produce)?;
    Ok(Rows::from_task(
        schema,
        receiver,
        task,
        waiting_token,
        failing(session),
        Arc::clone(&session.database),
    ))
}

/// A transaction fails when the reader of its rows hears of an error, before it can say the next statement.
pub(super) fn failing(session: &Arc<Session>) -> OnFailure {
    // Rows must not keep the session.
    let session = Arc::downgrade(session);
    Box::new(move || {
        if let Some(session) = session.upgrade() {
            wait(session.transaction.lock()).fail();
        }
    })
}

fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    Ok(RecordBatch::try_new_with_options(
        nullable(schema),
        columns,
        &options,
    )?)
}

/// What a plan promises and what it delivers may differ in nullability.
pub(super) fn nullable(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter();
    let nullable = fields.map(|field| field.as_ref().clone().with_nullable(true));
    Arc::new(Schema::new(nullable.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use quire_error::cancel::CancelHandle;

    use super::*;
    use crate::{Database, Outcome, TransactionStatus};

    #[test]
    fn a_transaction_fails_when_its_rows_are_read() {
        let mut connection = Database::in_memory().unwrap().connect();
        for engine in ["batch", "tuple"] {
            connection.set_setting("engine", engine).unwrap();
            connection.execute("BEGIN").unwrap();
            let sql = "SELECT 1 / (i - 2) FROM generate_series(1, 3) i";
            let Outcome::Rows(mut rows) = connection.execute(sql).unwrap() else {
                panic!("a query has rows");
            };
            connection.execute("SAVEPOINT one").unwrap();
            while let Ok(Some(_)) = rows.next_batch() {}
            assert_eq!(connection.transaction_status(), TransactionStatus::Failed);
            connection.execute("ROLLBACK TO SAVEPOINT one").unwrap();
            assert_eq!(connection.transaction_status(), TransactionStatus::Open);
            connection.execute("ROLLBACK").unwrap();
        }
    }

    #[test]
    fn a_panic_is_no_end_of_the_rows() {
        let connection = Database::in_memory().unwrap().connect();
        let schema: SchemaRef = Arc::new(Schema::empty());
        let rows = futures::stream::poll_fn(|_| panic!("a step has failed"));
        let stream = Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows));
        let token = CancelHandle::default().begin("SELECT", None);
        let mut rows = rows_of(&connection.session, stream, schema, &token).unwrap();
        let error = rows.next_batch().unwrap_err();
        assert_eq!(error.sqlstate(), "XX000");
        assert!(error.message().contains("a step has failed"), "{error}");
    }
}
