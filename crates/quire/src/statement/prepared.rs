//! Prepared statements.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::ScalarValue;
use quire_engine::row_table::Value;

use super::cache::Known;
use super::execute::ResultRows;
use super::parameter;
use super::run::{self, Answer};
use super::scalar::{from_planned, is_text};
use crate::cancel::{CancelHandle, CancelToken};
use crate::error::Error;
use crate::outcome::{Completion, Outcome, Rows};
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
/// # Ok::<(), quire::Error>(())
/// ```
pub struct Prepared {
    session: Arc<Session>,
    cancel: CancelHandle,
    /// With parameters as `$n`.
    sql: String,
    /// Where the parameters stand in the text, and their numbers from 1.
    places: Vec<(Range<usize>, usize)>,
    parameter_count: usize,
    /// As far as the statement tells.
    types: Vec<Option<DataType>>,
    /// What was known of the statement last, and for which types.
    known: Option<(Arc<Known>, Vec<Option<DataType>>)>,
}

impl Prepared {
    pub(crate) fn new(
        session: &Arc<Session>,
        cancel: &CancelHandle,
        sql: &str,
    ) -> Result<Self, Error> {
        let sql = numbered(sql)?;
        let places = sql::parameters(&sql)?;
        let parameter_count = places.iter().map(|(_, number)| *number).max().unwrap_or(0);
        if parameter_count > usize::from(u16::MAX) || places.iter().any(|(_, number)| *number == 0)
        {
            return Err(Error::new(
                "42P02",
                "parameters have numbers from $1 to $65535",
            ));
        }
        let mut types = match parameter_count {
            0 => Vec::new(),
            _ => run::types_of(session, &sql).unwrap_or_default(),
        };
        types.resize(parameter_count, None);
        Ok(Self {
            session: Arc::clone(session),
            cancel: cancel.clone(),
            sql,
            places,
            parameter_count,
            types,
            known: None,
        })
    }

    /// The types of the parameters: where the statement compares or assigns them, those of what they stand beside; `None`
    /// where that does not tell. Those are of the type that their values have.
    pub fn parameter_types(&self) -> &[Option<DataType>] {
        &self.types
    }

    /// Runs the statement with these values. A value of another type than its parameter is cast.
    ///
    /// # Errors
    /// Too few values or too many, those that cannot be cast, and everything [`crate::Connection::execute`] says.
    pub fn execute(&mut self, parameters: &[Value]) -> Result<Reply, Error> {
        if parameters.len() != self.parameter_count {
            let (given, expected) = (parameters.len(), self.parameter_count);
            let text =
                format!("the statement has {expected} parameters, but {given} values are given");
            return Err(Error::new("08P01", text));
        }
        let token = self.cancel.begin();
        match self.try_compiled(parameters, &token)? {
            Some(answer) => Ok(Reply::of_answer(answer)),
            None => self.execute_generally(parameters, token),
        }
    }

    fn try_compiled(
        &mut self,
        parameters: &[Value],
        token: &CancelToken,
    ) -> Result<Option<Answer>, Error> {
        let mut types = Cow::Borrowed(&self.types);
        if self.types.iter().any(Option::is_none) {
            for (data_type, value) in types.to_mut().iter_mut().zip(parameters) {
                if data_type.is_none() {
                    *data_type = parameter::natural_type(value).or(Some(DataType::Null));
                }
            }
        }
        let values = typed(parameters, &types)?;
        if let Some((known, known_types)) = &self.known
            && *known_types == *types
            && known.is_for(self.session.settings().statement_settings_now())
            && let Some(answer) = run::run(&self.session, known, &values, token)
        {
            return answer.map(Some);
        }
        let Some(known) = run::known(&self.session, &self.sql, &types) else {
            return Ok(None);
        };
        let answer = run_again(&self.session, known, &self.sql, &types, &values, token);
        let Some((known, answer)) = answer else {
            return Ok(None);
        };
        self.known = Some((known, types.into_owned()));
        answer.map(Some)
    }

    fn execute_generally(&self, parameters: &[Value], token: CancelToken) -> Result<Reply, Error> {
        let mut text = String::with_capacity(self.sql.len() + 16 * self.places.len());
        let mut end = 0;
        for (range, number) in &self.places {
            let index = number - 1;
            let data_type = self.types.get(index).and_then(Option::as_ref);
            text.push_str(self.sql.get(end..range.start).unwrap_or_default());
            let value = parameters.get(index).unwrap_or(&Value::Null);
            text.push_str(&parameter::written(value, data_type, index)?);
            end = range.end;
        }
        text.push_str(self.sql.get(end..).unwrap_or_default());
        let work = sql::run(Arc::clone(&self.session), text, token);
        Ok(Reply::of_outcome(self.session.database.run(work)?))
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("sql", &self.sql)
            .finish_non_exhaustive()
    }
}

/// Runs a statement, compiled before or now. `None`: it takes the general path.
pub(super) fn run_known(
    session: &Session,
    sql: &str,
    types: &[Option<DataType>],
    values: &[Value],
    token: &CancelToken,
) -> Option<Result<Answer, Error>> {
    let known = run::known(session, sql, types)?;
    run_again(session, known, sql, types, values, token).map(|(_, answer)| answer)
}

