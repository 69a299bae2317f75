//! What SQLite's tables are defined as.

use quire_sources::definition::{
    LeftOutPart, SourceAutoNumber, SourceForeignKey, SourceIndex, SourceIndexColumn,
    SourceReference, SourceRowCount, SourceTableKind, SourceTableName,
};

use crate::cells::definition;
use crate::folder::sqlite;

const SHOP: &str = "
    CREATE TABLE customer (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, mail VARCHAR(40) DEFAULT 'it''s none', age INT DEFAULT -1, since DATE DEFAULT CURRENT_DATE, note DEFAULT NULL);
    CREATE TABLE orders (customer INTEGER NOT NULL, number INT, total DECIMAL(8,2) DEFAULT 1.50, twice AS (number * 2), thrice INT AS (number * 3) STORED,
        PRIMARY KEY (customer, number), UNIQUE (number, total), FOREIGN KEY (customer) REFERENCES customer ON DELETE CASCADE ON UPDATE SET NULL);
    CREATE INDEX orders_total ON orders (total DESC, number);
    CREATE UNIQUE INDEX orders_number ON orders (number);
    CREATE INDEX orders_large ON orders (total) WHERE total > 100;
    CREATE INDEX orders_sum ON orders (number + 1);
    CREATE TABLE line (customer INT, number INT, k TEXT PRIMARY KEY, FOREIGN KEY (customer, number) REFERENCES orders (customer, number) ON DELETE RESTRICT) WITHOUT ROWID;
    CREATE TABLE plain (id INTEGER PRIMARY KEY /* no AUTOINCREMENT */, t TEXT DEFAULT 'AUTOINCREMENT');
    CREATE VIEW names AS SELECT name FROM customer;
    INSERT INTO customer (name) VALUES ('Ada'), ('Bob')";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn left_out(part: &str, reason: &str) -> LeftOutPart {
    LeftOutPart {
        part: part.to_owned(),
        reason: reason.to_owned(),
    }
}

fn index_column(name: &str, is_descending: bool) -> SourceIndexColumn {
    SourceIndexColumn {
        name: name.to_owned(),
        is_descending,
    }
}

#[test]
fn tables_are_listed_with_their_rows() {
    let (_folder, database) = sqlite(SHOP);
    let tables = database.tables().unwrap();
    let found: Vec<_> = tables
        .iter()
        .map(|table| (table.name.name.as_str(), table.kind, table.row_count))
        .collect();
    let (table, view, none) = (
        SourceTableKind::Table,
        SourceTableKind::View,
        SourceRowCount::Exact(0),
    );
    let expected = [
        ("customer", table, SourceRowCount::Exact(2)),
        ("line", table, none),
        ("names", view, SourceRowCount::Unknown),
        ("orders", table, none),
        ("plain", table, none),
    ];
    assert_eq!(found, expected);
}

#[test]
fn columns_say_null_default_and_number() {
    let (_folder, database) = sqlite(SHOP);
    let customer = definition(&database, "customer");
    let columns: Vec<_> = customer
        .columns
        .iter()
        .map(|c| {
            (
                c.name.as_str(),
                c.declared_type.as_str(),
                c.is_nullable,
                c.default.as_deref(),
            )
        })
        .collect();
    let expected = [
        ("id", "INTEGER", false, None),
        ("name", "TEXT", false, None),
        ("mail", "VARCHAR(40)", true, Some("it's none")),
        ("age", "INT", true, Some("-1")),
        ("since", "DATE", true, None),
        ("note", "", true, None),
    ];
    assert_eq!(columns, expected);
    assert_eq!(
        customer.columns[0].auto_number,
        Some(SourceAutoNumber::Autoincrement)
    );
    assert_eq!(customer.primary_key, ["id"]);
    assert_eq!(customer.unique_constraints, [names(&["name"])]);
    assert_eq!(
        customer.left_out,
        [left_out(
            "default of column \"since\"",
            "CURRENT_DATE is no constant"
        )]
    );
    let plain = definition(&database, "plain");
    assert_eq!(plain.columns[0].auto_number, Some(SourceAutoNumber::Rowid));
    assert_eq!(plain.columns[1].default.as_deref(), Some("AUTOINCREMENT"));
}

