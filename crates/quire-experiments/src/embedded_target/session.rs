//! A user's connection: each text of a statement is prepared once.

use std::collections::HashMap;

use quire::{Connection, Error, Prepared, Reply};
use quire_workload::{SessionError, SqlValue, WorkloadRows, WorkloadSession};

use super::values::{parameters_of, sql_value};

/// Errors after which the transaction is run again: serialization failure, deadlock, lock timeout.
const RETRIED: [&str; 3] = ["40001", "40P01", "55P03"];

pub(super) struct EmbeddedSession {
    connection: Connection,
    statements: HashMap<String, Prepared>,
}

impl EmbeddedSession {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            statements: HashMap::new(),
        }
    }

    fn reply(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<Reply, Error> {
        // Most calls find the statement, so the text is not copied for looking.
        if !self.statements.contains_key(sql) {
            let prepared = self.connection.prepare(sql)?;
            self.statements.insert(sql.to_owned(), prepared);
        }
        let Some(statement) = self.statements.get_mut(sql) else {
            return Err(Error::new("XX000", "a prepared statement is missing"));
        };
        let (values, types) = parameters_of(statement.parameter_types(), parameters);
        statement.execute_as(&values, &types)
    }

    fn rows(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, Error> {
        let mut reply = self.reply(sql, parameters)?;
        let types: Vec<_> = match reply.schema() {
            Some(schema) => {
                let fields = schema.fields().iter();
                fields.map(|field| field.data_type().clone()).collect()
            }
            None => Vec::new(),
        };
        let mut rows = Vec::new();
        while reply.advance()? {
            let values = types.iter().enumerate();
            let row = values.map(|(column, kind)| sql_value(reply.value(column), kind));
            rows.push(row.collect::<Result<_, _>>()?);
        }
        Ok(rows)
    }

    fn command(&mut self, sql: &str) -> Result<(), SessionError> {
        let ended = self.connection.execute(sql).map(|_| ());
        ended.map_err(|error| session_error(sql, &error))
    }
}

fn session_error(sql: &str, error: &Error) -> SessionError {
    if RETRIED.contains(&error.sqlstate()) {
        return SessionError::Retry(error.to_string());
    }
    SessionError::Failed {
        statement: sql.to_owned(),
        message: error.to_string(),
    }
}

impl WorkloadSession for EmbeddedSession {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        let rows = self.rows(sql, parameters);
        rows.map_err(|error| session_error(sql, &error))
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        let reply = self.reply(sql, parameters);
        let count = reply.map(|reply| reply.rows_affected());
        count.map_err(|error| session_error(sql, &error))
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.command("BEGIN")
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        self.command("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        match self.connection.transaction_status() {
            quire::TransactionStatus::Idle => Ok(()),
            _ => self.command("ROLLBACK"),
        }
    }
}
