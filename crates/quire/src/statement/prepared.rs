//! Prepared statements.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use quire_error::Error;
use quire_error::cancel::{CancelHandle, CancelToken};
use quire_sql::parse::{ParsedCommand, parse};
use quire_tables::row_table::Value;

use super::answer::StatementAnswer;
use super::cache::{CachedStatement, StatementCache};
use super::memory::StatementBuffers;
use super::reply::{Reply, SpareRows};
use super::{parameter, run};
use crate::session::Session;
use crate::sql;

/// A statement that is prepared once and run many times, on the connection that prepared it. It may be sent to another thread,
/// but statements of one connection follow one another.
///
/// ```
/// use quire::{Database, Value};
///
/// let mut connection = Database::in_memory()?.connect();
/// connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")?;
/// let mut insert = connection.prepare("INSERT INTO t VALUES ($1, $2)")?;
/// for (id, name) in [(1, "Ada"), (2, "Bob")] {
///     let inserted = insert.execute(&[Value::Integer(id), Value::Text(name.into())])?;
///     assert_eq!(inserted.rows_affected(), 1);
/// }
/// let mut select = connection.prepare("SELECT name FROM t WHERE id = ?")?;
/// let mut found = select.execute(&[Value::Integer(2)])?;
/// assert_eq!(found.next_row()?, Some([Value::Text("Bob".into())].as_slice()));
/// assert_eq!(found.next_row()?, None);
/// # Ok::<(), quire_error::Error>(())
/// ```
pub struct Prepared {
    session: Arc<Session>,
    statements: Arc<StatementCache>,
    cancel: CancelHandle,
    /// With parameters as `$n`.
    sql: String,
    /// Where the parameters stand in the text, and their numbers from 1.
    places: Vec<(Range<usize>, usize)>,
    parameter_count: usize,
    /// As far as the statement tells.
    types: Vec<Option<DataType>>,
    /// What was known of the statement last, and for which types.
    known: Option<(Arc<CachedStatement>, Vec<Option<DataType>>)>,
    is_query: bool,
    memory: StatementBuffers,
    spare: Arc<SpareRows>,
}

impl Prepared {
    pub(crate) fn new(
        session: &Arc<Session>,
        statements: &Arc<StatementCache>,
        cancel: &CancelHandle,
        sql: &str,
    ) -> Result<Self, Error> {
        let sql = numbered(sql)?;
        let places = quire_sql::split::parameters(&sql)?;
        let parameter_count = places.iter().map(|(_, number)| *number).max().unwrap_or(0);
        if parameter_count > usize::from(u16::MAX) || places.iter().any(|(_, number)| *number == 0)
        {
            return Err(Error::new(
                "42P02",
                "parameters have numbers from $1 to $65535",
            ));
        }
        let (is_query, mut types) = inspect(session, &sql, parameter_count > 0)?;
        types.resize(parameter_count, None);
        Ok(Self {
            session: Arc::clone(session),
            statements: Arc::clone(statements),
            cancel: cancel.clone(),
            sql,
            places,
            parameter_count,
            types,
            known: None,
            is_query,
            memory: StatementBuffers::default(),
            spare: Arc::default(),
        })
    }

    /// The types of the parameters: where the statement compares or assigns them, those of what they stand beside; `None`
    /// where that does not tell. Those are of the type that their values have.
    pub fn parameter_types(&self) -> &[Option<DataType>] {
        &self.types
    }

    /// Whether it is a query that changes and locks nothing, so that nothing is different if it runs before its rows are wanted.
    pub fn is_query(&self) -> bool {
        self.is_query
    }

    /// Names and types of the rows that the statement gives, if it gives any, with parameters of these types, one for each;
    /// the statement does not run.
    ///
    /// # Errors
    /// What is wrong with the statement, as far as planning it tells.
    pub fn describe(&mut self, types: &[Option<DataType>]) -> Result<Option<SchemaRef>, Error> {
        let (session, statements) = (&self.session, &self.statements);
        let known = run::known(session, statements, &self.sql, types, &mut None);
        if let Some(known) = known {
            if let Some(shape) = known.result_shape(&self.session) {
                return Ok(shape.columns);
            }
            let settings = self.session.settings().statement_settings_now();
            let again = settings
                .filter(|_| known.is_outdated(&self.session))
                .and_then(|settings| {
                    run::learn(session, statements, &self.sql, types, settings, &mut None)
                });
            if let Some(shape) = again.and_then(|known| known.result_shape(&self.session)) {
                return Ok(shape.columns);
            }
        }
        let nulls = vec![Value::Null; self.parameter_count];
        let text = self.with_values(&nulls, types)?;
        let token = self.begin();
        let work = sql::result_schema(Arc::clone(&self.session), text, token.clone());
        let schema = self.session.database.run_in_time(&token, work);
        token.finish();
        schema.map_err(|error| token.explained(error))
    }

