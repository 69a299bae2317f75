//! Columns come, go and change.

use datafusion::sql::sqlparser::ast::{
    AlterColumnOperation, ColumnDef, DataType as Spelled, Expr, GeneratedAs, Ident,
    SequenceOptions, Value,
};
use quire_error::Error;
use quire_sql::names::folded;
use quire_sql::parse::parse_expression;
use quire_sql::reject::not_supported;
use quire_tables::{
    AddedColumn, ColumnDefinition, ColumnSequence, GeneratedKind, NewColumnOrigin, SqlType,
    TableDefinition, TableStorage,
};

use super::super::super::{query, views};
use super::super::create_table::{check_expressions, column_place};
use super::super::draft::{DefinitionDraft, type_of};
use super::super::drop::{Doomed, drop_foreign_key};
use super::super::expressions::{ExpressionPlanner, columns_of};
use super::Alteration;
use super::missing::scalar_of;
use super::rows::quoted;

impl Alteration<'_, '_> {
    fn expressions(&self) -> ExpressionPlanner<'_> {
        ExpressionPlanner {
            session: self.session,
            snapshot: self.snapshot(),
        }
    }

    pub(super) async fn add_column(
        &mut self,
        spelled: &ColumnDef,
        if_not_exists: bool,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let old = self.definition()?;
        let name = folded(&spelled.name);
        if old.column_index(&name).is_some() {
            if if_not_exists {
                return Ok(());
            }
            let table = &self.table;
            let text = format!("column \"{name}\" of relation \"{table}\" already exists");
            return Err(Error::new("42701", text));
        }
        let mut draft = DefinitionDraft::new(&snapshot, old.as_ref().clone());
        draft.add_column(spelled)?;
        draft.add_constraints(&[])?;
        let default = draft.defaults.first().map(|(_, default)| default.clone());
        let mut definition = old.as_ref().clone();
        let Some(mut column) = draft.definition.columns.last().cloned() else {
            return Ok(());
        };
        for (_, kind, sequence) in std::mem::take(&mut draft.sequences) {
            let id = self
                .change
                .define(|tables| tables.create_sequence(sequence))?;
            column.sequence = Some(ColumnSequence { id, kind });
        }
        check_expressions(&draft, &self.expressions(), self.token).await?;
        let added = self.added_column(&column, default.as_ref()).await?;
        if old.storage == TableStorage::Row {
            column.added.clone_from(&added);
        }
        definition.columns.push(column.clone());
        let origin = added.and_then(|added| NewColumnOrigin::same(added.missing));
        match (old.storage, origin) {
            (TableStorage::Row, _) if column.added.is_some() => self.redefine(definition)?,
            (TableStorage::Column, Some(origin)) => {
                let kept = (0..old.columns.len()).map(NewColumnOrigin::Kept);
                self.replace_columns(definition, kept.chain([origin]))?;
            }
            _ => self.rewrite(definition, &values_of(&old)).await?,
        }
        if let Some(last) = draft.definition.columns.last_mut() {
            *last = column;
        }
        self.adopt(&old, &draft).await
    }

    /// Gives a column table other columns. What is stored of those that it keeps stays as it is.
    fn replace_columns(
        &mut self,
        definition: TableDefinition,
        origins: impl Iterator<Item = NewColumnOrigin>,
    ) -> Result<(), Error> {
        self.change.refuse_older_rows(&self.table)?;
        let origins: Vec<NewColumnOrigin> = origins.collect();
        self.change
            .replace_columns(&self.table, definition, &origins)
    }

    /// What rows that there are have in a new column, if that is one value, and they can have it without being written again.
    async fn added_column(
        &self,
        column: &ColumnDefinition,
        default: Option<&Expr>,
    ) -> Result<Option<AddedColumn>, Error> {
        if column.sequence.is_some() {
            return Ok(None);
        }
        let expressions = self.expressions();
        let missing = match default {
            None => None,
            Some(default) if expressions.is_volatile(default).await? => return Ok(None),
            Some(default) => {
                let value = expressions.value_of(column, default, self.token).await?;
                scalar_of(&value, column.sql_type)?
            }
        };
        // Without a value, only a table without rows can have the column.
        Ok((column.nullable || missing.is_some()).then_some(AddedColumn { missing }))
    }

    pub(super) async fn drop_column(
        &mut self,
        name: &Ident,
        if_exists: bool,
        cascade: bool,
    ) -> Result<(), Error> {
        let old = self.definition()?;
        let place = match column_place(&old, name) {
            Ok(place) => place,
            Err(_) if if_exists => return Ok(()),
            Err(error) => return Err(error),
        };
        let id = self.snapshot().id_of(&self.table);
        match old.storage {
            TableStorage::Column => {
                let mut definition = TableDefinition::clone(&old);
                definition.columns.remove(place);
                if definition.columns.is_empty() {
                    return Err(not_supported("dropping the last column"));
                }
                let kept = (0..old.columns.len()).filter(|&other| other != place);
                self.replace_columns(definition, kept.map(NewColumnOrigin::Kept))?;
            }
            TableStorage::Row => self.hide_column(&old, place, cascade)?,
        }
        self.drop_broken_views(id, &folded(name), cascade).await
    }

    /// Row tables: the column becomes invisible, and what was about it goes.
    fn hide_column(
        &mut self,
        old: &TableDefinition,
        place: usize,
        cascade: bool,
    ) -> Result<(), Error> {
        let has =
            |key: &quire_tables::KeyDefinition| key.columns.iter().any(|part| part.column == place);
        if old.primary_key.as_ref().is_some_and(has) {
            return Err(
                not_supported("dropping a column of the primary key").with_hint(
                    "Rows are stored in the order of the primary key: make another table of them.",
                ),
            );
        }
        if cascade {
            for other in self.snapshot().definitions() {
                let keys = other.foreign_keys.iter();
                let keys = keys.filter(|key| key.referenced_table == self.table);
                for key in keys.filter(|key| key.referenced_columns.contains(&place)) {
                    drop_foreign_key(&mut self.change, &other.name, &key.name)?;
                }
            }
        }
        for index in old.indexes.iter().filter(|index| has(&index.key)) {
            self.change
                .define(|tables| tables.drop_index(&index.key.name))?;
        }
        let mut definition = TableDefinition::clone(&*self.definition()?);
        definition
            .foreign_keys
            .retain(|key| !key.columns.contains(&place));
        let mut kept = Vec::new();
        for check in definition.checks.drain(..) {
            if !columns_of(&parse_expression(&check.condition)?, old).contains(&place) {
                kept.push(check);
            }
        }
        definition.checks = kept;
        let column = &mut definition.columns[place];
        column.is_dropped = true;
        column.default = None;
        column.sequence = None;
        self.redefine(definition)
    }

    /// Views that cannot be planned any more without the column depended on it.
    async fn drop_broken_views(
        &mut self,
        table: Option<u64>,
        column: &str,
        cascade: bool,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let Some(table) = table else { return Ok(()) };
        for view in snapshot
            .views()
            .filter(|view| view.depends_on.contains(&table))
        {
            let query = views::query_of(view)?;
            let planned = query::plan(self.session, snapshot.clone(), query, self.token).await;
            if planned.is_ok() {
                continue;
            }
            if !cascade {
                let what = format!("column {column} of table {}", self.table);
                let text = format!("cannot drop {what} because other objects depend on it");
                return Err(Error::new("2BP01", text)
                    .with_detail(format!("view {} depends on {what}", view.name))
                    .with_hint("Use DROP ... CASCADE to drop the dependent objects too."));
            }
            if self.snapshot().view(&view.name).is_some() {
                Doomed::view(&view.name).drop_from(&mut self.change, true)?;
            }
        }
        Ok(())
    }

    pub(super) async fn alter_column(
        &mut self,
        name: &Ident,
        operation: AlterColumnOperation,
    ) -> Result<(), Error> {
        let mut definition = TableDefinition::clone(&*self.definition()?);
        let place = column_place(&definition, name)?;
        let table = self.table.clone();
        let column = &mut definition.columns[place];
        match operation {
            AlterColumnOperation::SetDefault { value } => {
                refuse_identity(column, &table)?;
                self.expressions()
                    .check_default(column, &value, self.token)
                    .await?;
                let is_null = matches!(&value, Expr::Value(value) if value.value == Value::Null);
                column.default = (!is_null).then(|| value.to_string());
                column.sequence = None;
            }
            AlterColumnOperation::DropDefault => {
                refuse_identity(column, &table)?;
                column.default = None;
                column.sequence = None;
            }
            AlterColumnOperation::SetNotNull => {
                self.check_no_null(&column.name).await?;
                column.nullable = false;
            }
            AlterColumnOperation::DropNotNull => {
                refuse_identity(column, &table)?;
                column.nullable = true;
                let has_place = std::mem::replace(&mut column.stores_null, true);
                check_not_in_primary_key(&definition, place)?;
                if !has_place {
                    let values = values_of(&definition);
                    return self.rewrite(definition, &values).await;
                }
            }
            AlterColumnOperation::SetDataType {
                data_type, using, ..
            } => return self.set_type(definition, place, &data_type, using).await,
            AlterColumnOperation::AddGenerated {
                generated_as,
                sequence_options,
            } => {
                let options = sequence_options.unwrap_or_default();
                return self.add_identity(definition, place, generated_as, &options);
            }
        }
        self.redefine(definition)
    }

    fn add_identity(
        &mut self,
        definition: TableDefinition,
        place: usize,
        generated_as: Option<GeneratedAs>,
        options: &[SequenceOptions],
    ) -> Result<(), Error> {
        let (table, column) = (&self.table, &definition.columns[place]);
        if column.nullable {
            let name = &column.name;
            let text = format!(
                "column \"{name}\" of relation \"{table}\" must be declared NOT NULL before identity can be added"
            );
            return Err(Error::new("55000", text));
        }
        let kind = match generated_as {
            Some(GeneratedAs::ByDefault) => GeneratedKind::ByDefault,
            _ => GeneratedKind::Always,
        };
        let snapshot = self.snapshot();
        let mut draft = DefinitionDraft::new(&snapshot, definition);
        draft.generate(place, kind, options)?;
        let DefinitionDraft {
            mut definition,
            sequences,
            ..
        } = draft;
        for (place, kind, sequence) in sequences {
            let id = self
                .change
                .define(|tables| tables.create_sequence(sequence))?;
            definition.columns[place].sequence = Some(ColumnSequence { id, kind });
        }
        self.redefine(definition)
    }

    async fn set_type(
        &mut self,
        mut definition: TableDefinition,
        place: usize,
        spelled: &Spelled,
        using: Option<Expr>,
    ) -> Result<(), Error> {
        let column = &mut definition.columns[place];
        let (sql_type, is_serial) = type_of(&column.name, spelled)?;
        if is_serial {
            let text = format!("type \"{spelled}\" does not exist");
            return Err(Error::new("42704", text));
        }
        let (name, old_type) = (column.name.clone(), column.sql_type);
        column.sql_type = sql_type;
        if let Some(default) = &column.default {
            let default = parse_expression(default)?;
            self.expressions()
                .check_default(column, &default, self.token)
                .await?;
        }
        self.refuse_views_with(&name)?;
        let is_text = match definition.storage {
            TableStorage::Row => old_type.is_text() && sql_type.is_text(),
            // No text that it has would be stored otherwise.
            TableStorage::Column => is_wider_text(old_type, sql_type),
        };
        if is_text && using.is_none() {
            self.check_length(&name, sql_type).await?;
            return self.redefine(definition);
        }
        let mut values = values_of(&definition);
        if let Some(using) = using
            && let Some((_, value)) = values.iter_mut().find(|(known, _)| *known == place)
        {
            *value = format!("({using})");
        }
        self.rewrite(definition, &values).await
    }

    /// No text of the column may be longer than the type allows.
    async fn check_length(&mut self, column: &str, sql_type: SqlType) -> Result<(), Error> {
        use SqlType::{Char, VarChar};
        let (VarChar(length) | Char(length)) = sql_type else {
            return Ok(());
        };
        let (table, column) = (quoted(&self.table), quoted(column));
        let sql = format!(
            "SELECT 1 FROM {table} WHERE character_length(rtrim({column})) > {length} LIMIT 1"
        );
        if self.has_row(&sql).await? {
            Err(Error::new(
                "22001",
                format!("value too long for type {sql_type}"),
            ))
        } else {
            Ok(())
        }
    }
}

