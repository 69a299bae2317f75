//! Rows about relations: `pg_class`, `pg_attribute`, `pg_index`, `pg_constraint` and what is like them.

use datafusion::common::Result;

use super::objects::{
    CatalogAttribute, CatalogRelation, Constraint, Index, PUBLIC, RelationOrigin,
};
use super::role_entry::OWNER;
use super::rows::{CatalogRows, flag, list, number, optional, text};
use super::specification::INFORMATION_SCHEMA;
use super::surroundings::{PG_CATALOG_OID, PUBLIC_OID, STANDARD_OID};
use super::{PgCatalog, types};

/// The number of a schema.
pub(super) fn namespace(schema: &str) -> u32 {
    match schema {
        PUBLIC => PUBLIC_OID,
        INFORMATION_SCHEMA => STANDARD_OID,
        _ => PG_CATALOG_OID,
    }
}

/// Fills the table, if it is one of these.
pub(super) fn fill(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<bool> {
    let relations = catalog.objects.relations.values();
    match table {
        "pg_class" => {
            for relation in relations {
                push_class(catalog, rows, relation)?;
            }
        }
        "pg_attribute" => {
            for relation in relations {
                for column in &relation.columns {
                    push_attribute(rows, relation, column)?;
                }
            }
        }
        "pg_attrdef" => {
            for relation in relations {
                push_defaults(rows, relation)?;
            }
        }
        "pg_index" => {
            for relation in relations {
                if let RelationOrigin::Index(index) = &relation.source {
                    push_index(rows, relation, index)?;
                }
            }
        }
        "pg_constraint" => {
            for constraint in catalog.objects.constraints.values() {
                push_constraint(rows, constraint)?;
            }
        }
        "pg_sequence" | "pg_sequences" => push_sequences(catalog, rows, table)?,
        "pg_tables" | "pg_views" | "pg_indexes" => push_lists(catalog, rows, table)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn push_class(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    relation: &CatalogRelation,
) -> Result<()> {
    let (has_index, checks) = match &relation.source {
        RelationOrigin::Table(table) => (table.index_names().next().is_some(), table.checks.len()),
        _ => (false, 0),
    };
    let is_referred = catalog.objects.constraints.values().any(|constraint| {
        constraint.kind == "f"
            && (constraint.table_oid == relation.oid || constraint.referenced_oid == relation.oid)
    });
    rows.push(&[
        ("oid", number(relation.oid)),
        ("relname", text(&relation.name)),
        ("relnamespace", number(namespace(relation.schema))),
        ("relowner", number(OWNER)),
        ("relam", number(relation.method)),
        ("relfilenode", number(relation.oid)),
        ("reltuples", number(-1)),
        ("relhasindex", flag(has_index)),
        ("relpersistence", text("p")),
        ("relkind", text(relation.kind)),
        ("relnatts", number(relation.columns.len() as i32)),
        ("relchecks", number(checks as i32)),
        // PostgreSQL keeps foreign keys by triggers; psql looks for them only where there are some.
        ("relhastriggers", flag(is_referred)),
        ("relispopulated", flag(true)),
        ("relreplident", text("d")),
    ])
}

fn push_attribute(
    rows: &mut CatalogRows,
    relation: &CatalogRelation,
    column: &CatalogAttribute,
) -> Result<()> {
    let entry = types::by_oid(column.type_oid);
    let name = if column.is_dropped {
        format!("........pg.dropped.{}........", column.number)
    } else {
        column.name.clone()
    };
    rows.push(&[
        ("attrelid", number(relation.oid)),
        ("attname", text(name)),
        ("atttypid", number(column.type_oid)),
        ("attstattarget", number(-1)),
        ("attlen", number(entry.map_or(-1, |entry| entry.size_bytes))),
        ("attnum", number(column.number)),
        ("attcacheoff", number(-1)),
        ("atttypmod", number(column.modifier)),
        ("attalign", text("i")),
        ("attstorage", text("p")),
        ("attcompression", text("")),
        ("attnotnull", flag(column.is_not_null)),
        ("atthasdef", flag(column.default.is_some())),
        ("attidentity", text(column.identity)),
        ("attgenerated", text("")),
        ("attisdropped", flag(column.is_dropped)),
        ("attislocal", flag(true)),
        ("attcollation", number(entry.map_or(0, |e| e.collation()))),
    ])
}

fn push_defaults(rows: &mut CatalogRows, relation: &CatalogRelation) -> Result<()> {
    for column in &relation.columns {
        if let Some((default, oid)) = &column.default {
            rows.push(&[
                ("oid", number(*oid)),
                ("adrelid", number(relation.oid)),
                ("adnum", number(column.number)),
                ("adbin", text(default)),
            ])?;
        }
    }
    Ok(())
}

fn push_index(rows: &mut CatalogRows, relation: &CatalogRelation, index: &Index) -> Result<()> {
    let parts = &index.key.columns;
    let count = parts.len() as i32;
    let numbers = parts.iter().map(|part| part.column as i64 + 1);
    // Bit 0 is descending, bit 1 NULLs first, as descending columns have them.
    let options = parts
        .iter()
        .map(|part| if part.is_descending { 3 } else { 0 });
    let collations = relation.columns.iter().map(|column| {
        let entry = types::by_oid(column.type_oid);
        entry.map_or(0, |entry| i64::from(entry.collation()))
    });
    rows.push(&[
        ("indexrelid", number(relation.oid)),
        ("indrelid", number(index.table_oid)),
        ("indnatts", number(count)),
        ("indnkeyatts", number(count)),
        ("indisunique", flag(index.is_unique)),
        ("indisprimary", flag(index.is_primary)),
        ("indimmediate", flag(true)),
        ("indisclustered", flag(index.is_primary)),
        ("indisvalid", flag(true)),
        ("indisready", flag(true)),
        ("indislive", flag(true)),
        ("indkey", list(numbers)),
        ("indcollation", list(collations)),
        ("indclass", list(parts.iter().map(|_| 0))),
        ("indoption", list(options)),
    ])
}

fn push_constraint(rows: &mut CatalogRows, constraint: &Constraint) -> Result<()> {
    let is_foreign = constraint.kind == "f";
    let referenced = is_foreign.then(|| list(constraint.referenced_columns.iter().copied()));
    let mut values = vec![
        ("oid", number(constraint.oid)),
        ("conname", text(&constraint.name)),
        ("connamespace", number(PUBLIC_OID)),
        ("contype", text(constraint.kind)),
        ("convalidated", flag(true)),
        ("conrelid", number(constraint.table_oid)),
        ("conindid", number(constraint.index_oid)),
        ("confrelid", number(constraint.referenced_oid)),
        ("confupdtype", text(constraint.on_update)),
        ("confdeltype", text(constraint.on_delete)),
        ("confmatchtype", text(if is_foreign { "s" } else { " " })),
        ("conislocal", flag(true)),
        ("connoinherit", flag(constraint.kind != "c")),
        ("conkey", list(constraint.columns.iter().copied())),
    ];
    values.extend(referenced.map(|columns| ("confkey", columns)));
    if let Some(condition) = constraint.condition() {
        values.push(("conbin", text(condition)));
    }
    rows.push(&values)
}

fn push_sequences(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<()> {
    for relation in catalog.objects.relations.values() {
        let RelationOrigin::Sequence(sequence) = &relation.source else {
            continue;
        };
        let type_oid = types::of_sql_type(sequence.sql_type).0;
        let cache = i64::try_from(sequence.cache).unwrap_or(i64::MAX);
        if table == "pg_sequence" {
            rows.push(&[
                ("seqrelid", number(relation.oid)),
                ("seqtypid", number(type_oid)),
                ("seqstart", number(sequence.start)),
                ("seqincrement", number(sequence.increment)),
                ("seqmax", number(sequence.max)),
                ("seqmin", number(sequence.min)),
                ("seqcache", number(cache)),
                ("seqcycle", flag(sequence.cycles)),
            ])?;
        } else {
            rows.push(&[
                ("schemaname", text(PUBLIC)),
                ("sequencename", text(&sequence.name)),
                ("sequenceowner", text(&catalog.user)),
                ("data_type", text(types::format_type(type_oid, -1))),
                ("start_value", number(sequence.start)),
                ("min_value", number(sequence.min)),
                ("max_value", number(sequence.max)),
                ("increment_by", number(sequence.increment)),
                ("cycle", flag(sequence.cycles)),
                ("cache_size", number(cache)),
                ("last_value", optional(None)),
            ])?;
        }
    }
    Ok(())
}

/// `pg_tables`, `pg_views` and `pg_indexes`.
fn push_lists(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<()> {
    for relation in catalog.objects.relations.values() {
        let (schema, name) = (text(relation.schema), text(&relation.name));
        let owner = text(&catalog.user);
        match (&relation.source, table) {
            (RelationOrigin::Table(_) | RelationOrigin::System, "pg_tables")
                if relation.kind == "r" =>
            {
                let has_indexes = match &relation.source {
                    RelationOrigin::Table(table) => table.index_names().next().is_some(),
                    _ => false,
                };
                rows.push(&[
                    ("schemaname", schema),
                    ("tablename", name),
                    ("tableowner", owner),
                    ("hasindexes", flag(has_indexes)),
                ])?;
            }
            (RelationOrigin::View(view), "pg_views") => rows.push(&[
                ("schemaname", schema),
                ("viewname", name),
                ("viewowner", owner),
                ("definition", text(format!("{};", view.query))),
            ])?,
            (RelationOrigin::Index(index), "pg_indexes") => {
                let table = catalog.objects.relations.get(&index.table_oid);
                rows.push(&[
                    ("schemaname", schema),
                    ("tablename", optional(table.map(|table| table.name.clone()))),
                    ("indexname", name),
                    ("indexdef", text(&index.definition)),
                ])?;
            }
            _ => {}
        }
    }
    Ok(())
}
