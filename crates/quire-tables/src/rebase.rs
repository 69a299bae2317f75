//! What a transaction has changed of the definitions, on top of what others have committed meanwhile.
//!
//! Write transactions run side by side, each with a catalog of its own. Locks of names keep two of them from changing the same; here
//! that is seen once more, so that a gap in the locks ends in an error and not in a lost change. What was changed is told
//! by identity: a catalog shares what it has not changed with the one that it was made of.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::definition::TreeRecord;

/// Three states of the definitions.
pub(crate) struct Rebase<'c> {
    /// What the transaction began with.
    pub(crate) base: &'c Catalog,
    /// The same with its own changes.
    pub(crate) own: &'c Catalog,
    /// The same with those of others, committed.
    pub(crate) newest: &'c Catalog,
}

impl Rebase<'_> {
    /// The newest state with the transaction's own changes.
    ///
    /// # Errors
    /// What both have changed, or what one of them needs and the other has changed.
    pub(crate) fn merged(&self) -> Result<Catalog, String> {
        let Self { base, own, newest } = *self;
        let merged = Catalog {
            schema_version: newest.schema_version,
            next_id: own.next_id.max(newest.next_id),
            next_tree_id: own.next_tree_id.max(newest.next_tree_id),
            tables: merged_map(&base.tables, &own.tables, &newest.tables)?,
            row_tables: merged_map(&base.row_tables, &own.row_tables, &newest.row_tables)?,
            views: merged_map(&base.views, &own.views, &newest.views)?,
            sequences: merged_map(&base.sequences, &own.sequences, &newest.sequences)?,
            roles: merged_map(&base.roles, &own.roles, &newest.roles)?,
            trees: merged_list(&base.trees, &own.trees, &newest.trees),
            dropped_trees: merged_list(
                &base.dropped_trees,
                &own.dropped_trees,
                &newest.dropped_trees,
            ),
        };
        self.check_names(&merged)?;
        self.check_shared_trees(&merged)?;
        self.check_views(&merged)?;
        self.check_sequences(&merged)?;
        match merged.foreign_key_error() {
            Some(error) => Err(error.to_string()),
            None => Ok(merged),
        }
    }

    fn check_names(&self, merged: &Catalog) -> Result<(), String> {
        let mut names = HashSet::new();
        let indexes = merged.row_tables.values();
        let indexes = indexes.flat_map(|table| table.definition.index_names());
        let all = merged.tables.keys().chain(merged.row_tables.keys());
        let all = all
            .chain(merged.views.keys())
            .chain(merged.sequences.keys());
        let mut all = all.map(String::as_str).chain(indexes);
        match all.find(|name| !names.insert(*name)) {
            Some(twice) => Err(format!("relation {twice:?}")),
            None => Ok(()),
        }
    }

    /// There is one tree for each purpose that all tables share.
    fn check_shared_trees(&self, merged: &Catalog) -> Result<(), String> {
        let mut roles = Vec::new();
        for tree in &merged.trees {
            if roles.contains(&tree.role) {
                return Err("the tree of samples or sequences".to_owned());
            }
            roles.push(tree.role);
        }
        Ok(())
    }

    /// A view that one of them has made depends on what the other has not changed.
    fn check_views(&self, merged: &Catalog) -> Result<(), String> {
        let (base, own, newest) = (self.base, self.own, self.newest);
        for (made_by, other) in [(own, newest), (newest, own)] {
            let made = made_by.views.iter();
            let made = made.filter(|(name, view)| !is_same(base.views.get(*name), Some(view)));
            for (name, view) in made {
                // In both there is nothing to compare with.
                if view
                    .depends_on
                    .iter()
                    .any(|&id| !is_same_definition(base, other, id) || !has_id(merged, id))
                {
                    return Err(format!("what view {name:?} depends on"));
                }
            }
        }
        Ok(())
    }

    /// Columns that one of them has defined take their values from sequences that the other has not dropped.
    fn check_sequences(&self, merged: &Catalog) -> Result<(), String> {
        let ids = |catalog: &Catalog| -> HashSet<u64> {
            catalog.sequences.values().map(|it| it.id).collect()
        };
        let kept = ids(merged);
        for made_by in [self.own, self.newest] {
            let known = ids(made_by);
            for table in made_by.definitions() {
                let mut used = table.columns.iter().filter_map(|column| column.sequence);
                if !is_same(self.base.definition(&table.name), Some(table))
                    && used.any(|used| known.contains(&used.id) && !kept.contains(&used.id))
                {
                    return Err(format!("a sequence of table {:?}", table.name));
                }
            }
        }
        Ok(())
    }
}

/// Whether what has that name is the same in both: a table with its row groups, a view or a sequence.
pub(crate) fn is_unchanged(one: &Catalog, other: &Catalog, name: &str) -> bool {
    is_same(one.tables.get(name), other.tables.get(name))
        && is_same(one.row_tables.get(name), other.row_tables.get(name))
        && is_same(one.views.get(name), other.views.get(name))
        && is_same(one.sequences.get(name), other.sequences.get(name))
}

