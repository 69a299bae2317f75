//! `Parse`, `Bind`, `Describe`, `Execute` and `Close`.

use std::sync::Arc;

use quire::{Completion, Outcome, Reply, Value};

use super::commands::SessionCommand;
use super::copying::may_copy;
use super::introspection::in_other_words;
use super::portal::{Portal, PortalState};
use super::rows::{PortalSource, ResultColumns, tag_of};
use super::statement::{PreparedStatement, SharedStatement, unknown_statement};
use super::{ClientSession, SessionStop};
use crate::failure::ServerFailure;
use crate::net::Sender;
use crate::types::{Parameter, WireFormat};
use crate::wire::{Bind, DescribeTarget};

/// Statements and portals that one session may keep under names.
const NAMES_MAX: usize = 10_000;

impl ClientSession {
    pub(super) fn parse(
        &mut self,
        name: &str,
        sql: &str,
        oids: &[u32],
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        self.keep_statement(name, sql, oids)?;
        sender.output.parse_complete();
        Ok(())
    }

    pub(super) fn bind(&mut self, bind: &Bind<'_>, sender: &mut Sender) -> Result<(), SessionStop> {
        if !bind.portal.is_empty() && self.portals.contains_key(bind.portal) {
            let text = format!("cursor \"{}\" already exists", bind.portal);
            return Err(ServerFailure::error("42P03", text).into());
        }
        self.check_room(self.portals.len())?;
        let shared = Arc::clone(self.statement(bind.statement)?);
        let portal = {
            let statement = PreparedStatement::locked(&shared);
            check_counts(bind, &statement.parameters)?;
            let given = bind.parameters.iter().copied();
            let (values, types) = statement.decoded(&bind.parameter_formats, given)?;
            Portal {
                statement: Arc::clone(&shared),
                values,
                types,
                formats: bind.result_formats.clone(),
                state: PortalState::Bound,
            }
        };
        self.portals.insert(bind.portal.to_owned(), portal);
        sender.output.bind_complete();
        Ok(())
    }

    /// A session has room for so many names.
    pub(super) fn check_room(&self, names: usize) -> Result<(), ServerFailure> {
        if names < NAMES_MAX {
            return Ok(());
        }
        let text =
            format!("a session keeps at most {NAMES_MAX} prepared statements and as many portals");
        Err(ServerFailure::error("54000", text).with_hint("Close those that are not needed."))
    }

    /// Prepares a statement, or what a command has within.
    pub(super) fn prepared_statement(
        &mut self,
        sql: &str,
        oids: &[u32],
    ) -> Result<PreparedStatement, SessionStop> {
        let command = SessionCommand::of(sql)?;
        let text = match &command {
            Some(command) => command.inner().unwrap_or_default(),
            None => in_other_words(sql),
        };
        let prepared = self.connection.prepare(text);
        let prepared = prepared.map_err(|error| ServerFailure::of_statement(&error, text, 0))?;
        Ok(PreparedStatement::new(prepared, sql, oids, command))
    }

    fn statement(&self, name: &str) -> Result<&SharedStatement, ServerFailure> {
        self.statements
            .get(name)
            .ok_or_else(|| unknown_statement(name))
    }

    fn take_portal(&mut self, name: &str) -> Result<Portal, ServerFailure> {
        self.portals.remove(name).ok_or_else(|| {
            ServerFailure::error("34000", format!("portal \"{name}\" does not exist"))
        })
    }