/// Runs a statement; if what is known of it is outdated, it is compiled again, once.
fn run_again(
    session: &Session,
    known: Arc<Known>,
    sql: &str,
    types: &[Option<DataType>],
    values: &[Value],
    token: &CancelToken,
) -> Option<(Arc<Known>, Result<Answer, Error>)> {
    if let Some(answer) = run::run(session, &known, values, token) {
        return Some((known, answer));
    }
    if !known.is_outdated(session) {
        return None;
    }
    let settings = session.settings().statement_settings_now()?;
    let known = run::learn(session, sql, types, settings)?;
    let answer = run::run(session, &known, values, token)?;
    Some((known, answer))
}

/// The statement with `$n` in place of each `?`.
fn numbered(sql: &str) -> Result<String, Error> {
    let places = sql::parameters(sql)?;
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
fn typed<'v>(values: &'v [Value], types: &[Option<DataType>]) -> Result<Cow<'v, [Value]>, Error> {
    let fits = |(value, data_type): (&Value, &Option<DataType>)| {
        data_type
            .as_ref()
            .is_some_and(|data_type| parameter::is_of(value, data_type))
    };
    if values.iter().zip(types).all(fits) {
        return Ok(Cow::Borrowed(values));
    }
    let convert =
        |(number, (value, data_type)): (usize, (&Value, &Option<DataType>))| match data_type {
            Some(data_type) => parameter::converted(value, data_type, number),
            None => Ok(value.clone()),
        };
    let pairs = values.iter().zip(types).enumerate();
    pairs
        .map(convert)
        .collect::<Result<Vec<_>, Error>>()
        .map(Cow::Owned)
}

/// What one run of a prepared statement gave.
pub struct Reply {
    schema: Option<SchemaRef>,
    source: Source,
    rows_affected: u64,
}

enum Source {
    /// All rows, and how many of them were taken.
    Values(ResultRows, usize),
    /// Batches to come; the one that is being read, and its next row.
    Batches {
        rows: Rows,
        batch: Option<RecordBatch>,
        next: usize,
        row: Vec<Value>,
    },
    /// No rows: how the command tag begins, and the count behind it.
    Done(&'static str, Option<u64>),
    Completed(Completion),
}

impl Reply {
    fn of_answer(answer: Answer) -> Self {
        let (schema, source, rows_affected) = match answer {
            Answer::Rows(schema, rows) => (Some(schema), Source::Values(rows, 0), 0),
            Answer::Done(tag, count) => (None, Source::Done(tag, count), count.unwrap_or(0)),
        };
        Self {
            schema,
            source,
            rows_affected,
        }
    }

    fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rows(rows) => Self {
                schema: Some(rows.schema()),
                source: Source::Batches {
                    rows,
                    batch: None,
                    next: 0,
                    row: Vec::new(),
                },
                rows_affected: 0,
            },
            Outcome::Done(completion) => Self {
                schema: None,
                rows_affected: completion.row_count.unwrap_or(0),
                source: Source::Completed(completion),
            },
        }
    }

    /// Names and types of the columns, if the statement returns rows. Integers, dates (days since 1970) and timestamps
    /// (microseconds) are all [`Value::Integer`]; decimals have the scale that their type says.
    pub fn schema(&self) -> Option<&SchemaRef> {
        self.schema.as_ref()
    }

    /// How many rows were inserted, updated or deleted; 0 when rows come back.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// Whatever a query meets while running; no rows follow.
    pub fn next_row(&mut self) -> Result<Option<&[Value]>, Error> {
        let width = self
            .schema
            .as_ref()
            .map_or(0, |schema| schema.fields().len());
        match &mut self.source {
            Source::Done(..) | Source::Completed(_) => Ok(None),
            Source::Values(rows, taken) if *taken < rows.row_count => {
                let start = *taken * width;
                *taken += 1;
                Ok(rows.values.get(start..start + width))
            }
            Source::Values(..) => Ok(None),
            Source::Batches {
                rows,
                batch,
                next,
                row,
            } => {
                while batch.as_ref().is_none_or(|batch| *next >= batch.num_rows()) {
                    (*batch, *next) = (rows.next_batch()?, 0);
                    if batch.is_none() {
                        return Ok(None);
                    }
                }
                if let Some(batch) = batch {
                    read_row(batch, *next, row)?;
                }
                *next += 1;
                Ok(Some(row.as_slice()))
            }
        }
    }

    /// The same as [`crate::Connection::execute`] gives it. Rows that were taken are not among its rows.
    ///
    /// # Errors
    /// When Arrow refuses the rows.
    pub fn into_outcome(self) -> Result<Outcome, Error> {
        match (self.source, self.schema) {
            (Source::Values(mut rows, taken), Some(schema)) => {
                rows.values.drain(..taken * schema.fields().len());
                rows.row_count -= taken;
                Answer::Rows(schema, rows).into_outcome()
            }
            (Source::Values(..), None) => Ok(Outcome::Done(Completion::tag(""))),
            (Source::Batches { rows, .. }, _) => Ok(Outcome::Rows(rows)),
            (Source::Done(tag, count), _) => Answer::Done(tag, count).into_outcome(),
            (Source::Completed(completion), _) => Ok(Outcome::Done(completion)),
        }
    }
}

fn read_row(batch: &RecordBatch, index: usize, row: &mut Vec<Value>) -> Result<(), Error> {
    row.clear();
    for column in batch.columns() {
        let value = ScalarValue::try_from_array(column, index)?;
        let is_text = is_text(column.data_type());
        let scalar = from_planned(value).ok_or_else(|| {
            let text = format!("a value of type {} as a plain value", column.data_type());
            Error::new("0A000", format!("{text} is not supported"))
                .with_hint("Take it from a batch.")
        })?;
        row.push(scalar.into_value(is_text)?);
    }
    Ok(())
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