fn is_same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// Whether a table or view is defined in both catalogs alike, or only in the one that is not asked.
fn is_same_definition(base: &Catalog, other: &Catalog, id: u64) -> bool {
    let table = |catalog: &Catalog| {
        let mut definitions = catalog.definitions().into_iter();
        definitions
            .find(|definition| catalog.id_of(&definition.name) == Some(id))
            .map(Arc::clone)
    };
    let view = |catalog: &Catalog| catalog.views.values().find(|view| view.id == id).cloned();
    match (table(base), view(base)) {
        // Who made the view has made this, too.
        (None, None) => true,
        (known, viewed) => {
            is_same(known.as_ref(), table(other).as_ref())
                && is_same(viewed.as_ref(), view(other).as_ref())
        }
    }
}

fn has_id(catalog: &Catalog, id: u64) -> bool {
    let columnar = catalog.tables.values().map(|table| table.id);
    let rows = catalog.row_tables.values().map(|table| table.id);
    let views = catalog.views.values().map(|view| view.id);
    columnar.chain(rows).chain(views).any(|known| known == id)
}

fn merged_map<T>(
    base: &BTreeMap<String, Arc<T>>,
    own: &BTreeMap<String, Arc<T>>,
    newest: &BTreeMap<String, Arc<T>>,
) -> Result<BTreeMap<String, Arc<T>>, String> {
    let mut merged = newest.clone();
    let changed = own.iter().map(|(name, entry)| (name, Some(entry)));
    let removed = base.keys().filter(|name| !own.contains_key(*name));
    for (name, entry) in changed.chain(removed.map(|name| (name, None))) {
        let before = base.get(name);
        if is_same(before, entry) {
            continue;
        }
        if !is_same(before, newest.get(name)) {
            return Err(format!("{name:?}"));
        }
        match entry {
            Some(entry) => merged.insert(name.clone(), Arc::clone(entry)),
            None => merged.remove(name),
        };
    }
    Ok(merged)
}

/// What one has added and removed, in the list of another.
fn merged_list(base: &[TreeRecord], own: &[TreeRecord], newest: &[TreeRecord]) -> Vec<TreeRecord> {
    let ids = |trees: &[TreeRecord]| trees.iter().map(|tree| tree.id).collect::<HashSet<u64>>();
    let (before, after) = (ids(base), ids(own));
    let is_kept = |tree: &&TreeRecord| !before.contains(&tree.id) || after.contains(&tree.id);
    let kept = newest.iter().filter(is_kept);
    let added = own.iter().filter(|tree| !before.contains(&tree.id));
    kept.chain(added).copied().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use quire_store::PageId;

    use super::*;
    use crate::definition::{TreeRole, ViewDefinition};

    fn view(id: u64, name: &str, depends_on: &[u64]) -> Arc<ViewDefinition> {
        Arc::new(ViewDefinition {
            id,
            name: name.to_owned(),
            query: "SELECT 1".to_owned(),
            columns: vec!["a".to_owned()],
            depends_on: depends_on.to_vec(),
        })
    }

    fn with(catalog: &Catalog, views: &[Arc<ViewDefinition>]) -> Catalog {
        let mut catalog = catalog.clone();
        for view in views {
            catalog.views.insert(view.name.clone(), Arc::clone(view));
        }
        catalog
    }

    fn merged(base: &Catalog, own: &Catalog, newest: &Catalog) -> Result<Vec<String>, String> {
        let rebase = Rebase { base, own, newest };
        Ok(rebase.merged()?.views.into_keys().collect())
    }

    fn tree(id: u64) -> TreeRecord {
        let (role, root) = (TreeRole::Rows, PageId::new(100 + id).unwrap());
        TreeRecord { role, id, root }
    }

    #[test]
    fn changes_of_different_names_are_kept() {
        let base = with(&Catalog::default(), &[view(1, "a", &[]), view(2, "b", &[])]);
        let mut own = with(&base, &[view(3, "c", &[])]);
        own.views.remove("a");
        let newest = with(&base, &[view(2, "b", &[]), view(4, "d", &[])]);
        assert_eq!(merged(&base, &own, &newest).unwrap(), ["b", "c", "d"]);
    }

    #[test]
    fn changes_of_one_name_are_refused() {
        let base = with(&Catalog::default(), &[view(1, "a", &[])]);
        let other = with(&base, &[view(1, "a", &[])]);
        let same = with(&base, &[view(2, "b", &[])]);
        let own = with(&base, &[view(3, "b", &[])]);
        assert_eq!(merged(&base, &own, &same).unwrap_err(), "\"b\"");
        let mut own = base.clone();
        own.views.remove("a");
        assert_eq!(merged(&base, &own, &other).unwrap_err(), "\"a\"");
    }

    #[test]
    fn a_view_needs_what_it_depends_on() {
        let base = with(&Catalog::default(), &[view(1, "a", &[])]);
        let reads = with(&base, &[view(2, "b", &[1])]);
        let mut drops = base.clone();
        drops.views.remove("a");
        assert!(merged(&base, &reads, &drops).is_err());
        assert!(merged(&base, &drops, &reads).is_err());
        let replaces = with(&base, &[view(1, "a", &[])]);
        assert!(merged(&base, &reads, &replaces).is_err());
        let unrelated = with(&base, &[view(3, "c", &[])]);
        assert_eq!(merged(&base, &reads, &unrelated).unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn lists_of_trees_keep_what_was_added_and_lose_what_was_removed() {
        let base = [tree(1), tree(2), tree(3)];
        let own = [tree(2), tree(3), tree(4)];
        let newest = [tree(1), tree(3), tree(5)];
        assert_eq!(
            merged_list(&base, &own, &newest),
            [tree(3), tree(5), tree(4)]
        );
    }
}
