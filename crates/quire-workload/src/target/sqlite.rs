//! SQLite as a target: a file in a directory, in this process.

use super::csv::CsvRecords;
use super::descriptors::raise_descriptor_limit;
use super::dialect::SqlDialect;
use super::placeholders;
use super::stored::allocated_bytes;
use super::text_value::{date_of_text, timestamp_of_text, value_of_text};
use super::{SessionError, Target, TargetError, WorkloadRows, WorkloadSession};
use crate::{SqlValue, WorkloadTable};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement, ToSql};
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection waits for the one that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// More statements than a workload has.
const STATEMENTS_PER_SESSION: usize = 256;

/// A SQLite database in a directory of its own: a write-ahead log, and commits that are on the disk when they return.
///
/// Transactions begin with `BEGIN IMMEDIATE`: they run one after the other, also those that only read. `FOR UPDATE` at the end of a query
/// is left out, as a transaction has the whole database to itself. SQLite has no decimals: they are doubles, and columns give them back with
/// their declared scale, exact up to 15 digits. Results of expressions have no declared type: decimals are doubles there, dates are texts.
pub struct SqliteTarget {
    directory: PathBuf,
}

impl SqliteTarget {
    /// The database of a directory, which is made if it is not there.
    ///
    /// ```
    /// use quire_workload::target::sqlite::SqliteTarget;
    /// use quire_workload::{WorkloadColumn, ColumnType, SqlValue, WorkloadTable, Target};
    ///
    /// let directory = std::env::temp_dir().join(format!("quire-workload-example-{}", std::process::id()));
    /// let target = SqliteTarget::open(&directory)?;
    /// target.create_table(&WorkloadTable {
    ///     name: "account".into(),
    ///     columns: vec![WorkloadColumn::new("id", ColumnType::BigInteger), WorkloadColumn::nullable("owner", ColumnType::Varchar(20))],
    ///     primary_key: vec!["id"],
    ///     indexes: vec![],
    /// })?;
    /// let mut session = target.connect()?;
    /// session.execute("INSERT INTO account VALUES ($1, $2)", &[SqlValue::Integer(1), SqlValue::text("ada")])?;
    /// let rows = session.query("SELECT owner FROM account WHERE id = $1", &[SqlValue::Integer(1)])?;
    /// assert_eq!(rows, [[SqlValue::text("ada")]]);
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the directory or the file cannot be used.
    pub fn open(directory: &Path) -> Result<Self, TargetError> {
        raise_descriptor_limit();
        std::fs::create_dir_all(directory).map_err(|error| TargetError::File {
            path: directory.to_owned(),
            error,
        })?;
        let target = Self {
            directory: directory.to_owned(),
        };
        target.connection()?;
        Ok(target)
    }

    fn connection(&self) -> Result<Connection, TargetError> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(self.directory.join("workload.sqlite"))?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            // The pragma answers with the mode.
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            connection.execute_batch("PRAGMA synchronous = FULL")?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS_PER_SESSION);
            Ok(connection)
        };
        open().map_err(|error| self.refused(&error))
    }

    fn run(&self, statements: &str) -> Result<(), TargetError> {
        let connection = self.connection()?;
        connection
            .execute_batch(statements)
            .map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &dyn std::error::Error) -> TargetError {
        TargetError::Refused {
            target: self.name(),
            message: error.to_string(),
        }
    }
}

