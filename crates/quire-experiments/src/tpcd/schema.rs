//! The tables as row tables, compressed and not, with and without keys.

use quire::SqlType;

use crate::tpcd::{TpcdCompression, paper};

/// How rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarehouseStorage {
    /// Tuples compressed field by field.
    Compressed,
    /// Tuples as they are.
    Plain,
}

impl WarehouseStorage {
    pub(crate) const BOTH: [Self; 2] = [Self::Compressed, Self::Plain];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Compressed => "compressed",
            Self::Plain => "uncompressed",
        }
    }
}

const SCHEMA: &str = include_str!("../../../../tests/tpch/row_schema.sql");
pub(crate) const INDEXES: [&str; 2] = [
    "CREATE INDEX lineitem_part ON lineitem (l_partkey)",
    "CREATE INDEX orders_customer ON orders (o_custkey)",
];

/// The columns with dictionaries: the paper says "all flag fields".
const FLAGS: [&str; 3] = ["l_returnflag", "l_linestatus", "o_orderstatus"];

/// Tables of one page, which the paper does not compress.
const SMALL: [&str; 2] = ["region", "nation"];

/// A column as `CREATE TABLE` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaColumn {
    pub(crate) name: &'static str,
    pub(crate) sql_type: SqlType,
}

impl SchemaColumn {
    pub(crate) fn is_flag(&self) -> bool {
        FLAGS.contains(&self.name)
    }

    fn is_comment(&self) -> bool {
        self.name.ends_with("_comment")
    }

    /// The column of a line such as `l_tax DECIMAL(15,2) NOT NULL`; nothing of a constraint.
    fn of(text: &'static str) -> Option<Self> {
        let (name, rest) = text.trim().split_once(' ')?;
        let number = |from: &str| -> Option<u32> {
            let digits = rest.strip_prefix(from)?.split_once(')')?.0;
            digits.parse().ok()
        };
        let sql_type = match rest.split([' ', '(']).next()? {
            "INTEGER" => SqlType::Integer,
            "BIGINT" => SqlType::BigInt,
            "DATE" => SqlType::Date,
            "DECIMAL" => SqlType::Decimal {
                precision: 15,
                scale: 2,
            },
            "CHAR" => SqlType::Char(number("CHAR(")?),
            "VARCHAR" => SqlType::VarChar(number("VARCHAR(")?),
            _ => return None,
        };
        Some(Self { name, sql_type })
    }
}

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = SCHEMA.lines().filter(|line| line.starts_with("CREATE"));
    lines.map(|line| line.trim_end_matches(';'))
}

/// The name of the table, and what stands in its parentheses.
fn parts(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (name, columns) = line.strip_prefix("CREATE TABLE ")?.split_once(" (")?;
    Some((name, columns.strip_suffix(')')?))
}

/// What commas separate, but for those within parentheses.
fn separated(text: &'static str) -> Vec<&'static str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    found.extend(text.get(start..));
    found
}

/// The columns of a table, in their order.
pub(crate) fn columns(table: &str) -> Vec<SchemaColumn> {
    let mut tables = lines().filter_map(parts);
    let found = tables.find(|(name, _)| *name == table);
    let columns = found.map(|(_, columns)| separated(columns));
    let columns = columns.unwrap_or_default().into_iter();
    columns.filter_map(SchemaColumn::of).collect()
}

/// The statements that make the tables. Pages are the paper's, and not compressed.
pub(crate) fn definitions(
    storage: WarehouseStorage,
    compression: TpcdCompression,
    has_keys: bool,
) -> Vec<String> {
    let definition = |(table, columns): (&'static str, &'static str)| {
        let is_compressed = storage == WarehouseStorage::Compressed && !SMALL.contains(&table);
        let columns = separated(columns).into_iter().filter_map(|column| {
            let is_constraint = SchemaColumn::of(column).is_none();
            let column = if is_compressed && compression != TpcdCompression::Auto {
                as_in_the_paper(column, compression)
            } else {
                column.trim().to_owned()
            };
            if has_keys {
                Some(column)
            } else {
                (!is_constraint).then(|| column.replace(" PRIMARY KEY", " NOT NULL"))
            }
        });
        let columns: Vec<String> = columns.collect();
        let compression = if is_compressed { "auto" } else { "none" };
        format!(
            "CREATE TABLE {table} ({}) USING row WITH (compression = {compression}, page_codec = none, storage_format = none, page_size = {})",
            columns.join(", "),
            paper::PAGE_BYTES
        )
    };
    lines().filter_map(parts).map(definition).collect()
}

