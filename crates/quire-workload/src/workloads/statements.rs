//! How transactions write their parameters and read their results.

use crate::{SessionError, SqlValue, WorkloadRows, WorkloadSession};

/// A parameter that is an integer.
pub fn integer(value: impl Into<i64>) -> SqlValue {
    SqlValue::Integer(value.into())
}

/// A parameter that is an amount of money, from a number of cents.
pub fn money(cents: i64) -> SqlValue {
    SqlValue::Decimal {
        unscaled: cents,
        scale: 2,
    }
}

/// The time now, as a parameter.
pub fn now() -> SqlValue {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let micros = since_epoch.map_or(0, |duration| duration.as_micros());
    SqlValue::Timestamp(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// The rows of a query, whose values are read by their type.
pub struct QueryResult<'a> {
    sql: &'a str,
    rows: WorkloadRows,
}

impl<'a> QueryResult<'a> {
    /// Executes the query.
    ///
    /// # Errors
    /// When it fails.
    pub fn of(
        session: &mut dyn WorkloadSession,
        sql: &'a str,
        parameters: &[SqlValue],
    ) -> Result<Self, SessionError> {
        let rows = session.query(sql, parameters)?;
        Ok(Self { sql, rows })
    }

    /// Executes a query that has a row in every consistent database.
    ///
    /// # Errors
    /// When it fails or has no row.
    pub fn of_existing(
        session: &mut dyn WorkloadSession,
        sql: &'a str,
        parameters: &[SqlValue],
    ) -> Result<Self, SessionError> {
        let result = Self::of(session, sql, parameters)?;
        if result.rows.is_empty() {
            return Err(result.failed(format!(
                "no row for {parameters:?}; load the tables of this workload, at this scale"
            )));
        }
        Ok(result)
    }

    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The integer in a row and column.
    ///
    /// # Errors
    /// When there is none.
    pub fn integer(&self, row: usize, column: usize) -> Result<i64, SessionError> {
        let value = self.value(row, column)?;
        value
            .as_integer()
            .ok_or_else(|| self.failed(format!("{value:?} in column {column} is no integer")))
    }

    /// The integer in a row and column, `None` where it is NULL.
    ///
    /// # Errors
    /// When there is something else.
    pub fn nullable_integer(&self, row: usize, column: usize) -> Result<Option<i64>, SessionError> {
        match self.value(row, column)? {
            SqlValue::Null => Ok(None),
            _ => self.integer(row, column).map(Some),
        }
    }

    /// The number in a row and column, in units of 10^-`scale`.
    ///
    /// # Errors
    /// When there is none.
    pub fn unscaled(&self, row: usize, column: usize, scale: u8) -> Result<i64, SessionError> {
        let value = self.value(row, column)?;
        value.as_unscaled(scale).ok_or_else(|| {
            self.failed(format!(
                "{value:?} in column {column} has not {scale} decimals"
            ))
        })
    }

    /// The text in a row and column.
    ///
    /// # Errors
    /// When there is none.
    pub fn text(&self, row: usize, column: usize) -> Result<&str, SessionError> {
        let value = self.value(row, column)?;
        value
            .as_text()
            .ok_or_else(|| self.failed(format!("{value:?} in column {column} is no text")))
    }

    fn value(&self, row: usize, column: usize) -> Result<&SqlValue, SessionError> {
        self.rows
            .get(row)
            .and_then(|row| row.get(column))
            .ok_or_else(|| self.failed(format!("the result has no row {row}, column {column}")))
    }

    fn failed(&self, message: String) -> SessionError {
        SessionError::Failed {
            statement: self.sql.to_owned(),
            message,
        }
    }
}

/// Executes a change of one row that exists in every consistent database.
///
/// # Errors
/// When it fails or changes another number of rows.
pub fn change_one(
    session: &mut dyn WorkloadSession,
    sql: &str,
    parameters: &[SqlValue],
) -> Result<(), SessionError> {
    match session.execute(sql, parameters)? {
        1 => Ok(()),
        count => Err(SessionError::Failed {
            statement: sql.to_owned(),
            message: format!("{count} rows are changed, not one, for {parameters:?}"),
        }),
    }
}
