//! `PREPARE`, `EXECUTE` and `DEALLOCATE`

use std::sync::{Arc, Mutex};

use quire::Outcome;
use quire_text::temporal::TimeZoneRules;

use super::{CommandRows, Commanded};
use crate::failure::ServerFailure;
use crate::session::portal::{Portal, PortalState};
use crate::session::rows::ResultColumns;
use crate::session::statement::{PreparedStatement, SharedStatement, unknown_statement};
use crate::session::{ClientSession, SessionStop};
use crate::types::{PgType, WireColumn, WireFormat, write_text};

impl ClientSession {
    pub(super) fn prepare_named(
        &mut self,
        name: &str,
        types: &[String],
        sql: &str,
    ) -> Result<Commanded, SessionStop> {
        let oids = types.iter().map(|spelled| self.oid_of(spelled));
        let oids = oids.collect::<Result<Vec<_>, _>>()?;
        self.keep_statement(name, sql, &oids)?;
        Ok(Commanded::Done("PREPARE".to_owned()))
    }

    /// The number of a type, which the engine knows how to read.
    fn oid_of(&mut self, spelled: &str) -> Result<u32, ServerFailure> {
        if spelled.eq_ignore_ascii_case("unknown") {
            return Ok(0);
        }
        let is_name = |c: char| c.is_alphanumeric() || " _,()[]\"".contains(c);
        let wrong = || ServerFailure::error("42704", format!("type \"{spelled}\" does not exist"));
        if !spelled.chars().all(is_name) {
            return Err(wrong());
        }
        let prepared = self.connection.prepare(&format!("SELECT NULL::{spelled}"));
        let schema = prepared.and_then(|mut prepared| prepared.describe(&[]));
        let schema = schema.map_err(|_| wrong())?.ok_or_else(wrong)?;
        let field = schema.fields().first().ok_or_else(wrong)?;
        Ok(PgType::of_field(field).oid())
    }

    pub(super) fn execute_named(
        &mut self,
        name: &str,
        arguments: &str,
    ) -> Result<Commanded, SessionStop> {
        let shared = self.statements.get(name).map(Arc::clone);
        let shared = shared.ok_or_else(|| unknown_statement(name))?;
        let given = self.evaluated(arguments)?;
        let mut portal = portal_of(name, &shared, &given)?;
        let mut statement = PreparedStatement::locked(&shared);
        if statement.is_empty {
            return Ok(Commanded::Done(String::new()));
        }
        if statement.command.is_some() || statement.control.is_some() {
            let text = "EXECUTE runs statements on tables only";
            return Err(ServerFailure::error("0A000", text).into());
        }
        if let Some(completion) = self.start(&mut portal, &mut statement)? {
            return Ok(Commanded::Completed(completion));
        }
        match portal.state {
            PortalState::Running {
                source,
                columns,
                command,
            } => Ok(Commanded::Rows(CommandRows {
                source,
                columns,
                command,
                formats: Vec::new(),
            })),
            _ => Ok(Commanded::Done(String::new())),
        }
    }

    /// The columns that `EXECUTE` gives.
    pub(in crate::session) fn executed_columns(
        &mut self,
        name: &str,
    ) -> Result<Option<Arc<ResultColumns>>, SessionStop> {
        let shared = self.statements.get(name).map(Arc::clone);
        let shared = shared.ok_or_else(|| unknown_statement(name))?;
        let mut statement = PreparedStatement::locked(&shared);
        if statement.is_empty || statement.command.is_some() {
            Ok(None)
        } else {
            Ok(statement.find_columns()?)
        }
    }

    /// Values of expressions, as text.
    fn evaluated(&mut self, arguments: &str) -> Result<Vec<Option<Vec<u8>>>, SessionStop> {
        if arguments.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!("SELECT {arguments}");
        let outcome = self.connection.execute(&sql);
        let Outcome::Rows(mut rows) = outcome? else {
            return Ok(Vec::new());
        };
        while let Some(batch) = rows.next_batch()? {
            if batch.num_rows() == 0 {
                continue;
            }
            let columns = batch.columns().iter().map(WireColumn::new);
            let columns = columns.collect::<Result<Vec<_>, _>>();
            let columns =
                columns.map_err(|error| ServerFailure::error("22000", error.to_string()))?;
            let text = |column: &WireColumn| {
                let mut bytes = Vec::new();
                write_text(&mut bytes, &column.cell(0), &TimeZoneRules::default()).then_some(bytes)
            };
            return Ok(columns.iter().map(text).collect());
        }
        Ok(Vec::new())
    }

    pub(super) fn deallocate(&mut self, name: Option<&str>) -> Result<Commanded, SessionStop> {
        match name {
            None => {
                self.statements.clear();
                Ok(Commanded::Done("DEALLOCATE ALL".to_owned()))
            }
            Some(name) => match self.statements.remove(name) {
                Some(_) => Ok(Commanded::Done("DEALLOCATE".to_owned())),
                None => Err(unknown_statement(name).into()),
            },
        }
    }

    /// Prepares a statement and keeps it under a name.
    pub(in crate::session) fn keep_statement(
        &mut self,
        name: &str,
        sql: &str,
        oids: &[u32],
    ) -> Result<(), SessionStop> {
        if !name.is_empty() && self.statements.contains_key(name) {
            let text = format!("prepared statement \"{name}\" already exists");
            return Err(ServerFailure::error("42P05", text).into());
        }
        self.check_room(self.statements.len())?;
        let statement = self.prepared_statement(sql, oids)?;
        self.statements
            .insert(name.to_owned(), Arc::new(Mutex::new(statement)));
        Ok(())
    }
}

fn portal_of(
    name: &str,
    shared: &SharedStatement,
    given: &[Option<Vec<u8>>],
) -> Result<Portal, ServerFailure> {
    let statement = PreparedStatement::locked(shared);
    let expected = statement.parameters.len();
    if given.len() != expected {
        let text = format!("wrong number of parameters for prepared statement \"{name}\"");
        let detail = format!("Expected {expected} parameters but got {}.", given.len());
        return Err(ServerFailure::error("42601", text).with_detail(detail));
    }
    let given = given.iter().map(Option::as_deref);
    let (values, types) = statement.decoded(&[WireFormat::Text], given)?;
    Ok(Portal {
        statement: Arc::clone(shared),
        values,
        types,
        formats: Vec::new(),
        state: PortalState::Bound,
    })
}