/// A column with what the paper does to it, where that is not null suppression, or would not do.
fn as_in_the_paper(column: &'static str, compression: TpcdCompression) -> String {
    let codes = match compression {
        TpcdCompression::PaperAndStrings(codes) => Some(codes.codec()),
        TpcdCompression::Paper | TpcdCompression::Auto => None,
    };
    let column_text = column.trim();
    let codec = match SchemaColumn::of(column) {
        Some(column) if column.is_flag() => "dictionary",
        Some(column) if column.sql_type == SqlType::Date => "plain",
        Some(column) if column.is_comment() => match codes {
            Some(codec) => codec,
            None => return column_text.to_owned(),
        },
        _ => return column_text.to_owned(),
    };
    column_text.replacen(" NOT NULL", &format!(" COMPRESSION {codec} NOT NULL"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcd::CommentCodes;

    #[test]
    fn tables_without_keys_have_all_their_columns() {
        let count = |definition: &String| definition.matches(" NOT NULL").count();
        let [with, without] = [true, false]
            .map(|keys| definitions(WarehouseStorage::Plain, TpcdCompression::Paper, keys));
        assert_eq!(with.len(), 8);
        assert_eq!(without.iter().map(count).sum::<usize>(), 61);
        assert!(with.iter().all(|text| text.contains("PRIMARY KEY")));
        assert!(
            without
                .iter()
                .all(|text| !text.contains("KEY (") && !text.contains("PRIMARY"))
        );
    }

    #[test]
    fn flags_have_dictionaries_and_dates_are_plain_where_the_paper_compresses() {
        let count = |storage, compression, codec: &str| {
            let definitions = definitions(storage, compression, false);
            let text = definitions.concat();
            text.matches(&format!("COMPRESSION {codec} ")).count()
        };
        let (compressed, plain) = (WarehouseStorage::Compressed, WarehouseStorage::Plain);
        // o_orderdate and three of lineitem.
        assert_eq!(count(compressed, TpcdCompression::Paper, "plain"), 4);
        assert_eq!(count(compressed, TpcdCompression::Paper, "dictionary"), 3);
        assert_eq!(count(compressed, TpcdCompression::Paper, "fsst"), 0);
        for (codes, codec, other) in [
            (CommentCodes::Fsst, "fsst", "huffman"),
            (CommentCodes::Huffman, "huffman", "fsst"),
        ] {
            let with_strings = TpcdCompression::PaperAndStrings(codes);
            assert_eq!(count(compressed, with_strings, "plain"), 4);
            // Those of all tables but the two small ones.
            assert_eq!(count(compressed, with_strings, codec), 6);
            assert_eq!(count(compressed, with_strings, other), 0);
        }
        for (storage, compression) in [
            (compressed, TpcdCompression::Auto),
            (plain, TpcdCompression::Paper),
        ] {
            assert_eq!(count(storage, compression, "plain"), 0);
            assert_eq!(count(storage, compression, "dictionary"), 0);
        }
        let definitions = definitions(compressed, TpcdCompression::Paper, true);
        let plain = |text: &&String| text.contains("(compression = none");
        assert_eq!(definitions.iter().filter(plain).count(), 2);
    }

    #[test]
    fn columns_have_their_types() {
        let of = |table: &str| {
            columns(table)
                .iter()
                .map(|column| column.sql_type)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of("region"),
            [SqlType::Integer, SqlType::Char(25), SqlType::VarChar(152)]
        );
        assert_eq!(of("lineitem").len(), 16);
        let dates = of("lineitem").into_iter().filter(|of| *of == SqlType::Date);
        assert_eq!(dates.count(), 3);
    }
}
