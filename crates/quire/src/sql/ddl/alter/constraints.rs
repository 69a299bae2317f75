//! Constraints come and go.

use datafusion::sql::sqlparser::ast::{Ident, TableConstraint};
use quire_error::Error;
use quire_sql::names::folded;
use quire_sql::reject::not_supported;
use quire_tables::{TableDefinition, TableStorage};

use super::super::create_table::check_expressions;
use super::super::draft::DefinitionDraft;
use super::super::drop::drop_foreign_key;
use super::super::expressions::ExpressionPlanner;
use super::Alteration;
use super::columns::values_of;

impl Alteration<'_, '_> {
    pub(super) async fn add_constraint(
        &mut self,
        constraint: &TableConstraint,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let old = self.definition()?;
        let mut draft = DefinitionDraft::new(&snapshot, old.as_ref().clone());
        draft.add_constraints(std::slice::from_ref(constraint))?;
        self.adopt(&old, &draft).await
    }

    /// Takes over the constraints that a draft has and the table has not, when its rows satisfy them.
    pub(super) async fn adopt(
        &mut self,
        old: &TableDefinition,
        draft: &DefinitionDraft<'_>,
    ) -> Result<(), Error> {
        let new = &draft.definition;
        let has_new = new.constraint_names().count() > old.constraint_names().count();
        if old.storage == TableStorage::Column && has_new {
            return Err(not_supported("a constraint on a column table")
                .with_hint("Constraints are enforced by row tables: create the table USING row."));
        }
        let expressions = ExpressionPlanner {
            session: self.session,
            snapshot: self.snapshot(),
        };
        check_expressions(draft, &expressions, self.token).await?;
        if new.primary_key != old.primary_key {
            let mut definition = TableDefinition::clone(&*self.definition()?);
            definition.primary_key.clone_from(&new.primary_key);
            for part in new.primary_key.iter().flat_map(|key| &key.columns) {
                definition.columns[part.column].nullable = false;
            }
            let values = values_of(&definition);
            self.rewrite(definition, &values).await?;
        }
        for check in &new.checks[old.checks.len()..] {
            self.check_condition_holds(&check.name, &check.condition)
                .await?;
        }
        let mut definition = TableDefinition::clone(&*self.definition()?);
        definition.checks.clone_from(&new.checks);
        definition.foreign_keys.clone_from(&new.foreign_keys);
        self.redefine(definition)?;
        for key in &new.foreign_keys[old.foreign_keys.len()..] {
            self.check_references(new, key).await?;
        }
        for index in &new.indexes[old.indexes.len()..] {
            self.change.create_index(&self.table, index.clone())?;
        }
        Ok(())
    }

    pub(super) async fn drop_constraint(
        &mut self,
        name: &Ident,
        if_exists: bool,
        cascade: bool,
    ) -> Result<(), Error> {
        let name = folded(name);
        let mut definition = TableDefinition::clone(&*self.definition()?);
        if !definition.constraint_names().any(|known| known == name) {
            if if_exists {
                return Ok(());
            }
            return Err(unknown_constraint(&name, &self.table));
        }
        let primary = definition.primary_key.as_ref();
        let is_primary = primary.is_some_and(|key| key.name == name);
        let mut indexes = definition.indexes.iter();
        if is_primary || indexes.any(|index| index.key.name == name) {
            let mut without = definition;
            without.primary_key = without.primary_key.filter(|_| !is_primary);
            without.indexes.retain(|index| index.key.name != name);
            self.drop_references(&name, &without, cascade)?;
            if is_primary {
                let values = values_of(&without);
                return self.rewrite(without, &values).await;
            }
            return self.change.define(|tables| tables.drop_index(&name));
        }
        definition.checks.retain(|check| check.name != name);
        definition.foreign_keys.retain(|key| key.name != name);
        self.redefine(definition)
    }

    /// Foreign keys that would have nothing unique to refer to, if the table were defined so, go too, or it is an error.
    fn drop_references(
        &mut self,
        constraint: &str,
        without: &TableDefinition,
        cascade: bool,
    ) -> Result<(), Error> {
        for other in self.snapshot().definitions() {
            let keys = other.foreign_keys.iter();
            let keys = keys.filter(|key| key.referenced_table == self.table);
            for key in keys.filter(|key| !without.has_unique_key(&key.referenced_columns)) {
                if !cascade {
                    let (table, key, other) = (&self.table, &key.name, &other.name);
                    let text = format!(
                        "cannot drop constraint {constraint} on table {table} because other objects depend on it"
                    );
                    return Err(Error::new("2BP01", text)
                        .with_detail(format!("constraint {key} on table {other} depends on it"))
                        .with_hint("Use DROP ... CASCADE to drop the dependent objects too."));
                }
                drop_foreign_key(&mut self.change, &other.name, &key.name)?;
            }
        }
        Ok(())
    }
}

pub(super) fn unknown_constraint(name: &str, table: &str) -> Error {
    let text = format!("constraint \"{name}\" of relation \"{table}\" does not exist");
    Error::new("42704", text)
}
