//! `Parse`, `Bind`, `Describe`, `Execute` and `Close`.

use std::sync::{Arc, Mutex};

use quire::{Completion, Outcome, Reply, Value};

use super::copying::may_copy;
use super::portal::{Portal, State};
use super::rows::{Columns, Source, tag_of};
use super::statement::{SharedStatement, Statement, unknown_statement};
use super::{Session, Stop};
use crate::failure::Failure;
use crate::net::Sender;
use crate::types::Parameter;
use crate::wire::{Bind, Format, Target};

/// Statements and portals that one session may keep under names.
const NAMES_MAX: usize = 10_000;

impl Session {
    pub(super) fn parse(
        &mut self,
        name: &str,
        sql: &str,
        oids: &[u32],
        sender: &mut Sender,
    ) -> Result<(), Stop> {
        if !name.is_empty() && self.statements.contains_key(name) {
            let text = format!("prepared statement \"{name}\" already exists");
            return Err(Failure::error("42P05", text).into());
        }
        check_room(self.statements.len())?;
        let prepared = self.connection.prepare(sql);
        let prepared = prepared.map_err(|error| Failure::of_statement(&error, sql, 0))?;
        let statement = Statement::new(prepared, sql, oids);
        self.statements
            .insert(name.to_owned(), Arc::new(Mutex::new(statement)));
        sender.output.parse_complete();
        Ok(())
    }

    pub(super) fn bind(&mut self, bind: &Bind<'_>, sender: &mut Sender) -> Result<(), Stop> {
        if !bind.portal.is_empty() && self.portals.contains_key(bind.portal) {
            let text = format!("cursor \"{}\" already exists", bind.portal);
            return Err(Failure::error("42P03", text).into());
        }
        check_room(self.portals.len())?;
        let shared = Arc::clone(self.statement(bind.statement)?);
        let portal = {
            let statement = Statement::locked(&shared);
            check_counts(bind, &statement.parameters)?;
            let mut types = Arc::clone(&statement.types);
            let mut values = Vec::with_capacity(bind.parameters.len());
            let given = statement
                .parameters
                .iter()
                .zip(&bind.parameters)
                .enumerate();
            for (index, (parameter, bytes)) in given {
                let format = Format::at(&bind.parameter_formats, index);
                let decoded = parameter.decode(format, *bytes);
                let (value, data_type) = decoded.map_err(|error| {
                    Failure::error(
                        error.sqlstate(),
                        format!("{error} (parameter ${})", index + 1),
                    )
                })?;
                values.push(value);
                if data_type.is_some()
                    && let Some(place) = Arc::make_mut(&mut types).get_mut(index)
                {
                    *place = data_type;
                }
            }
            Portal {
                statement: Arc::clone(&shared),
                values,
                types,
                formats: bind.result_formats.clone(),
                state: State::Bound,
            }
        };
        self.portals.insert(bind.portal.to_owned(), portal);
        sender.output.bind_complete();
        Ok(())
    }

    fn statement(&self, name: &str) -> Result<&SharedStatement, Failure> {
        self.statements
            .get(name)
            .ok_or_else(|| unknown_statement(name))
    }

    fn take_portal(&mut self, name: &str) -> Result<Portal, Failure> {
        self.portals
            .remove(name)
            .ok_or_else(|| Failure::error("34000", format!("portal \"{name}\" does not exist")))
    }

    pub(super) fn describe(&mut self, target: Target<'_>, sender: &mut Sender) -> Result<(), Stop> {
        match target {
            Target::Statement(name) => {
                let shared = Arc::clone(self.statement(name)?);
                let mut statement = Statement::locked(&shared);
                let columns = columns_of(&mut statement)?;
                let oids = statement.parameters.iter().map(Parameter::oid);
                sender.output.parameter_description(oids);
                describe_rows(&mut statement, columns.as_deref(), &[], sender);
                Ok(())
            }
            Target::Portal(name) => {
                let mut portal = self.take_portal(name)?;
                let described = self.describe_portal(&mut portal, sender);
                self.portals.insert(name.to_owned(), portal);
                described
            }
        }
    }