    /// Runs the statement with these values. A value of another type than its parameter is cast.
    ///
    /// # Errors
    /// Too few values or too many, those that cannot be cast, and everything [`crate::Connection::execute`] says.
    pub fn execute(&mut self, parameters: &[Value]) -> Result<Reply, Error> {
        let types = std::mem::take(&mut self.types);
        let reply = self.execute_as(parameters, &types);
        self.types = types;
        reply
    }

    /// The same with parameters of these types, whatever the statement tells of them; there is one for each.
    ///
    /// # Errors
    /// As [`Prepared::execute`].
    pub fn execute_as(
        &mut self,
        parameters: &[Value],
        types: &[Option<DataType>],
    ) -> Result<Reply, Error> {
        if parameters.len() != self.parameter_count {
            let (given, expected) = (parameters.len(), self.parameter_count);
            let text =
                format!("the statement has {expected} parameters, but {given} values are given");
            return Err(Error::new("08P01", text));
        }
        let has_nul = |value: &Value| matches!(value, Value::Text(text) if text.contains('\0'));
        if parameters.iter().any(has_nul) {
            return Err(Error::nul_character());
        }
        let token = self.begin();
        let reply = match self.try_compiled(parameters, types, &token) {
            Ok(Some(answer)) => Ok(Reply::of_answer(answer).with_spare(&self.spare)),
            Ok(None) => self.execute_generally(parameters, types, &token),
            Err(error) => Err(error),
        };
        match &reply {
            // They finish the statement.
            Ok(reply) if reply.is_coming() => token.limit().pause(),
            _ => token.finish(),
        }
        reply.map_err(|error| token.explained(error))
    }

    /// The statement begins.
    fn begin(&self) -> CancelToken {
        let limit = self.session.settings().statement_limit();
        self.cancel.begin(&self.sql, limit)
    }

    fn try_compiled(
        &mut self,
        parameters: &[Value],
        types: &[Option<DataType>],
        token: &CancelToken,
    ) -> Result<Option<StatementAnswer>, Error> {
        let mut types = Cow::Borrowed(types);
        if types.iter().any(Option::is_none) {
            for (data_type, value) in types.to_mut().iter_mut().zip(parameters) {
                if data_type.is_none() {
                    *data_type = parameter::natural_type(value).or(Some(DataType::Null));
                }
            }
        }
        let values = typed(&self.session, parameters, &types)?;
        self.memory.rows = self.spare.take();
        if let Some((known, known_types)) = &self.known
            && *known_types == *types
            && known.is_for(self.session.settings().statement_settings_now())
        {
            let answer = run::run(&self.session, known, &values, token, &mut self.memory);
            if answer.is_some() || !known.is_outdated(&self.session) {
                return answer.transpose();
            }
        }
        // The general path reads another text, with the values in it.
        let (session, statements) = (&self.session, &self.statements);
        let Some(known) = run::known(session, statements, &self.sql, &types, &mut None) else {
            return Ok(None);
        };
        let statement = ParameterizedStatement {
            session: &self.session,
            statements: &self.statements,
            sql: &self.sql,
            types: &types,
            values: &values,
        };
        let answer = statement.run(known, token, &mut self.memory);
        let Some((known, answer)) = answer else {
            return Ok(None);
        };
        self.known = Some((known, types.into_owned()));
        answer.map(Some)
    }

    fn execute_generally(
        &self,
        parameters: &[Value],
        types: &[Option<DataType>],
        token: &CancelToken,
    ) -> Result<Reply, Error> {
        let text = self.with_values(parameters, types)?;
        let work = sql::run(Arc::clone(&self.session), text, None, token.clone());
        let outcome = self.session.database.run_in_time(token, work)?;
        Ok(Reply::of_outcome(outcome))
    }

    /// The statement's text with values in place of the parameters.
    fn with_values(
        &self,
        parameters: &[Value],
        types: &[Option<DataType>],
    ) -> Result<String, Error> {
        parameter::with_places(&self.sql, &self.places, |number| {
            let index = number - 1;
            let data_type = types.get(index).and_then(Option::as_ref);
            let value = parameters.get(index).unwrap_or(&Value::Null);
            parameter::written(value, data_type, index)
        })
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("sql", &self.sql)
            .finish_non_exhaustive()
    }
}

