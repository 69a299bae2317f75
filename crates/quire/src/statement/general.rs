//! Statements that take the general path. A query of row tables that is executed a second time is planned for all executions to come
//! ([`RepeatedQuery`]), and runs on the caller's thread from then on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::datatypes::DataType;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::wait::wait;
use quire_planner::scalar::is_text;
use quire_tables::row_table::Value;

use super::answer::StatementAnswer;
use super::memory::StatementBuffers;
use super::parameter::{spelled, with_places, written};
use crate::opened::of_panic;
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
            Repetition::Expected => match self.plan(session, (sql, types), parameters, token)? {
                Some(query) => query,
                None => return Ok(None),
            },
            Repetition::None | Repetition::General => return Ok(None),
        };
        let rows = std::mem::take(&mut memory.rows);
        let run = AssertUnwindSafe(|| query.run(session, parameters, token, rows));
        let ran = catch_unwind(run).unwrap_or_else(|panic| Err(of_panic(&*panic)));
        Ok(match ran? {
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
        parameters: &[Value],
        token: &CancelToken,
    ) -> Result<Option<Arc<RepeatedQuery>>, Error> {
        let Some(texts) = RepeatedTexts::of(sql, types, parameters)? else {
            return Ok(None);
        };
        let planned = texts.plan(session, token);
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

/// A statement's text, for all values and for some.
struct RepeatedTexts {
    types: Vec<DataType>,
    /// Parameters are cast to their types. Texts stay as they are, for they may stand for what is beside them.
    with_casts: String,
    /// What the general path runs.
    with_values: String,
}

impl RepeatedTexts {
    /// `None` where the type of a parameter is not known or is an array.
    fn of(
        sql: &str,
        types: &[Option<DataType>],
        parameters: &[Value],
    ) -> Result<Option<Self>, Error> {
        let known = |data_type: &Option<DataType>| {
            let data_type = data_type.clone()?;
            (!data_type.is_null() && !data_type.is_nested()).then_some(data_type)
        };
        let Some(types) = types.iter().map(known).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        // A text without parameters may have a question mark.
        let places = match types.len() {
            0 => Vec::new(),
            _ => quire_sql::split::parameters(sql)?,
        };
        let known = |number: &usize| (1..=types.len()).contains(number);
        if !places.iter().all(|(_, number)| known(number)) {
            return Ok(None);
        }
        let with_casts = with_places(sql, &places, |number| {
            Ok(match types.get(number - 1) {
                Some(data_type) if !is_text(data_type) => {
                    format!("CAST(${number} AS {})", spelled(data_type))
                }
                _ => format!("${number}"),
            })
        })?;
        let with_values = with_places(sql, &places, |number| {
            let value = parameters.get(number - 1).unwrap_or(&Value::Null);
            written(value, types.get(number - 1), number - 1)
        })?;
        Ok(Some(Self {
            types,
            with_casts,
            with_values,
        }))
    }

    /// The query for all values, if its rows are those of the general path.
    fn plan(
        self,
        session: &Arc<Session>,
        token: &CancelToken,
    ) -> Result<Option<RepeatedQuery>, Error> {
        let (own, token_of_work) = (Arc::clone(session), token.clone());
        let work = async move {
            let (session, token) = (Arc::clone(&own), token_of_work.clone());
            let has_parameters = !self.types.is_empty();
            let planned = RepeatedQuery::plan(own, self.with_casts, self.types, token_of_work);
            let Some(query) = planned.await? else {
                return Ok(None);
            };
            let is_kept = !has_parameters
                || query
                    .is_shaped_as(&session, &self.with_values, &token)
                    .await?;
            Ok(is_kept.then_some(query))
        };
        session.database.run_in_time(token, work)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parameters_are_cast_where_they_are_no_texts() {
        let types = [Some(DataType::Int16), Some(DataType::Utf8)];
        let sql = "SELECT '$1' FROM t WHERE a = $1 AND b LIKE $2 OR a > $1";
        let values = [Value::Integer(5), Value::Text("x".into())];
        let texts = RepeatedTexts::of(sql, &types, &values).unwrap().unwrap();
        assert_eq!(
            texts.with_casts,
            "SELECT '$1' FROM t WHERE a = CAST($1 AS SMALLINT) AND b LIKE $2 OR a > CAST($1 AS SMALLINT)"
        );
        assert!(texts.with_values.contains("b LIKE 'x' OR"));
        let unknown = [Some(DataType::Null), None];
        assert!(RepeatedTexts::of(sql, &unknown, &values).unwrap().is_none());
    }
}
