//! Views and sequences come and go.

use std::sync::Arc;

use super::WriteTransaction;
use crate::definition::{
    SequenceDefinition, SequenceOwner, TableDefinition, TreeRecord, TreeRole, ViewDefinition,
    check_name,
};
use crate::error::{DefinitionError, TransactionError};

impl WriteTransaction {
    /// Creates a view. That its query can be planned, and what it depends on, is the caller's knowledge.
    ///
    /// # Errors
    /// The name is taken or not acceptable. The transaction can go on.
    pub fn create_view(&mut self, mut view: ViewDefinition) -> Result<(), TransactionError> {
        self.lock_names_of_view(&view)?;
        self.check_new_name("view", &view.name)?;
        view.id = self.next_id();
        self.put_view(view)
    }

    /// Gives a view another query. Its columns must be those it had, and perhaps others behind them, so that whatever
    /// depends on it can be planned as before.
    ///
    /// # Errors
    /// No such view, or other columns. The transaction can go on.
    pub fn replace_view(&mut self, mut view: ViewDefinition) -> Result<(), TransactionError> {
        self.lock_names_of_view(&view)?;
        let old = self.view(&view.name)?;
        if !view.columns.starts_with(&old.columns) {
            return Err(TransactionError::Alteration {
                table: view.name,
                what: "cannot drop or rename columns of a view; drop it and create it again"
                    .to_owned(),
            });
        }
        view.id = old.id;
        self.put_view(view)
    }

    /// Its own name, and those of what it reads.
    fn lock_names_of_view(&mut self, view: &ViewDefinition) -> Result<(), TransactionError> {
        self.lock_name(&view.name)?;
        let tables = self.catalog.definitions().into_iter();
        let names = tables.map(|table| &table.name);
        let names = names.chain(self.catalog.views.keys());
        let is_read = |name: &&String| {
            let id = self.catalog.id_of(name);
            id.is_some_and(|id| view.depends_on.contains(&id))
        };
        for name in names.filter(is_read).cloned().collect::<Vec<_>>() {
            self.lock_name(&name)?;
        }
        Ok(())
    }

    fn put_view(&mut self, mut view: ViewDefinition) -> Result<(), TransactionError> {
        for column in &view.columns {
            check_name("column", column)?;
        }
        view.depends_on.sort_unstable();
        view.depends_on.dedup();
        self.catalog.views.insert(view.name.clone(), Arc::new(view));
        self.definitions_changed = true;
        Ok(())
    }

    fn view(&self, name: &str) -> Result<Arc<ViewDefinition>, TransactionError> {
        let view = self.catalog.views.get(name).cloned();
        view.ok_or_else(|| TransactionError::NotFound {
            kind: "view",
            name: name.to_owned(),
        })
    }

    /// Drops a view.
    ///
    /// # Errors
    /// No such view, or others depend on it. The transaction can go on.
    pub fn drop_view(&mut self, name: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        let view = self.view(name)?;
        let dependents = self.dependent_views(view.id);
        if !dependents.is_empty() {
            let what = format!("view {name}");
            return Err(TransactionError::Dependents { what, dependents });
        }
        self.catalog.views.remove(name);
        self.definitions_changed = true;
        Ok(())
    }

    /// Renames a view. The queries of others that name it are the caller's business.
    ///
    /// # Errors
    /// No such view, or the name is taken or not acceptable. The transaction can go on.
    pub fn rename_view(&mut self, name: &str, new_name: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        self.lock_name(new_name)?;
        let mut view = ViewDefinition::clone(&*self.view(name)?);
        self.check_new_name("view", new_name)?;
        self.catalog.views.remove(name);
        view.name = new_name.to_owned();
        self.put_view(view)
    }

    /// The views that name a table or view, for people.
    pub(super) fn dependent_views(&self, id: u64) -> Vec<String> {
        let views = self.catalog.views.values();
        let dependent = views.filter(|view| view.depends_on.contains(&id));
        dependent
            .map(|view| format!("view {}", view.name))
            .collect()
    }

    pub(super) fn check_new_name(
        &self,
        kind: &'static str,
        name: &str,
    ) -> Result<(), TransactionError> {
        check_name(kind, name)?;
        if self.catalog.has_name(name) {
            Err(TransactionError::TableExists(name.to_owned()))
        } else {
            Ok(())
        }
    }

    /// The tree in which something of all tables is kept; it is made when it is first needed.
    pub(crate) fn shared_tree(&mut self, role: TreeRole) -> Result<TreeRecord, TransactionError> {
        if let Some(tree) = self.known_shared_tree(role) {
            return Ok(tree);
        }
        self.lock_shared_tree(role)?;
        if let Some(tree) = self.known_shared_tree(role) {
            return Ok(tree);
        }
        let tree = self.new_tree(role)?;
        self.catalog.trees.push(tree);
        self.definitions_changed = true;
        Ok(tree)
    }