impl Target for SqliteTarget {
    fn name(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    fn create_table(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        self.run(&SqlDialect::Sqlite.create_table(table, ""))
    }

    fn load(&self, table: &WorkloadTable, csv: &Path) -> Result<(), TargetError> {
        let wrong = |error| TargetError::File {
            path: csv.to_owned(),
            error,
        };
        let mut rows = CsvRecords::new(BufReader::new(File::open(csv).map_err(wrong)?));
        let mut connection = self.connection()?;
        let transaction = connection
            .transaction()
            .map_err(|error| self.refused(&error))?;
        let marks = vec!["?"; table.columns.len()].join(", ");
        let insert = format!("INSERT INTO {} VALUES ({marks})", table.name);
        let mut insert = transaction
            .prepare(&insert)
            .map_err(|error| self.refused(&error))?;
        while let Some(fields) = rows.next_row().map_err(wrong)? {
            let values = values_of_fields(table, &fields)
                .map_err(|error| wrong(std::io::Error::other(error)))?;
            insert
                .execute(rusqlite::params_from_iter(
                    values.iter().map(SqliteParameter),
                ))
                .map_err(|error| self.refused(&error))?;
        }
        drop(insert);
        transaction.commit().map_err(|error| self.refused(&error))
    }

    fn create_indexes(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        for index in &table.indexes {
            self.run(&SqlDialect::Sqlite.create_index(table, index))?;
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.run("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError> {
        Ok(Box::new(SqliteSession {
            connection: self.connection()?,
            texts: HashMap::new(),
        }))
    }

    fn stored_bytes(&self) -> Result<u64, TargetError> {
        allocated_bytes(&self.directory)
    }

    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// The values of a row of a CSV file, or what is wrong with it.
fn values_of_fields(
    table: &WorkloadTable,
    fields: &[Option<String>],
) -> Result<Vec<SqlValue>, String> {
    if fields.len() != table.columns.len() {
        return Err(format!(
            "a row of {} fields for {} columns of {}",
            fields.len(),
            table.columns.len(),
            table.name
        ));
    }
    table
        .columns
        .iter()
        .zip(fields)
        .map(|(column, field)| match field {
            None if column.nullable => Ok(SqlValue::Null),
            // SQLite would make up a key of one integer.
            None => Err(format!("NULL in column {} of {}", column.name, table.name)),
            Some(text) => value_of_text(column.kind, text)
                .ok_or_else(|| format!("`{text}` is no value of column {}", column.name)),
        })
        .collect()
}

struct SqliteSession {
    connection: Connection,
    /// Statements as SQLite has them, by the texts of the workload.
    texts: HashMap<String, String>,
}

impl SqliteSession {
    /// Prepares a statement, unless it is, and gives it its parameters.
    fn with_statement<T>(
        &mut self,
        sql: &str,
        parameters: &[SqlValue],
        run: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, SessionError> {
        if !self.texts.contains_key(sql) {
            self.texts.insert(
                sql.to_owned(),
                placeholders::numbered(without_for_update(sql)),
            );
        }
        let connection = &self.connection;
        let run = || {
            let mut statement = connection.prepare_cached(&self.texts[sql])?;
            let expected = statement.parameter_count();
            if parameters.len() != expected {
                return Err(rusqlite::Error::InvalidParameterCount(
                    parameters.len(),
                    expected,
                ));
            }
            for (index, parameter) in parameters.iter().enumerate() {
                statement.raw_bind_parameter(index + 1, SqliteParameter(parameter))?;
            }
            run(&mut statement)
        };
        run().map_err(|error| session_error(sql, &error))
    }

    fn run(&self, sql: &str) -> Result<(), SessionError> {
        self.connection
            .execute_batch(sql)
            .map_err(|error| session_error(sql, &error))
    }
}

impl WorkloadSession for SqliteSession {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError> {
        self.with_statement(sql, parameters, |statement| {
            let types: Vec<StoredType> = statement
                .columns()
                .iter()
                .map(|column| StoredType::of(column.decl_type()))
                .collect();
            let mut found = WorkloadRows::new();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let values = types
                    .iter()
                    .enumerate()
                    .map(|(index, declared)| declared.value(index, row.get_ref(index)?));
                found.push(values.collect::<rusqlite::Result<_>>()?);
            }
            Ok(found)
        })
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError> {
        self.with_statement(sql, parameters, |statement| {
            statement.raw_execute().map(|rows| rows as u64)
        })
    }

    fn begin(&mut self) -> Result<(), SessionError> {
        self.run("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> Result<(), SessionError> {
        self.run("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), SessionError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.run("ROLLBACK")
    }
}

/// A query without the clause that SQLite does not have and, with transactions one after the other, does not need.
fn without_for_update(sql: &str) -> &str {
    const CLAUSE: &str = "FOR UPDATE";
    let trimmed = sql.trim_end();
    let start = trimmed.len().saturating_sub(CLAUSE.len());
    match trimmed.get(start..) {
        Some(end) if end.eq_ignore_ascii_case(CLAUSE) => &trimmed[..start],
        _ => sql,
    }
}

fn session_error(sql: &str, error: &rusqlite::Error) -> SessionError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            SessionError::Retry(error.to_string())
        }
        _ => SessionError::Failed {
            statement: sql.to_owned(),
            message: error.to_string(),
        },
    }
}

/// A value as SQLite stores it: dates as ISO 8601 texts, which sort as the dates do.
struct SqliteParameter<'a>(&'a SqlValue);

impl ToSql for SqliteParameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(value) => ToSqlOutput::Owned(Value::Integer(*value)),
            SqlValue::Double(value) => ToSqlOutput::Owned(Value::Real(*value)),
            SqlValue::Decimal { unscaled, scale: 0 } => {
                ToSqlOutput::Owned(Value::Integer(*unscaled))
            }
            SqlValue::Decimal { unscaled, scale } => {
                // Both are exact up to 2^53 and 10^22, and then their quotient is the nearest double.
                ToSqlOutput::Owned(Value::Real(
                    *unscaled as f64 / 10f64.powi(i32::from(*scale)),
                ))
            }
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            value @ (SqlValue::Date(_) | SqlValue::Timestamp(_)) => {
                ToSqlOutput::Owned(Value::Text(value.to_string()))
            }
        })
    }
}

