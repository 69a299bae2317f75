//! PRIMARY KEY, UNIQUE, CHECK and FOREIGN KEY, at a column or at the table.

use datafusion::sql::sqlparser::ast::{
    CheckConstraint, ColumnOption, ConstraintCharacteristics, ConstraintReferenceMatchKind, Expr,
    ForeignKeyConstraint, Ident, IndexColumn, NullsDistinctOption,
    ReferentialAction as SpelledAction, TableConstraint,
};
use quire_error::Error;
use quire_sql::names::folded;
use quire_sql::reject::not_supported;
use quire_tables::{
    CatalogKeyPart, CheckDefinition, ForeignKeyDefinition, IndexDefinition, KeyDefinition,
    ReferentialAction, TableDefinition,
};

use super::super::insert::table_name;
use super::draft::DefinitionDraft;
use super::expressions::columns_of;

impl DefinitionDraft<'_> {
    /// A constraint that stood at the column with this place.
    pub(super) fn add_column_constraint(
        &mut self,
        place: usize,
        name: Option<Ident>,
        option: ColumnOption,
    ) -> Result<(), Error> {
        let part = CatalogKeyPart {
            column: place,
            is_descending: false,
        };
        match option {
            ColumnOption::PrimaryKey(key) => {
                check_characteristics(key.characteristics.as_ref())?;
                self.add_primary_key(name.or(key.name), vec![part])
            }
            ColumnOption::Unique(key) => {
                check_characteristics(key.characteristics.as_ref())?;
                check_nulls(&key.nulls_distinct)?;
                self.add_unique(name.or(key.name), vec![part])
            }
            ColumnOption::Check(check) => self.add_check(name, &check),
            ColumnOption::ForeignKey(mut key) => {
                key.name = name.or(key.name);
                key.columns = vec![Ident::with_quote('"', &self.definition.columns[place].name)];
                self.add_foreign_key(&key)
            }
            other => Err(not_supported(other)),
        }
    }

    /// A constraint of the table.
    pub(super) fn add_constraint(&mut self, spelled: &TableConstraint) -> Result<(), Error> {
        match spelled {
            TableConstraint::PrimaryKey(key) => {
                check_characteristics(key.characteristics.as_ref())?;
                let parts = key_parts(&self.definition, &key.columns)?;
                self.add_primary_key(key.name.clone(), parts)
            }
            TableConstraint::Unique(key) => {
                check_characteristics(key.characteristics.as_ref())?;
                check_nulls(&key.nulls_distinct)?;
                let parts = key_parts(&self.definition, &key.columns)?;
                self.add_unique(key.name.clone(), parts)
            }
            TableConstraint::Check(check) => self.add_check(None, check),
            TableConstraint::ForeignKey(key) => self.add_foreign_key(key),
            other => Err(not_supported(format!("the constraint {other}"))),
        }
    }

    fn add_primary_key(
        &mut self,
        name: Option<Ident>,
        parts: Vec<CatalogKeyPart>,
    ) -> Result<(), Error> {
        if self.definition.primary_key.is_some() {
            let table = &self.definition.name;
            let text = format!("multiple primary keys for table \"{table}\" are not allowed");
            return Err(Error::new("42P16", text));
        }
        let name = self.constraint_name(name, &[], "pkey")?;
        for part in &parts {
            if let Some(column) = self.definition.columns.get_mut(part.column) {
                column.nullable = false;
            }
        }
        self.definition.primary_key = Some(KeyDefinition {
            name,
            columns: parts,
        });
        Ok(())
    }

    fn add_unique(&mut self, name: Option<Ident>, parts: Vec<CatalogKeyPart>) -> Result<(), Error> {
        let places: Vec<usize> = parts.iter().map(|part| part.column).collect();
        let name = self.constraint_name(name, &places, "key")?;
        self.definition.indexes.push(IndexDefinition {
            id: 0,
            key: KeyDefinition {
                name,
                columns: parts,
            },
            is_unique: true,
            is_constraint: true,
        });
        Ok(())
    }

    fn add_check(&mut self, name: Option<Ident>, check: &CheckConstraint) -> Result<(), Error> {
        if check.enforced == Some(false) {
            return Err(not_supported("NOT ENFORCED"));
        }
        let places = match columns_of(&check.expr, &self.definition).as_slice() {
            [one] => vec![*one],
            _ => Vec::new(),
        };
        let name = self.constraint_name(name.or_else(|| check.name.clone()), &places, "check")?;
        let condition = check.expr.to_string();
        self.conditions.push(Expr::clone(&check.expr));
        self.definition
            .checks
            .push(CheckDefinition { name, condition });
        Ok(())
    }

    fn add_foreign_key(&mut self, key: &ForeignKeyConstraint) -> Result<(), Error> {
        check_characteristics(key.characteristics.as_ref())?;
        if let Some(kind) = &key.match_kind
            && !matches!(kind, ConstraintReferenceMatchKind::Simple)
        {
            return Err(not_supported(kind));
        }
        let columns = places_of(&self.definition, &key.columns)?;
        let name = self.constraint_name(key.name.clone(), &columns, "fkey")?;
        let referenced_table = table_name(&key.foreign_table)?;
        let referenced = match self.snapshot.definition(&referenced_table) {
            _ if referenced_table == self.definition.name => &self.definition,
            Some(definition) => definition,
            None => return Err(Error::unknown_table(&referenced_table)),
        };
        let referenced_columns = match (key.referred_columns.as_slice(), &referenced.primary_key) {
            ([], Some(key)) => key.columns.iter().map(|part| part.column).collect(),
            ([], None) => {
                let text =
                    format!("there is no primary key for referenced table \"{referenced_table}\"");
                return Err(Error::new("42704", text));
            }
            (named, _) => places_of(referenced, named)?,
        };
        self.definition.foreign_keys.push(ForeignKeyDefinition {
            name,
            columns,
            referenced_table,
            referenced_columns,
            on_delete: action(key.on_delete.as_ref()),
            on_update: action(key.on_update.as_ref()),
        });
        Ok(())
    }

    /// The name that was given, which must be free in the table, or one of ours.
    fn constraint_name(
        &self,
        given: Option<Ident>,
        columns: &[usize],
        suffix: &str,
    ) -> Result<String, Error> {
        let Some(given) = given else {
            return Ok(self.name_for(columns, suffix));
        };
        let name = folded(&given);
        let table = &self.definition.name;
        if self
            .definition
            .constraint_names()
            .any(|known| known == name)
        {
            let text = format!("constraint \"{name}\" for relation \"{table}\" already exists");
            Err(Error::new("42710", text))
        } else {
            Ok(name)
        }
    }
}

