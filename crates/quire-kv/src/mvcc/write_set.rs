//! What a transaction has changed and not committed.
//!
//! A stack of layers, each a map of keys. A view of a statement has the layers that there were when it began; they do not
//! change while it has them, so later changes go into a layer above. A savepoint is a height of the stack. Layers that nobody needs
//! apart are merged, the smaller one into the larger. Where a view still has a layer, a copy is merged, but only once what is
//! above it has half its size: there are as many layers as the number of changes has binary digits, and each change is copied
//! as often. A layer that has become too large for memory goes into a file, and goes on in memory above that.

use std::path::PathBuf;
use std::sync::Arc;

use super::TreeId;
use super::changes::TreeChanges;
use super::error::SpillError;
use super::spare::SpareChanges;
use super::spill::{ChangeSpillFile, SpilledChanges};
use super::trees::OpenTree;
use crate::btree::TreeError;

/// What an entry costs in memory besides its bytes.
const ENTRY_BYTES: usize = 80;

/// Changes that nobody needs apart.
#[derive(Clone, Default)]
pub(super) struct Layer {
    trees: Vec<TreeChanges>,
    /// Bytes in memory.
    bytes: usize,
}

/// What became of looking for a change.
pub(super) enum WriteSetLookup<R, V> {
    /// It was shown.
    Shown(R),
    /// There is none.
    Nothing(V),
}

impl Layer {
    /// No changes, to be noted in `trees`, which is empty.
    pub(super) fn new(trees: Vec<TreeChanges>) -> Self {
        Self { trees, bytes: 0 }
    }

    /// What it says of a tree.
    pub(super) fn of(&self, tree: TreeId) -> Option<&TreeChanges> {
        self.trees.iter().find(|of_tree| of_tree.tree.id() == tree)
    }

    fn look<R, V: FnOnce(Option<&[u8]>) -> R>(
        &self,
        tree: TreeId,
        key: &[u8],
        visit: V,
    ) -> Result<WriteSetLookup<R, V>, TreeError> {
        let Some(of_tree) = self.of(tree) else {
            return Ok(WriteSetLookup::Nothing(visit));
        };
        if let Some(value) = of_tree.changes.get(key) {
            return Ok(WriteSetLookup::Shown(visit(value)));
        }
        let mut visit = Some(visit);
        for spilled in of_tree.spilled.iter().rev() {
            let shown = spilled.get(key, |value| Some((visit.take()?)(value)))?;
            if let Some(Some(result)) = shown {
                return Ok(WriteSetLookup::Shown(result));
            }
        }
        match visit {
            Some(visit) => Ok(WriteSetLookup::Nothing(visit)),
            None => Err(TreeError::Overflow),
        }
    }

    fn set(
        &mut self,
        tree: &Arc<OpenTree>,
        key: &[u8],
        value: Option<&[u8]>,
        spare: &mut SpareChanges,
    ) {
        self.bytes += key.len() + value.map_or(0, <[u8]>::len) + ENTRY_BYTES;
        self.changes_of(tree, spare).changes.set(key, value);
    }

    fn changes_of(&mut self, tree: &Arc<OpenTree>, spare: &mut SpareChanges) -> &mut TreeChanges {
        let mut known = self.trees.iter();
        let place = known.position(|known| known.tree.id() == tree.id());
        let place = place.unwrap_or_else(|| {
            self.trees.push(TreeChanges::new(tree, spare.changes()));
            self.trees.len() - 1
        });
        &mut self.trees[place]
    }

    fn has_spilled(&self) -> bool {
        self.trees.iter().any(|of_tree| !of_tree.spilled.is_empty())
    }

    /// Takes in the layer above.
    fn absorb(&mut self, above: Self) -> Result<(), TreeError> {
        self.bytes += above.bytes;
        let mut spare = SpareChanges::default();
        for changes in above.trees {
            let tree = Arc::clone(&changes.tree);
            self.changes_of(&tree, &mut spare).absorb(changes)?;
        }
        Ok(())
    }

