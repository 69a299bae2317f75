//! Runs statements about the session.

use quire::TransactionStatus;

use super::{CommandRows, Commanded, SessionCommand};
use crate::failure::ServerFailure;
use crate::net::Sender;
use crate::session::{ClientSession, SessionStop};
use crate::types::WireFormat;

impl ClientSession {
    /// Runs a command that came as text, all of it; the columns of its rows are told before them.
    pub(in crate::session) fn run_command(
        &mut self,
        command: &SessionCommand,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        if let SessionCommand::Declare {
            name,
            is_binary,
            sql,
        } = command
        {
            self.declare(name, *is_binary, sql)?;
            sender.output.command_complete("DECLARE CURSOR");
            return Ok(());
        }
        match self.start_command(command)? {
            Commanded::Done(tag) => sender.output.command_complete(&tag),
            Commanded::Completed(completion) => Self::complete(completion, sender),
            Commanded::Rows(rows) => {
                rows.columns.describe(&rows.formats, &mut sender.output);
                self.send_command_rows(rows, command, &[], sender)?;
            }
        }
        Ok(())
    }

    /// Begins a command other than `DECLARE`.
    pub(in crate::session) fn start_command(
        &mut self,
        command: &SessionCommand,
    ) -> Result<Commanded, SessionStop> {
        self.check_transaction()?;
        match command {
            SessionCommand::DiscardAll => self.discard_all(),
            SessionCommand::Nothing(tag) => Ok(Commanded::Done((*tag).to_owned())),
            SessionCommand::Prepare { name, types, sql } => self.prepare_named(name, types, sql),
            SessionCommand::Execute { name, arguments } => self.execute_named(name, arguments),
            SessionCommand::Deallocate(name) => self.deallocate(name.as_deref()),
            SessionCommand::Fetch(fetch) => self.fetch(fetch),
            SessionCommand::Close(name) => self.close_cursor(name.as_deref()),
            SessionCommand::Declare { .. } => {
                Err(ServerFailure::error("XX000", "internal error: DECLARE is a portal").into())
            }
        }
    }

    /// Sends rows of a command, and its tag; what a cursor has left goes back to it.
    pub(in crate::session) fn send_command_rows(
        &mut self,
        rows: CommandRows,
        command: &SessionCommand,
        formats: &[WireFormat],
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        let CommandRows {
            mut source,
            columns,
            command: tag,
            formats: of_cursor,
        } = rows;
        let formats = if of_cursor.is_empty() {
            formats
        } else {
            &of_cursor
        };
        let most = match command {
            SessionCommand::Fetch(fetch) => fetch.count,
            _ => u64::MAX,
        };
        let count = source.send(&columns, formats, most, sender)?;
        sender
            .output
            .command_complete(&crate::session::rows::tag_of(tag, count));
        if let SessionCommand::Fetch(fetch) = command {
            self.give_back(&fetch.cursor, source);
        }
        Ok(())
    }

    pub(in crate::session) fn complete(completion: quire::Completion, sender: &mut Sender) {
        for notice in completion.notices {
            sender.output.notice(&ServerFailure::notice(notice));
        }
        sender.output.command_complete(&completion.tag);
    }

    /// After a failure only the end of the transaction is accepted.
    pub(super) fn check_transaction(&self) -> Result<(), ServerFailure> {
        if self.connection.transaction_status() == TransactionStatus::Failed {
            let text =
                "current transaction is aborted, commands ignored until end of transaction block";
            return Err(ServerFailure::error("25P02", text));
        }
        Ok(())
    }

    fn discard_all(&mut self) -> Result<Commanded, SessionStop> {
        if self.connection.transaction_status() != TransactionStatus::Idle {
            let text = "DISCARD ALL cannot run inside a transaction block";
            return Err(ServerFailure::error("25001", text).into());
        }
        self.portals.clear();
        self.statements.clear();
        self.connection.execute("RESET ALL")?;
        Ok(Commanded::Done("DISCARD ALL".to_owned()))
    }
}
