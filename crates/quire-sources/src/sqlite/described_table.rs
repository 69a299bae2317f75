//! A table with its definition, after its values were looked through, and how its rows are reached.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;

use quire_files::{CopyControl, CopyPhase, CopyProgress};

use super::catalog::{self, CatalogColumn, CatalogTable};
use super::column_profile::SqliteColumnProfile;
use super::connection::{SqliteFile, SqliteStop, quoted};
use super::declared_type::DeclaredType;
use super::keys::SqliteKeys;
use super::row_key::RowKey;
use crate::batch::BATCH_ROWS;
use crate::constant::DefaultConstant;
use crate::definition::{
    LeftOutPart, SourceColumn, SourceTableDefinition, SourceTableKind, SourceTableName,
};
use crate::error::{SourceError, stopped};

/// Copies of views are tables of the connection alone, with this and a number as their name.
const TEMPORARY_PREFIX: &str = "quire_view_";

/// A table as its readers need it.
#[derive(Debug)]
pub(super) struct DescribedTable {
    pub(super) definition: Arc<SourceTableDefinition>,
    pub(super) schema: SchemaRef,
    /// The table, or the copy of a view, as SQL names it.
    pub(super) from: String,
    /// The columns as SQL names them there.
    pub(super) expressions: Vec<String>,
    pub(super) key: RowKey,
    pub(super) row_count: u64,
}

impl DescribedTable {
    pub(super) fn read(
        file: &SqliteFile,
        name: &SourceTableName,
        control: &CopyControl,
    ) -> Result<Self, SourceError> {
        file.run(control, |connection| {
            let found = if name.schema.is_none() {
                catalog::table(connection, &name.name)?
            } else {
                None
            };
            let Some(table) = found else {
                let (database, table) = (Arc::clone(&file.shown_name), name.clone());
                return Err(SourceError::NoTable { database, table }.into());
            };
            let columns = catalog::columns(connection, &name.name)?;
            let keys = SqliteKeys::read(connection, &name.name, &columns)?;
            let place = RowPlace::of(connection, name, &table, &columns, &keys, control)?;
            describe(connection, name, &table, &columns, keys, place, control)
        })
    }
}

/// Where the rows are.
struct RowPlace {
    from: String,
    expressions: Vec<String>,
    key: RowKey,
}

impl RowPlace {
    fn of(
        connection: &Connection,
        name: &SourceTableName,
        table: &CatalogTable,
        columns: &[CatalogColumn],
        keys: &SqliteKeys,
        control: &CopyControl,
    ) -> Result<Self, SqliteStop> {
        let from = format!("main.{}", quoted(&name.name));
        let expressions: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        let rowid = catalog::rowid_name(columns).filter(|_| table.has_rowid);
        if let Some(rowid) = rowid {
            let key = RowKey::Rowid(rowid.to_owned());
            return Ok(Self {
                from,
                expressions,
                key,
            });
        }
        let is_keyed =
            !keys.primary_key.is_empty() && keys.key_collations.len() == keys.primary_key.len();
        // A table with a rowid that no name reaches may have NULL in its key.
        if is_keyed && !table.has_rowid && table.kind == SourceTableKind::Table {
            let pairs = keys.primary_key.iter().zip(&keys.key_collations);
            let key = RowKey::Columns(
                pairs
                    .map(|(column, collation)| {
                        format!("{} COLLATE {}", quoted(column), quoted(collation))
                    })
                    .collect(),
            );
            return Ok(Self {
                from,
                expressions,
                key,
            });
        }
        Self::copied(connection, &from, &expressions, control)
    }

    /// A view has no key by which a reader finds its place again, so its rows are copied to a temporary table, which SQLite keeps
    /// in memory as long as it is small and on the disk otherwise.
    fn copied(
        connection: &Connection,
        from: &str,
        expressions: &[String],
        control: &CopyControl,
    ) -> Result<Self, SqliteStop> {
        let copies: i64 =
            connection.query_row("SELECT count(*) FROM temp.sqlite_schema", [], |row| {
                row.get(0)
            })?;
        let copy = format!("temp.{TEMPORARY_PREFIX}{copies}");
        let names: Vec<String> = (0..expressions.len())
            .map(|index| format!("c{index}"))
            .collect();
        // Without declared types nothing is converted.
        connection.execute_batch(&format!("CREATE TABLE {copy} ({})", names.join(", ")))?;
        let places = vec!["?"; names.len()].join(", ");
        let mut insert = connection.prepare(&format!("INSERT INTO {copy} VALUES ({places})"))?;
        let mut select =
            connection.prepare(&format!("SELECT {} FROM {from}", expressions.join(", ")))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            control.check().map_err(stopped)?;
            for index in 0..names.len() {
                insert.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(row.get_ref(index)?))?;
            }
            insert.raw_execute()?;
        }
        let key = RowKey::Rowid("rowid".to_owned());
        Ok(Self {
            from: copy,
            expressions: names,
            key,
        })
    }
}