/// Whether a statement is a query, and the types of its parameters, as far as it tells and it has some. One that is nested deeply is parsed on a
/// stack that is large enough.
fn inspect(
    session: &Arc<Session>,
    sql: &str,
    has_parameters: bool,
) -> Result<(bool, Vec<Option<DataType>>), Error> {
    let (is_query, types) = if run::is_shallow(sql) {
        let command = parse(sql)?;
        (
            command.is_query(),
            has_parameters.then(|| run::types_of(session, command)),
        )
    } else {
        let text = sql.to_owned();
        let work = async move { Ok(parse(&text)?.is_query()) };
        (session.database.run(work)?, has_parameters.then_some(None))
    };
    let types = match types {
        None => Vec::new(),
        Some(Some(types)) => types,
        // Not knowing them is no error.
        Some(None) => {
            let work = sql::parameter_types(Arc::clone(session), sql.to_owned());
            session.database.run(work).unwrap_or_default()
        }
    };
    Ok((is_query, types))
}

/// Runs a statement without parameters, compiled before or now. `None`: it takes the general path, and is in `parsed` if it was parsed.
pub(super) fn run_known(
    session: &Arc<Session>,
    statements: &StatementCache,
    sql: &str,
    token: &CancelToken,
    parsed: &mut Option<ParsedCommand>,
) -> Option<Result<StatementAnswer, Error>> {
    let statement = ParameterizedStatement {
        session,
        statements,
        sql,
        types: &[],
        values: &[],
    };
    let known = run::known(session, statements, sql, &[], parsed)?;
    let answer = statement.run(known, token, &mut StatementBuffers::default());
    answer.map(|(_, answer)| answer)
}

/// A statement with its parameters.
struct ParameterizedStatement<'s> {
    session: &'s Arc<Session>,
    statements: &'s StatementCache,
    sql: &'s str,
    types: &'s [Option<DataType>],
    values: &'s [Value],
}

impl ParameterizedStatement<'_> {
    /// Runs it; if what is known of it is outdated, it is compiled again, once.
    fn run(
        &self,
        known: Arc<CachedStatement>,
        token: &CancelToken,
        memory: &mut StatementBuffers,
    ) -> Option<(Arc<CachedStatement>, Result<StatementAnswer, Error>)> {
        if let Some(answer) = run::run(self.session, &known, self.values, token, memory) {
            return Some((known, answer));
        }
        if !known.is_outdated(self.session) {
            return None;
        }
        let settings = self.session.settings().statement_settings_now()?;
        let known = run::learn(
            self.session,
            self.statements,
            self.sql,
            self.types,
            settings,
            &mut None,
        )?;
        let answer = run::run(self.session, &known, self.values, token, memory)?;
        Some((known, answer))
    }
}

/// The statement with `$n` in place of each `?`.
fn numbered(sql: &str) -> Result<String, Error> {
    let places = quire_sql::split::parameters(sql)?;
    let is_mark = |range: &Range<usize>| sql.as_bytes().get(range.start) == Some(&b'?');
    let marks = places.iter().filter(|(range, _)| is_mark(range)).count();
    if marks == 0 {
        return Ok(sql.to_owned());
    }
    if marks < places.len() {
        return Err(Error::new(
            "42601",
            "a statement has either ? or $1 for its parameters",
        ));
    }
    let mut numbered = String::with_capacity(sql.len() + 2 * marks);
    let mut end = 0;
    for (range, number) in places {
        numbered.push_str(sql.get(end..range.start).unwrap_or_default());
        numbered.push_str(&format!("${number}"));
        end = range.end;
    }
    numbered.push_str(sql.get(end..).unwrap_or_default());
    Ok(numbered)
}

/// The values as their parameters have them; as they are, where that is so.
fn typed<'v>(
    session: &Session,
    values: &'v [Value],
    types: &[Option<DataType>],
) -> Result<Cow<'v, [Value]>, Error> {
    let fits = |(value, data_type): (&Value, &Option<DataType>)| {
        data_type
            .as_ref()
            .is_some_and(|data_type| parameter::is_of(value, data_type))
    };
    if values.iter().zip(types).all(fits) {
        return Ok(Cow::Borrowed(values));
    }
    let zone = session.zone();
    let convert =
        |(number, (value, data_type)): (usize, (&Value, &Option<DataType>))| match data_type {
            Some(data_type) => parameter::converted(value, data_type, &zone, number),
            None => Ok(value.clone()),
        };
    let pairs = values.iter().zip(types).enumerate();
    pairs
        .map(convert)
        .collect::<Result<Vec<_>, Error>>()
        .map(Cow::Owned)
}