/// The columns of a key or index, which must be plain columns of the table.
pub(super) fn key_parts(
    definition: &TableDefinition,
    spelled: &[IndexColumn],
) -> Result<Vec<CatalogKeyPart>, Error> {
    let mut parts: Vec<CatalogKeyPart> = Vec::with_capacity(spelled.len());
    for column in spelled {
        if let Some(class) = &column.operator_class {
            return Err(not_supported(format!("the operator class {class}")));
        }
        let key = &column.column;
        let Expr::Identifier(ident) = &key.expr else {
            return Err(
                not_supported(format!("the expression {} in a key", key.expr))
                    .with_hint("Keys and indexes are on columns."),
            );
        };
        let is_descending = key.options.asc == Some(false);
        // NULL is greater than all values, in either order.
        if key
            .options
            .nulls_first
            .is_some_and(|first| first != is_descending)
            || key.with_fill.is_some()
        {
            return Err(not_supported(format!("the order {key} in a key")));
        }
        let part = CatalogKeyPart {
            column: place_of(definition, ident)?,
            is_descending,
        };
        if parts.iter().any(|known| known.column == part.column) {
            let text = format!("column \"{}\" appears twice in a key", folded(ident));
            return Err(Error::new("42701", text));
        }
        parts.push(part);
    }
    Ok(parts)
}

fn places_of(definition: &TableDefinition, names: &[Ident]) -> Result<Vec<usize>, Error> {
    names
        .iter()
        .map(|name| place_of(definition, name))
        .collect()
}

fn place_of(definition: &TableDefinition, name: &Ident) -> Result<usize, Error> {
    let name = folded(name);
    definition.column_index(&name).ok_or_else(|| {
        let table = &definition.name;
        let text = format!("column \"{name}\" named in key does not exist in table \"{table}\"");
        Error::new("42703", text)
    })
}

fn action(spelled: Option<&SpelledAction>) -> ReferentialAction {
    match spelled {
        None | Some(SpelledAction::NoAction) => ReferentialAction::NoAction,
        Some(SpelledAction::Restrict) => ReferentialAction::Restrict,
        Some(SpelledAction::Cascade) => ReferentialAction::Cascade,
        Some(SpelledAction::SetNull) => ReferentialAction::SetNull,
        Some(SpelledAction::SetDefault) => ReferentialAction::SetDefault,
    }
}

fn check_characteristics(spelled: Option<&ConstraintCharacteristics>) -> Result<(), Error> {
    let Some(spelled) = spelled else {
        return Ok(());
    };
    let is_deferred = spelled.initially.as_ref().is_some_and(|initially| {
        !matches!(
            initially,
            datafusion::sql::sqlparser::ast::DeferrableInitial::Immediate
        )
    });
    if spelled.deferrable == Some(true) || is_deferred || spelled.enforced == Some(false) {
        return Err(not_supported(format!("{spelled} at a constraint"))
            .with_hint("Constraints hold at the end of every statement."));
    }
    Ok(())
}

fn check_nulls(spelled: &NullsDistinctOption) -> Result<(), Error> {
    match spelled {
        NullsDistinctOption::NotDistinct => Err(not_supported("NULLS NOT DISTINCT")),
        _ => Ok(()),
    }
}
