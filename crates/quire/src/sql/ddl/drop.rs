//! `DROP TABLE`, `VIEW`, `INDEX`, `SEQUENCE`; `TRUNCATE`.
//!
//! What depends on what is dropped is found first: without CASCADE it must be nothing, with it, it goes too.

use std::collections::BTreeSet;

use datafusion::sql::sqlparser::ast::{
    CascadeOption, ObjectName, ObjectType, Truncate, TruncateIdentityOption,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::parse::parse_expression;
use quire_sql::reject::not_supported;
use quire_tables::{Snapshot, TableDefinition};

use super::super::insert::{no_such_table, table_name};
use super::change::CatalogChange;
use super::expressions::sequences_of;
use super::sequences::unknown_sequence;
use crate::outcome::Outcome;
use crate::session::Session;

/// What a statement drops.
#[derive(Default)]
pub(super) struct Doomed {
    tables: BTreeSet<String>,
    views: BTreeSet<String>,
    indexes: BTreeSet<String>,
    sequences: BTreeSet<String>,
}

/// Something that needs what is dropped.
enum Dependent {
    View(String),
    ForeignKey { table: String, name: String },
    Default { table: String, column: String },
}

impl Dependent {
    fn description(&self) -> String {
        match self {
            Dependent::View(name) => format!("view {name}"),
            Dependent::ForeignKey { table, name } => format!("constraint {name} on table {table}"),
            Dependent::Default { table, column } => {
                format!("default value for column {column} of table {table}")
            }
        }
    }
}

/// Drops all of the named things or none.
pub(in crate::sql) async fn drop_objects(
    session: &Session,
    kind: ObjectType,
    names: &[ObjectName],
    if_exists: bool,
    cascade: bool,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let mut change = CatalogChange::begin(session, token).await?;
    let snapshot = change.snapshot();
    let mut doomed = Doomed::default();
    for name in names {
        let name = table_name(name)?;
        let found = match kind {
            ObjectType::Table => doomed.add_table(&snapshot, &name),
            ObjectType::View => doomed.add_view(&snapshot, &name),
            ObjectType::Index => doomed.add_index(&snapshot, &name),
            ObjectType::Sequence => doomed.add_sequence(&snapshot, &name),
            ref other => return Err(not_supported(format!("DROP {other}"))),
        };
        match found {
            Err(error) if if_exists && matches!(error.sqlstate(), "42P01" | "42704") => {}
            other => other?,
        }
    }
    doomed.drop_from(&mut change, cascade)?;
    change.finish(&format!("DROP {kind}"))
}

impl Doomed {
    /// One view alone.
    pub(super) fn view(name: &str) -> Self {
        let mut doomed = Self::default();
        doomed.views.insert(name.to_owned());
        doomed
    }

    fn add_table(&mut self, snapshot: &Snapshot, name: &str) -> Result<(), Error> {
        if snapshot.definition(name).is_some() {
            self.tables.insert(name.to_owned());
            return Ok(());
        }
        check_kind(snapshot, name, "table")?;
        Err(no_such_table(snapshot, name))
    }

    fn add_view(&mut self, snapshot: &Snapshot, name: &str) -> Result<(), Error> {
        if snapshot.view(name).is_some() {
            self.views.insert(name.to_owned());
            return Ok(());
        }
        check_kind(snapshot, name, "view")?;
        Err(Error::new(
            "42P01",
            format!("view \"{name}\" does not exist"),
        ))
    }

    fn add_sequence(&mut self, snapshot: &Snapshot, name: &str) -> Result<(), Error> {
        let Some(sequence) = snapshot.sequence(name) else {
            check_kind(snapshot, name, "sequence")?;
            return Err(unknown_sequence(name));
        };
        for definition in snapshot.definitions() {
            let mut columns = definition.visible_columns();
            let user = columns
                .find(|(_, column)| column.sequence.is_some_and(|used| used.id == sequence.id));
            if let Some((_, column)) = user {
                let (table, column) = (&definition.name, &column.name);
                let text = format!(
                    "cannot drop sequence {name} because column {column} of table {table} requires it"
                );
                return Err(Error::new("2BP01", text).with_hint(format!(
                    "You can drop column {column} of table {table} instead."
                )));
            }
        }
        self.sequences.insert(name.to_owned());
        Ok(())
    }

    fn add_index(&mut self, snapshot: &Snapshot, name: &str) -> Result<(), Error> {
        let Some(table) = snapshot.table_of_index(name) else {
            check_kind(snapshot, name, "index")?;
            return Err(Error::new(
                "42704",
                format!("index \"{name}\" does not exist"),
            ));
        };
        if table
            .constraint_names()
            .any(|constraint| constraint == name)
        {
            let table = &table.name;
            let text = format!(
                "cannot drop index {name} because constraint {name} on table {table} requires it"
            );
            return Err(Error::new("2BP01", text)
                .with_hint(format!("Say ALTER TABLE {table} DROP CONSTRAINT {name}.")));
        }
        self.indexes.insert(name.to_owned());
        Ok(())
    }

    /// What of the rest needs something of this.
    fn dependents(&self, snapshot: &Snapshot) -> Vec<Dependent> {
        let relations = self.tables.iter().chain(&self.views);
        let ids: BTreeSet<u64> = relations.filter_map(|name| snapshot.id_of(name)).collect();
        let views = snapshot.views().filter(|view| {
            let mut needed = view.depends_on.iter();
            !self.views.contains(&view.name) && needed.any(|id| ids.contains(id))
        });
        let mut dependents: Vec<_> = views
            .map(|view| Dependent::View(view.name.clone()))
            .collect();
        let sequences = self.sequences_with_owned(snapshot, &ids);
        for definition in snapshot.definitions() {
            if !self.tables.contains(&definition.name) {
                dependents.extend(self.foreign_keys_of(&definition));
                dependents.extend(defaults_of(&definition, &sequences));
            }
        }
        dependents
    }

    fn foreign_keys_of(&self, definition: &TableDefinition) -> Vec<Dependent> {
        let keys = definition.foreign_keys.iter();
        keys.filter(|key| self.tables.contains(&key.referenced_table))
            .map(|key| Dependent::ForeignKey {
                table: definition.name.clone(),
                name: key.name.clone(),
            })
            .collect()
    }

    /// The sequences that go: those named, and those of tables that go.
    fn sequences_with_owned(&self, snapshot: &Snapshot, ids: &BTreeSet<u64>) -> BTreeSet<String> {
        let owned = snapshot.sequences().filter(|sequence| {
            let owner = sequence.owner.map(|owner| owner.table);
            owner.is_some_and(|table| ids.contains(&table))
        });
        let names = owned.map(|sequence| sequence.name.clone());
        names.chain(self.sequences.iter().cloned()).collect()
    }

    /// Drops it. What depends on it goes first, if that is allowed.
    pub(super) fn drop_from(
        mut self,
        change: &mut CatalogChange<'_>,
        cascade: bool,
    ) -> Result<(), Error> {
        loop {
            let snapshot = change.snapshot();
            let dependents = self.dependents(&snapshot);
            if dependents.is_empty() {
                break;
            }
            if !cascade {
                return Err(self.needed(&dependents));
            }
            for dependent in dependents {
                match dependent {
                    Dependent::View(name) => {
                        self.views.insert(name);
                    }
                    Dependent::ForeignKey { table, name } => {
                        drop_foreign_key(change, &table, &name)?;
                    }
                    Dependent::Default { table, column } => {
                        drop_default(change, &table, &column)?;
                    }
                }
            }
        }
        self.drop_all(change)
    }

    fn needed(&self, dependents: &[Dependent]) -> Error {
        let first = [
            ("table", &self.tables),
            ("view", &self.views),
            ("index", &self.indexes),
            ("sequence", &self.sequences),
        ];
        let mut names = first
            .iter()
            .flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind} {name}")));
        let what = names.next().unwrap_or_default();
        let more = if names.next().is_some() {
            " and others"
        } else {
            ""
        };
        let text = format!("cannot drop {what}{more} because other objects depend on it");
        let lines = dependents
            .iter()
            .map(|one| format!("{} depends on it", one.description()));
        Error::new("2BP01", text)
            .with_detail(lines.collect::<Vec<_>>().join("\n"))
            .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
    }

    fn drop_all(mut self, change: &mut CatalogChange<'_>) -> Result<(), Error> {
        // Those that no other view reads go first.
        while let Some(name) = self.last_view(&change.snapshot()) {
            change.define(|tables| tables.drop_view(&name))?;
            self.views.remove(&name);
        }
        for name in &self.tables {
            // Tables that go together may refer to each other.
            let snapshot = change.snapshot();
            for definition in snapshot.definitions() {
                let keys = definition.foreign_keys.iter();
                for key in keys.filter(|key| key.referenced_table == *name) {
                    if definition.name != *name {
                        drop_foreign_key(change, &definition.name, &key.name)?;
                    }
                }
            }
            change.drop_table(name)?;
        }
        for name in &self.indexes {
            change.define(|tables| tables.drop_index(name))?;
        }
        for name in &self.sequences {
            change.define(|tables| tables.drop_sequence(name))?;
        }
        Ok(())
    }

    fn last_view(&self, snapshot: &Snapshot) -> Option<String> {
        let is_read = |name: &str| {
            let id = snapshot.id_of(name);
            let mut others = snapshot.views();
            others.any(|other| id.is_some_and(|id| other.depends_on.contains(&id)))
        };
        self.views.iter().find(|name| !is_read(name)).cloned()
    }
}

