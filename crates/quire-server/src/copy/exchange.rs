//! A whole `COPY` with bytes of PostgreSQL's formats, whoever sends or takes them.

use std::fmt;

use quire::arrow::array::RecordBatch;
use quire::{Completion, CopyFormat, CopyIn, CopyKind, Rows};

use super::CopyRowWriter;
use super::binary_rows::BinaryRows;
use super::lines::{CsvEnd, TextEnd};
use crate::failure::ServerFailure;
use crate::types::WireColumn;

/// Why a `COPY` failed. Nothing of its rows is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyFailure {
    /// The five characters of its SQLSTATE.
    pub sqlstate: String,
    /// What is wrong.
    pub message: String,
    /// Facts that help to find the cause.
    pub detail: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// On which line of what came, from 1, when that is known.
    pub line: Option<u64>,
}

impl fmt::Display for CopyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CopyFailure {}

impl From<ServerFailure> for CopyFailure {
    fn from(failure: ServerFailure) -> Self {
        Self {
            sqlstate: failure.sqlstate.into_owned(),
            message: failure.message,
            detail: failure.detail,
            hint: failure.hint,
            line: None,
        }
    }
}

impl From<CopyFailure> for ServerFailure {
    fn from(failure: CopyFailure) -> Self {
        Self {
            sqlstate: failure.sqlstate.into(),
            detail: failure.detail,
            hint: failure.hint,
            ..Self::error("XX000", failure.message)
        }
    }
}

impl From<quire::Error> for CopyFailure {
    fn from(error: quire::Error) -> Self {
        ServerFailure::from(error).into()
    }
}

/// A `COPY … FROM STDIN` that takes rows in the format that it asks for.
pub struct CopyReceiver {
    copy: CopyIn,
    format: IncomingFormat,
}

/// What comes, and where it waits to be sent on.
enum IncomingFormat {
    Csv(CsvEnd, Vec<u8>),
    Text(TextEnd, Vec<u8>),
    Binary(BinaryRows, Vec<RecordBatch>),
}

impl IncomingFormat {
    fn of(copy: &CopyIn) -> Self {
        match copy.format().kind {
            CopyKind::Csv => Self::Csv(CsvEnd::default(), Vec::new()),
            CopyKind::Text => Self::Text(TextEnd::default(), Vec::new()),
            CopyKind::Binary => Self::Binary(BinaryRows::new(copy.columns()), Vec::new()),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ServerFailure> {
        match self {
            Self::Csv(end, ready) => end.translate(bytes, ready),
            Self::Text(end, ready) => end.translate(bytes, ready),
            Self::Binary(rows, ready) => rows.take(bytes, ready)?,
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ServerFailure> {
        match self {
            Self::Csv(end, ready) => end.finish(ready),
            Self::Text(end, ready) => end.finish(ready),
            Self::Binary(rows, ready) => rows.finish(ready)?,
        }
        Ok(())
    }

    /// Sends on what waits; whether more is wanted.
    fn pass_on(&mut self, copy: &mut CopyIn) -> bool {
        match self {
            Self::Csv(_, ready) | Self::Text(_, ready) => {
                let is_wanted = copy.send(ready);
                ready.clear();
                is_wanted
            }
            Self::Binary(_, ready) => ready.drain(..).all(|batch| copy.send_batch(batch)),
        }
    }

    /// Whether rows are lines that came.
    fn has_lines(&self) -> bool {
        !matches!(self, Self::Binary(..))
    }
}

impl CopyReceiver {
    /// A copy that has begun.
    pub fn new(copy: CopyIn) -> Self {
        let format = IncomingFormat::of(&copy);
        Self { copy, format }
    }

    /// Takes bytes, which may end anywhere. `false`: no more are wanted, and [`CopyReceiver::finish`] says why.
    ///
    /// # Errors
    /// The bytes are not in the format.
    pub fn take(&mut self, bytes: &[u8]) -> Result<bool, CopyFailure> {
        self.format.take(bytes)?;
        Ok(self.format.pass_on(&mut self.copy))
    }

    /// All has come.
    ///
    /// # Errors
    /// What is wrong with the rows.
    pub fn finish(mut self) -> Result<Completion, CopyFailure> {
        self.format.finish()?;
        self.format.pass_on(&mut self.copy);
        let has_lines = self.format.has_lines();
        self.copy.finish().map_err(|error| CopyFailure {
            line: error.record_line().filter(|_| has_lines),
            ..error.into()
        })
    }

    /// Whoever sends gives up; the failure is for them.
    pub fn fail(self, reason: &str) -> CopyFailure {
        self.copy.fail(reason).into()
    }
}

impl fmt::Debug for CopyReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CopyReceiver").field(&self.copy).finish()
    }
}

/// The rows of a `COPY … TO STDOUT`, in its format.
pub struct CopySender {
    rows: Rows,
    writer: CopyRowWriter,
}

impl CopySender {
    /// The rows as they were begun.
    pub fn new(rows: Rows, format: CopyFormat) -> Self {
        let writer = CopyRowWriter::new(format, &rows.schema());
        Self { rows, writer }
    }

    pub(crate) fn is_binary(&self) -> bool {
        self.writer.is_binary()
    }

    pub(crate) fn column_count(&self) -> usize {
        self.writer.column_count()
    }

    /// Gives `send` each row, the first with what comes before it, and what comes behind the last. Returns their number.
    ///
    /// # Errors
    /// Those of the query, and of `send`.
    pub fn run<E: From<CopyFailure>>(
        mut self,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let (mut piece, mut count) = (Vec::new(), 0_u64);
        self.writer.write_start(&mut piece);
        while let Some(batch) = self.rows.next_batch().map_err(CopyFailure::from)? {
            let columns = batch.columns().iter().map(WireColumn::new);
            let columns = columns.collect::<Result<Vec<_>, _>>();
            let columns = columns.map_err(|error| {
                CopyFailure::from(ServerFailure::error("22000", error.to_string()))
            })?;
            for row in 0..batch.num_rows() {
                let cells = columns.iter().map(|column| column.cell(row));
                self.writer.write_row(&mut piece, cells);
                send(&piece)?;
                piece.clear();
            }
            count += batch.num_rows() as u64;
        }
        self.writer.write_end(&mut piece);
        if !piece.is_empty() {
            send(&piece)?;
        }
        Ok(count)
    }
}

impl fmt::Debug for CopySender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopySender").finish_non_exhaustive()
    }
}
