//! Which table a statement is about.

use datafusion::sql::sqlparser::ast::{
    FromTable, ObjectName, SetExpr, Statement, TableFactor, TableObject, TableWithJoins,
};
use quire_sql::names;

/// Name of the one table of a statement, and what the statement calls it.
pub(in crate::statement) struct TableName {
    pub(in crate::statement) name: String,
    pub(super) alias: String,
}

impl TableName {
    /// `None` when the statement is none that can be compiled.
    pub(in crate::statement) fn of(statement: &Statement) -> Option<Self> {
        let (name, alias) = match statement {
            Statement::Query(query) => match query.body.as_ref() {
                SetExpr::Select(select) => match select.from.as_slice() {
                    [table] => one_table(table)?,
                    _ => return None,
                },
                _ => return None,
            },
            Statement::Insert(insert) => {
                let TableObject::TableName(name) = &insert.table else {
                    return None;
                };
                let name = plain_name(name)?;
                match &insert.table_alias {
                    None => (name.clone(), name),
                    Some(alias) => (name, names::folded(&alias.alias)),
                }
            }
            Statement::Update(update) => one_table(&update.table)?,
            Statement::Delete(delete) => match &delete.from {
                FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables) => {
                    match tables.as_slice() {
                        [table] => one_table(table)?,
                        _ => return None,
                    }
                }
            },
            _ => return None,
        };
        Some(Self { name, alias })
    }
}

/// Name of a table, and what the statement calls it.
pub(super) fn one_table(table: &TableWithJoins) -> Option<(String, String)> {
    let TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_hints,
    } = &table.relation
    else {
        return None;
    };
    let has_extras = !table.joins.is_empty()
        || !with_hints.is_empty()
        || !partitions.is_empty()
        || !index_hints.is_empty();
    let name = plain_name(name)?;
    match alias {
        _ if has_extras => None,
        None => Some((name.clone(), name)),
        Some(alias) if alias.columns.is_empty() && alias.at.is_none() => {
            Some((name, names::folded(&alias.name)))
        }
        Some(_) => None,
    }
}

/// The plain name of a table of the one schema.
pub(super) fn plain_name(name: &ObjectName) -> Option<String> {
    let (last, qualifiers) = name.0.split_last()?;
    let qualifiers: Vec<String> = qualifiers
        .iter()
        .map(|part| part.to_string().to_lowercase())
        .collect();
    let is_ours = matches!(
        qualifiers
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice(),
        [] | ["public"] | ["quire", "public"]
    );
    let ident = last
        .as_ident()
        .filter(|ident| ident.quote_style != Some('\''))?;
    is_ours.then(|| names::folded(ident))
}
