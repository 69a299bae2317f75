//! What the columns of a table or view look like: `DESCRIBE`.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::sql::sqlparser::ast::ObjectName;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::types;
use quire_tables::{ColumnDefinition, Snapshot, ViewDefinition};

use super::insert::{find_table, table_name};
use super::{query, views};
use crate::outcome::{Outcome, Rows};
use crate::session::Session;

/// One row per column: name, type, nullability, codec where one is demanded, default.
pub(super) async fn describe(
    session: &Session,
    name: &ObjectName,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let snapshot = session.snapshot().await?;
    let known = table_name(name)?;
    if let Some(definition) = snapshot.definition(&known) {
        let columns: Vec<_> = definition
            .visible_columns()
            .map(|(_, column)| column)
            .collect();
        return described(&columns);
    }
    if let Some(view) = snapshot.view(&known) {
        let columns = view_columns(session, &snapshot, view, token).await?;
        return described(&columns.iter().collect::<Vec<_>>());
    }
    // It is neither: this says so.
    let table = find_table(&snapshot, name)?;
    described(&table.definition().columns.iter().collect::<Vec<_>>())
}

async fn view_columns(
    session: &Session,
    snapshot: &Snapshot,
    view: &ViewDefinition,
    token: &CancelToken,
) -> Result<Vec<ColumnDefinition>, Error> {
    let query = views::query_of(view)?;
    let planned = query::plan(session, snapshot.clone(), query, token).await;
    let planned = planned.map_err(|error| error.in_view(&view.name))?;
    let schema = planned.shown_schema();
    let fields = view.columns.iter().zip(schema.fields());
    fields
        .map(|(name, field)| {
            let sql_type = types::from_arrow(name, field.data_type())?;
            Ok(ColumnDefinition::new(name, sql_type))
        })
        .collect()
}

fn described(columns: &[&ColumnDefinition]) -> Result<Outcome, Error> {
    let texts = |value: fn(&ColumnDefinition) -> Option<String>| {
        let values = columns.iter().map(|column| value(column));
        Arc::new(values.collect::<StringViewArray>())
    };
    let field = |name| Field::new(name, DataType::Utf8View, true);
    let fields = [
        "column_name",
        "data_type",
        "nullable",
        "compression",
        "default",
    ]
    .map(field);
    let batch = RecordBatch::try_new(
        Arc::new(Schema::new(fields.to_vec())),
        vec![
            texts(|column| Some(column.name.clone())),
            texts(|column| Some(column.sql_type.to_string())),
            texts(|column| Some(if column.nullable { "YES" } else { "NO" }.to_owned())),
            texts(|column| Some(column.compression?.name().to_owned())),
            texts(ColumnDefinition::shown_default),
        ],
    )?;
    Ok(Outcome::Rows(Rows::ready(batch)))
}
