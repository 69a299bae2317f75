//! Rows about what is around relations: schemas, databases, roles, types, settings.

use datafusion::common::{Result, ScalarValue};

use super::objects::{COLUMN_METHOD, PAX_METHOD, PUBLIC, ROW_METHOD, TREE_METHOD};
use super::role_entry::OWNER;
use super::rows::{CatalogRows, flag, number, text};
use super::specification::{INFORMATION_SCHEMA, PG_CATALOG};
use super::types::{DEFAULT_COLLATION, TYPES, TypeEntry};
use super::{PgCatalog, roles};

pub(super) const PG_CATALOG_OID: u32 = 11;
pub(super) const PUBLIC_OID: u32 = 2200;
pub(super) const STANDARD_OID: u32 = 13_000;

/// The one database, in the file that is open.
pub(super) const DATABASE: u32 = 5;

/// PostgreSQL's number of UTF-8.
pub(super) const UTF8: i32 = 6;

const TABLESPACE: u32 = 1663;

/// Fills the table, if it is one of these.
pub(super) fn fill(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<()> {
    match table {
        "pg_namespace" => {
            for (oid, name) in [
                (PG_CATALOG_OID, PG_CATALOG),
                (PUBLIC_OID, PUBLIC),
                (STANDARD_OID, INFORMATION_SCHEMA),
            ] {
                let owner = ("nspowner", number(OWNER));
                rows.push(&[("oid", number(oid)), ("nspname", text(name)), owner])?;
            }
            Ok(())
        }
        "pg_database" => push_database(catalog, rows),
        "pg_roles" | "pg_authid" | "pg_user" | "pg_shadow" => roles::fill(catalog, rows, table),
        "pg_am" => {
            for (oid, name, kind) in [
                (ROW_METHOD, "row", "t"),
                (COLUMN_METHOD, "column", "t"),
                (PAX_METHOD, "pax", "t"),
                (TREE_METHOD, "btree", "i"),
            ] {
                let kind = ("amtype", text(kind));
                rows.push(&[("oid", number(oid)), ("amname", text(name)), kind])?;
            }
            Ok(())
        }
        "pg_type" => TYPES.iter().try_for_each(|entry| push_type(rows, entry)),
        "pg_collation" => rows.push(&[
            ("oid", number(DEFAULT_COLLATION)),
            ("collname", text("default")),
            ("collnamespace", number(PG_CATALOG_OID)),
            ("collowner", number(OWNER)),
            ("collprovider", text("d")),
            ("collisdeterministic", flag(true)),
            ("collencoding", number(-1)),
        ]),
        "pg_tablespace" => rows.push(&[
            ("oid", number(TABLESPACE)),
            ("spcname", text("pg_default")),
            ("spcowner", number(OWNER)),
        ]),
        "pg_language" => rows.push(&[
            ("oid", number(14)),
            ("lanname", text("sql")),
            ("lanowner", number(OWNER)),
            ("lanpltrusted", flag(true)),
        ]),
        "pg_settings" => push_settings(catalog, rows),
        _ => Ok(()),
    }
}

fn push_database(catalog: &PgCatalog, rows: &mut CatalogRows) -> Result<()> {
    rows.push(&[
        ("oid", number(DATABASE)),
        ("datname", text(&catalog.database)),
        ("datdba", number(OWNER)),
        ("encoding", number(UTF8)),
        ("datlocprovider", text("c")),
        ("datallowconn", flag(true)),
        ("datconnlimit", number(-1)),
        ("dattablespace", number(TABLESPACE)),
        // Text is ordered by its bytes.
        ("datcollate", text("C")),
        ("datctype", text("C.UTF-8")),
    ])
}

fn push_type(rows: &mut CatalogRows, entry: &TypeEntry) -> Result<()> {
    let kind = entry.kind.to_string();
    let common = |oid: u32, name: String, size_bytes: i16| -> Vec<(&str, ScalarValue)> {
        vec![
            ("oid", number(oid)),
            ("typname", text(name)),
            ("typnamespace", number(PG_CATALOG_OID)),
            ("typowner", number(OWNER)),
            ("typlen", number(size_bytes)),
            ("typbyval", flag((1..=8).contains(&size_bytes))),
            ("typtype", text(kind.clone())),
            ("typisdefined", flag(true)),
            ("typdelim", text(",")),
            ("typalign", text("i")),
            ("typstorage", text(if size_bytes < 0 { "x" } else { "p" })),
            ("typtypmod", number(-1)),
            ("typcollation", number(entry.collation())),
        ]
    };
    let mut row = common(entry.oid, entry.name.to_owned(), entry.size_bytes);
    row.push(("typcategory", text(entry.category)));
    row.push(("typarray", number(entry.array_oid)));
    rows.push(&row)?;
    if entry.array_oid != 0 {
        let mut row = common(entry.array_oid, format!("_{}", entry.name), -1);
        row.push(("typcategory", text("A")));
        row.push(("typelem", number(entry.oid)));
        rows.push(&row)?;
    }
    Ok(())
}

fn push_settings(catalog: &PgCatalog, rows: &mut CatalogRows) -> Result<()> {
    for (name, value) in catalog.settings().all() {
        rows.push(&[
            ("name", text(name)),
            ("setting", text(value.as_str())),
            ("category", text("Quire")),
            ("short_desc", text("")),
            ("context", text("user")),
            ("vartype", text("string")),
            ("source", text("session")),
            ("boot_val", text(value.as_str())),
            ("reset_val", text(value)),
        ])?;
    }
    Ok(())
}