    pub(super) fn describe(
        &mut self,
        target: DescribeTarget<'_>,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        match target {
            DescribeTarget::Statement(name) => {
                let shared = Arc::clone(self.statement(name)?);
                let columns = self.columns_of(&shared)?;
                let mut statement = PreparedStatement::locked(&shared);
                let oids = statement.parameters.iter().map(Parameter::oid);
                sender.output.parameter_description(oids);
                describe_rows(&mut statement, columns.as_deref(), &[], sender);
                Ok(())
            }
            DescribeTarget::Portal(name) => {
                let mut portal = self.take_portal(name)?;
                let described = self.describe_portal(&mut portal, sender);
                self.portals.insert(name.to_owned(), portal);
                described
            }
        }
    }

    /// The columns of a statement's rows, if it gives any.
    fn columns_of(
        &mut self,
        shared: &SharedStatement,
    ) -> Result<Option<Arc<ResultColumns>>, SessionStop> {
        let command = {
            let mut statement = PreparedStatement::locked(shared);
            if statement.is_empty {
                return Ok(None);
            }
            let Some(command) = statement.command.clone() else {
                let found = statement.find_columns();
                let found =
                    found.map_err(|error| ServerFailure::of_statement(&error, &statement.sql, 0));
                return Ok(found?);
            };
            command
        };
        self.command_columns(&command)
    }

    fn describe_portal(
        &mut self,
        portal: &mut Portal,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        let shared = Arc::clone(&portal.statement);
        {
            let mut statement = PreparedStatement::locked(&shared);
            let is_new = matches!(portal.state, PortalState::Bound) && statement.columns.is_none();
            if is_new && statement.is_plain_query() {
                // Nothing else tells the columns of a query sooner than to begin it, and it changes nothing.
                self.start(portal, &mut statement)?;
            }
        }
        let columns = self.columns_of(&shared)?;
        let mut statement = PreparedStatement::locked(&shared);
        if let Some(columns) = &columns {
            columns.check_formats(&portal.formats)?;
        }
        describe_rows(&mut statement, columns.as_deref(), &portal.formats, sender);
        Ok(())
    }

    /// Executes a portal; `is_last` says that nothing else is in its transaction.
    pub(super) fn execute(
        &mut self,
        name: &str,
        row_count_max: u32,
        is_last: bool,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        let mut portal = self.take_portal(name)?;
        let shared = Arc::clone(&portal.statement);
        let mut statement = PreparedStatement::locked(&shared);
        if let Some(command) = statement.command.clone() {
            // It may be about the very statement that is locked.
            let sets = statement.sets;
            drop(statement);
            self.execute_command(&mut portal, &command, is_last, sender)?;
            if sets {
                self.settings.announce(&self.connection, sender);
            }
            self.portals.insert(name.to_owned(), portal);
            return Ok(());
        }
        if statement.is_empty {
            sender.output.empty_query();
        } else {
            if statement.control.is_some() {
                self.warn_of(statement.control, sender);
            } else if !is_last {
                self.begin_implicit()?;
            }
            self.advance(&mut portal, &mut statement, row_count_max, sender)?;
            if statement.control.is_some() {
                self.is_implicit = false;
            }
            if statement.sets {
                self.settings.announce(&self.connection, sender);
            }
        }
        drop(statement);
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    fn advance(
        &mut self,
        portal: &mut Portal,
        statement: &mut PreparedStatement,
        row_count_max: u32,
        sender: &mut Sender,
    ) -> Result<(), SessionStop> {
        if let PortalState::Bound = portal.state
            && may_copy(&statement.sql)
            && self.copy(&statement.sql, false, sender)?
        {
            portal.state = PortalState::Done;
            return Ok(());
        }
        if let PortalState::Bound = portal.state
            && let Some(outcome) = self.start(portal, statement)?
        {
            Self::complete(outcome, sender);
            return Ok(());
        }
        let most = match row_count_max {
            0 => u64::MAX,
            most => u64::from(most),
        };
        match &mut portal.state {
            PortalState::Running {
                source,
                columns,
                command,
            } => {
                let command = *command;
                let count = source.send(columns, &portal.formats, most, sender)?;
                if count == most {
                    source.renew_time_limit();
                    sender.output.portal_suspended();
                } else {
                    sender.output.command_complete(&tag_of(command, count));
                    let columns = Arc::clone(columns);
                    portal.state = PortalState::Exhausted { columns, command };
                }
                Ok(())
            }
            PortalState::Exhausted { command, .. } => {
                sender.output.command_complete(&tag_of(command, 0));
                Ok(())
            }
            PortalState::Bound | PortalState::Done => {
                let failure = ServerFailure::error("55000", "portal cannot be run anymore");
                Err(failure.into())
            }
        }
    }

    /// Begins a portal: its rows are there to be sent, or it is done, with what is to be said then.
    pub(super) fn start(
        &mut self,
        portal: &mut Portal,
        statement: &mut PreparedStatement,
    ) -> Result<Option<Completion>, SessionStop> {
        let reply = statement.prepared.execute_as(&portal.values, &portal.types);
        let reply =
            reply.map_err(|error| ServerFailure::of_statement(&error, &statement.sql, 0))?;
        let Some(schema) = reply.schema() else {
            portal.state = PortalState::Done;
            return match reply.into_outcome()? {
                Outcome::Done(completion) => Ok(Some(completion)),
                Outcome::Rows(_) => Ok(None),
            };
        };
        let columns = match &statement.columns {
            Some(Some(known)) if Arc::ptr_eq(&known.schema, schema) => Arc::clone(known),
            Some(Some(known)) if known.are_like(schema) => Arc::clone(known),
            None => {
                let columns = Arc::new(ResultColumns::new(Arc::clone(schema)));
                statement.columns = Some(Some(Arc::clone(&columns)));
                columns
            }
            Some(_) => {
                statement.forget_columns();
                let text = "cached plan must not change result type";
                return Err(ServerFailure::error("0A000", text).into());
            }
        };
        columns.check_formats(&portal.formats)?;
        portal.state = PortalState::Running {
            command: reply.command(),
            source: source_of(reply)?,
            columns,
        };
        portal.values = Vec::<Value>::new();
        Ok(None)
    }

    pub(super) fn close(&mut self, target: DescribeTarget<'_>, sender: &mut Sender) {
        match target {
            DescribeTarget::Statement(name) => {
                if let Some(statement) = self.statements.remove(name) {
                    // Its portals go with it.
                    self.portals
                        .retain(|_, portal| !Arc::ptr_eq(&portal.statement, &statement));
                }
            }
            DescribeTarget::Portal(name) => {
                self.portals.remove(name);
            }
        }
        sender.output.close_complete();
    }
}

fn source_of(reply: Reply) -> Result<PortalSource, quire::Error> {
    if !reply.comes_in_batches() {
        return Ok(PortalSource::Values(Box::new(reply)));
    }
    match reply.into_outcome()? {
        Outcome::Rows(rows) => Ok(PortalSource::of_rows(rows)),
        Outcome::Done(_) => Ok(PortalSource::Nothing),
    }
}

fn describe_rows(
    statement: &mut PreparedStatement,
    columns: Option<&ResultColumns>,
    formats: &[WireFormat],
    sender: &mut Sender,
) {
    match columns {
        Some(columns) => statement.describe(columns, formats, &mut sender.output),
        None => sender.output.no_data(),
    }
}

fn check_counts(bind: &Bind<'_>, parameters: &[Parameter]) -> Result<(), ServerFailure> {
    let (given, expected) = (bind.parameters.len(), parameters.len());
    let formats = bind.parameter_formats.len();
    if given != expected {
        let name = bind.statement;
        let text = format!(
            "bind message supplies {given} parameters, but prepared statement \"{name}\" requires {expected}"
        );
        return Err(ServerFailure::error("08P01", text));
    }
    if formats > 1 && formats != given {
        let text = format!("bind message has {formats} parameter formats but {given} parameters");
        return Err(ServerFailure::error("08P01", text));
    }
    Ok(())
}
