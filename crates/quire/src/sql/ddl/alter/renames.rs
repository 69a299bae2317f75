//! Other names, and who must know of them.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    AlterIndexOperation, AlterTableOperation, Expr, Ident, ObjectName, ObjectNamePart, Query,
    RenameTableNameKind, TableAlias, TableFactor, Visitor, VisitorMut,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::names::{folded, last_part};
use quire_sql::parse::parse_expression;
use quire_sql::reject::not_supported;
use quire_sql::walk::{for_each_expression, walk, walk_mut};
use quire_tables::{TableDefinition, ViewDefinition};

use super::super::super::insert::table_name;
use super::super::super::views;
use super::super::change::CatalogChange;
use super::super::create_table::column_place;
use super::super::expressions::with_column_renamed;
use super::Alteration;
use super::constraints::unknown_constraint;
use crate::outcome::Outcome;
use crate::session::Session;

impl Alteration<'_, '_> {
    pub(super) fn rename_table(&mut self, kind: &RenameTableNameKind) -> Result<(), Error> {
        let new_name = new_name_of(kind)?;
        let mut definition = TableDefinition::clone(&*self.definition()?);
        definition.name.clone_from(&new_name);
        let views = self.renamed_in_views(&new_name)?;
        self.redefine(definition)?;
        self.table = new_name;
        self.replace_views(views)
    }

    /// `ALTER TABLE view RENAME TO name`
    pub(super) fn alter_view(
        mut self,
        operations: &[AlterTableOperation],
    ) -> Result<Outcome, Error> {
        let [AlterTableOperation::RenameTable { table_name }] = operations else {
            let text = format!("\"{}\" is not a table", self.table);
            return Err(Error::new("42809", text).with_hint("Use CREATE OR REPLACE VIEW."));
        };
        let new_name = new_name_of(table_name)?;
        let views = self.renamed_in_views(&new_name)?;
        let name = &self.table;
        self.change
            .define(|tables| tables.rename_view(name, &new_name))?;
        self.replace_views(views)?;
        self.change.finish("ALTER TABLE")
    }

    /// The views that read the table, reading it under another name.
    fn renamed_in_views(&self, new_name: &str) -> Result<Vec<ViewDefinition>, Error> {
        let snapshot = self.snapshot();
        let Some(id) = snapshot.id_of(&self.table) else {
            return Ok(Vec::new());
        };
        let dependents = snapshot
            .views()
            .filter(|view| view.depends_on.contains(&id));
        dependents
            .map(|view| {
                let mut query = views::query_of(view)?;
                if has_with_query(&query, &self.table) {
                    let text = format!(
                        "renaming \"{}\", which view \"{}\" reads",
                        self.table, view.name
                    );
                    return Err(not_supported(text).with_hint("Drop the view and create it again."));
                }
                let mut renamer = TableRenamer {
                    name: &self.table,
                    new_name,
                };
                let _ = walk_mut(&mut query, &mut renamer);
                let mut view = ViewDefinition::clone(view);
                view.query = query.to_string();
                Ok(view)
            })
            .collect()
    }

    fn replace_views(&mut self, views: Vec<ViewDefinition>) -> Result<(), Error> {
        for view in views {
            self.change.define(|tables| tables.replace_view(view))?;
        }
        Ok(())
    }

    pub(super) fn rename_column(&mut self, old: &Ident, new: &Ident) -> Result<(), Error> {
        let mut definition = TableDefinition::clone(&*self.definition()?);
        let place = column_place(&definition, old)?;
        let (old, new) = (folded(old), folded(new));
        if definition.column_index(&new).is_some() {
            let table = &self.table;
            let text = format!("column \"{new}\" of relation \"{table}\" already exists");
            return Err(Error::new("42701", text));
        }
        self.refuse_views_with(&old)?;
        for check in &mut definition.checks {
            let mut condition = parse_expression(&check.condition)?;
            with_column_renamed(&mut condition, &old, &new);
            check.condition = condition.to_string();
        }
        definition.columns[place].name = new;
        self.redefine(definition)
    }

