//! A session of a server that speaks PostgreSQL's protocol.

use super::super::{SessionError, WorkloadRows, WorkloadSession};
use super::error_text::error_text;
use super::wire_value::{WireParameter, WireResult};
use crate::SqlValue;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use std::collections::HashMap;

pub(super) struct PostgreSqlSession {
    client: Client,
    statements: HashMap<String, Statement>,
    /// Whether a statement of the transaction failed. The server answers COMMIT with a rollback then, and calls it no error.
    has_failed: bool,
}

impl PostgreSqlSession {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            statements: HashMap::new(),
            has_failed: false,
        }
    }

    /// Prepares a statement, unless it is, and runs it.
    fn with_statement<T>(
        &mut self,
        sql: &str,
        parameters: &[SqlValue],
        run: impl FnOnce(&mut Client, &Statement, &[&(dyn ToSql + Sync)]) -> Result<T, postgres::Error>,
    ) -> Result<T, SessionError> {
        let result = self
            .prepared(sql)
            .map_err(|error| session_error(sql, &error))
            .and_then(|statement| {
                let expected = statement.params().len();
                if expected != parameters.len() {
                    return Err(failed(
                        sql,
                        format!("{} parameters for {expected}", parameters.len()),
                    ));
                }
                let parameters: Vec<WireParameter<'_>> =
                    parameters.iter().map(WireParameter).collect();
                let parameters: Vec<&(dyn ToSql + Sync)> =
                    parameters.iter().map(|parameter| parameter as _).collect();
                run(&mut self.client, &statement, &parameters)
                    .map_err(|error| session_error(sql, &error))
            });
        self.has_failed |= result.is_err();
        result
    }

    fn prepared(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn run(&mut self, sql: &str) -> Result<(), SessionError> {
        self.client
            .batch_execute(sql)
            .map_err(|error| session_error(sql, &error))
    }
}

impl WorkloadSession for PostgreSqlSession {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        let rows = self.with_statement(sql, parameters, |client, statement, parameters| {
            client.query(statement, parameters)
        })?;
        let values = rows.iter().map(values_of_row).collect::<Result<_, _>>();
        values.map_err(|error| failed(sql, error_text(&error)))
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        self.with_statement(sql, parameters, |client, statement, parameters| {
            client.execute(statement, parameters)
        })
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.has_failed = false;
        self.run("BEGIN")
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        let has_failed = std::mem::take(&mut self.has_failed);
        self.run("COMMIT")?;
        if has_failed {
            return Err(failed(
                "COMMIT",
                "a statement of the transaction failed: it is rolled back".into(),
            ));
        }
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        self.has_failed = false;
        // Without a transaction this is a warning.
        self.run("ROLLBACK")
    }
}

fn values_of_row(row: &Row) -> Result<Vec<SqlValue>, postgres::Error> {
    (0..row.len())
        .map(|index| row.try_get::<_, WireResult>(index).map(|value| value.0))
        .collect()
}

fn failed(sql: &str, message: String) -> SessionError {
    SessionError::Failed {
        statement: sql.to_owned(),
        message,
    }
}

fn session_error(sql: &str, error: &postgres::Error) -> SessionError {
    const AGAIN: [SqlState; 3] = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    match error.code() {
        Some(code) if AGAIN.contains(code) => SessionError::Retry(error_text(error)),
        _ => failed(sql, error_text(error)),
    }
}
