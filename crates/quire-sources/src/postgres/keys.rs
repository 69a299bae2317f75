//! Primary key, unique constraints, indexes and foreign keys of a table of PostgreSQL.

use postgres::{Client, Row};

use super::server::PostgresStop;
use crate::definition::{
    LeftOutPart, SourceForeignKey, SourceIndex, SourceIndexColumn, SourceReference, SourceTableName,
};

/// `indkey` and `indoption` count from 0; columns behind `indnkeyatts` are only included.
const INDEXES: &str = "SELECT i.relname::text, x.indisunique, coalesce((SELECT c.contype::text FROM pg_catalog.pg_constraint c \
     WHERE c.conindid = x.indexrelid AND c.conrelid = x.indrelid AND c.contype IN ('p', 'u', 'x') LIMIT 1), ''), \
     x.indpred IS NOT NULL, x.indexprs IS NOT NULL, x.indisvalid, m.amname::text, \
     ARRAY(SELECT a.attname::text FROM generate_series(0, x.indnkeyatts - 1) k \
     JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[k] ORDER BY k), \
     ARRAY(SELECT x.indoption[k] & 1 = 1 FROM generate_series(0, x.indnkeyatts - 1) k ORDER BY k) \
     FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid JOIN pg_catalog.pg_am m ON m.oid = i.relam \
     WHERE x.indrelid = $1 ORDER BY x.indexrelid";
const FOREIGN_KEYS: &str = "SELECT n.nspname::text, r.relname::text, c.confdeltype::text, c.confupdtype::text, \
     ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k(number, place) \
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place), \
     ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k(number, place) \
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number ORDER BY k.place) \
     FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class r ON r.oid = c.confrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace WHERE c.conrelid = $1 AND c.contype = 'f' AND c.conparentid = 0 ORDER BY c.oid";
const CHECKS: &str = "SELECT conname::text, pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint WHERE conrelid = $1 AND contype = 'c' ORDER BY oid";

/// What holds for the rows of a table.
#[derive(Debug, Default)]
pub(super) struct PostgresKeys {
    pub(super) primary_key: Vec<String>,
    pub(super) unique_constraints: Vec<Vec<String>>,
    pub(super) indexes: Vec<SourceIndex>,
    pub(super) foreign_keys: Vec<SourceForeignKey>,
    pub(super) left_out: Vec<LeftOutPart>,
}

impl PostgresKeys {
    pub(super) fn read(client: &mut Client, table: u32) -> Result<Self, PostgresStop> {
        let mut keys = Self::default();
        for row in client.query(INDEXES, &[&table])? {
            keys.add_index(&row);
        }
        for row in client.query(CHECKS, &[&table])? {
            let (name, definition): (String, String) = (row.get(0), row.get(1));
            keys.left_out.push(LeftOutPart::new(
                format!("constraint \"{name}\""),
                format!("{definition} is not translated"),
            ));
        }
        keys.foreign_keys = client
            .query(FOREIGN_KEYS, &[&table])?
            .iter()
            .map(foreign_key)
            .collect();
        Ok(keys)
    }

    fn add_index(&mut self, row: &Row) {
        let (name, is_unique, constraint): (String, bool, String) =
            (row.get(0), row.get(1), row.get(2));
        let (is_partial, has_expression, is_valid): (bool, bool, bool) =
            (row.get(3), row.get(4), row.get(5));
        let (method, columns): (String, Vec<String>) = (row.get(6), row.get(7));
        let descending: Vec<bool> = row.get(8);
        let reason = match constraint.as_str() {
            "p" => {
                self.primary_key = columns;
                return;
            }
            "u" => {
                self.unique_constraints.push(columns);
                return;
            }
            "x" => "it excludes rows by operators".to_owned(),
            _ if is_partial => "it is partial: it has a WHERE".to_owned(),
            _ if has_expression => "it is on an expression".to_owned(),
            _ if !is_valid => "it is not valid: its CREATE INDEX did not end".to_owned(),
            _ if method != "btree" => format!("its method is {method}"),
            _ => {
                let pairs = columns.into_iter().zip(descending);
                self.indexes.push(SourceIndex {
                    name,
                    columns: pairs
                        .map(|(name, is_descending)| SourceIndexColumn {
                            name,
                            is_descending,
                        })
                        .collect(),
                    is_unique,
                });
                return;
            }
        };
        self.left_out
            .push(LeftOutPart::new(format!("index \"{name}\""), reason));
    }
}

fn foreign_key(row: &Row) -> SourceForeignKey {
    let (schema, table): (String, String) = (row.get(0), row.get(1));
    SourceForeignKey {
        referenced_table: SourceTableName::in_schema(schema, table),
        on_delete: reference(row.get(2)),
        on_update: reference(row.get(3)),
        columns: row.get(4),
        referenced_columns: row.get(5),
    }
}

fn reference(action: &str) -> SourceReference {
    match action {
        "r" => SourceReference::Restrict,
        "c" => SourceReference::Cascade,
        "n" => SourceReference::SetNull,
        "d" => SourceReference::SetDefault,
        _ => SourceReference::NoAction,
    }
}