/// Says so if the name is that of something else.
fn check_kind(snapshot: &Snapshot, name: &str, expected: &str) -> Result<(), Error> {
    let kinds = [
        ("table", snapshot.definition(name).is_some()),
        ("view", snapshot.view(name).is_some()),
        ("sequence", snapshot.sequence(name).is_some()),
        ("index", snapshot.table_of_index(name).is_some()),
    ];
    match kinds.into_iter().find(|(_, is_one)| *is_one) {
        Some((kind, _)) => {
            let article = if expected == "index" { "an" } else { "a" };
            let text = format!("\"{name}\" is not {article} {expected}");
            let hint = format!("Use DROP {} to remove it.", kind.to_uppercase());
            Err(Error::new("42809", text).with_hint(hint))
        }
        None => Ok(()),
    }
}

fn defaults_of(definition: &TableDefinition, sequences: &BTreeSet<String>) -> Vec<Dependent> {
    let columns = definition.visible_columns();
    let defaults = columns.filter_map(|(_, column)| Some((column, column.default.as_ref()?)));
    defaults
        .filter_map(|(column, text)| {
            let used = sequences_of(&parse_expression(text).ok()?);
            used.iter().find(|name| sequences.contains(*name))?;
            Some(Dependent::Default {
                table: definition.name.clone(),
                column: column.name.clone(),
            })
        })
        .collect()
}

