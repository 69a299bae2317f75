//! Names, numbers and columns of the catalog tables, as PostgreSQL 15 has them: `tables.txt`, read.
//!
//! A table that nothing fills is always empty: there are no triggers, policies, partitions and the like.

use std::sync::LazyLock;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// The schema of the catalog of PostgreSQL.
pub(crate) const PG_CATALOG: &str = "pg_catalog";
/// The schema of the catalog of the SQL standard.
pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CatalogColumnKind {
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    Oid,
    Real,
    Text,
    Instant,
    SmallInts,
    Integers,
    Oids,
    Texts,
}

impl CatalogColumnKind {
    fn of_word(word: &str) -> Self {
        match word {
            "bool" => Self::Boolean,
            "int2" => Self::SmallInt,
            "int4" => Self::Integer,
            "int8" => Self::BigInt,
            "oid" => Self::Oid,
            "float4" => Self::Real,
            "timestamptz" => Self::Instant,
            "int2[]" => Self::SmallInts,
            "oid[]" => Self::Oids,
            "text[]" => Self::Texts,
            _ => Self::Text,
        }
    }

    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::SmallInt => DataType::Int16,
            Self::Integer => DataType::Int32,
            Self::BigInt => DataType::Int64,
            Self::Oid => DataType::UInt32,
            Self::Real => DataType::Float32,
            Self::Text => DataType::Utf8,
            Self::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Self::SmallInts => DataType::new_list(DataType::Int16, true),
            Self::Integers => DataType::new_list(DataType::Int32, true),
            Self::Oids => DataType::new_list(DataType::UInt32, true),
            Self::Texts => DataType::new_list(DataType::Utf8, true),
        }
    }

    /// The number of the type in `pg_type`.
    pub(super) fn type_oid(self) -> u32 {
        match self {
            Self::Boolean => 16,
            Self::SmallInt => 21,
            Self::Integer => 23,
            Self::BigInt => 20,
            Self::Oid => 26,
            Self::Real => 700,
            Self::Text => 25,
            Self::Instant => 1184,
            Self::SmallInts => 1005,
            Self::Integers => 1007,
            Self::Oids => 1028,
            Self::Texts => 1009,
        }
    }
}

/// A table of the catalog.
#[derive(Debug)]
pub(super) struct Specification {
    pub(super) schema: &'static str,
    pub(super) name: &'static str,
    pub(super) oid: u32,
    /// Nothing fills it.
    pub(super) is_empty: bool,
    pub(super) columns: Vec<(&'static str, CatalogColumnKind)>,
}

impl Specification {
    pub(super) fn arrow_schema(&self) -> SchemaRef {
        let columns = self.columns.iter();
        let fields = columns.map(|(name, kind)| Field::new(*name, kind.data_type(), true));
        Schema::new(fields.collect::<Vec<_>>()).into()
    }

    pub(super) fn has_column(&self, wanted: &str) -> bool {
        self.columns.iter().any(|(name, _)| *name == wanted)
    }
}

/// All tables of the catalog.
pub(super) static TABLES: LazyLock<Vec<Specification>> =
    LazyLock::new(|| parsed(include_str!("tables.txt")));

fn parsed(text: &'static str) -> Vec<Specification> {
    let mut tables: Vec<Specification> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let (Some(table), true) = (tables.last_mut(), line.starts_with(' ')) {
            table.columns.extend(line.split_whitespace().map(column));
            continue;
        }
        let mut words = line.split_whitespace();
        let name = words.next().and_then(|name| name.split_once('.'));
        let oid = words.next().and_then(|oid| oid.parse().ok());
        if let (Some((schema, name)), Some(oid)) = (name, oid) {
            tables.push(Specification {
                schema,
                name,
                oid,
                is_empty: words.next() == Some("empty"),
                columns: Vec::new(),
            });
        }
    }
    tables
}

fn column(text: &'static str) -> (&'static str, CatalogColumnKind) {
    match text.split_once(':') {
        Some((name, kind)) => (name, CatalogColumnKind::of_word(kind)),
        None => (text, CatalogColumnKind::Text),
    }
}

/// The table of that name; a name without a schema is one of `pg_catalog`.
pub(super) fn find(schema: Option<&str>, name: &str) -> Option<&'static Specification> {
    let schema = schema.unwrap_or(PG_CATALOG);
    TABLES
        .iter()
        .find(|table| table.schema == schema && table.name == name)
}
