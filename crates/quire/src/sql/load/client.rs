//! `COPY … FROM STDIN` and `COPY … TO STDOUT`: rows that the client sends or takes.
//!
//! Text and CSV come as the client sends them; of the binary format the server makes columns. A task of the statement reads the rows while
//! they come; at most [`QUEUED_PIECES`] pieces wait for it.

use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::wait::wait;
use quire_sql::copy_statement::{CopyDirection, CopyPlace, CopyStatement};
use quire_sql::parse::{ParsedCommand, parse};
use tokio::task::{AbortHandle, JoinHandle};

use super::super::query;
use super::client_reader::{CLIENT_FAILED, ClientBatches, ClientReader, ClientRows, CopyDataPiece};
use super::copy_format::CopyFormat;
use super::{export, import, options};
use crate::outcome::{Completion, Outcome, Rows};
use crate::session::{Session, aborted};

const QUEUED_PIECES: usize = 4;
/// Pieces are at least so long, but for the last.
const PIECE_BYTES: usize = 256 << 10;

/// A `COPY` with the client.
#[derive(Debug)]
pub enum CopyStream {
    /// The client sends rows.
    In(CopyIn),
    /// It gets these.
    Out(Rows, CopyFormat),
}

/// A `COPY … FROM STDIN` that has begun. Dropped before its end, nothing of it remains.
pub struct CopyIn {
    format: CopyFormat,
    columns: SchemaRef,
    session: Arc<Session>,
    pieces: SyncSender<CopyDataPiece>,
    waiting: Vec<u8>,
    task: Option<JoinHandle<Result<Outcome, Error>>>,
    token: CancelToken,
    /// Stops the statement when its time is up, whether or not rows come.
    timer: Option<AbortHandle>,
}

impl CopyIn {
    /// How the client writes its rows.
    pub fn format(&self) -> &CopyFormat {
        &self.format
    }

    /// The columns that its rows have.
    pub fn columns(&self) -> &SchemaRef {
        &self.columns
    }

    /// Sends rows on in [`CopyIn::format`], if its kind is text or CSV. Waits while enough others are not read yet. `false`: the statement has
    /// failed, and [`CopyIn::finish`] says why.
    pub fn send(&mut self, rows: &[u8]) -> bool {
        self.waiting.extend_from_slice(rows);
        self.waiting.len() < PIECE_BYTES || self.pass_on()
    }

    /// Sends rows on if the kind of [`CopyIn::format`] is binary: columns of the types of [`CopyIn::columns`], which may have NULLs.
    /// As [`CopyIn::send`] otherwise.
    pub fn send_batch(&mut self, rows: RecordBatch) -> bool {
        self.pieces.send(CopyDataPiece::Batch(rows)).is_ok()
    }

    fn pass_on(&mut self) -> bool {
        let piece = std::mem::take(&mut self.waiting);
        self.pieces.send(CopyDataPiece::Bytes(piece)).is_ok()
    }

    /// All rows were sent.
    ///
    /// # Errors
    /// What is wrong with the rows; then none of them is kept.
    pub fn finish(mut self) -> Result<Completion, Error> {
        if self.pass_on() {
            // If the other side is gone, it says why.
            let _ = self.pieces.send(CopyDataPiece::Done);
        }
        match self.result()? {
            Outcome::Done(completion) => Ok(completion),
            Outcome::Rows(_) => Err(Error::new("XX000", "internal error: COPY gave rows")),
        }
    }

    /// The client gives up; the error is for it.
    pub fn fail(mut self, reason: &str) -> Error {
        let _ = self.pieces.send(CopyDataPiece::Failed(reason.to_owned()));
        match self.result() {
            Err(error) if error.sqlstate() != CLIENT_FAILED => error,
            _ => Error::new("57014", format!("COPY from stdin failed: {reason}")),
        }
    }

