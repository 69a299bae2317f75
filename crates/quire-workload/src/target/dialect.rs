//! How does each system write the definitions of tables and indexes?

use crate::{ColumnType, WorkloadIndex, WorkloadTable};
use std::fmt::Write;

/// A dialect of SQL, as far as definitions differ. Quire's is PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlDialect {
    Sqlite,
    PostgreSql,
    MariaDb,
}

impl SqlDialect {
    /// `CREATE TABLE` with the primary key. `options` are what the system takes behind the columns, such as `WITH (page_codec = lz4)` or
    /// `ROW_FORMAT=COMPRESSED`, or empty.
    pub fn create_table(self, table: &WorkloadTable, options: &str) -> String {
        let mut parts: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let not_null = if column.nullable { "" } else { " NOT NULL" };
                format!("{} {}{not_null}", column.name, self.type_name(column.kind))
            })
            .collect();
        if !table.primary_key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", table.primary_key.join(", ")));
        }
        let mut text = format!("CREATE TABLE {} ({})", table.name, parts.join(", "));
        if self == Self::MariaDb {
            // Keys and comparisons by bytes, as in the others; the server's default ignores case.
            text.push_str(" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin");
        }
        if !options.is_empty() {
            text.push(' ');
            text.push_str(options);
        }
        text
    }

    /// `CREATE INDEX`, the same in all dialects.
    pub fn create_index(self, table: &WorkloadTable, index: &WorkloadIndex) -> String {
        let mut text = String::from("CREATE ");
        if index.unique {
            text.push_str("UNIQUE ");
        }
        // Writing to a text does not fail.
        let _ = write!(
            text,
            "INDEX {} ON {} ({})",
            index.name,
            table.name,
            index.columns.join(", ")
        );
        text
    }

    /// A type's name.
    pub fn type_name(self, kind: ColumnType) -> String {
        match kind {
            // SQLite has one integer type; a primary key of one column of that very name is the position of its row.
            ColumnType::SmallInteger | ColumnType::Integer | ColumnType::BigInteger
                if self == Self::Sqlite =>
            {
                "INTEGER".into()
            }
            ColumnType::SmallInteger => "SMALLINT".into(),
            ColumnType::Integer => "INTEGER".into(),
            ColumnType::BigInteger => "BIGINT".into(),
            ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
            ColumnType::Double => "DOUBLE PRECISION".into(),
            ColumnType::Char(characters) => format!("CHAR({characters})"),
            ColumnType::Varchar(characters) => format!("VARCHAR({characters})"),
            ColumnType::Date => "DATE".into(),
            // MariaDB's TIMESTAMP begins with 1970 and has a time zone.
            ColumnType::Timestamp if self == Self::MariaDb => "DATETIME(6)".into(),
            ColumnType::Timestamp => "TIMESTAMP".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SqlDialect;
    use crate::{ColumnType, WorkloadColumn, WorkloadIndex, WorkloadTable};

    fn table() -> WorkloadTable {
        WorkloadTable {
            name: "item".into(),
            columns: vec![
                WorkloadColumn::new("a", ColumnType::SmallInteger),
                WorkloadColumn::new("b", ColumnType::BigInteger),
                WorkloadColumn::nullable("c", ColumnType::Integer),
                WorkloadColumn::nullable(
                    "d",
                    ColumnType::Decimal {
                        precision: 12,
                        scale: 2,
                    },
                ),
                WorkloadColumn::nullable("e", ColumnType::Double),
                WorkloadColumn::new("f", ColumnType::Char(2)),
                WorkloadColumn::new("g", ColumnType::Varchar(40)),
                WorkloadColumn::new("h", ColumnType::Date),
                WorkloadColumn::nullable("i", ColumnType::Timestamp),
            ],
            primary_key: vec!["b", "a"],
            indexes: vec![],
        }
    }

    #[test]
    fn tables() {
        assert_eq!(
            SqlDialect::PostgreSql.create_table(&table(), "WITH (page_codec = lz4)"),
            "CREATE TABLE item (a SMALLINT NOT NULL, b BIGINT NOT NULL, c INTEGER, d DECIMAL(12,2), e DOUBLE PRECISION, \
             f CHAR(2) NOT NULL, g VARCHAR(40) NOT NULL, h DATE NOT NULL, i TIMESTAMP, PRIMARY KEY (b, a)) WITH (page_codec = lz4)"
        );
        assert_eq!(
            SqlDialect::MariaDb.create_table(&table(), "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"),
            "CREATE TABLE item (a SMALLINT NOT NULL, b BIGINT NOT NULL, c INTEGER, d DECIMAL(12,2), e DOUBLE PRECISION, \
             f CHAR(2) NOT NULL, g VARCHAR(40) NOT NULL, h DATE NOT NULL, i DATETIME(6), PRIMARY KEY (b, a)) \
             ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"
        );
        assert_eq!(
            SqlDialect::Sqlite.create_table(&table(), ""),
            "CREATE TABLE item (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER, d DECIMAL(12,2), e DOUBLE PRECISION, \
             f CHAR(2) NOT NULL, g VARCHAR(40) NOT NULL, h DATE NOT NULL, i TIMESTAMP, PRIMARY KEY (b, a))"
        );
        let keyless = WorkloadTable {
            columns: vec![WorkloadColumn::new("a", ColumnType::Date)],
            primary_key: vec![],
            ..table()
        };
        assert_eq!(
            SqlDialect::Sqlite.create_table(&keyless, ""),
            "CREATE TABLE item (a DATE NOT NULL)"
        );
    }

    #[test]
    fn indexes() {
        let index = |unique| WorkloadIndex {
            name: "item_by_g".into(),
            columns: vec!["g", "h"],
            unique,
        };
        for dialect in [
            SqlDialect::Sqlite,
            SqlDialect::PostgreSql,
            SqlDialect::MariaDb,
        ] {
            assert_eq!(
                dialect.create_index(&table(), &index(false)),
                "CREATE INDEX item_by_g ON item (g, h)"
            );
            assert_eq!(
                dialect.create_index(&table(), &index(true)),
                "CREATE UNIQUE INDEX item_by_g ON item (g, h)"
            );
        }
    }
}
