//! What the server's catalogs say of tables and columns, before any row is read.

use postgres::{Client, Row};

use super::server::{PostgresStop, quoted};
use crate::definition::{
    SourceAutoNumber, SourceRowCount, SourceTable, SourceTableKind, SourceTableName,
};

/// Relations with rows that this user may read. `p` is partitioned, `m` a materialized view, `f` foreign.
const RELATIONS: &str = "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' \
     AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)' \
     AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')";
/// Columns with their types; of a domain the type beneath. `char` is an array's category or `E` for enums.
const COLUMNS: &str = "SELECT a.attname::text, a.attnotnull OR t.typnotnull, format_type(a.atttypid, a.atttypmod), \
     CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END, \
     a.attidentity::text, a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid), \
     d.adbin IS NOT NULL AND pg_get_serial_sequence(a.attrelid::regclass::text, a.attname) IS NOT NULL \
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
     LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
     WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

/// A table as the catalog has it.
#[derive(Debug, Clone)]
pub(super) struct PostgresRelation {
    pub(super) oid: u32,
    pub(super) name: SourceTableName,
    pub(super) kind: SourceTableKind,
    /// Partitions have the rows.
    pub(super) is_partitioned: bool,
    /// Whether rows have a place (`ctid`) of their own.
    pub(super) has_pages: bool,
    /// The name as SQL has it.
    pub(super) from: String,
}

/// A column as the catalog has it.
#[derive(Debug, Clone)]
pub(super) struct PostgresColumn {
    pub(super) name: String,
    pub(super) is_not_null: bool,
    pub(super) declared_type: String,
    pub(super) type_oid: u32,
    pub(super) type_modifier: i32,
    pub(super) auto_number: Option<SourceAutoNumber>,
    pub(super) is_generated: bool,
    pub(super) default: Option<String>,
}

/// Tables and views; of partitioned tables the whole, not the partitions.
pub(super) fn tables(client: &mut Client) -> Result<Vec<SourceTable>, PostgresStop> {
    let sql = format!(
        "SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.reltuples {RELATIONS} AND NOT c.relispartition ORDER BY 2, 3"
    );
    let rows = client.query(&sql, &[])?;
    let table = |row: &Row| {
        let relation = relation(row);
        SourceTable {
            row_count: estimate(row.get(4), &relation),
            name: relation.name,
            kind: relation.kind,
        }
    };
    Ok(rows.iter().map(table).collect())
}

/// The relation of exactly this name, also a partition.
pub(super) fn find(
    client: &mut Client,
    name: &SourceTableName,
) -> Result<Option<PostgresRelation>, PostgresStop> {
    let sql = format!(
        "SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text {RELATIONS} AND n.nspname = $1 AND c.relname = $2"
    );
    let schema = name.schema.as_deref().unwrap_or("public");
    Ok(client
        .query_opt(&sql, &[&schema, &name.name])?
        .as_ref()
        .map(relation))
}

fn relation(row: &Row) -> PostgresRelation {
    let (schema, name, kind): (String, String, String) = (row.get(1), row.get(2), row.get(3));
    PostgresRelation {
        oid: row.get(0),
        from: format!("{}.{}", quoted(&schema), quoted(&name)),
        name: SourceTableName::in_schema(schema, name),
        kind: match kind.as_str() {
            "v" | "m" => SourceTableKind::View,
            "f" => SourceTableKind::Foreign,
            _ => SourceTableKind::Table,
        },
        is_partitioned: kind == "p",
        has_pages: matches!(kind.as_str(), "r" | "m"),
    }
}

/// A table that was never analyzed has -1 since version 14, and 0 before.
fn estimate(tuples: f32, relation: &PostgresRelation) -> SourceRowCount {
    if relation.kind == SourceTableKind::Table && tuples > 0.0 {
        SourceRowCount::Estimated(tuples as u64)
    } else {
        SourceRowCount::Unknown
    }
}

/// The columns of a table in their order.
pub(super) fn attributes(
    client: &mut Client,
    table: u32,
) -> Result<Vec<PostgresColumn>, PostgresStop> {
    let rows = client.query(COLUMNS, &[&table])?;
    Ok(rows.iter().map(attribute).collect())
}

fn attribute(row: &Row) -> PostgresColumn {
    let (identity, generated): (String, String) = (row.get(5), row.get(6));
    let (default, has_sequence): (Option<String>, Option<bool>) = (row.get(7), row.get(8));
    let is_generated = !generated.is_empty();
    let auto_number = match identity.as_str() {
        "a" => Some(SourceAutoNumber::IdentityAlways),
        "d" => Some(SourceAutoNumber::IdentityByDefault),
        _ if has_sequence == Some(true) && !is_generated => Some(SourceAutoNumber::Serial),
        _ => None,
    };
    PostgresColumn {
        name: row.get(0),
        is_not_null: row.get(1),
        declared_type: row.get(2),
        type_oid: row.get(3),
        type_modifier: row.get(4),
        // The expression of a generated column is where defaults are kept.
        default: default.filter(|_| auto_number.is_none() && !is_generated),
        auto_number,
        is_generated,
    }
}