/// Whether texts of one type, as they are stored, are texts of another.
fn is_wider_text(old: SqlType, new: SqlType) -> bool {
    use SqlType::{Char, Text, VarChar};
    match (old, new) {
        (Text | VarChar(_) | Char(_), Text) => true,
        (VarChar(before) | Char(before), VarChar(after)) => before <= after,
        _ => false,
    }
}

/// Each visible column as it is.
pub(super) fn values_of(definition: &TableDefinition) -> Vec<(usize, String)> {
    let columns = definition.visible_columns();
    columns
        .map(|(place, column)| (place, quoted(&column.name)))
        .collect()
}

fn refuse_identity(column: &ColumnDefinition, table: &str) -> Result<(), Error> {
    match column.sequence.map(|sequence| sequence.kind) {
        Some(GeneratedKind::Always | GeneratedKind::ByDefault) => {
            let name = &column.name;
            let text = format!("column \"{name}\" of relation \"{table}\" is an identity column");
            Err(Error::new("42601", text))
        }
        _ => Ok(()),
    }
}

fn check_not_in_primary_key(definition: &TableDefinition, place: usize) -> Result<(), Error> {
    let mut parts = definition.primary_key.iter().flat_map(|key| &key.columns);
    if parts.any(|part| part.column == place) {
        let name = &definition.columns[place].name;
        Err(Error::new(
            "42P16",
            format!("column \"{name}\" is in a primary key"),
        ))
    } else {
        Ok(())
    }
}
