//! A session of MariaDB.

use super::super::{SessionError, WorkloadRows, WorkloadSession, placeholders};
use super::values::{value_of_result, wire_parameter};
use crate::SqlValue;
use mysql::prelude::Queryable;
use mysql::{Conn, Params, Row, Statement};
use std::collections::HashMap;

/// Deadlock, lock wait timeout, a record that changed since the snapshot (`innodb_snapshot_isolation`); MariaDB's table of error codes.
const AGAIN: [u16; 3] = [1213, 1205, 1020];

pub(super) struct MariaDbSession {
    connection: Conn,
    statements: HashMap<String, MariaDbStatement>,
}

#[derive(Clone)]
struct MariaDbStatement {
    statement: Statement,
    /// For each `?` the index of its parameter.
    order: Vec<usize>,
}

impl MariaDbSession {
    pub(super) fn new(connection: Conn) -> Self {
        Self {
            connection,
            statements: HashMap::new(),
        }
    }

    /// Prepares a statement, unless it is, and puts its parameters in order.
    fn prepared(
        &mut self,
        sql: &str,
        parameters: &[SqlValue],
    ) -> Result<(Statement, Params), SessionError> {
        if !self.statements.contains_key(sql) {
            let (text, order) = placeholders::positional(sql);
            let statement = self
                .connection
                .prep(text)
                .map_err(|error| session_error(sql, &error))?;
            self.statements
                .insert(sql.to_owned(), MariaDbStatement { statement, order });
        }
        let MariaDbStatement { statement, order } = &self.statements[sql];
        if order.iter().max().map_or(0, |most| most + 1) != parameters.len() {
            return Err(failed(
                sql,
                format!("{} parameters do not fit", parameters.len()),
            ));
        }
        let values: Vec<_> = order
            .iter()
            .map(|&index| wire_parameter(&parameters[index]))
            .collect();
        let values = if values.is_empty() {
            Params::Empty
        } else {
            Params::Positional(values)
        };
        Ok((statement.clone(), values))
    }

    fn run(&mut self, sql: &str) -> Result<(), SessionError> {
        self.connection
            .query_drop(sql)
            .map_err(|error| session_error(sql, &error))
    }
}

impl WorkloadSession for MariaDbSession {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        let (statement, values) = self.prepared(sql, parameters)?;
        let rows: Vec<Row> = self
            .connection
            .exec(statement, values)
            .map_err(|error| session_error(sql, &error))?;
        let rows = rows
            .into_iter()
            .map(values_of_row)
            .collect::<Result<_, _>>();
        rows.map_err(|message| failed(sql, message))
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        let (statement, values) = self.prepared(sql, parameters)?;
        let result = self
            .connection
            .exec_iter(statement, values)
            .map_err(|error| session_error(sql, &error))?;
        Ok(result.affected_rows())
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.run("BEGIN")
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        self.run("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        self.run("ROLLBACK")
    }
}

fn values_of_row(row: Row) -> Result<Vec<SqlValue>, String> {
    let columns = row.columns();
    // All values are there, as none was taken.
    let values = row.unwrap_raw().into_iter().flatten();
    let typed = values.zip(columns.iter());
    typed
        .map(|(value, column)| value_of_result(column.column_type(), value))
        .collect()
}

fn failed(sql: &str, message: String) -> SessionError {
    SessionError::Failed {
        statement: sql.to_owned(),
        message,
    }
}

fn session_error(sql: &str, error: &mysql::Error) -> SessionError {
    match error {
        mysql::Error::MySqlError(inner) if AGAIN.contains(&inner.code) => {
            SessionError::Retry(error.to_string())
        }
        _ => failed(sql, error.to_string()),
    }
}
