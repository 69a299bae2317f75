//! Statements that take the general path. A query of row tables that is executed a second time is planned for all executions to come
//! ([`RepeatedQuery`]), and runs on the caller's thread from then on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::datatypes::DataType;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::wait::wait;
use quire_planner::scalar::is_text;
use quire_tables::row_table::Value;

use super::answer::StatementAnswer;
use super::memory::StatementBuffers;
use super::parameter::spelled;
use crate::session::Session;
use crate::sql::{RepeatedQuery, RepeatedRows};

/// A statement that this path does not cover, as long as the schema has this version.
pub(super) struct GeneralStatement {
    pub(super) schema_version: u64,
    repetition: Mutex<Repetition>,
}

/// What is known of a statement's repetitions.
#[derive(Clone)]
enum Repetition {
    /// It has not run yet.
    None,
    /// The next execution plans it.
    Expected,
    /// It takes the general path again, or is being planned.
    General,
    Query(Arc<RepeatedQuery>),
}

impl GeneralStatement {
    pub(super) fn new(schema_version: u64) -> Self {
        Self {
            schema_version,
            repetition: Mutex::new(Repetition::None),
        }
    }

    /// The query, once it is planned.
    pub(super) fn query(&self) -> Option<Arc<RepeatedQuery>> {
        match &*self.repetition() {
            Repetition::Query(query) => Some(Arc::clone(query)),
            _ => None,
        }
    }

    /// Runs the statement if it is a repeated query; `None` leaves it to the general path.
    pub(super) fn run(
        &self,
        session: &Arc<Session>,
        (sql, types): (&str, &[Option<DataType>]),
        parameters: &[Value],
        token: &CancelToken,
        memory: &mut StatementBuffers,
    ) -> Result<Option<StatementAnswer>, Error> {
        if wait(session.transaction.lock()).is_aborted() {
            return Ok(None);
        }
        let query = match self.next_execution() {
            Repetition::Query(query) => query,
            Repetition::Expected => match self.plan(session, (sql, types), token)? {
                Some(query) => query,
                None => return Ok(None),
            },
            Repetition::None | Repetition::General => return Ok(None),
        };
        let rows = std::mem::take(&mut memory.rows);
        Ok(match query.run(session, parameters, token, rows)? {
            RepeatedRows::All(rows) => {
                let schema = Arc::clone(query.schema());
                Some(StatementAnswer::Rows(schema, rows, "SELECT"))
            }
            RepeatedRows::Coming(rows) => Some(StatementAnswer::Coming(rows)),
            RepeatedRows::Left => None,
            RepeatedRows::Outdated => {
                *self.repetition() = Repetition::Expected;
                None
            }
        })
    }

    /// What this execution has to do. Only one of several at a time plans the query.
    fn next_execution(&self) -> Repetition {
        let mut repetition = self.repetition();
        let now = repetition.clone();
        match now {
            Repetition::None => *repetition = Repetition::Expected,
            Repetition::Expected => *repetition = Repetition::General,
            Repetition::General | Repetition::Query(_) => {}
        }
        now
    }

    fn plan(
        &self,
        session: &Arc<Session>,
        (sql, types): (&str, &[Option<DataType>]),
        token: &CancelToken,
    ) -> Result<Option<Arc<RepeatedQuery>>, Error> {
        let Some((text, types)) = with_casts(sql, types)? else {
            return Ok(None);
        };
        let work = RepeatedQuery::plan(Arc::clone(session), text, types, token.clone());
        let planned = session.database.run_in_time(token, work);
        if token.is_cancelled() {
            *self.repetition() = Repetition::Expected;
            return Err(Error::cancelled());
        }
        // The general path says what is wrong with a statement.
        let query = planned.ok().flatten().map(Arc::new);
        if let Some(query) = &query {
            *self.repetition() = Repetition::Query(Arc::clone(query));
        }
        Ok(query)
    }

    fn repetition(&self) -> MutexGuard<'_, Repetition> {
        self.repetition
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text with its parameters cast to their types, and the types. Texts stay as they are, for they may stand for what is beside them. `None` where the
/// type of a parameter is not known or is an array.
fn with_casts(
    sql: &str,
    types: &[Option<DataType>],
) -> Result<Option<(String, Vec<DataType>)>, Error> {
    let known = |data_type: &Option<DataType>| {
        let data_type = data_type.clone()?;
        (!data_type.is_null() && !data_type.is_nested()).then_some(data_type)
    };
    let Some(types) = types.iter().map(known).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    if types.is_empty() {
        return Ok(Some((sql.to_owned(), types)));
    }
    let mut text = String::with_capacity(2 * sql.len());
    let mut end = 0;
    for (range, number) in quire_sql::split::parameters(sql)? {
        let data_type = number.checked_sub(1).and_then(|index| types.get(index));
        let Some(data_type) = data_type else {
            return Ok(None);
        };
        text.push_str(sql.get(end..range.start).unwrap_or_default());
        if is_text(data_type) {
            text.push_str(&format!("${number}"));
        } else {
            text.push_str(&format!("CAST(${number} AS {})", spelled(data_type)));
        }
        end = range.end;
    }
    text.push_str(sql.get(end..).unwrap_or_default());
    Ok(Some((text, types)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parameters_are_cast_where_they_are_no_texts() {
        let types = [Some(DataType::Int16), Some(DataType::Utf8)];
        let sql = "SELECT '$1' FROM t WHERE a = $1 AND b LIKE $2 OR a > $1";
        let (text, _) = with_casts(sql, &types).unwrap().unwrap();
        let expected = "SELECT '$1' FROM t WHERE a = CAST($1 AS SMALLINT) AND b LIKE $2 OR a > CAST($1 AS SMALLINT)";
        assert_eq!(text, expected);
        assert!(
            with_casts(sql, &[Some(DataType::Null), None])
                .unwrap()
                .is_none()
        );
    }
}
