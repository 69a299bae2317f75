//! A statement's signature: the types of its parameters, and names and types of its rows, without running it.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    DataType as SpelledType, Expr, FromTable, Insert, Query, SelectItem, SetExpr, Statement,
    TableObject, UpdateTableFromKind, Value,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::arrays::{array_parameters, element_of};
use quire_sql::names::last_part;
use quire_sql::parse::{ParsedCommand, parse, parse_query};
use quire_sql::types;
use quire_sql::walk::for_each_expression;

use super::planned_query::PlannedQuery;
use super::{dispatch, query};
use crate::outcome::Outcome;
use crate::session::Session;

/// The types of the parameters of a query, or of the query whose rows are inserted, as far as they are told.
pub(crate) async fn parameter_types(
    session: Arc<Session>,
    sql: String,
) -> Result<Vec<Option<DataType>>, Error> {
    let ParsedCommand::Statement(mut statement, _) = parse(&sql)? else {
        return Ok(Vec::new());
    };
    let mut types = cast_parameters(&statement);
    let arrays = array_parameters(&mut statement);
    let query = match *statement {
        Statement::Query(query) => query,
        Statement::Insert(Insert {
            source: Some(query),
            ..
        }) => query,
        _ => return Ok(types),
    };
    let planned = plan(&session, query, &CancelToken::default()).await;
    // What is wrong with the statement is said when it runs.
    let planned = planned.and_then(|planned| planned.parameter_types());
    for (index, data_type) in planned.unwrap_or_default().into_iter().enumerate() {
        // Of what is cast to an array the planner takes something else.
        let is_array = matches!(types.get(index), Some(Some(DataType::List(_))));
        if data_type.is_some() && !is_array {
            set(&mut types, index, data_type);
        }
    }
    make_arrays(&mut types, &arrays);
    Ok(types)
}

/// What was found of parameters with these numbers is the type of their elements.
pub(crate) fn make_arrays(types: &mut [Option<DataType>], numbers: &[usize]) {
    for number in numbers {
        if let Some(place) = number.checked_sub(1).and_then(|index| types.get_mut(index))
            && let Some(element) = place.take()
        {
            *place = Some(DataType::List(Arc::new(Field::new_list_field(
                element, true,
            ))));
        }
    }
}

/// Parameters that are cast are of the type that they are cast to.
fn cast_parameters(statement: &Statement) -> Vec<Option<DataType>> {
    let mut types = Vec::new();
    for_each_expression(statement, |expression| {
        if let Expr::Cast {
            expr, data_type, ..
        } = expression
            && let Expr::Value(value) = expr.as_ref()
            && let Value::Placeholder(name) = &value.value
            && let Some(number) = name
                .strip_prefix('$')
                .and_then(|digits| digits.parse().ok())
            && let Some(index) = usize::checked_sub(number, 1)
            && index < usize::from(u16::MAX)
            && let Some(data_type) = arrow_type(data_type)
        {
            set(&mut types, index, Some(data_type));
        }
    });
    types
}

fn arrow_type(spelled: &SpelledType) -> Option<DataType> {
    if let SpelledType::Array(array) = spelled {
        let element = match element_of(array)? {
            // Numbers of the catalog, of which drivers ask for several at a time.
            SpelledType::Custom(name, _) if last_part(name).is_some_and(|name| name == "oid") => {
                DataType::UInt32
            }
            element => arrow_type(element)?,
        };
        return Some(DataType::List(Arc::new(Field::new_list_field(
            element, true,
        ))));
    }
    let sql_type = types::from_spelling(spelled).ok()??;
    Some(sql_type.arrow_type())
}

fn set(types: &mut Vec<Option<DataType>>, index: usize, data_type: Option<DataType>) {
    if types.len() <= index {
        types.resize(index + 1, None);
    }
    types[index] = data_type;
}

/// Names and types of the rows that the statement gives; nothing when it gives none.
pub(crate) async fn result_schema(
    session: Arc<Session>,
    sql: String,
    token: CancelToken,
) -> Result<Option<SchemaRef>, Error> {
    let command = parse(&sql)?;
    if command.is_inspection() {
        // It costs nothing.
        let ran = dispatch::run(session, sql, Some(command), token).await?;
        let Outcome::Rows(rows) = ran else {
            return Ok(None);
        };
        return Ok(Some(rows.schema()));
    }
    let ParsedCommand::Statement(statement, _) = command else {
        return Ok(None);
    };
    if let Statement::Explain { .. } = *statement {
        return Ok(Some(super::explain::shown_schema()));
    }
    match rows_like(*statement)? {
        Some(query) => Ok(Some(plan(&session, query, &token).await?.shown_schema())),
        None => Ok(None),
    }
}

async fn plan(
    session: &Arc<Session>,
    query: Box<Query>,
    token: &CancelToken,
) -> Result<PlannedQuery, Error> {
    let snapshot = session.snapshot().await?;
    query::plan(session, snapshot, query, token).await
}

/// A query whose rows have the same columns as those of the statement.
fn rows_like(statement: Statement) -> Result<Option<Box<Query>>, Error> {
    match statement {
        Statement::Query(mut query) => match *query.body {
            SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => {
                rows_like(inner)
            }
            body => {
                query.body = Box::new(body);
                query.locks.clear();
                Ok(Some(query))
            }
        },
        Statement::Insert(insert) => {
            let TableObject::TableName(name) = insert.table else {
                return Ok(None);
            };
            let alias = insert.table_alias.map(|alias| alias.alias.to_string());
            let from = format!("{name} {}", alias.unwrap_or_default());
            returning(insert.returning, &[from])
        }
        Statement::Update(update) => {
            let mut from = vec![update.table.to_string()];
            if let Some(
                UpdateTableFromKind::BeforeSet(tables) | UpdateTableFromKind::AfterSet(tables),
            ) = update.from
            {
                from.extend(tables.iter().map(ToString::to_string));
            }
            returning(update.returning, &from)
        }
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) =
                delete.from;
            let tables = tables.iter().chain(delete.using.iter().flatten());
            let from: Vec<String> = tables.map(ToString::to_string).collect();
            returning(delete.returning, &from)
        }
        _ => Ok(None),
    }
}

fn returning(items: Option<Vec<SelectItem>>, from: &[String]) -> Result<Option<Box<Query>>, Error> {
    let Some(items) = items else {
        return Ok(None);
    };
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    let text = format!("SELECT {} FROM {}", items.join(", "), from.join(", "));
    parse_query(&text).map(Some)
}
