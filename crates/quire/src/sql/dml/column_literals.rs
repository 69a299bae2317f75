//! Quoted values in rows of VALUES have the type of the column that they are for.
//!
//! The planner gives a column of VALUES one type before it knows the table: beside `1.5`, `'NaN'` would have to be a decimal. In
//! SQL each value goes to its column by itself.

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr as SqlExpr, Parens, Query, SetExpr, Value,
};
use quire_error::Error;
use quire_tables::TableDefinition;

use quire_sql::parse;
use quire_sql::typed_neighbours::written_type;

/// Casts the quoted values of columns that have other values, too, and in columns of texts those of written types; `targets` are the places of the columns.
pub(super) fn cast_quoted(
    source: &mut Query,
    definition: &TableDefinition,
    targets: &[usize],
) -> Result<(), Error> {
    let SetExpr::Values(values) = source.body.as_mut() else {
        return Ok(());
    };
    for (at, place) in targets.iter().enumerate() {
        if is_mixed(&values.rows, at)
            && let Some(column) = definition.columns.get(*place)
        {
            // Lengths are checked where values are stored.
            let data_type = if column.sql_type.is_text() {
                DataType::Text
            } else {
                parsed_type(&column.sql_type.to_string())?
            };
            let is_cast = |cell: &SqlExpr| {
                let is_typed = column.sql_type.is_text() && written_type(cell).is_some();
                is_quoted(cell) || is_typed
            };
            let cells = values.rows.iter_mut().filter_map(|row| row.get_mut(at));
            for cell in cells.filter(|cell| is_cast(cell)) {
                *cell = SqlExpr::Cast {
                    kind: CastKind::Cast,
                    expr: Box::new(cell.clone()),
                    data_type: data_type.clone(),
                    array: false,
                    format: None,
                };
            }
        }
    }
    Ok(())
}

/// Whether a column has quoted values and others that are not NULL.
fn is_mixed(rows: &[Parens<Vec<SqlExpr>>], at: usize) -> bool {
    let cells = || rows.iter().filter_map(|row| row.get(at));
    cells().any(is_quoted) && cells().any(|cell| !is_quoted(cell) && !is_null(cell))
}

fn is_quoted(cell: &SqlExpr) -> bool {
    matches!(cell, SqlExpr::Value(value)
        if matches!(value.value, Value::SingleQuotedString(_) | Value::EscapedStringLiteral(_)))
}

fn is_null(cell: &SqlExpr) -> bool {
    matches!(cell, SqlExpr::Value(value) if value.value == Value::Null)
}

/// A type as it is written.
fn parsed_type(name: &str) -> Result<DataType, Error> {
    match parse::parse_expression(&format!("CAST(NULL AS {name})"))? {
        SqlExpr::Cast { data_type, .. } => Ok(data_type),
        _ => Err(Error::new(
            "XX000",
            format!("internal error: {name} is no type"),
        )),
    }
}
