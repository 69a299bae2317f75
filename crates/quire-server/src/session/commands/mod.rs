//! Statements about what only the session knows: prepared statements, cursors, and what it listens to.
//!
//! | module | answers |
//! |---|---|
//! | `parse` | which statement a text is |
//! | `lexer` | words, names and numbers of a text |
//! | `cursors` | `DECLARE`, `FETCH`, `MOVE`, `CLOSE` |
//! | `prepared` | `PREPARE`, `EXECUTE`, `DEALLOCATE` |
//! | `portals` | such a statement in the extended protocol |
//!
//! They mean the same in both protocols: what `PREPARE` names can be bound, and `FETCH` draws from portals, as in PostgreSQL.

mod cursors;
mod lexer;
mod parse;
mod portals;
mod prepared;

use std::sync::Arc;

use quire::TransactionStatus;

use super::rows::{Columns, Source};
use super::{Session, Stop};
use crate::failure::Failure;
use crate::net::Sender;
use crate::wire::Format;

/// A statement about the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionCommand {
    /// All that the session has gathered is forgotten.
    DiscardAll,
    /// What nobody keeps here: `DISCARD PLANS`, `LISTEN` … It only has a tag.
    Nothing(&'static str),
    Prepare {
        name: String,
        /// Types of parameters, as they are spelled.
        types: Vec<String>,
        sql: String,
    },
    Execute {
        name: String,
        /// Expressions between commas; may be empty.
        arguments: String,
    },
    /// `None` is all.
    Deallocate(Option<String>),
    Declare {
        name: String,
        is_binary: bool,
        sql: String,
    },
    Fetch(Fetch),
    /// `None` is all.
    Close(Option<String>),
}

/// `FETCH` and `MOVE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fetch {
    pub(super) cursor: String,
    /// `u64::MAX` is all.
    pub(super) count: u64,
    /// `MOVE`: the rows are not sent.
    pub(super) is_move: bool,
}

/// Rows that a command gives.
pub(super) struct CommandRows {
    pub(super) source: Source,
    pub(super) columns: Arc<Columns>,
    pub(super) command: &'static str,
    /// Those that the cursor has, if any.
    formats: Vec<Format>,
}

/// What came of a command.
pub(super) enum Commanded {
    /// This is its tag.
    Done(String),
    /// These are to be sent.
    Rows(CommandRows),
    /// A statement ran that gave no rows.
    Completed(quire::Completion),
}

impl SessionCommand {
    /// The command that a statement is, if it is one.
    pub(super) fn of(sql: &str) -> Result<Option<Self>, Failure> {
        parse::command(sql)
    }

    /// The query or statement within, whose parameters are those of the command.
    pub(super) fn inner(&self) -> Option<&str> {
        match self {
            Self::Declare { sql, .. } => Some(sql),
            _ => None,
        }
    }
}

impl Session {
    /// Runs a command that came as text, all of it; the columns of its rows are told before them.
    pub(super) fn run_command(
        &mut self,
        command: &SessionCommand,
        sender: &mut Sender,
    ) -> Result<(), Stop> {
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
    pub(super) fn start_command(&mut self, command: &SessionCommand) -> Result<Commanded, Stop> {
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
                Err(Failure::error("XX000", "internal error: DECLARE is a portal").into())
            }
        }
    }

    /// Sends rows of a command, and its tag; what a cursor has left goes back to it.
    pub(super) fn send_command_rows(
        &mut self,
        rows: CommandRows,
        command: &SessionCommand,
        formats: &[Format],
        sender: &mut Sender,
    ) -> Result<(), Stop> {
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
            .command_complete(&super::rows::tag_of(tag, count));
        if let SessionCommand::Fetch(fetch) = command {
            self.give_back(&fetch.cursor, source);
        }
        Ok(())
    }

    pub(super) fn complete(completion: quire::Completion, sender: &mut Sender) {
        for notice in completion.notices {
            sender.output.notice(&Failure::notice(notice));
        }
        sender.output.command_complete(&completion.tag);
    }

    /// After a failure only the end of the transaction is accepted.
    fn check_transaction(&self) -> Result<(), Failure> {
        if self.connection.transaction_status() == TransactionStatus::Failed {
            let text =
                "current transaction is aborted, commands ignored until end of transaction block";
            return Err(Failure::error("25P02", text));
        }
        Ok(())
    }

    fn discard_all(&mut self) -> Result<Commanded, Stop> {
        if self.connection.transaction_status() != TransactionStatus::Idle {
            let text = "DISCARD ALL cannot run inside a transaction block";
            return Err(Failure::error("25001", text).into());
        }
        self.portals.clear();
        self.statements.clear();
        self.connection.execute("RESET ALL")?;
        Ok(Commanded::Done("DISCARD ALL".to_owned()))
    }
}