    /// Moves what is in memory into the file. What is too long for it stays.
    fn spill(&mut self, file: &Arc<ChangeSpillFile>) -> Result<(), SpillError> {
        self.bytes = 0;
        for of_tree in &mut self.trees {
            // Nobody else has the layer, so nobody reads what is added.
            let last = match of_tree.spilled.last() {
                Some(last) => Arc::clone(last),
                None => {
                    let new = Arc::new(SpilledChanges::new(file)?);
                    of_tree.spilled.push(Arc::clone(&new));
                    new
                }
            };
            let mut kept = Vec::new();
            for (key, value) in of_tree.changes.iter() {
                if !last.put(key, value)? {
                    kept.push((key, value));
                }
            }
            of_tree.changes = kept.into_iter().collect();
        }
        Ok(())
    }
}

/// All layers, the oldest first.
pub(super) struct WriteSet {
    layers: Vec<Arc<Layer>>,
    /// Layers below this one belong to a savepoint and stay as they are.
    floor: usize,
    file: Option<Arc<ChangeSpillFile>>,
    limits: SpillLimits,
    spare: SpareChanges,
}

/// When and where changes go into a file.
#[derive(Clone, Debug)]
pub(super) struct SpillLimits {
    pub(super) bytes: usize,
    pub(super) directory: Option<PathBuf>,
}

