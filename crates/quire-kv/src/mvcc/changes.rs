//! What is changed in one tree: in memory, and, below that, in files.

use std::iter::Peekable;
use std::sync::Arc;

use super::ordered::{Iter, OrderedChanges};
use super::spill::{OwnedChange, SpilledChanges, SpilledRange};
use super::trees::OpenTree;
use crate::btree::TreeError;

/// What is changed in one tree.
#[derive(Clone)]
pub(super) struct TreeChanges {
    pub(super) tree: Arc<OpenTree>,
    pub(super) changes: OrderedChanges,
    /// Changes that are older than those in memory; the oldest first.
    pub(super) spilled: Vec<Arc<SpilledChanges>>,
}

impl TreeChanges {
    /// None, to be noted in `changes`, which is empty.
    pub(super) fn new(tree: &Arc<OpenTree>, changes: OrderedChanges) -> Self {
        Self {
            tree: Arc::clone(tree),
            changes,
            spilled: Vec::new(),
        }
    }

    /// Shows every key, once, by ascending key, with its newest value.
    pub(super) fn try_for_each<E: From<TreeError>>(
        &self,
        mut visit: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.spilled.is_empty() {
            let mut changes = self.changes.iter();
            return changes.try_for_each(|(key, value)| visit(key, value));
        }
        let mut merged = MergedChanges::new(self)?;
        while let Some((key, value)) = merged.next()? {
            visit(&key, value.as_deref())?;
        }
        Ok(())
    }

    /// Takes in changes that are newer.
    pub(super) fn absorb(&mut self, above: Self) -> Result<(), TreeError> {
        if !above.spilled.is_empty() {
            let mut hidden = Vec::new();
            for (key, _) in self.changes.iter() {
                for spilled in &above.spilled {
                    if spilled.contains(key)? {
                        hidden.push(key.to_vec());
                        break;
                    }
                }
            }
            for key in hidden {
                self.changes.remove(&key);
            }
            self.spilled.extend(above.spilled);
        }
        absorb(&mut self.changes, above.changes);
        Ok(())
    }
}

/// The fewer go to the more.
fn absorb(below: &mut OrderedChanges, above: OrderedChanges) {
    if above.len() <= below.len() {
        for (key, value) in above.iter() {
            below.set(key, value);
        }
        return;
    }
    let older = std::mem::replace(below, above);
    for (key, value) in older.iter() {
        if below.get(key).is_none() {
            below.set(key, value);
        }
    }
}

/// Changes in memory and in files in their common order.
struct MergedChanges<'a> {
    memory: Peekable<Iter<'a>>,
    /// The oldest first, each with what comes next.
    files: Vec<(SpilledRange<'a>, Option<OwnedChange>)>,
}

impl<'a> MergedChanges<'a> {
    fn new(changes: &'a TreeChanges) -> Result<Self, TreeError> {
        let mut files = Vec::new();
        for spilled in &changes.spilled {
            let mut range = spilled.range(&[], &[]);
            let first = range.next()?;
            files.push((range, first));
        }
        Ok(Self {
            memory: changes.changes.iter().peekable(),
            files,
        })
    }

    fn next(&mut self) -> Result<Option<OwnedChange>, TreeError> {
        let in_files = self.files.iter().filter_map(|(_, next)| next.as_ref());
        let lowest = in_files.map(|(key, _)| key).min();
        let lowest = match (lowest, self.memory.peek()) {
            (Some(one), Some((other, _))) => (&**one).min(*other).into(),
            (Some(key), None) => key.clone(),
            (None, Some((key, _))) => (*key).into(),
            (None, None) => return Ok(None),
        };
        let mut newest = None;
        for (range, next) in &mut self.files {
            if let Some((_, value)) = next.take_if(|(key, _)| *key == lowest) {
                newest = Some(value);
                *next = range.next()?;
            }
        }
        if let Some((_, value)) = self.memory.next_if(|(key, _)| **key == *lowest) {
            newest = Some(value.map(Into::into));
        }
        Ok(newest.map(|value| (lowest, value)))
    }
}
