//! `COPY` with the client.

use quire::{Completion, CopyIn, CopyStream, Rows};

use super::words::first_word;
use super::{Session, Stop};
use crate::copy::{RowWriter, Translator};
use crate::failure::Failure;
use crate::net::Sender;
use crate::types::Column;
use crate::wire::Frontend;

/// A `COPY … FROM STDIN` whose rows come.
pub(super) struct Copying {
    copy: CopyIn,
    translator: Translator,
    csv: Vec<u8>,
    /// It came in a `Query`, which it ends.
    is_simple: bool,
}

/// Whether a statement may be a `COPY` with the client.
pub(super) fn may_copy(sql: &str) -> bool {
    first_word(sql) == "copy"
}

impl Session {
    /// Runs the statement if it is a `COPY` with the client, or begins it if the client sends rows; whether it is one.
    pub(super) fn copy(
        &mut self,
        sql: &str,
        is_simple: bool,
        sender: &mut Sender,
    ) -> Result<bool, Stop> {
        let begun = self.connection.begin_copy(sql);
        let begun = begun.map_err(|error| Failure::of_statement(&error, sql, 0))?;
        match begun {
            None => return Ok(false),
            Some(CopyStream::Out(rows, format)) => {
                let writer = RowWriter::new(format, &rows.schema());
                send_rows(rows, writer, sender)?;
            }
            Some(CopyStream::In(copy)) => {
                let format = copy.format();
                let is_binary = format.kind == quire::CopyKind::Binary;
                let column_count = copy.columns().fields().len();
                sender.output.copy_response(b'G', is_binary, column_count);
                self.copying = Some(Copying {
                    translator: Translator::new(format, copy.columns()),
                    copy,
                    csv: Vec::new(),
                    is_simple,
                });
            }
        }
        Ok(true)
    }

    /// Takes a message while rows come.
    pub(super) fn take_rows(
        &mut self,
        message: &Frontend<'_>,
        sender: &mut Sender,
    ) -> Result<(), Stop> {
        let Some(mut copying) = self.copying.take() else {
            return Ok(());
        };
        let is_simple = copying.is_simple;
        let ended = match message {
            Frontend::CopyData(bytes) => match copying.take(bytes) {
                Ok(true) => {
                    self.copying = Some(copying);
                    return Ok(());
                }
                Ok(false) => copying.finish(),
                Err(failure) => {
                    // Its statement waits for rows, and the next one would wait for it.
                    drop(copying);
                    Err(failure)
                }
            },
            Frontend::CopyDone => copying.finish(),
            Frontend::CopyFail(reason) => Err(copying.copy.fail(reason).into()),
            // Clients of the extended protocol send them ahead.
            Frontend::Flush | Frontend::Sync => {
                self.copying = Some(copying);
                return Ok(());
            }
            _ => {
                drop(copying);
                let text = "unexpected message during COPY from stdin";
                Err(Failure::error("08P01", text))
            }
        };
        self.end_copy(ended, is_simple, sender)
    }

    /// What comes is no message: the rows end.
    pub(super) fn refuse_rows(
        &mut self,
        failure: Failure,
        sender: &mut Sender,
    ) -> Result<(), Stop> {
        let is_simple = self.copying.take().is_some_and(|copying| copying.is_simple);
        self.end_copy(Err(failure), is_simple, sender)
    }

    fn end_copy(
        &mut self,
        ended: Result<Completion, Failure>,
        is_simple: bool,
        sender: &mut Sender,
    ) -> Result<(), Stop> {
        match ended {
            Ok(completion) => Self::complete(completion, sender),
            Err(failure) => {
                self.fail(&failure, sender);
                self.is_skipping = !is_simple;
                self.script = None;
            }
        }
        if is_simple {
            match self.script.take() {
                Some(script) => self.run_script(script, sender)?,
                None => self.sync(sender)?,
            }
        }
        Ok(sender.flush()?)
    }
}

impl Copying {
    /// Sends rows on; `false` when nobody takes them.
    fn take(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        self.csv.clear();
        self.translator.translate(bytes, &mut self.csv)?;
        Ok(self.copy.send(&self.csv))
    }

    fn finish(mut self) -> Result<Completion, Failure> {
        self.csv.clear();
        self.translator.finish(&mut self.csv)?;
        self.copy.send(&self.csv);
        Ok(self.copy.finish()?)
    }
}

fn send_rows(mut rows: Rows, mut writer: RowWriter, sender: &mut Sender) -> Result<(), Stop> {
    let (is_binary, column_count) = (writer.is_binary(), writer.column_count());
    sender.output.copy_response(b'H', is_binary, column_count);
    let mut piece = Vec::new();
    writer.write_start(&mut piece);
    let mut count = 0_u64;
    while let Some(batch) = rows.next_batch()? {
        let columns = batch.columns().iter().map(Column::new);
        let columns = columns.collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|error| Failure::error("22000", error.to_string()))?;
        for row in 0..batch.num_rows() {
            writer.write_row(&mut piece, columns.iter().map(|column| column.cell(row)));
            sender.output.copy_data(&piece);
            piece.clear();
            sender.flush_if_full()?;
        }
        count += batch.num_rows() as u64;
    }
    writer.write_end(&mut piece);
    if !piece.is_empty() {
        sender.output.copy_data(&piece);
    }
    sender.output.copy_done();
    sender.output.command_complete(&format!("COPY {count}"));
    Ok(())
}
