//! Rows of `information_schema`, the catalog of the SQL standard.

use datafusion::common::{Result, ScalarValue};

use super::objects::{CatalogAttribute, CatalogRelation, Constraint, PUBLIC, RelationOrigin};
use super::rows::{CatalogRows, number, optional, text};
use super::{PgCatalog, types};

pub(super) fn fill(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<()> {
    let database = || text(&catalog.database);
    match table {
        "schemata" => {
            for schema in [super::PG_CATALOG, PUBLIC, super::INFORMATION_SCHEMA] {
                rows.push(&[
                    ("catalog_name", database()),
                    ("schema_name", text(schema)),
                    ("schema_owner", text(&catalog.user)),
                ])?;
            }
            Ok(())
        }
        "tables" | "views" | "columns" | "sequences" => {
            let relations = catalog.objects.relations.values();
            relations
                .filter(|relation| matches!(relation.kind, "r" | "v" | "S"))
                .try_for_each(|relation| match table {
                    "tables" => push_table(catalog, rows, relation),
                    "views" => push_view(catalog, rows, relation),
                    "columns" => push_columns(catalog, rows, relation),
                    _ => push_sequence(catalog, rows, relation),
                })
        }
        _ => {
            let constraints = catalog.objects.constraints.values();
            constraints
                .into_iter()
                .try_for_each(|constraint| push_constraint(catalog, rows, table, constraint))
        }
    }
}

fn push_table(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    relation: &CatalogRelation,
) -> Result<()> {
    let (kind, is_changed) = match relation.kind {
        "r" => ("BASE TABLE", "YES"),
        "v" => ("VIEW", "NO"),
        _ => return Ok(()),
    };
    rows.push(&[
        ("table_catalog", text(&catalog.database)),
        ("table_schema", text(relation.schema)),
        ("table_name", text(&relation.name)),
        ("table_type", text(kind)),
        ("is_insertable_into", text(is_changed)),
        ("is_typed", text("NO")),
    ])
}

fn push_view(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    relation: &CatalogRelation,
) -> Result<()> {
    let RelationOrigin::View(view) = &relation.source else {
        return Ok(());
    };
    rows.push(&[
        ("table_catalog", text(&catalog.database)),
        ("table_schema", text(relation.schema)),
        ("table_name", text(&relation.name)),
        ("view_definition", text(view.query.as_str())),
        ("check_option", text("NONE")),
        ("is_updatable", text("NO")),
        ("is_insertable_into", text("NO")),
    ])
}

fn push_columns(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    relation: &CatalogRelation,
) -> Result<()> {
    let is_table = matches!(relation.source, RelationOrigin::Table(_));
    for column in relation.columns.iter().filter(|column| !column.is_dropped) {
        let mut row = vec![
            ("table_catalog", text(&catalog.database)),
            ("table_schema", text(relation.schema)),
            ("table_name", text(&relation.name)),
            ("column_name", text(&column.name)),
            ("ordinal_position", number(column.number)),
            ("is_nullable", text(yes(!column.is_not_null))),
            ("data_type", text(types::format_type(column.type_oid, -1))),
            ("udt_catalog", text(&catalog.database)),
            ("udt_schema", text(super::PG_CATALOG)),
            ("dtd_identifier", text(column.number.to_string())),
            ("is_self_referencing", text("NO")),
            ("is_identity", text(yes(!column.identity.is_empty()))),
            ("is_generated", text("NEVER")),
            ("is_updatable", text(yes(is_table))),
        ];
        let default = column.default.as_ref().map(|(text, _)| text.clone());
        row.push(("column_default", optional(default)));
        let entry = types::by_oid(column.type_oid);
        row.push(("udt_name", optional(entry.map(|e| e.name.to_owned()))));
        if !column.identity.is_empty() {
            let generation = if column.identity == "a" {
                "ALWAYS"
            } else {
                "BY DEFAULT"
            };
            row.push(("identity_generation", text(generation)));
        }
        push_sizes(&mut row, column);
        rows.push(&row)?;
    }
    Ok(())
}

/// Lengths and digits, for the types that have them.
fn push_sizes(row: &mut Vec<(&str, ScalarValue)>, column: &CatalogAttribute) {
    let mut precision = |digits: i32, radix: i32, scale: Option<i32>| {
        row.push(("numeric_precision", number(digits)));
        row.push(("numeric_precision_radix", number(radix)));
        if let Some(scale) = scale {
            row.push(("numeric_scale", number(scale)));
        }
    };
    match (column.type_oid, column.modifier) {
        (21, _) => precision(16, 2, Some(0)),
        (23, _) => precision(32, 2, Some(0)),
        (20, _) => precision(64, 2, Some(0)),
        (700, _) => precision(24, 2, None),
        (701, _) => precision(53, 2, None),
        (1700, 4..) => {
            let digits = column.modifier - 4;
            precision(digits >> 16, 10, Some(digits & 0xFFFF));
        }
        (1042 | 1043, 4..) => {
            let length = number(column.modifier - 4);
            row.push(("character_maximum_length", length));
        }
        (1082, _) => row.push(("datetime_precision", number(0))),
        (1083 | 1114 | 1184, _) => row.push(("datetime_precision", number(6))),
        _ => {}
    }
}

fn push_sequence(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    relation: &CatalogRelation,
) -> Result<()> {
    let RelationOrigin::Sequence(sequence) = &relation.source else {
        return Ok(());
    };
    let type_oid = types::of_sql_type(sequence.sql_type).0;
    rows.push(&[
        ("sequence_catalog", text(&catalog.database)),
        ("sequence_schema", text(relation.schema)),
        ("sequence_name", text(&relation.name)),
        ("data_type", text(types::format_type(type_oid, -1))),
        ("start_value", text(sequence.start.to_string())),
        ("minimum_value", text(sequence.min.to_string())),
        ("maximum_value", text(sequence.max.to_string())),
        ("increment", text(sequence.increment.to_string())),
        ("cycle_option", text(yes(sequence.cycles))),
    ])
}

fn push_constraint(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    table: &str,
    constraint: &Constraint,
) -> Result<()> {
    let relation = |oid| catalog.objects.relations.get(oid);
    let Some(of) = relation(&constraint.table_oid) else {
        return Ok(());
    };
    let name = vec![
        ("constraint_catalog", text(&catalog.database)),
        ("constraint_schema", text(PUBLIC)),
        ("constraint_name", text(&constraint.name)),
    ];
    let on_table = |relation: &CatalogRelation| {
        let mut row = name.clone();
        row.extend([
            ("table_catalog", text(&catalog.database)),
            ("table_schema", text(relation.schema)),
            ("table_name", text(&relation.name)),
        ]);
        row
    };
    match (table, constraint.kind) {
        ("table_constraints", kind) => {
            let mut row = on_table(of);
            row.push(("constraint_type", text(kind_name(kind))));
            row.push(("is_deferrable", text("NO")));
            row.push(("initially_deferred", text("NO")));
            row.push(("enforced", text("YES")));
            rows.push(&row)
        }
        ("key_column_usage", "p" | "u" | "f") => push_key(rows, constraint, of, &on_table(of)),
        ("constraint_column_usage", kind) => {
            let (of, columns) = match (kind, relation(&constraint.referenced_oid)) {
                ("f", Some(other)) => (other, &constraint.referenced_columns),
                _ => (of, &constraint.columns),
            };
            columns.iter().try_for_each(|column| {
                let mut row = on_table(of);
                row.push(("column_name", optional(column_name(of, *column))));
                rows.push(&row)
            })
        }
        ("check_constraints", "c") => {
            let mut row = name;
            let condition = constraint.condition().unwrap_or_default();
            row.push(("check_clause", text(condition)));
            rows.push(&row)
        }
        ("referential_constraints", "f") => {
            let index = relation(&constraint.index_oid).map(|index| index.name.clone());
            push_reference(catalog, rows, constraint, name, index)
        }
        _ => Ok(()),
    }
}

/// The columns of a key, in their order.
fn push_key(
    rows: &mut CatalogRows,
    constraint: &Constraint,
    of: &CatalogRelation,
    on_table: &[(&str, ScalarValue)],
) -> Result<()> {
    for (position, column) in (1_i32..).zip(&constraint.columns) {
        let mut row = on_table.to_vec();
        row.push(("column_name", optional(column_name(of, *column))));
        row.push(("ordinal_position", number(position)));
        if constraint.kind == "f" {
            row.push(("position_in_unique_constraint", number(position)));
        }
        rows.push(&row)?;
    }
    Ok(())
}

fn push_reference(
    catalog: &PgCatalog,
    rows: &mut CatalogRows,
    constraint: &Constraint,
    mut row: Vec<(&str, ScalarValue)>,
    index: Option<String>,
) -> Result<()> {
    row.extend([
        ("unique_constraint_catalog", text(&catalog.database)),
        ("unique_constraint_schema", text(PUBLIC)),
        ("unique_constraint_name", optional(index)),
        ("match_option", text("NONE")),
        ("update_rule", text(rule(constraint.on_update))),
        ("delete_rule", text(rule(constraint.on_delete))),
    ]);
    rows.push(&row)
}

fn column_name(relation: &CatalogRelation, number: i64) -> Option<String> {
    let mut columns = relation.columns.iter();
    let found = columns.find(|column| i64::from(column.number) == number);
    found.map(|column| column.name.clone())
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "p" => "PRIMARY KEY",
        "u" => "UNIQUE",
        "f" => "FOREIGN KEY",
        _ => "CHECK",
    }
}

fn rule(action: &str) -> &'static str {
    match action {
        "r" => "RESTRICT",
        "c" => "CASCADE",
        "n" => "SET NULL",
        "d" => "SET DEFAULT",
        _ => "NO ACTION",
    }
}

fn yes(value: bool) -> &'static str {
    if value { "YES" } else { "NO" }
}