    fn describe_portal(&mut self, portal: &mut Portal, sender: &mut Sender) -> Result<(), Stop> {
        let shared = Arc::clone(&portal.statement);
        let mut statement = Statement::locked(&shared);
        let is_new = matches!(portal.state, State::Bound) && statement.columns.is_none();
        if is_new && statement.prepared.is_query() && !statement.is_empty {
            // Nothing else tells the columns of a query sooner than to begin it, and it changes nothing.
            self.start(portal, &mut statement)?;
        }
        let columns = columns_of(&mut statement)?;
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
    ) -> Result<(), Stop> {
        let mut portal = self.take_portal(name)?;
        let shared = Arc::clone(&portal.statement);
        let mut statement = Statement::locked(&shared);
        if statement.is_empty {
            sender.output.empty_query();
        } else {
            if statement.control.is_some() {
                self.warn_of(statement.control, sender);
            } else if !is_last {
                self.begin_implicit()?;
            }
            self.begin_timed();
            let advanced = self.advance(&mut portal, &mut statement, row_count_max, sender);
            self.end_timed(advanced)?;
            if statement.control.is_some() {
                self.is_implicit = false;
            }
            if statement.sets {
                self.announce_settings(sender);
            }
        }
        drop(statement);
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    fn advance(
        &mut self,
        portal: &mut Portal,
        statement: &mut Statement,
        row_count_max: u32,
        sender: &mut Sender,
    ) -> Result<(), Stop> {
        if let State::Bound = portal.state
            && may_copy(&statement.sql)
            && self.copy(&statement.sql, false, sender)?
        {
            portal.state = State::Done;
            return Ok(());
        }
        if let State::Bound = portal.state
            && let Some(outcome) = self.start(portal, statement)?
        {
            for notice in outcome.notices {
                sender.output.notice(&Failure::notice(notice));
            }
            sender.output.command_complete(&outcome.tag);
            return Ok(());
        }
        let most = match row_count_max {
            0 => u64::MAX,
            most => u64::from(most),
        };
        match &mut portal.state {
            State::Running {
                source,
                columns,
                command,
            } => {
                let command = *command;
                let count = source.send(columns, &portal.formats, most, sender)?;
                if count == most {
                    sender.output.portal_suspended();
                } else {
                    sender.output.command_complete(&tag_of(command, count));
                    portal.state = State::Exhausted { command };
                }
                Ok(())
            }
            State::Exhausted { command } => {
                sender.output.command_complete(&tag_of(command, 0));
                Ok(())
            }
            State::Bound | State::Done => {
                let failure = Failure::error("55000", "portal cannot be run anymore");
                Err(failure.into())
            }
        }
    }

    /// Begins a portal: its rows are there to be sent, or it is done, with what is to be said then.
    fn start(
        &mut self,
        portal: &mut Portal,
        statement: &mut Statement,
    ) -> Result<Option<Completion>, Stop> {
        if let Some(tag) = self.deallocate(&statement.sql)? {
            portal.state = State::Done;
            return Ok(Some(Completion {
                tag: tag.to_owned(),
                row_count: None,
                notices: Vec::new(),
            }));
        }
        let reply = statement.prepared.execute_as(&portal.values, &portal.types);
        let reply = reply.map_err(|error| Failure::of_statement(&error, &statement.sql, 0))?;
        let Some(schema) = reply.schema() else {
            portal.state = State::Done;
            return match reply.into_outcome()? {
                Outcome::Done(completion) => Ok(Some(completion)),
                Outcome::Rows(_) => Ok(None),
            };
        };
        let columns = match &statement.columns {
            Some(Some(known)) if Arc::ptr_eq(&known.schema, schema) => Arc::clone(known),
            Some(Some(known)) if known.are_like(schema) => Arc::clone(known),
            None => {
                let columns = Arc::new(Columns::new(Arc::clone(schema)));
                statement.columns = Some(Some(Arc::clone(&columns)));
                columns
            }
            Some(_) => {
                statement.forget_columns();
                let text = "cached plan must not change result type";
                return Err(Failure::error("0A000", text).into());
            }
        };
        columns.check_formats(&portal.formats)?;
        portal.state = State::Running {
            command: reply.command(),
            source: source_of(reply)?,
            columns,
        };
        portal.values = Vec::<Value>::new();
        Ok(None)
    }

    pub(super) fn close(&mut self, target: Target<'_>, sender: &mut Sender) {
        match target {
            Target::Statement(name) => {
                if let Some(statement) = self.statements.remove(name) {
                    // Its portals go with it.
                    self.portals
                        .retain(|_, portal| !Arc::ptr_eq(&portal.statement, &statement));
                }
            }
            Target::Portal(name) => {
                self.portals.remove(name);
            }
        }
        sender.output.close_complete();
    }
}

fn source_of(reply: Reply) -> Result<Source, quire::Error> {
    if !reply.comes_in_batches() {
        return Ok(Source::Values(Box::new(reply)));
    }
    match reply.into_outcome()? {
        Outcome::Rows(rows) => Ok(Source::of_rows(rows)),
        Outcome::Done(_) => Ok(Source::Nothing),
    }
}

fn columns_of(statement: &mut Statement) -> Result<Option<Arc<Columns>>, Failure> {
    if statement.is_empty {
        return Ok(None);
    }
    let found = statement.find_columns();
    found.map_err(|error| Failure::of_statement(&error, &statement.sql, 0))
}

fn describe_rows(
    statement: &mut Statement,
    columns: Option<&Columns>,
    formats: &[Format],
    sender: &mut Sender,
) {
    match columns {
        Some(columns) => statement.describe(columns, formats, &mut sender.output),
        None => sender.output.no_data(),
    }
}

fn check_room(names: usize) -> Result<(), Failure> {
    if names < NAMES_MAX {
        return Ok(());
    }
    let text =
        format!("a session keeps at most {NAMES_MAX} prepared statements and as many portals");
    Err(Failure::error("54000", text).with_hint("Close those that are not needed."))
}

fn check_counts(bind: &Bind<'_>, parameters: &[Parameter]) -> Result<(), Failure> {
    let (given, expected) = (bind.parameters.len(), parameters.len());
    let formats = bind.parameter_formats.len();
    if given != expected {
        let name = bind.statement;
        let text = format!(
            "bind message supplies {given} parameters, but prepared statement \"{name}\" requires {expected}"
        );
        return Err(Failure::error("08P01", text));
    }
    if formats > 1 && formats != given {
        let text = format!("bind message has {formats} parameter formats but {given} parameters");
        return Err(Failure::error("08P01", text));
    }
    Ok(())
}
