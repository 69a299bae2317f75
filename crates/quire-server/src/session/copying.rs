//! `COPY` with the client.

use quire::{Completion, CopyKind, CopyStream};

use super::copying_state::Copying;
use super::words::first_word;
use super::{ClientSession, SessionStop};
use crate::copy::{CopyReceiver, CopySender};
use crate::failure::ServerFailure;
use crate::net::Sender;
use crate::wire::Frontend;

/// Whether a statement may be a `COPY` with the client.
pub(super) fn may_copy(sql: &str) -> bool {
    first_word(sql) == "copy"
}

impl ClientSession {
    /// Runs the statement if it is a `COPY` with the client, or begins it if the client sends rows; whether it is one.
    pub(super) fn copy(
        &mut self,
        sql: &str,
        is_simple: bool,
        sender: &mut Sender,
    ) -> Result<bool, SessionStop> {
        let begun = self.connection.begin_copy(sql);
        let begun = begun.map_err(|error| ServerFailure::of_statement(&error, sql, 0))?;
        match begun {
            None => return Ok(false),
            Some(CopyStream::Out(rows, format)) => {
                send_rows(CopySender::new(rows, format), sender)?;
            }
            Some(CopyStream::In(copy)) => {
                let is_binary = copy.format().kind == CopyKind::Binary;
                let column_count = copy.columns().fields().len();
                sender.output.copy_response(b'G', is_binary, column_count);
                self.copying = Some(Copying {
                    receiver: CopyReceiver::new(copy),
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
    ) -> Result<(), SessionStop> {
        let Some(mut copying) = self.copying.take() else {
            return Ok(());
        };
        let is_simple = copying.is_simple;
        let ended = match message {
            Frontend::CopyData(bytes) => match copying.receiver.take(bytes) {
                Ok(true) => {
                    self.copying = Some(copying);
                    return Ok(());
                }
                Ok(false) => copying.receiver.finish().map_err(ServerFailure::from),
                Err(failure) => {
                    // Its statement waits for rows, and the next one would wait for it.
                    drop(copying);
                    Err(failure.into())
                }
            },
            Frontend::CopyDone => copying.receiver.finish().map_err(ServerFailure::from),
            Frontend::CopyFail(reason) => Err(copying.receiver.fail(reason).into()),
            // Clients of the extended protocol send them ahead.
            Frontend::Flush | Frontend::Sync => {
                self.copying = Some(copying);
                return Ok(());
            }
            _ => {
                drop(copying);
                let text = "unexpected message during COPY from stdin";
                Err(ServerFailure::error("08P01", text))
            }
        };
        self.end_copy(ended, is_simple, sender)
    }

    /// What comes is no message: the rows end.
    pub(super) fn refuse_rows(
        &mut self,
        failure: ServerFailure,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        let is_simple = self.copying.take().is_some_and(|copying| copying.is_simple);
        self.end_copy(Err(failure), is_simple, sender)
    }

    fn end_copy(
        &mut self,
        ended: Result<Completion, ServerFailure>,
        is_simple: bool,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
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

fn send_rows(rows: CopySender, sender: &mut Sender) -> Result<(), SessionStop> {
    let (is_binary, column_count) = (rows.is_binary(), rows.column_count());
    sender.output.copy_response(b'H', is_binary, column_count);
    let count = rows.run(|piece| -> Result<(), SessionStop> {
        sender.output.copy_data(piece);
        Ok(sender.flush_if_full()?)
    })?;
    sender.output.copy_done();
    sender.output.command_complete(&format!("COPY {count}"));
    Ok(())
}
