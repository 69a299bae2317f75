//! Compiled statements over rows in memory, against the general path over a table with the same rows.
#![allow(clippy::unwrap_used)]

mod agreement;
mod changes;
mod coverage;
mod memory;
mod random;

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::config::ConfigOptions;
use datafusion::sql::sqlparser::ast::Statement;
use quire_sql::parse::{ParsedCommand, parse};
use quire_tables::SqlType;

use super::bind::{TableName, compile};
use super::compiled::Compiled;
use super::table::{DefaultValue, KeyKind, RowTableSchema, TableColumn, TableKey, TableKeyColumn};
use crate::options::DatabaseOptions;
use crate::settings::{ConnectionSettings, DatabaseSettings};

pub(super) fn options() -> Arc<ConfigOptions> {
    let settings =
        ConnectionSettings::new(&DatabaseOptions::default(), DatabaseSettings::default());
    Arc::clone(settings.config().options())
}

pub(super) fn statement(sql: &str) -> Statement {
    match parse(sql).unwrap() {
        ParsedCommand::Statement(statement, _) => *statement,
        other => panic!("{other:?}"),
    }
}

/// A table with a column of most types, a primary key and two indexes.
pub(super) fn table() -> RowTableSchema {
    let columns = [
        ("id", SqlType::Integer),
        ("s", SqlType::SmallInt),
        ("b", SqlType::BigInt),
        (
            "d",
            SqlType::Decimal {
                precision: 10,
                scale: 2,
            },
        ),
        ("f", SqlType::Double),
        ("r", SqlType::Real),
        ("t", SqlType::Text),
        ("v", SqlType::VarChar(10)),
        ("day", SqlType::Date),
        ("at", SqlType::Timestamp),
        ("ok", SqlType::Boolean),
    ];
    let column = |(name, sql_type): (&str, SqlType)| TableColumn {
        name: name.to_owned(),
        sql_type,
        nullable: name != "id",
        default: DefaultValue::Null,
        ordinal: columns
            .iter()
            .position(|(known, _)| *known == name)
            .unwrap(),
        is_generated: false,
    };
    let part = |(column, is_descending): &(usize, bool)| TableKeyColumn {
        column: *column,
        is_descending: *is_descending,
        nulls_first: *is_descending,
    };
    let key = |kind, is_unique, parts: &[(usize, bool)]| TableKey {
        kind,
        is_unique,
        columns: parts.iter().map(part).collect(),
    };
    RowTableSchema {
        name: "x".to_owned(),
        columns: columns.iter().copied().map(column).collect(),
        keys: vec![
            key(KeyKind::Primary, true, &[(0, false)]),
            key(KeyKind::Index(0), false, &[(1, false), (2, true)]),
            key(KeyKind::Index(1), false, &[(6, false)]),
            key(KeyKind::Index(2), false, &[(3, false), (8, false)]),
        ],
        checks: Vec::new(),
    }
}

pub(super) fn compiled(
    sql: &str,
    table: &RowTableSchema,
    types: Vec<Option<FieldRef>>,
) -> Option<Compiled> {
    let statement = statement(sql);
    TableName::of(&statement).filter(|found| found.name == table.name)?;
    compile(Cow::Owned(statement), table, &options(), types)
}

/// The rows of batches as text.
pub(super) fn texts(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            rows.push(
                columns
                    .iter()
                    .map(|column| column.value(row).to_string())
                    .collect(),
            );
        }
    }
    rows
}
