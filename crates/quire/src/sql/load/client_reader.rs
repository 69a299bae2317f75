//! The rows that a client sends, as one stream of bytes or as batches.

use std::io::{self, Read};
use std::sync::mpsc::Receiver;

use datafusion::arrow::array::RecordBatch;
use quire_error::Error;
use quire_files::CopyError;
use quire_files::csv::CsvOptions;

/// What messages call the client's rows.
pub(super) const CLIENT: &str = "STDIN";

/// What comes from the client.
pub(super) enum CopyDataPiece {
    Bytes(Vec<u8>),
    Batch(RecordBatch),
    Done,
    Failed(String),
}

/// What the reader says when the client gave up; nobody sees it.
pub(super) const CLIENT_FAILED: &str = "58030";

/// The rows that come, as `COPY` reads them.
pub(super) enum ClientRows {
    Lines(CsvOptions, ClientReader),
    /// Columns of the table's types.
    Batches(ClientBatches),
}

/// The pieces that come, as one stream of bytes.
pub(super) struct ClientReader {
    pieces: Receiver<CopyDataPiece>,
    piece: Vec<u8>,
    next: usize,
    is_done: bool,
}

impl ClientReader {
    pub(super) fn new(pieces: Receiver<CopyDataPiece>) -> Self {
        Self {
            pieces,
            piece: Vec::new(),
            next: 0,
            is_done: false,
        }
    }

    /// Waits for the first bytes; whether there are none.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Error> {
        let filled = self.fill();
        filled.map_err(|error| Error::new(CLIENT_FAILED, error.to_string()))?;
        Ok(self.next >= self.piece.len())
    }

    /// Makes sure that there are bytes, unless it is the end.
    fn fill(&mut self) -> io::Result<()> {
        while self.next >= self.piece.len() && !self.is_done {
            match self.pieces.recv() {
                Ok(CopyDataPiece::Bytes(piece)) => (self.piece, self.next) = (piece, 0),
                Ok(CopyDataPiece::Done) => self.is_done = true,
                Ok(CopyDataPiece::Failed(reason)) => return Err(io::Error::other(reason)),
                Ok(CopyDataPiece::Batch(_)) => {
                    return Err(io::Error::other("columns came in the place of bytes"));
                }
                Err(_) => return Err(client_is_gone()),
            }
        }
        Ok(())
    }
}

fn client_is_gone() -> io::Error {
    io::Error::other("the client is gone")
}

impl Read for ClientReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let rest = self.piece.get(self.next..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(from), Some(to)) = (rest.get(..count), buffer.get_mut(..count)) {
            to.copy_from_slice(from);
        }
        self.next += count;
        Ok(count)
    }
}

/// The batches that come.
pub(super) struct ClientBatches {
    pieces: Receiver<CopyDataPiece>,
    is_done: bool,
}

impl ClientBatches {
    pub(super) fn new(pieces: Receiver<CopyDataPiece>) -> Self {
        Self {
            pieces,
            is_done: false,
        }
    }
}

impl Iterator for ClientBatches {
    type Item = Result<RecordBatch, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let source = match self.pieces.recv() {
            Ok(CopyDataPiece::Batch(batch)) => return Some(Ok(batch)),
            // The last bytes of a client that has sent columns are none.
            Ok(CopyDataPiece::Bytes(_)) => return self.next(),
            Ok(CopyDataPiece::Done) => {
                self.is_done = true;
                return None;
            }
            Ok(CopyDataPiece::Failed(reason)) => io::Error::other(reason),
            Err(_) => client_is_gone(),
        };
        self.is_done = true;
        Some(Err(CopyError::Io {
            action: "read",
            file: CLIENT.into(),
            source,
        }))
    }
}