/// Looks through the values and puts the definition together.
fn describe(
    connection: &Connection,
    name: &SourceTableName,
    table: &CatalogTable,
    columns: &[CatalogColumn],
    keys: SqliteKeys,
    place: RowPlace,
    control: &CopyControl,
) -> Result<DescribedTable, SqliteStop> {
    let (profiles, row_count) = profiles(connection, columns, &place, control)?;
    let auto_number = if table.has_rowid {
        keys.auto_number(connection, &name.name, columns)?
    } else {
        None
    };
    let mut definition = SourceTableDefinition {
        name: name.clone(),
        kind: table.kind,
        columns: Vec::with_capacity(columns.len()),
        primary_key: keys.primary_key,
        unique_constraints: keys.unique_constraints,
        indexes: keys.indexes,
        foreign_keys: keys.foreign_keys,
        left_out: keys.left_out,
        notices: Vec::new(),
    };
    for (column, profile) in columns.iter().zip(&profiles) {
        let (data_type, notice) = profile.resolve(&column.name, &column.declaration);
        definition.notices.extend(notice);
        let auto_number = auto_number.filter(|_| column.key_place > 0);
        let default = constant_default(column, &mut definition.left_out);
        definition.columns.push(SourceColumn {
            name: column.name.clone(),
            data_type,
            // SQLite keeps NULL out of a primary key only if it is the rowid, or where rows have no rowid.
            is_nullable: !(column.is_not_null
                || column.key_place > 0 && (auto_number.is_some() || !table.has_rowid)),
            declared_type: column.declaration.clone(),
            default,
            auto_number,
            is_generated: column.is_generated,
        });
    }
    let schema = definition.schema();
    Ok(DescribedTable {
        definition: Arc::new(definition),
        schema,
        from: place.from,
        expressions: place.expressions,
        key: place.key,
        row_count,
    })
}

fn constant_default(column: &CatalogColumn, left_out: &mut Vec<LeftOutPart>) -> Option<String> {
    let expression = column.default.as_deref()?;
    match DefaultConstant::of(expression) {
        DefaultConstant::Value(value) => Some(value),
        DefaultConstant::Null => None,
        DefaultConstant::Expression => {
            left_out.push(LeftOutPart::new(
                format!("default of column \"{}\"", column.name),
                format!("{expression} is no constant"),
            ));
            None
        }
    }
}

/// One pass over all rows.
fn profiles(
    connection: &Connection,
    columns: &[CatalogColumn],
    place: &RowPlace,
    control: &CopyControl,
) -> Result<(Vec<SqliteColumnProfile>, u64), SqliteStop> {
    let declared = columns
        .iter()
        .map(|column| SqliteColumnProfile::new(DeclaredType::of(&column.declaration)));
    let mut profiles: Vec<SqliteColumnProfile> = declared.collect();
    let expressions = profiles
        .iter()
        .zip(&place.expressions)
        .map(|(profile, column)| profile.expression(column));
    let selected: Vec<String> = expressions.collect();
    let mut statement = connection.prepare(&format!(
        "SELECT {} FROM {}",
        selected.join(", "),
        place.from
    ))?;
    let mut rows = statement.query([])?;
    let mut row_count = 0;
    while let Some(row) = rows.next()? {
        for (index, profile) in profiles.iter_mut().enumerate() {
            profile.add(row.get_ref(index)?);
        }
        row_count += 1;
        if row_count % BATCH_ROWS as u64 == 0 {
            control.check().map_err(stopped)?;
            control.report(CopyProgress {
                phase: CopyPhase::Inferring,
                row_count,
                bytes_done: 0,
                bytes_total: None,
            });
        }
    }
    Ok((profiles, row_count))
}
