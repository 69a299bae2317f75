//! Streams the rows of a table from the server, on a thread that decodes them while the caller uses the batches before.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use postgres::{CancelToken, Client};

use quire_files::CopyControl;

use super::copy_decoder::CopyDecoder;
use super::described_table::DescribedRelation;
use super::server::{LOOK_INTERVAL, PostgresServer, PostgresStop};
use crate::definition::SourceTableName;
use crate::error::{SourceError, stopped};

/// Decoded batches that may wait for the caller.
const BATCHES_WAITING: usize = 2;
/// Between two looks whether the worker has ended.
const ENDING_INTERVAL: Duration = Duration::from_millis(5);

/// Rows of a table in the order in which the server sends them.
#[derive(Debug)]
pub(crate) struct PostgresReader {
    server: Arc<PostgresServer>,
    schema: SchemaRef,
    control: CopyControl,
    /// `None` after the end.
    batches: Option<Receiver<Result<RecordBatch, SourceError>>>,
    token: Receiver<CancelToken>,
    worker: Option<JoinHandle<()>>,
}

/// What the worker reads.
struct CopyTask {
    server: Arc<PostgresServer>,
    table: SourceTableName,
    query: String,
    schema: SchemaRef,
}

impl PostgresReader {
    pub(super) fn start(
        server: &Arc<PostgresServer>,
        table: &DescribedRelation,
        projection: Option<&[usize]>,
        control: &CopyControl,
    ) -> Result<Self, SourceError> {
        control.check().map_err(stopped)?;
        let (query, schema) = table.selection(projection)?;
        let task = CopyTask {
            server: Arc::clone(server),
            table: table.definition.name.clone(),
            query,
            schema: Arc::clone(&schema),
        };
        let (say_batch, batches) = sync_channel(BATCHES_WAITING);
        let (say_token, token) = channel();
        let worker = thread::Builder::new()
            .name("quire-source".into())
            .spawn(move || {
                let done = task.server.snapshot_client().and_then(|mut client| {
                    // Who waits for it may have gone.
                    let _ = say_token.send(client.cancel_token());
                    task.run(&mut client, &say_batch)
                        .map_err(|stop| task.server.stopped(stop))
                });
                if let Err(error) = done {
                    let _ = say_batch.send(Err(error));
                }
            });
        Ok(Self {
            server: Arc::clone(server),
            schema,
            control: control.clone(),
            batches: Some(batches),
            token,
            worker: Some(worker.map_err(|error| server.internal(error))?),
        })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, SourceError> {
        loop {
            if self.control.check().is_err() {
                self.end();
                return Err(SourceError::Cancelled);
            }
            let Some(batches) = &self.batches else {
                return Ok(None);
            };
            match batches.recv_timeout(LOOK_INTERVAL) {
                Ok(Ok(batch)) => return Ok(Some(batch)),
                Ok(Err(error)) => {
                    self.end();
                    return Err(error);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.joined(),
            }
        }
    }

    /// The worker has ended: in good order, or by a panic, which must not look like the table's end.
    fn joined(&mut self) -> Result<Option<RecordBatch>, SourceError> {
        self.batches = None;
        match self.worker.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(self.server.internal("a panic while rows were read")),
            _ => Ok(None),
        }
    }

    /// Ends the worker, wherever it is: at a full channel, or waiting for the server.
    fn end(&mut self) {
        self.batches = None;
        let Some(worker) = self.worker.take() else {
            return;
        };
        let token = self.token.recv().ok();
        // Again and again: a request that comes between two queries is lost.
        while !worker.is_finished() {
            if let Some(token) = &token {
                self.server.cancel(token);
            }
            thread::sleep(ENDING_INTERVAL);
        }
        // Its panic has no one to go to.
        let _ = worker.join();
    }
}

impl Drop for PostgresReader {
    fn drop(&mut self) {
        self.end();
    }
}

impl CopyTask {
    fn run(
        &self,
        client: &mut Client,
        batches: &SyncSender<Result<RecordBatch, SourceError>>,
    ) -> Result<(), PostgresStop> {
        let mut is_wanted = true;
        let token = client.cancel_token();
        copy(
            &self.server,
            client,
            &self.table,
            &self.query,
            &self.schema,
            |batch| {
                is_wanted = batches.send(Ok(batch)).is_ok();
                is_wanted
            },
        )?;
        if !is_wanted {
            // Closing waits for the server, which would send all the rest first.
            self.server.cancel(&token);
        }
        Ok(())
    }
}

/// Has the server send the rows of `query`, until `take` wants no more; after that the connection is good for nothing but to be closed.
pub(super) fn copy(
    server: &PostgresServer,
    client: &mut Client,
    table: &SourceTableName,
    query: &str,
    schema: &SchemaRef,
    mut take: impl FnMut(RecordBatch) -> bool,
) -> Result<(), PostgresStop> {
    let stream = client.copy_out(&format!("COPY ({query}) TO STDOUT (FORMAT binary)"))?;
    let mut decoder = CopyDecoder::start(server, table, schema, stream)?;
    while let Some(batch) = decoder.next_batch()? {
        if !take(batch) {
            return Ok(());
        }
    }
    Ok(())
}
