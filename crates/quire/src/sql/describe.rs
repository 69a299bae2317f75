//! What a table looks like: `DESCRIBE`, and the statement that would create it.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::sql::sqlparser::ast::ObjectName;
use quire_engine::TableDefinition;

use super::insert::find_table;
use crate::error::Error;
use crate::outcome::{Outcome, Rows};
use crate::session::Session;

/// One row per column: name, type, nullability, codec where one is demanded.
pub(super) async fn describe(session: &Session, name: &ObjectName) -> Result<Outcome, Error> {
    let snapshot = session.snapshot().await?;
    let table = find_table(&snapshot, name)?;
    let columns = &table.definition().columns;
    let types: Vec<String> = columns
        .iter()
        .map(|column| column.sql_type.to_string())
        .collect();
    let names = columns.iter().map(|column| Some(column.name.as_str()));
    let nullable = columns
        .iter()
        .map(|c| Some(if c.nullable { "YES" } else { "NO" }));
    let codecs = columns
        .iter()
        .map(|column| column.compression.map(|codec| codec.name()));
    let field = |name| Field::new(name, DataType::Utf8View, true);
    let fields = ["column_name", "data_type", "nullable", "compression"].map(field);
    let batch = RecordBatch::try_new(
        Arc::new(Schema::new(fields.to_vec())),
        vec![
            Arc::new(names.collect::<StringViewArray>()),
            Arc::new(
                types
                    .iter()
                    .map(|t| Some(t.as_str()))
                    .collect::<StringViewArray>(),
            ),
            Arc::new(nullable.collect::<StringViewArray>()),
            Arc::new(codecs.collect::<StringViewArray>()),
        ],
    )?;
    Ok(Outcome::Rows(Rows::ready(batch)))
}

/// The `CREATE TABLE` that makes an empty table like this one.
pub(crate) fn create_statement(definition: &TableDefinition) -> String {
    let mut text = format!("CREATE TABLE {} (\n", quoted(&definition.name));
    for (index, column) in definition.columns.iter().enumerate() {
        let separator = if index == 0 { "" } else { ",\n" };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{separator}    {} {}",
            quoted(&column.name),
            column.sql_type
        );
        if let Some(codec) = column.compression {
            let _ = write!(text, " COMPRESSION {}", codec.name());
        }
        if !column.nullable {
            text.push_str(" NOT NULL");
        }
    }
    text.push_str("\n);");
    text
}

/// A name as it must be written in SQL.
fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !is_reserved(name);
    if is_plain {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

fn is_reserved(name: &str) -> bool {
    use datafusion::sql::sqlparser::keywords::{
        ALL_KEYWORDS, ALL_KEYWORDS_INDEX, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_IDENTIFIER,
        RESERVED_FOR_TABLE_ALIAS,
    };
    let Ok(position) = ALL_KEYWORDS.binary_search(&name.to_uppercase().as_str()) else {
        return false;
    };
    let keyword = &ALL_KEYWORDS_INDEX[position];
    RESERVED_FOR_IDENTIFIER.contains(keyword)
        || RESERVED_FOR_COLUMN_ALIAS.contains(keyword)
        || RESERVED_FOR_TABLE_ALIAS.contains(keyword)
        || [
            "table", "user", "column", "primary", "foreign", "check", "default",
        ]
        .contains(&name)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_when_they_must_be() {
        assert_eq!(quoted("l_orderkey"), "l_orderkey");
        assert_eq!(quoted("L_Orderkey"), "\"L_Orderkey\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted("select"), "\"select\"");
        assert_eq!(quoted("2nd"), "\"2nd\"");
    }
}