#[test]
fn keys_and_indexes_are_complete_or_left_out_with_a_reason() {
    let (_folder, database) = sqlite(SHOP);
    let orders = definition(&database, "orders");
    assert_eq!(orders.primary_key, ["customer", "number"]);
    assert_eq!(orders.unique_constraints, [names(&["number", "total"])]);
    let generated: Vec<bool> = orders
        .columns
        .iter()
        .map(|column| column.is_generated)
        .collect();
    assert_eq!(generated, [false, false, false, true, true]);
    // A key of a table with rowids lets NULL in, unless it says NOT NULL.
    assert!(!orders.columns[0].is_nullable && orders.columns[1].is_nullable);
    let index = |name: &str, columns: &[SourceIndexColumn], is_unique| SourceIndex {
        name: name.to_owned(),
        columns: columns.to_vec(),
        is_unique,
    };
    let expected = [
        index(
            "orders_total",
            &[index_column("total", true), index_column("number", false)],
            false,
        ),
        index("orders_number", &[index_column("number", false)], true),
    ];
    assert_eq!(orders.indexes, expected);
    let expected = [
        left_out("index \"orders_large\"", "it is partial: it has a WHERE"),
        left_out("index \"orders_sum\"", "it is on an expression"),
    ];
    assert_eq!(orders.left_out, expected);
    let foreign = |columns: &[&str], table: &str, referenced: &[&str], on_delete, on_update| {
        SourceForeignKey {
            columns: names(columns),
            referenced_table: SourceTableName::new(table),
            referenced_columns: names(referenced),
            on_delete,
            on_update,
        }
    };
    // Without columns the reference is to the primary key.
    let key = foreign(
        &["customer"],
        "customer",
        &["id"],
        SourceReference::Cascade,
        SourceReference::SetNull,
    );
    assert_eq!(orders.foreign_keys, [key]);
    let line = definition(&database, "line");
    let both = ["customer", "number"];
    let key = foreign(
        &both,
        "orders",
        &both,
        SourceReference::Restrict,
        SourceReference::NoAction,
    );
    assert_eq!(line.foreign_keys, [key]);
    assert_eq!(line.primary_key, ["k"]);
    assert!(!line.columns[2].is_nullable);
    assert_eq!(line.columns[2].auto_number, None);
}

#[test]
fn a_key_that_is_no_rowid_has_no_numbers() {
    // SQLite's documented exception: DESC in the column makes it an ordinary key.
    let (_folder, database) = sqlite(
        "CREATE TABLE a (k INTEGER PRIMARY KEY DESC); CREATE TABLE b (k INT PRIMARY KEY); CREATE TABLE c (k INTEGER, PRIMARY KEY (k))",
    );
    assert_eq!(definition(&database, "a").columns[0].auto_number, None);
    assert_eq!(definition(&database, "b").columns[0].auto_number, None);
    assert_eq!(
        definition(&database, "c").columns[0].auto_number,
        Some(SourceAutoNumber::Rowid)
    );
}

#[test]
fn names_are_found_as_people_write_them() {
    let (_folder, database) =
        sqlite("CREATE TABLE \"a.b\" (x); CREATE TABLE Track (x); CREATE TABLE \"select\" (x)");
    let name = |text: &str| database.find(text).map(|name| name.name);
    assert_eq!(name("a.b").unwrap(), "a.b");
    assert_eq!(name("track").unwrap(), "Track");
    assert_eq!(name("select").unwrap(), "select");
    let said = name("none").unwrap_err().to_string();
    assert!(said.contains("has no table \"none\""), "{said}");
    let schema = SourceTableName::in_schema("other", "Track");
    assert!(database.definition(&schema, &Default::default()).is_err());
}