    fn result(&mut self) -> Result<Outcome, Error> {
        let Some(task) = self.task.take() else {
            return Err(Error::new("XX000", "internal error: COPY has ended"));
        };
        let session = Arc::clone(&self.session);
        let result = session.database.run(async move {
            task.await
                .unwrap_or_else(|error| Err(Error::new("XX000", error.to_string())))
        });
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.token.finish();
        result.map_err(|error| self.token.explained(error))
    }
}

impl Drop for CopyIn {
    fn drop(&mut self) {
        if self.task.is_some() {
            let _ = self.pieces.send(CopyDataPiece::Failed(String::new()));
            // Its transaction is over before the connection is used again.
            let _ = self.result();
        }
    }
}

impl std::fmt::Debug for CopyIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyIn")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// See [`crate::Connection::begin_copy`].
pub(crate) fn begin_copy(
    session: &Arc<Session>,
    sql: &str,
    token: CancelToken,
) -> Result<Option<CopyStream>, Error> {
    let ParsedCommand::Copy(copy) = parse(sql)? else {
        return Ok(None);
    };
    if copy.place != CopyPlace::Client {
        return Ok(None);
    }
    let begun = begin(session, *copy, token);
    if begun.is_err() {
        wait(session.transaction.lock()).fail();
    }
    begun.map(Some)
}

fn begin(
    session: &Arc<Session>,
    copy: CopyStatement,
    token: CancelToken,
) -> Result<CopyStream, Error> {
    if wait(session.transaction.lock()).is_aborted() {
        return Err(aborted());
    }
    let format = options::client_format(&copy.options, copy.direction)?;
    if copy.direction == CopyDirection::To {
        let work = rows_of(Arc::clone(session), copy, token);
        return Ok(CopyStream::Out(session.database.run(work)?, format));
    }
    let (pieces, receiver) = sync_channel(QUEUED_PIECES);
    let rows = match format.reading() {
        Some(options) => ClientRows::Lines(options, ClientReader::new(receiver)),
        None => ClientRows::Batches(ClientBatches::new(receiver)),
    };
    let (ready, columns): (Sender<SchemaRef>, _) = channel();
    let asking = Arc::clone(session);
    let (timer, own) = (timer(session, &token)?, token.clone());
    let task = session.database.start(async move {
        let run = import::run_stream(&asking, &copy, rows, ready, &token);
        let result = tokio::select! {
            biased;
            () = token.cancelled() => Err(Error::cancelled()),
            result = run => result,
        };
        if result.is_err() {
            asking.transaction.lock().await.fail();
        }
        result
    })?;
    let mut begun = CopyIn {
        format,
        columns: SchemaRef::new(datafusion::arrow::datatypes::Schema::empty()),
        session: Arc::clone(session),
        pieces,
        waiting: Vec::new(),
        task: Some(task),
        token: own,
        timer,
    };
    match columns.recv() {
        Ok(columns) => {
            begun.columns = columns;
            Ok(CopyStream::In(begun))
        }
        Err(_) => match begun.result() {
            Err(error) => Err(error),
            Ok(_) => Err(Error::new("XX000", "internal error: COPY did not begin")),
        },
    }
}

/// What stops a statement with a time limit.
fn timer(session: &Session, token: &CancelToken) -> Result<Option<AbortHandle>, Error> {
    if token.limit().deadline().is_none() {
        return Ok(None);
    }
    let token = token.clone();
    let timer = session.database.spawn(async move {
        while let Some(deadline) = token.stop_if_late() {
            tokio::time::sleep_until(deadline.into()).await;
        }
    });
    timer.map(Some)
}

async fn rows_of(
    session: Arc<Session>,
    copy: CopyStatement,
    token: CancelToken,
) -> Result<Rows, Error> {
    let query = export::query_of(copy.target)?;
    match query::run(&session, query, &token).await? {
        Outcome::Rows(rows) => Ok(rows),
        Outcome::Done(_) => Err(Error::new("0A000", "COPY needs a query that gives rows")),
    }
}
