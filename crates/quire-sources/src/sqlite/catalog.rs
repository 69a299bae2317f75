//! What the file says of its tables, before any row is read.

use rusqlite::{Connection, OptionalExtension};

use super::connection::{SqliteStop, quoted};
use crate::definition::{SourceRowCount, SourceTable, SourceTableKind, SourceTableName};

/// Rows are counted if there may be at most so many; beyond, the range of rowids is the estimate.
const COUNTED_ROWS_MAX: u64 = 10_000;
/// A row takes at least its cell's pointer, header and one value.
const ROW_BYTES_MIN: u64 = 6;

/// A line of SQLite's own list of tables.
#[derive(Debug, Clone)]
pub(super) struct CatalogTable {
    pub(super) kind: SourceTableKind,
    pub(super) has_rowid: bool,
}

/// A line of SQLite's own list of columns.
#[derive(Debug, Clone)]
pub(super) struct CatalogColumn {
    pub(super) name: String,
    pub(super) declaration: String,
    pub(super) is_not_null: bool,
    pub(super) default: Option<String>,
    /// Place in the primary key, from 1; 0 outside.
    pub(super) key_place: u32,
    pub(super) is_generated: bool,
}

/// Tables, views and virtual tables, without SQLite's own and without the tables behind virtual ones.
pub(super) fn tables(connection: &Connection) -> Result<Vec<SourceTable>, SqliteStop> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")?;
    let names: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut tables = Vec::with_capacity(names.len());
    for name in names {
        if let Some(table) = table(connection, &name)? {
            tables.push(SourceTable {
                row_count: estimated_rows(connection, &name, &table)?,
                kind: table.kind,
                name: SourceTableName::new(name),
            });
        }
    }
    Ok(tables)
}

/// The table of exactly this name.
pub(super) fn table(
    connection: &Connection,
    name: &str,
) -> Result<Option<CatalogTable>, SqliteStop> {
    let sql = "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1 AND type <> 'shadow'";
    let found = connection.query_row(sql, [name], |row| {
        let kind: String = row.get(0)?;
        let kind = match kind.as_str() {
            "view" => SourceTableKind::View,
            "virtual" => SourceTableKind::Foreign,
            _ => SourceTableKind::Table,
        };
        let has_rowid = kind == SourceTableKind::Table && !row.get::<_, bool>(1)?;
        Ok(CatalogTable { kind, has_rowid })
    });
    Ok(found.optional()?)
}

fn estimated_rows(
    connection: &Connection,
    name: &str,
    table: &CatalogTable,
) -> Result<SourceRowCount, SqliteStop> {
    if table.kind != SourceTableKind::Table {
        return Ok(SourceRowCount::Unknown);
    }
    let from = format!("main.{}", quoted(name));
    let rowid = if table.has_rowid {
        rowid_name(&columns(connection, name)?)
    } else {
        None
    };
    if let Some(rowid) = rowid {
        // Apart, each is one step down the tree.
        let sql =
            format!("SELECT (SELECT min({rowid}) FROM {from}), (SELECT max({rowid}) FROM {from})");
        let (first, last) = connection.query_row(&sql, [], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
        })?;
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(SourceRowCount::Exact(0));
        };
        let range = last.abs_diff(first).saturating_add(1);
        // Rowids may be far apart; the file's size bounds what they can mean.
        let bytes: i64 = connection.query_row(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            [],
            |row| row.get(0),
        )?;
        let bytes = bytes.unsigned_abs();
        if range > COUNTED_ROWS_MAX && bytes / ROW_BYTES_MIN > COUNTED_ROWS_MAX {
            return Ok(SourceRowCount::Estimated(range.min(bytes / ROW_BYTES_MIN)));
        }
    }
    let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM {from}"), [], |row| {
        row.get(0)
    })?;
    Ok(SourceRowCount::Exact(rows.unsigned_abs()))
}

/// All columns but the hidden ones of virtual tables.
pub(super) fn columns(
    connection: &Connection,
    table: &str,
) -> Result<Vec<CatalogColumn>, SqliteStop> {
    let sql = "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid";
    let mut statement = connection.prepare(sql)?;
    let columns = statement.query_map([table], |row| {
        Ok(CatalogColumn {
            name: row.get(0)?,
            declaration: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
            is_not_null: row.get(2)?,
            default: row.get(3)?,
            key_place: row.get(4)?,
            is_generated: row.get::<_, i64>(5)? > 1,
        })
    })?;
    Ok(columns.collect::<Result<_, _>>()?)
}

/// The name by which the rowid is reached: one that no column has taken.
pub(super) fn rowid_name(columns: &[CatalogColumn]) -> Option<&'static str> {
    let is_free = |name: &&str| {
        columns
            .iter()
            .all(|column| !column.name.eq_ignore_ascii_case(name))
    };
    ["rowid", "_rowid_", "oid"].into_iter().find(is_free)
}
