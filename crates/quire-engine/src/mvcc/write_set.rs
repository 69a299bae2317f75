//! What a transaction has changed and not committed.
//!
//! A stack of layers, each a map of keys. A view of a statement has the layers that there were when it began; they do not
//! change while it has them, so later changes go into a layer above. A savepoint is a height of the stack. Layers that nobody needs
//! apart are merged, the smaller one into the larger.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::TreeId;
use super::trees::OpenTree;

/// New values by key; `None`: the key is removed.
pub(super) type Changes = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// What is changed in one tree.
#[derive(Clone)]
pub(super) struct TreeChanges {
    pub(super) tree: Arc<OpenTree>,
    pub(super) changes: Changes,
}

/// Changes that nobody needs apart.
#[derive(Clone, Default)]
pub(super) struct Layer {
    trees: Vec<TreeChanges>,
}

impl Layer {
    /// What the layer says of a key, if it says anything.
    pub(super) fn get(&self, tree: TreeId, key: &[u8]) -> Option<Option<&[u8]>> {
        let value = self.of(tree)?.get(key)?;
        Some(value.as_deref())
    }

    /// What it says of a tree.
    pub(super) fn of(&self, tree: TreeId) -> Option<&Changes> {
        let of_tree = self
            .trees
            .iter()
            .find(|of_tree| of_tree.tree.id() == tree)?;
        Some(&of_tree.changes)
    }

    fn set(&mut self, tree: &Arc<OpenTree>, key: &[u8], value: Option<&[u8]>) {
        let value = value.map(Into::into);
        let changes = self.changes_of(tree);
        match changes.get_mut(key) {
            Some(place) => *place = value,
            None => drop(changes.insert(key.into(), value)),
        }
    }

    fn changes_of(&mut self, tree: &Arc<OpenTree>) -> &mut Changes {
        let known = self.trees.iter();
        let place = known
            .enumerate()
            .find(|(_, known)| known.tree.id() == tree.id())
            .map_or(self.trees.len(), |(place, _)| place);
        if place == self.trees.len() {
            self.trees.push(TreeChanges {
                tree: Arc::clone(tree),
                changes: Changes::new(),
            });
        }
        &mut self.trees[place].changes
    }

    /// Takes in the layer above.
    fn absorb(&mut self, above: Self) {
        for TreeChanges { tree, changes } in above.trees {
            absorb(self.changes_of(&tree), changes);
        }
    }
}

fn absorb(below: &mut Changes, above: Changes) {
    let (mut large, small, is_above_large) = if above.len() > below.len() {
        (above, std::mem::take(below), true)
    } else {
        (std::mem::take(below), above, false)
    };
    for (key, value) in small {
        match large.entry(key) {
            Entry::Vacant(vacant) => drop(vacant.insert(value)),
            Entry::Occupied(mut newer) if !is_above_large => drop(newer.insert(value)),
            Entry::Occupied(_) => {}
        }
    }
    *below = large;
}

/// All layers, the oldest first.
#[derive(Default)]
pub(super) struct WriteSet {
    layers: Vec<Arc<Layer>>,
    /// Layers below this one belong to a savepoint and stay as they are.
    floor: usize,
}

impl WriteSet {
    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// What the transaction has made of a key, if it has changed it.
    pub(super) fn get(&self, tree: TreeId, key: &[u8]) -> Option<Option<&[u8]>> {
        get_in(&self.layers, tree, key)
    }

    /// Changes a key.
    pub(super) fn set(&mut self, tree: &Arc<OpenTree>, key: &[u8], value: Option<&[u8]>) {
        let is_above_floor = self.layers.len() > self.floor;
        if let Some(top) = self.layers.last_mut().filter(|_| is_above_floor)
            && let Some(layer) = Arc::get_mut(top)
        {
            layer.set(tree, key, value);
            return;
        }
        let mut layer = Layer::default();
        layer.set(tree, key, value);
        self.layers.push(Arc::new(layer));
    }

    /// The layers as they are now. They do not change any more as long as somebody has them.
    pub(super) fn freeze(&mut self) -> Vec<Arc<Layer>> {
        self.merge();
        self.layers.clone()
    }

    /// Height of the stack; what is below it now is kept apart from what comes.
    pub(super) fn mark(&mut self) -> usize {
        self.merge();
        self.floor = self.layers.len();
        self.floor
    }

    /// Forgets what came after a mark.
    pub(super) fn truncate(&mut self, mark: usize) {
        self.layers.truncate(mark);
        self.floor = mark;
    }

    /// Forgets marks above this one: `None` if there is none left.
    pub(super) fn set_floor(&mut self, mark: Option<usize>) {
        self.floor = mark.unwrap_or(0);
    }

    fn merge(&mut self) {
        while self.layers.len() > self.floor + 1
            && let Some(above) = self.layers.pop()
        {
            let below = self.layers.last_mut().and_then(Arc::get_mut);
            match (below, Arc::try_unwrap(above)) {
                (Some(below), Ok(above)) => below.absorb(above),
                (_, Err(above)) => {
                    self.layers.push(above);
                    break;
                }
                (None, Ok(above)) => {
                    self.layers.push(Arc::new(above));
                    break;
                }
            }
        }
    }

    /// All changes, each key once.
    pub(super) fn into_changes(self) -> Vec<TreeChanges> {
        let mut layers = self.layers.into_iter().map(Arc::unwrap_or_clone);
        let Some(mut all) = layers.next() else {
            return Vec::new();
        };
        layers.for_each(|above| all.absorb(above));
        all.trees
    }
}

/// What the uppermost layer that knows a key says of it.
pub(super) fn get_in<'a>(
    layers: &'a [Arc<Layer>],
    tree: TreeId,
    key: &[u8],
) -> Option<Option<&'a [u8]>> {
    layers.iter().rev().find_map(|layer| layer.get(tree, key))
}
