//! Statements about the session in the extended protocol.

use std::sync::{Arc, Mutex};

use super::{Commanded, SessionCommand};
use crate::failure::ServerFailure;
use crate::net::Sender;
use crate::session::portal::{Portal, PortalState};
use crate::session::rows::ResultColumns;
use crate::session::statement::PreparedStatement;
use crate::session::{ClientSession, SessionStop};
use crate::types::Parameter;

impl ClientSession {
    /// The columns of what a command gives; those of a cursor that is not there are nobody's.
    pub(in crate::session) fn command_columns(
        &mut self,
        command: &SessionCommand,
    ) -> Result<Option<Arc<ResultColumns>>, SessionStop> {
        match command {
            SessionCommand::Fetch(fetch) if !fetch.is_move => {
                Ok(self.cursor_columns(&fetch.cursor).ok())
            }
            SessionCommand::Execute { name, .. } => self.executed_columns(name),
            _ => Ok(None),
        }
    }

    /// Executes a portal of a command, all of it.
    pub(in crate::session) fn execute_command(
        &mut self,
        portal: &mut Portal,
        command: &SessionCommand,
        is_last: bool,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        if !matches!(portal.state, PortalState::Bound) {
            return Err(ServerFailure::error("55000", "portal cannot be run anymore").into());
        }
        if !is_last {
            self.begin_implicit()?;
        }
        match command {
            SessionCommand::Declare {
                name,
                is_binary,
                sql,
            } => self.declare_bound(portal, name, *is_binary, sql, sender)?,
            _ => self.run_bound(portal, command, sender)?,
        }
        portal.state = PortalState::Done;
        Ok(())
    }

    /// `DECLARE` of a query with the values of the portal.
    fn declare_bound(
        &mut self,
        portal: &mut Portal,
        name: &str,
        is_binary: bool,
        sql: &str,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        let oids: Vec<u32> = {
            let outer = PreparedStatement::locked(&portal.statement);
            outer.parameters.iter().map(Parameter::oid).collect()
        };
        let query = self.prepared_statement(sql, &oids)?;
        let cursor = Portal {
            statement: Arc::new(Mutex::new(query)),
            values: std::mem::take(&mut portal.values),
            types: Arc::clone(&portal.types),
            formats: Vec::new(),
            state: PortalState::Bound,
        };
        self.open_cursor(name, is_binary, cursor)?;
        sender.output.command_complete("DECLARE CURSOR");
        Ok(())
    }

    fn run_bound(
        &mut self,
        portal: &Portal,
        command: &SessionCommand,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        match self.start_command(command)? {
            Commanded::Done(tag) => sender.output.command_complete(&tag),
            Commanded::Completed(completion) => Self::complete(completion, sender),
            Commanded::Rows(rows) => {
                rows.columns.check_formats(&portal.formats)?;
                self.send_command_rows(rows, command, &portal.formats, sender)?;
            }
        }
        Ok(())
    }
}