pub(super) fn drop_foreign_key(
    change: &mut CatalogChange<'_>,
    table: &str,
    name: &str,
) -> Result<(), Error> {
    redefine(change, table, |definition| {
        definition.foreign_keys.retain(|key| key.name != name);
    })
}

fn drop_default(change: &mut CatalogChange<'_>, table: &str, column: &str) -> Result<(), Error> {
    redefine(change, table, |definition| {
        if let Some(place) = definition.column_index(column) {
            definition.columns[place].default = None;
        }
    })
}

/// Changes the definition of a table, if it is still there.
fn redefine(
    change: &mut CatalogChange<'_>,
    table: &str,
    edit: impl FnOnce(&mut TableDefinition),
) -> Result<(), Error> {
    // Its definition is to be that which others may be about to commit.
    change.lock_table(table)?;
    let snapshot = change.snapshot();
    let Some(definition) = snapshot.definition(table) else {
        return Ok(());
    };
    let mut definition = TableDefinition::clone(definition);
    edit(&mut definition);
    change.alter_table(table, definition)
}

/// Empties tables.
pub(in crate::sql) async fn truncate(
    session: &Session,
    truncate: &Truncate,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if truncate.partitions.is_some() || truncate.on_cluster.is_some() {
        return Err(not_supported("PARTITION or ON CLUSTER in TRUNCATE"));
    }
    if matches!(truncate.identity, Some(TruncateIdentityOption::Restart)) {
        return Err(not_supported("TRUNCATE ... RESTART IDENTITY")
            .with_hint("SELECT setval('sequence', 1, false) starts a sequence again."));
    }
    let mut change = CatalogChange::begin(session, token).await?;
    let snapshot = change.snapshot();
    let mut names = BTreeSet::new();
    for target in &truncate.table_names {
        let name = table_name(&target.name)?;
        match snapshot.definition(&name) {
            Some(_) => drop(names.insert(name)),
            None if truncate.if_exists => {}
            None => {
                check_kind(&snapshot, &name, "table")?;
                return Err(Error::unknown_table(&name));
            }
        }
    }
    let is_cascade = truncate
        .cascade
        .as_ref()
        .is_some_and(|option| matches!(option, CascadeOption::Cascade));
    add_referring_tables(&snapshot, &mut names, is_cascade)?;
    for name in &names {
        change.lock_table(name)?;
    }
    // A table that refers to one of them may have been made while this waited; with the locks no further one is.
    add_referring_tables(&change.snapshot(), &mut names, is_cascade)?;
    for name in &names {
        change.truncate_table(name)?;
    }
    change.finish("TRUNCATE TABLE")
}

/// Tables that refer to those that are emptied are emptied too, or it is an error.
fn add_referring_tables(
    snapshot: &Snapshot,
    names: &mut BTreeSet<String>,
    is_cascade: bool,
) -> Result<(), Error> {
    loop {
        let definitions = snapshot.definitions();
        let referring = definitions.iter().find(|definition| {
            let mut keys = definition.foreign_keys.iter();
            !names.contains(&definition.name)
                && keys.any(|key| names.contains(&key.referenced_table))
        });
        let Some(referring) = referring else {
            return Ok(());
        };
        if !is_cascade {
            let text = "cannot truncate a table referenced in a foreign key constraint";
            return Err(Error::new("0A000", text)
                .with_detail(format!("Table \"{}\" refers to it.", referring.name))
                .with_hint("Truncate both at the same time, or use TRUNCATE ... CASCADE."));
        }
        names.insert(referring.name.clone());
    }
}