    fn known_shared_tree(&self, role: TreeRole) -> Option<TreeRecord> {
        let mut trees = self.catalog.trees.iter();
        trees.find(|tree| tree.role == role).copied()
    }

    /// Creates a sequence and returns its id. The first one makes the tree in which the values of all are kept.
    ///
    /// # Errors
    /// The name is taken, or the definition is not acceptable. The transaction can go on.
    pub fn create_sequence(
        &mut self,
        mut sequence: SequenceDefinition,
    ) -> Result<u64, TransactionError> {
        self.lock_name(&sequence.name)?;
        self.check_new_name("sequence", &sequence.name)?;
        sequence.validate()?;
        self.check_owner(&sequence)?;
        self.shared_tree(TreeRole::Sequences)?;
        sequence.id = self.next_id();
        let id = sequence.id;
        let name = sequence.name.clone();
        self.catalog.sequences.insert(name, Arc::new(sequence));
        self.definitions_changed = true;
        Ok(id)
    }

    /// Puts another definition in the place of the sequence called `name`; it may have another name.
    ///
    /// # Errors
    /// No such sequence, its new name is taken, or the definition is not acceptable. The transaction can go on.
    pub fn alter_sequence(
        &mut self,
        name: &str,
        mut sequence: SequenceDefinition,
    ) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        self.lock_name(&sequence.name)?;
        let old = self.sequence(name)?;
        if sequence.name != name {
            self.check_new_name("sequence", &sequence.name)?;
        }
        sequence.validate()?;
        self.check_owner(&sequence)?;
        sequence.id = old.id;
        self.catalog.sequences.remove(name);
        let name = sequence.name.clone();
        self.catalog.sequences.insert(name, Arc::new(sequence));
        self.definitions_changed = true;
        Ok(())
    }

    /// Drops a sequence.
    ///
    /// # Errors
    /// No such sequence, or a column takes its values from it. The transaction can go on.
    pub fn drop_sequence(&mut self, name: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        let id = self.sequence(name)?.id;
        let definitions = self.catalog.definitions();
        let dependents: Vec<String> = definitions
            .into_iter()
            .flat_map(|table| {
                table
                    .visible_columns()
                    .map(move |(_, column)| (table, column))
            })
            .filter(|(_, column)| column.sequence.is_some_and(|used| used.id == id))
            .map(|(table, column)| format!("column {} of table {}", column.name, table.name))
            .collect();
        if !dependents.is_empty() {
            let what = format!("sequence {name}");
            return Err(TransactionError::Dependents { what, dependents });
        }
        self.catalog.sequences.remove(name);
        self.definitions_changed = true;
        Ok(())
    }

    fn sequence(&self, name: &str) -> Result<Arc<SequenceDefinition>, TransactionError> {
        let sequence = self.catalog.sequences.get(name).cloned();
        sequence.ok_or_else(|| TransactionError::NotFound {
            kind: "sequence",
            name: name.to_owned(),
        })
    }

    fn check_owner(&self, sequence: &SequenceDefinition) -> Result<(), TransactionError> {
        let Some(owner) = sequence.owner else {
            return Ok(());
        };
        let mut definitions = self.catalog.definitions().into_iter();
        let table = definitions.find(|table| self.catalog.id_of(&table.name) == Some(owner.table));
        let column = table.and_then(|table| table.columns.get(owner.column));
        if column.is_some_and(|column| !column.is_dropped) {
            Ok(())
        } else {
            Err(DefinitionError::Sequence {
                sequence: sequence.name.clone(),
                what: "the column that is to own it is not there".to_owned(),
            }
            .into())
        }
    }

    /// The sequences that columns of a table take their values from belong to it; those of other columns of it do not, and
    /// are dropped.
    pub(super) fn own_sequences(&mut self, table: u64, definition: &TableDefinition) {
        let columns = definition.visible_columns();
        let used: Vec<(u64, usize)> = columns
            .filter_map(|(index, column)| column.sequence.map(|sequence| (sequence.id, index)))
            .collect();
        let user = |id: u64| used.iter().find(|(used, _)| *used == id);
        for sequence in self.catalog.sequences.values_mut() {
            if let Some(&(_, column)) = user(sequence.id) {
                Arc::make_mut(sequence).owner = Some(SequenceOwner { table, column });
            }
        }
        let is_gone = |column: usize| {
            let column = definition.columns.get(column);
            column.is_none_or(|column| column.is_dropped)
        };
        self.catalog.sequences.retain(|_, sequence| {
            let owner = sequence.owner.filter(|owner| owner.table == table);
            owner.is_none_or(|owner| !is_gone(owner.column))
        });
    }
}