    /// The texts of views do not follow the names of columns.
    pub(super) fn refuse_views_with(&self, column: &str) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let Some(id) = snapshot.id_of(&self.table) else {
            return Ok(());
        };
        for view in snapshot
            .views()
            .filter(|view| view.depends_on.contains(&id))
        {
            if names_column(&*views::query_of(view)?, column) {
                let text = format!(
                    "changing column \"{column}\", which view \"{}\" reads,",
                    view.name
                );
                return Err(not_supported(text).with_hint("Drop the view and create it again."));
            }
        }
        Ok(())
    }

    pub(super) fn rename_constraint(&mut self, old: &Ident, new: &Ident) -> Result<(), Error> {
        let mut definition = TableDefinition::clone(&*self.definition()?);
        let (old, new) = (folded(old), folded(new));
        if definition.constraint_names().any(|known| known == new) {
            let table = &self.table;
            let text = format!("constraint \"{new}\" for relation \"{table}\" already exists");
            return Err(Error::new("42710", text));
        }
        let indexes = definition
            .indexes
            .iter_mut()
            .filter(|index| index.is_constraint);
        let keys = definition
            .primary_key
            .iter_mut()
            .chain(indexes.map(|index| &mut index.key));
        let names = keys
            .map(|key| &mut key.name)
            .chain(definition.checks.iter_mut().map(|check| &mut check.name))
            .chain(definition.foreign_keys.iter_mut().map(|key| &mut key.name));
        match { names }.find(|name| **name == old) {
            Some(name) => *name = new,
            None => return Err(unknown_constraint(&old, &self.table)),
        }
        self.redefine(definition)
    }
}

fn new_name_of(kind: &RenameTableNameKind) -> Result<String, Error> {
    let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) = kind;
    table_name(name)
}

/// Runs `ALTER INDEX name RENAME TO name`.
pub(in crate::sql) async fn alter_index(
    session: &Session,
    name: &ObjectName,
    operation: &AlterIndexOperation,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let AlterIndexOperation::RenameIndex { index_name } = operation;
    let (name, new_name) = (table_name(name)?, table_name(index_name)?);
    let mut change = CatalogChange::begin(session, token).await?;
    let unknown = || Error::new("42704", format!("index \"{name}\" does not exist"));
    let snapshot = change.snapshot();
    let table = snapshot.table_of_index(&name).ok_or_else(unknown)?;
    change.lock_table(&table.name)?;
    let snapshot = change.snapshot();
    let table = snapshot.table_of_index(&name).ok_or_else(unknown)?;
    let mut definition = TableDefinition::clone(table);
    let indexes = definition.indexes.iter_mut().map(|index| &mut index.key);
    let keys = definition.primary_key.iter_mut().chain(indexes);
    for key in keys.filter(|key| key.name == name) {
        key.name.clone_from(&new_name);
    }
    change.alter_table(&table.name, definition)?;
    change.finish("ALTER INDEX")
}

/// Whether a query of `WITH` has that name.
fn has_with_query(query: &Query, name: &str) -> bool {
    struct ShadowingCteFinder<'n>(&'n str);
    impl Visitor for ShadowingCteFinder<'_> {
        type Break = ();

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            let with = query.with.iter().flat_map(|with| &with.cte_tables);
            match { with }.any(|cte| folded(&cte.alias.name) == self.0) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }
    walk(query, &mut ShadowingCteFinder(name)).is_break()
}

/// Whether an expression of a query names a column so, of whatever table.
fn names_column(query: &Query, column: &str) -> bool {
    let mut is_named = false;
    for_each_expression(query, |expr| {
        let named = match expr {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        is_named |= named.is_some_and(|ident| folded(ident) == column);
    });
    let text = query.to_string().to_lowercase();
    is_named || text.contains(" using(") || text.contains("natural join")
}

/// `FROM name` becomes `FROM new_name AS name`, so that everything else stays as it is.
struct TableRenamer<'n> {
    name: &'n str,
    new_name: &'n str,
}

impl VisitorMut for TableRenamer<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } = factor
            && last_part(name).as_deref() == Some(self.name)
        {
            if alias.is_none() {
                *alias = Some(TableAlias {
                    explicit: true,
                    name: Ident::with_quote('"', self.name),
                    columns: Vec::new(),
                    at: None,
                });
            }
            let ident = Ident::with_quote('"', self.new_name);
            *name = ObjectName(vec![ObjectNamePart::Identifier(ident)]);
        }
        ControlFlow::Continue(())
    }
}
