//! `DECLARE`, `FETCH`, `MOVE` and `CLOSE`: portals under names that SQL says.

use std::sync::{Arc, Mutex};

use quire::TransactionStatus;

use super::{CommandRows, Commanded, Fetch};
use crate::failure::ServerFailure;
use crate::session::portal::{Portal, PortalState};
use crate::session::rows::{PortalSource, ResultColumns};
use crate::session::statement::PreparedStatement;
use crate::session::{ClientSession, SessionStop};
use crate::types::WireFormat;

impl ClientSession {
    /// `DECLARE` of a query that came as text.
    pub(super) fn declare(
        &mut self,
        name: &str,
        is_binary: bool,
        sql: &str,
    ) -> Result<(), SessionStop> {
        let statement = self.prepared_statement(sql, &[])?;
        if !statement.parameters.is_empty() {
            return Err(ServerFailure::error("42P02", "there is no parameter $1").into());
        }
        let portal = Portal {
            types: Arc::clone(&statement.types),
            statement: Arc::new(Mutex::new(statement)),
            values: Vec::new(),
            formats: Vec::new(),
            state: PortalState::Bound,
        };
        self.open_cursor(name, is_binary, portal)
    }

    /// Begins the query of a portal, and keeps it under the name of the cursor.
    pub(in crate::session) fn open_cursor(
        &mut self,
        name: &str,
        is_binary: bool,
        mut portal: Portal,
    ) -> Result<(), SessionStop> {
        self.check_transaction()?;
        if self.connection.transaction_status() == TransactionStatus::Idle {
            let text = "DECLARE CURSOR can only be used in transaction blocks";
            return Err(ServerFailure::error("25P01", text).into());
        }
        if self.portals.contains_key(name) {
            let text = format!("cursor \"{name}\" already exists");
            return Err(ServerFailure::error("42P03", text).into());
        }
        let shared = Arc::clone(&portal.statement);
        let mut statement = PreparedStatement::locked(&shared);
        if !statement.is_plain_query() {
            let text = "a cursor is declared for a query that changes nothing";
            return Err(ServerFailure::error("42601", text).into());
        }
        portal.formats = if is_binary {
            vec![WireFormat::Binary]
        } else {
            Vec::new()
        };
        self.start(&mut portal, &mut statement)?;
        drop(statement);
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    fn cursor(&mut self, name: &str) -> Result<&mut Portal, ServerFailure> {
        self.portals.get_mut(name).ok_or_else(|| {
            ServerFailure::error("34000", format!("cursor \"{name}\" does not exist"))
        })
    }

    /// Columns of what a cursor gives.
    pub(in crate::session) fn cursor_columns(
        &mut self,
        name: &str,
    ) -> Result<Arc<ResultColumns>, SessionStop> {
        match &self.cursor(name)?.state {
            PortalState::Running { columns, .. } | PortalState::Exhausted { columns, .. } => {
                Ok(Arc::clone(columns))
            }
            PortalState::Bound | PortalState::Done => Err(not_open(name).into()),
        }
    }

    /// Takes rows out of a cursor; [`ClientSession::give_back`] returns what is left.
    pub(super) fn fetch(&mut self, fetch: &Fetch) -> Result<Commanded, SessionStop> {
        let portal = self.cursor(&fetch.cursor)?;
        let formats = portal.formats.clone();
        let (mut source, columns) = match &mut portal.state {
            PortalState::Running {
                source, columns, ..
            } => (
                std::mem::replace(source, PortalSource::Nothing),
                Arc::clone(columns),
            ),
            PortalState::Exhausted { columns, .. } => (PortalSource::Nothing, Arc::clone(columns)),
            PortalState::Bound | PortalState::Done => return Err(not_open(&fetch.cursor).into()),
        };
        if fetch.is_move {
            let count = source.skip(fetch.count)?;
            self.give_back(&fetch.cursor, source);
            return Ok(Commanded::Done(format!("MOVE {count}")));
        }
        Ok(Commanded::Rows(CommandRows {
            source,
            columns,
            command: "FETCH",
            formats,
        }))
    }

    pub(super) fn give_back(&mut self, name: &str, left: PortalSource) {
        if let Some(portal) = self.portals.get_mut(name)
            && let PortalState::Running { source, .. } = &mut portal.state
        {
            left.renew_time_limit();
            *source = left;
        }
    }

    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<Commanded, SessionStop> {
        match name {
            None => {
                self.portals.clear();
                Ok(Commanded::Done("CLOSE CURSOR ALL".to_owned()))
            }
            Some(name) => {
                self.cursor(name)?;
                self.portals.remove(name);
                Ok(Commanded::Done("CLOSE CURSOR".to_owned()))
            }
        }
    }
}

fn not_open(name: &str) -> ServerFailure {
    ServerFailure::error("55000", format!("portal \"{name}\" cannot be run"))
}