/// What a column of a table was declared as, where that says more than the stored value.
#[derive(Clone, Copy)]
enum StoredType {
    Other,
    Decimal { scale: u8 },
    Date,
    Timestamp,
}

impl StoredType {
    fn of(name: Option<&str>) -> Self {
        match name {
            Some("DATE") => Self::Date,
            Some("TIMESTAMP") => Self::Timestamp,
            Some(name) => {
                let scale = name
                    .strip_prefix("DECIMAL(")
                    .and_then(|rest| rest.strip_suffix(')'));
                let scale = scale.and_then(|rest| rest.split_once(',')?.1.parse().ok());
                scale.map_or(Self::Other, |scale| Self::Decimal { scale })
            }
            None => Self::Other,
        }
    }

    fn value(self, column: usize, stored: ValueRef<'_>) -> rusqlite::Result<SqlValue> {
        let kind = stored.data_type();
        let value = match (self, stored) {
            (_, ValueRef::Null) => Some(SqlValue::Null),
            (Self::Decimal { scale }, ValueRef::Integer(value)) => {
                unscaled_decimal(SqlValue::Integer(value), scale)
            }
            (Self::Decimal { scale }, ValueRef::Real(value)) => {
                unscaled_decimal(SqlValue::Double(value), scale)
            }
            (_, ValueRef::Integer(value)) => Some(SqlValue::Integer(value)),
            (_, ValueRef::Real(value)) => Some(SqlValue::Double(value)),
            (_, ValueRef::Text(bytes)) => {
                std::str::from_utf8(bytes).ok().and_then(|text| match self {
                    Self::Date => date_of_text(text).map(SqlValue::Date),
                    Self::Timestamp => timestamp_of_text(text).map(SqlValue::Timestamp),
                    _ => Some(SqlValue::text(text)),
                })
            }
            (_, ValueRef::Blob(_)) => None,
        };
        value.ok_or_else(|| rusqlite::Error::InvalidColumnType(column, "result".into(), kind))
    }
}

fn unscaled_decimal(value: SqlValue, scale: u8) -> Option<SqlValue> {
    let unscaled = value.as_unscaled(scale)?;
    Some(SqlValue::Decimal { unscaled, scale })
}
