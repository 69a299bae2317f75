//! Primary key, unique constraints, indexes and foreign keys of a table of SQLite.

use rusqlite::Connection;

use quire_text::sql_scanner::SqlScanner;

use super::catalog::CatalogColumn;
use super::connection::SqliteStop;
use crate::definition::{
    LeftOutPart, SourceAutoNumber, SourceForeignKey, SourceIndex, SourceIndexColumn,
    SourceReference, SourceTableName,
};

/// What holds for the rows of a table.
#[derive(Debug, Default)]
pub(super) struct SqliteKeys {
    pub(super) primary_key: Vec<String>,
    /// The collation of each column of the primary key, if it has an index of its own.
    pub(super) key_collations: Vec<String>,
    pub(super) unique_constraints: Vec<Vec<String>>,
    pub(super) indexes: Vec<SourceIndex>,
    pub(super) foreign_keys: Vec<SourceForeignKey>,
    pub(super) left_out: Vec<LeftOutPart>,
}

impl SqliteKeys {
    pub(super) fn read(
        connection: &Connection,
        table: &str,
        columns: &[CatalogColumn],
    ) -> Result<Self, SqliteStop> {
        let mut keys = Self {
            primary_key: primary_key(columns),
            ..Self::default()
        };
        keys.read_indexes(connection, table)?;
        keys.read_foreign_keys(connection, table)?;
        Ok(keys)
    }

    /// The numbering of the only column of the primary key, if that is the rowid under another name. Such a key has no index.
    pub(super) fn auto_number(
        &self,
        connection: &Connection,
        table: &str,
        columns: &[CatalogColumn],
    ) -> Result<Option<SourceAutoNumber>, SqliteStop> {
        let key = columns.iter().find(|column| column.key_place == 1);
        let is_integer =
            key.is_some_and(|column| column.declaration.eq_ignore_ascii_case("INTEGER"));
        if self.primary_key.len() != 1 || !is_integer || !self.key_collations.is_empty() {
            return Ok(None);
        }
        let sql: String = connection.query_row(
            "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )?;
        let says_so =
            SqlScanner::words(&sql).any(|word| word.eq_ignore_ascii_case("AUTOINCREMENT"));
        Ok(Some(if says_so {
            SourceAutoNumber::Autoincrement
        } else {
            SourceAutoNumber::Rowid
        }))
    }

    fn read_indexes(&mut self, connection: &Connection, table: &str) -> Result<(), SqliteStop> {
        let mut statement = connection.prepare("SELECT name, \"unique\", origin, partial FROM pragma_index_list(?1, 'main') ORDER BY seq DESC")?;
        let mut rows = statement.query([table])?;
        while let Some(row) = rows.next()? {
            let (name, is_unique): (String, bool) = (row.get(0)?, row.get(1)?);
            let (origin, is_partial): (String, bool) = (row.get(2)?, row.get(3)?);
            let (columns, collations) = index_columns(connection, &name)?;
            let names = columns
                .iter()
                .flatten()
                .map(|column| column.name.clone())
                .collect();
            let has_expression = columns.iter().any(Option::is_none);
            match origin.as_str() {
                "pk" => self.key_collations = collations,
                "u" => self.unique_constraints.push(names),
                _ if is_partial => self.left_out.push(LeftOutPart::new(
                    format!("index \"{name}\""),
                    "it is partial: it has a WHERE",
                )),
                _ if has_expression => self.left_out.push(LeftOutPart::new(
                    format!("index \"{name}\""),
                    "it is on an expression",
                )),
                _ => self.indexes.push(SourceIndex {
                    name,
                    columns: columns.into_iter().flatten().collect(),
                    is_unique,
                }),
            }
        }
        Ok(())
    }

    fn read_foreign_keys(
        &mut self,
        connection: &Connection,
        table: &str,
    ) -> Result<(), SqliteStop> {
        let sql = "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([table])?;
        let mut last_id = None;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if last_id != Some(id) {
                last_id = Some(id);
                self.foreign_keys.push(SourceForeignKey {
                    columns: Vec::new(),
                    referenced_table: SourceTableName::new(row.get::<_, String>(1)?),
                    referenced_columns: Vec::new(),
                    on_update: reference(&row.get::<_, String>(4)?),
                    on_delete: reference(&row.get::<_, String>(5)?),
                });
            }
            if let Some(key) = self.foreign_keys.last_mut() {
                key.columns.push(row.get(2)?);
                key.referenced_columns
                    .extend(row.get::<_, Option<String>>(3)?);
            }
        }
        for key in self
            .foreign_keys
            .iter_mut()
            .filter(|key| key.referenced_columns.is_empty())
        {
            let referenced = primary_key(&super::catalog::columns(
                connection,
                &key.referenced_table.name,
            )?);
            key.referenced_columns = Some(referenced)
                .filter(|columns| columns.len() == key.columns.len())
                .unwrap_or_default();
        }
        Ok(())
    }
}

fn primary_key(columns: &[CatalogColumn]) -> Vec<String> {
    let mut key: Vec<&CatalogColumn> = columns
        .iter()
        .filter(|column| column.key_place > 0)
        .collect();
    key.sort_by_key(|column| column.key_place);
    key.into_iter().map(|column| column.name.clone()).collect()
}

/// The columns of an index's key, `None` where it has an expression, and their collations.
fn index_columns(
    connection: &Connection,
    index: &str,
) -> Result<(Vec<Option<SourceIndexColumn>>, Vec<String>), SqliteStop> {
    let mut statement = connection.prepare(
        "SELECT name, desc, coll FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno",
    )?;
    let mut rows = statement.query([index])?;
    let (mut columns, mut collations) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let (name, is_descending): (Option<String>, bool) = (row.get(0)?, row.get(1)?);
        columns.push(name.map(|name| SourceIndexColumn {
            name,
            is_descending,
        }));
        collations.push(
            row.get::<_, Option<String>>(2)?
                .unwrap_or_else(|| "BINARY".to_owned()),
        );
    }
    Ok((columns, collations))
}

fn reference(action: &str) -> SourceReference {
    match action {
        "RESTRICT" => SourceReference::Restrict,
        "CASCADE" => SourceReference::Cascade,
        "SET NULL" => SourceReference::SetNull,
        "SET DEFAULT" => SourceReference::SetDefault,
        _ => SourceReference::NoAction,
    }
}