impl WriteSet {
    pub(super) fn new(bytes: usize, directory: Option<&PathBuf>) -> Self {
        Self {
            layers: Vec::new(),
            floor: 0,
            file: None,
            limits: SpillLimits {
                bytes,
                directory: directory.cloned(),
            },
            spare: SpareChanges::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Shows what the transaction has made of a key, if it has changed it.
    pub(super) fn look<R, V: FnOnce(Option<&[u8]>) -> R>(
        &self,
        tree: TreeId,
        key: &[u8],
        visit: V,
    ) -> Result<WriteSetLookup<R, V>, TreeError> {
        look_in(&self.layers, tree, key, visit)
    }

    /// Changes a key.
    pub(super) fn set(
        &mut self,
        tree: &Arc<OpenTree>,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), SpillError> {
        let is_above_floor = self.layers.len() > self.floor;
        let can_grow = |layer: &mut Arc<Layer>| Arc::get_mut(layer).is_some();
        if !is_above_floor || !self.layers.last_mut().is_some_and(can_grow) {
            self.layers.push(self.spare.layer());
        }
        let Some(layer) = self.layers.last_mut().and_then(Arc::get_mut) else {
            return Ok(());
        };
        layer.set(tree, key, value, &mut self.spare);
        if layer.bytes > self.limits.bytes {
            let file = match &self.file {
                Some(file) => Arc::clone(file),
                None => ChangeSpillFile::create(self.limits.directory.as_deref())?,
            };
            self.file = Some(Arc::clone(&file));
            layer.spill(&file)?;
        }
        Ok(())
    }

    /// The layers as they are now. They do not change any more as long as somebody has them.
    pub(super) fn freeze(&mut self) -> Arc<[Arc<Layer>]> {
        self.merge();
        self.layers.as_slice().into()
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

    /// Merges layers from the top, as far as the upper one is in memory, and the lower one is nobody else's or a copy of it pays.
    fn merge(&mut self) {
        while self.layers.len() > self.floor + 1
            && let Some(above) = self.layers.pop()
        {
            let Some(below) = self.layers.last_mut() else {
                return;
            };
            let pays = Arc::get_mut(below).is_some()
                || !below.has_spilled() && below.bytes <= above.bytes.saturating_mul(2);
            if above.has_spilled() || !pays {
                self.layers.push(above);
                return;
            }
            // Nothing of it is in a file, so this cannot fail.
            if Arc::make_mut(below)
                .absorb(Arc::unwrap_or_clone(above))
                .is_err()
            {
                return;
            }
        }
    }

    /// All changes, each key once. There are none left, whatever becomes of it.
    pub(super) fn take_changes(&mut self) -> Result<Vec<TreeChanges>, TreeError> {
        (self.floor, self.file) = (0, None);
        let mut layers = self.layers.drain(..);
        let Some(mut first) = layers.next() else {
            return Ok(Vec::new());
        };
        let mut all = match Arc::get_mut(&mut first) {
            Some(layer) => {
                let all = std::mem::take(layer);
                self.spare.keep_layer(first);
                all
            }
            None => Arc::unwrap_or_clone(first),
        };
        for above in layers {
            all.absorb(Arc::unwrap_or_clone(above))?;
        }
        Ok(all.trees)
    }

    /// What was taken is not wanted any more: its memory is.
    pub(super) fn keep_memory(&mut self, changes: Vec<TreeChanges>) {
        self.spare.keep(changes);
    }
}

/// Shows what the uppermost layer that knows a key says of it.
pub(super) fn look_in<R, V: FnOnce(Option<&[u8]>) -> R>(
    layers: &[Arc<Layer>],
    tree: TreeId,
    key: &[u8],
    mut visit: V,
) -> Result<WriteSetLookup<R, V>, TreeError> {
    for layer in layers.iter().rev() {
        match layer.look(tree, key, visit)? {
            WriteSetLookup::Nothing(unused) => visit = unused,
            shown @ WriteSetLookup::Shown(_) => return Ok(shown),
        }
    }
    Ok(WriteSetLookup::Nothing(visit))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::VecDeque;
    use std::sync::Arc;

    use quire_store::log::{LogOptions, VolumeLog};
    use quire_store::pool::{PageCodec, Pool, PoolOptions};
    use quire_store::{MemDisk, Volume, VolumeOptions};

    use crate::btree::{Direction, TreeOptions};
    use crate::mvcc::RowLockMode::Exclusive;
    use crate::mvcc::{LockWait, Mvcc, MvccOptions, TransactionOptions, TreeId, TreeSpec};

    const TREE: TreeId = TreeId::new(1);

    fn mvcc() -> Mvcc {
        mvcc_with(MvccOptions::default())
    }

    fn mvcc_with(options: MvccOptions) -> Mvcc {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk, VolumeOptions::default()).unwrap();
        let spec = TreeSpec {
            id: TREE,
            root: volume.allocate_page().unwrap(),
            codec: PageCodec::NONE,
            options: TreeOptions::default(),
            holds_deletions: false,
        };
        let pool = Pool::new(&volume, PoolOptions::default());
        let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
        Mvcc::open(&volume, &pool, &log, &[spec], options).unwrap()
    }

    /// Statements of which some are read on while others follow: each sees what it saw, and the changes are in few layers.
    #[test]
    fn views_that_are_held_do_not_make_a_layer_each() {
        for held in [0, 1, 3] {
            let mvcc = mvcc();
            let mut transaction = mvcc.begin(TransactionOptions::default());
            let mut views = VecDeque::new();
            for number in 0..2_000_u32 {
                let view = transaction.begin_statement();
                assert!(view.layers.len() <= 12, "{} layers", view.layers.len());
                views.push_back((number, view));
                while views.len() > held {
                    let (count, view) = views.pop_front().unwrap();
                    let sees = |number: u32| {
                        let key = number.to_be_bytes();
                        view.get(TREE, &key, <[u8]>::to_vec).unwrap()
                    };
                    // The last of each key: they are written twice.
                    let last = count.checked_sub(1);
                    assert_eq!(
                        last.and_then(|last| sees(last / 2)),
                        last.map(|last| vec![last as u8])
                    );
                    assert_eq!(sees(count.div_ceil(2)), None);
                    if count % 500 == 0 {
                        let mut scan = view.scan(TREE, &[], &[], Direction::Forward).unwrap();
                        let mut entries = 0;
                        while scan.next_entry().unwrap().is_some() {
                            entries += 1;
                        }
                        assert_eq!(entries, count.div_ceil(2));
                    }
                }
                let key = (number / 2).to_be_bytes();
                transaction.put(TREE, &key, &[number as u8]).unwrap();
            }
        }
    }

    /// A value that is replaced by a longer one stays in memory, and counts, until the layer goes into a file.
    #[test]
    fn a_key_that_is_changed_again_and_again_takes_no_more_memory_than_is_allowed() {
        let options = MvccOptions {
            write_set_bytes: 50_000,
            ..MvccOptions::default()
        };
        let mvcc = mvcc_with(options);
        let mut transaction = mvcc.begin(TransactionOptions::default());
        for length in 0..1_000 {
            transaction.put(TREE, b"key", &vec![1; length]).unwrap();
            let layers = transaction.writes.layers.iter();
            let trees = layers.flat_map(|layer| &layer.trees);
            let bytes: usize = trees.map(|of_tree| of_tree.changes.bytes()).sum();
            assert!(bytes <= 50_000, "{bytes} after {length}");
        }
        transaction.commit().unwrap();
        let length = mvcc.view().get(TREE, b"key", <[u8]>::len).unwrap();
        assert_eq!(length, Some(999));
    }

    /// A transaction in the memory of one that was committed has nothing of it.
    #[test]
    fn a_transaction_that_was_renewed_has_done_nothing() {
        let mvcc = mvcc();
        let mut transaction = mvcc.begin(TransactionOptions::default());
        for round in 0..10_u8 {
            let savepoint = transaction.savepoint();
            let key = [round];
            assert!(!transaction.has_changes());
            // Its own change of the round before is committed, and locked by nobody.
            let mut other = mvcc.begin(TransactionOptions::default());
            for before in 0..round {
                let locked = other.lock_row(TREE, &[before], Exclusive, LockWait::Fail);
                assert!(locked.unwrap().is_some());
            }
            drop(other);
            transaction.put(TREE, &key, b"first").unwrap();
            let view = transaction.begin_statement();
            transaction.put(TREE, &key, b"second").unwrap();
            assert_eq!(view.get(TREE, &key, <[u8]>::len).unwrap(), Some(5));
            drop(view);
            if round % 3 == 0 {
                assert!(transaction.rollback_to(savepoint));
                transaction.put(TREE, &key, b"third").unwrap();
            }
            transaction.commit_and_renew().unwrap();
            assert!(!transaction.rollback_to(savepoint));
            assert_eq!(mvcc.statistics().locks, 0);
            assert_eq!(mvcc.statistics().versioned_keys, 0);
            assert_eq!(mvcc.statistics().oldest_snapshot, None);
            let length = if round % 3 == 0 { 5 } else { 6 };
            let found = mvcc.view().get(TREE, &key, <[u8]>::len).unwrap();
            assert_eq!(found, Some(length));
        }
    }

    #[test]
    fn savepoints_that_are_released_leave_no_layers() {
        let mvcc = mvcc();
        let mut transaction = mvcc.begin(TransactionOptions::default());
        for number in 0..2_000_u32 {
            let savepoint = transaction.savepoint();
            transaction.begin_statement();
            transaction.put(TREE, &number.to_be_bytes(), b"1").unwrap();
            if number % 3 == 0 {
                assert!(transaction.rollback_to(savepoint));
            }
            assert!(transaction.release(savepoint));
            let view = transaction.begin_statement();
            assert!(view.layers.len() <= 12, "{} layers", view.layers.len());
        }
        transaction.commit().unwrap();
        let view = mvcc.view();
        for number in 0..2_000_u32 {
            let found = view.get(TREE, &number.to_be_bytes(), |_| ()).unwrap();
            assert_eq!(found.is_some(), number % 3 != 0);
        }
    }
}
