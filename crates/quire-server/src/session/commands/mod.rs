//! Statements about what only the session knows: prepared statements, cursors, and what it listens to.
//!
//! | module | answers |
//! |---|---|
//! | `parse` | which statement a text is |
//! | `lexer` | words, names and numbers of a text |
//! | `run` | what each of them does |
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
mod run;

use std::sync::Arc;

use super::rows::{PortalSource, ResultColumns};
use crate::failure::ServerFailure;
use crate::types::WireFormat;

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
    pub(super) source: PortalSource,
    pub(super) columns: Arc<ResultColumns>,
    pub(super) command: &'static str,
    /// Those that the cursor has, if any.
    pub(super) formats: Vec<WireFormat>,
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
    pub(super) fn of(sql: &str) -> Result<Option<Self>, ServerFailure> {
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
