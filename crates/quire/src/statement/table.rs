//! What the compiler knows of a table.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use quire_tables::{CatalogKeyPart, GeneratedKind, KeyDefinition, SqlType, TableDefinition};

/// A row table as statements see it. Columns are numbered without the dropped ones.
#[derive(Debug)]
pub(super) struct RowTableSchema {
    pub(super) name: String,
    pub(super) columns: Vec<TableColumn>,
    /// The primary key first, if there is one; then the indexes.
    pub(super) keys: Vec<TableKey>,
    /// Names and texts of CHECK constraints.
    pub(super) checks: Vec<(String, String)>,
}

/// A column of a table.
#[derive(Debug)]
pub(super) struct TableColumn {
    pub(super) name: String,
    pub(super) sql_type: SqlType,
    pub(super) nullable: bool,
    pub(super) default: DefaultValue,
    /// Its place among all columns, dropped ones too.
    pub(super) ordinal: usize,
    /// It takes no values but those of its sequence.
    pub(super) is_generated: bool,
}

/// What a row that gives no value has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DefaultValue {
    Null,
    /// The text of an expression.
    Expression(String),
    /// The next value of the sequence with that id.
    Sequence(u64),
}

/// A primary key or an index.
#[derive(Debug, Clone)]
pub(super) struct TableKey {
    pub(super) kind: KeyKind,
    /// No two rows have the same values, NULL aside.
    pub(super) is_unique: bool,
    pub(super) columns: Vec<TableKeyColumn>,
}

/// Which key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    Primary,
    /// The index with this number among those of the table.
    Index(usize),
}

/// A column of a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableKeyColumn {
    pub(super) column: usize,
    pub(super) is_descending: bool,
    pub(super) nulls_first: bool,
}

impl RowTableSchema {
    /// What statements without a table see: no columns.
    pub(super) fn none() -> Self {
        Self {
            name: String::new(),
            columns: Vec::new(),
            keys: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// What its definition says of a table.
    pub(super) fn of(definition: &TableDefinition) -> Self {
        let visible: Vec<usize> = definition
            .visible_columns()
            .map(|(place, _)| place)
            .collect();
        let columns = definition
            .visible_columns()
            .map(|(ordinal, column)| TableColumn {
                name: column.name.clone(),
                sql_type: column.sql_type,
                nullable: column.nullable,
                default: match (&column.default, &column.sequence) {
                    (Some(text), _) => DefaultValue::Expression(text.clone()),
                    (None, Some(sequence)) => DefaultValue::Sequence(sequence.id),
                    (None, None) => DefaultValue::Null,
                },
                ordinal,
                is_generated: column
                    .sequence
                    .is_some_and(|sequence| sequence.kind == GeneratedKind::Always),
            });
        let parts = |key: &KeyDefinition| {
            let part = |part: &CatalogKeyPart| TableKeyColumn {
                column: visible
                    .iter()
                    .position(|place| *place == part.column)
                    .unwrap_or(usize::MAX),
                is_descending: part.is_descending,
                nulls_first: part.is_descending,
            };
            key.columns.iter().map(part).collect::<Vec<_>>()
        };
        let primary = definition.primary_key.iter().map(|key| TableKey {
            kind: KeyKind::Primary,
            is_unique: true,
            columns: parts(key),
        });
        let indexes = definition.indexes.iter().enumerate();
        let indexes = indexes.map(|(position, index)| TableKey {
            kind: KeyKind::Index(position),
            is_unique: index.is_unique,
            columns: parts(&index.key),
        });
        let checks = definition.checks.iter();
        Self {
            name: definition.name.clone(),
            columns: columns.collect(),
            keys: primary.chain(indexes).collect(),
            checks: checks
                .map(|check| (check.name.clone(), check.condition.clone()))
                .collect(),
        }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        let field = |column: &TableColumn| {
            let data_type = column.sql_type.arrow_type();
            Field::new(&column.name, data_type, column.nullable)
        };
        Arc::new(Schema::new(
            self.columns.iter().map(field).collect::<Vec<_>>(),
        ))
    }

    pub(super) fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// Least and greatest value of an integer column; `None` for other types.
pub(super) fn integer_bounds(sql_type: SqlType) -> Option<(i64, i64)> {
    match sql_type.arrow_type() {
        DataType::Int16 => Some((i16::MIN.into(), i16::MAX.into())),
        DataType::Int32 => Some((i32::MIN.into(), i32::MAX.into())),
        DataType::Int64 => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}
