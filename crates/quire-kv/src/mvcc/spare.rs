//! Memory that a transaction of few changes leaves to the next one: pieces without content, so that nothing of what one has changed can
//! reach the other, and none that keeps a tree. What has become large is given back instead.

use std::sync::Arc;

use super::changes::TreeChanges;
use super::ordered::OrderedChanges;
use super::write_set::Layer;

/// A piece of more bytes is not kept.
pub(super) const KEPT_BYTES_MAX: usize = 32 << 10;

/// Trees whose memory is kept: a table with some indexes.
const KEPT_TREES_MAX: usize = 8;

/// Memory of a write set.
#[derive(Default)]
pub(super) struct SpareChanges {
    /// A layer without trees that nobody else has.
    layer: Option<Arc<Layer>>,
    /// No trees.
    trees: Vec<TreeChanges>,
    /// Empty ones.
    changes: Vec<OrderedChanges>,
}

impl SpareChanges {
    /// A new layer.
    pub(super) fn layer(&mut self) -> Arc<Layer> {
        let mut layer = self.layer.take().unwrap_or_default();
        if let Some(layer) = Arc::get_mut(&mut layer) {
            *layer = Layer::new(std::mem::take(&mut self.trees));
        }
        layer
    }

    /// No changes.
    pub(super) fn changes(&mut self) -> OrderedChanges {
        self.changes.pop().unwrap_or_default()
    }

    /// Keeps what is left of a layer, whose changes were taken out.
    pub(super) fn keep_layer(&mut self, layer: Arc<Layer>) {
        self.layer = Some(layer);
    }

    /// Keeps the memory of changes that nobody wants any more.
    pub(super) fn keep(&mut self, mut trees: Vec<TreeChanges>) {
        for of_tree in trees.drain(..) {
            if self.changes.len() < KEPT_TREES_MAX
                && let Some(changes) = of_tree.changes.into_memory(KEPT_BYTES_MAX)
            {
                self.changes.push(changes);
            }
        }
        if trees.capacity() <= KEPT_TREES_MAX {
            self.trees = trees;
        }
    }
}

/// Empties a vector, whose memory is kept if it is little.
pub(super) fn clear<T>(vector: &mut Vec<T>) {
    vector.clear();
    if vector.capacity() * size_of::<T>() > KEPT_BYTES_MAX {
        *vector = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_is_given_back() {
        let mut small: Vec<u64> = Vec::with_capacity(10);
        small.push(1);
        clear(&mut small);
        assert_eq!((small.len(), small.capacity()), (0, 10));
        let mut large: Vec<u64> = Vec::with_capacity(KEPT_BYTES_MAX / 8 + 1);
        clear(&mut large);
        assert_eq!(large.capacity(), 0);
    }
}
