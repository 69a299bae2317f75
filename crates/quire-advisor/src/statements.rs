//! Which statements apply a choice?

use crate::choices::{ChosenLayout, StorageChoice};
use crate::sampled_table::{SampleOrigin, SampledTable};

/// A name or a path between quotes, whatever is in it.
fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

fn name(name: &str) -> String {
    quoted(name, '"')
}

/// The statements that make the table what the choice says, in their order; none if it is that already.
///
/// `ALTER TABLE … SET` changes options and writes the rows anew while others read them. There is no statement that changes the layout, so a table of another
/// layout is made, filled and renamed.
pub(crate) fn statements(table: &SampledTable, choice: &StorageChoice) -> Vec<String> {
    match &table.origin {
        SampleOrigin::Table { current, .. } if current == choice => Vec::new(),
        SampleOrigin::Table { current, .. } => match choice.with_text() {
            Some(options) if can_alter(current, choice) => {
                vec![format!("ALTER TABLE {} SET ({options})", name(&table.name))]
            }
            _ => replaced(table, choice),
        },
        SampleOrigin::File { path } => vec![
            create(table, &table.name, choice),
            format!("COPY {} FROM {}", name(&table.name), quoted(path, '\'')),
        ],
    }
}

fn can_alter(current: &StorageChoice, choice: &StorageChoice) -> bool {
    current.layout() == choice.layout() && choice.layout() != ChosenLayout::Column
}

fn replaced(table: &SampledTable, choice: &StorageChoice) -> Vec<String> {
    let new_name = format!("{}_advised", table.name);
    let (old, new) = (name(&table.name), name(&new_name));
    vec![
        create(table, &new_name, choice),
        format!("INSERT INTO {new} SELECT * FROM {old}"),
        format!("DROP TABLE {old}"),
        format!("ALTER TABLE {new} RENAME TO {old}"),
    ]
}

fn create(table: &SampledTable, table_name: &str, choice: &StorageChoice) -> String {
    let columns = table.columns.iter().map(|column| {
        let not_null = if column.is_nullable { "" } else { " NOT NULL" };
        let clause = choice.column_clause(column.sql_type);
        format!("{} {clause}{not_null}", name(&column.name))
    });
    let mut parts: Vec<String> = columns.collect();
    if choice.is_rows() && !table.primary_key.is_empty() {
        let key = table.primary_key.iter();
        let key: Vec<String> = key
            .map(|&column| name(&table.columns[column].name))
            .collect();
        parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
    }
    let (columns, storage) = (parts.join(", "), choice.storage_clause());
    format!("CREATE TABLE {} ({columns}) {storage}", name(table_name))
}
