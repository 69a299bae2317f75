//! Ranges of a tree as a view has them.
//!
//! The leaves of the tree have the newest state. Over the part that a leaf has lie the values that were superseded after the
//! view's commit, among them those of keys that are gone, and over these the view's own changes. Mostly nothing lies over
//! a leaf, and its entries are shown as they are.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::PageEntryRef;

use super::error::TreeReadError;
use super::spill::{OwnedChange, SpilledChanges};
use super::trees::OpenTree;
use super::view::ReadView;
use super::write_set::Layer;
use crate::btree::{
    CopiedLeaf, Direction, KeyAndValue, LeafPart, LeafReadAhead, RangeLeft, TreeError,
};

/// The entries of a range, leaf by leaf. Between two leaves it holds its view, and what it has asked to be read of the leaves to come.
pub struct BTreeScan {
    view: ReadView,
    tree: Arc<OpenTree>,
    left: RangeLeft,
    ahead: LeafReadAhead,
    copied: CopiedLeaf,
    key: Vec<u8>,
}

/// What lies over a leaf: `None` hides an entry.
type Overlay<'a> = BTreeMap<&'a [u8], Option<&'a [u8]>>;

impl BTreeScan {
    pub(super) fn new(
        view: ReadView,
        tree: Arc<OpenTree>,
        low: &[u8],
        high: &[u8],
        direction: Direction,
    ) -> Self {
        Self {
            view,
            tree,
            left: RangeLeft::new(low, high, direction),
            ahead: LeafReadAhead::default(),
            copied: CopiedLeaf::default(),
            key: Vec::new(),
        }
    }

    /// Shows keys and values of the next leaf, in the direction of the scan, to `visit`, under the latch of the leaf; false
    /// behind the last leaf. A leaf may have none. After a `Break` the next call goes on behind the entry that was shown last. Not to be
    /// mixed with [`next_entry`](Self::next_entry).
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn next_leaf(
        &mut self,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<bool, TreeReadError> {
        let mut shown = ScanVisitor {
            key: &mut self.key,
            visit,
        };
        let (view, tree, direction) = (&self.view, &self.tree, self.left.direction());
        let (btree, ahead) = (&tree.btree, &mut self.ahead);
        let visited = self.left.next_leaf(btree, ahead, |part| {
            let (low, high) = (part.low, part.high);
            if let Some(reads) = &view.reads {
                reads.note_range(tree, low, high);
            }
            let spilled = match spilled_in(view, tree, low, high) {
                Ok(spilled) => spilled,
                Err(error) => return Ok(Err(error)),
            };
            show_leaf(view, tree, part, &spilled, direction, &mut shown).map(Ok)
        })?;
        let flow = visited.transpose()?;
        if flow == Some(ControlFlow::Break(())) {
            self.left.resume_behind(&self.key);
        }
        Ok(flow.is_some())
    }

    /// The next entry.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn next_entry(&mut self) -> Result<Option<KeyAndValue<'_>>, TreeReadError> {
        while self.copied.is_at_end() {
            let mut copied = std::mem::take(&mut self.copied);
            copied.clear();
            let has_leaf = self.next_leaf(|key, value| {
                copied.push([key], value);
                ControlFlow::Continue(())
            })?;
            self.copied = copied;
            if !has_leaf {
                return Ok(None);
            }
        }
        Ok(self.copied.next())
    }
}

/// Who is shown entries, and a place for their keys.
struct ScanVisitor<'k, V> {
    key: &'k mut Vec<u8>,
    visit: V,
}

impl<V: FnMut(&[u8], &[u8]) -> ControlFlow<()>> ScanVisitor<'_, V> {
    /// The key of an entry in one piece.
    fn set_key(&mut self, entry: &PageEntryRef<'_>) {
        self.key.clear();
        self.key.extend_from_slice(entry.prefix);
        self.key.extend_from_slice(entry.suffix);
    }

    fn show(&mut self, value: &[u8]) -> ControlFlow<()> {
        (self.visit)(self.key, value)
    }

    fn show_over(&mut self, key: &[u8], value: Option<&[u8]>) -> ControlFlow<()> {
        let Some(value) = value else {
            return ControlFlow::Continue(());
        };
        self.key.clear();
        self.key.extend_from_slice(key);
        self.show(value)
    }
}

fn show_leaf<V: FnMut(&[u8], &[u8]) -> ControlFlow<()>>(
    view: &ReadView,
    tree: &OpenTree,
    part: LeafPart<'_>,
    spilled: &[Vec<OwnedChange>],
    direction: Direction,
    shown: &mut ScanVisitor<'_, V>,
) -> Result<ControlFlow<()>, Corrupt> {
    let versions = tree.versions.open();
    let mut overlay = Overlay::new();
    if let Some(versions) = &versions {
        overlay.extend(versions.range(part.low, part.high, view.snapshot.at()));
    }
    let of_tree = view.layers.iter().map(|layer| layer.of(tree.id()));
    for (index, of_tree) in of_tree.enumerate() {
        let older = spilled.get(index).into_iter().flatten();
        overlay.extend(older.map(|(key, value)| (&**key, value.as_deref())));
        if let Some(of_tree) = of_tree {
            overlay.extend(of_tree.changes.range(part.low, part.high));
        }
    }
    let entries = part.entries;
    match (direction, overlay.is_empty()) {
        (Direction::Forward, true) => show_entries(entries, shown),
        (Direction::Backward, true) => show_entries(entries.rev(), shown),
        (Direction::Forward, false) => {
            let overlay = overlay.into_iter().peekable();
            merge(entries, overlay, |over, key| over < key, shown)
        }
        (Direction::Backward, false) => {
            let overlay = overlay.into_iter().rev().peekable();
            merge(entries.rev(), overlay, |over, key| over > key, shown)
        }
    }
}

/// For each layer, what it has of that range in a file; nothing when no layer has anything in a file.
fn spilled_in(
    view: &ReadView,
    tree: &OpenTree,
    low: &[u8],
    high: &[u8],
) -> Result<Vec<Vec<OwnedChange>>, TreeError> {
    let of_tree = |layer: &'_ Arc<Layer>| -> Vec<Arc<SpilledChanges>> {
        let of_tree = layer.of(tree.id());
        of_tree.map_or_else(Vec::new, |of_tree| of_tree.spilled.clone())
    };
    let files: Vec<_> = view.layers.iter().map(of_tree).collect();
    if files.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let mut all = Vec::with_capacity(files.len());
    for of_layer in files {
        let mut found = Vec::new();
        for spilled in of_layer {
            let mut range = spilled.range(low, high);
            while let Some(change) = range.next()? {
                found.push(change);
            }
        }
        all.push(found);
    }
    Ok(all)
}

fn show_entries<'a, V: FnMut(&[u8], &[u8]) -> ControlFlow<()>>(
    entries: impl Iterator<Item = Result<PageEntryRef<'a>, Corrupt>>,
    shown: &mut ScanVisitor<'_, V>,
) -> Result<ControlFlow<()>, Corrupt> {
    for entry in entries {
        let entry = entry?;
        shown.set_key(&entry);
        if shown.show(entry.value).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Shows entries, and what lies over them, in their common order.
fn merge<'a, 'b, V: FnMut(&[u8], &[u8]) -> ControlFlow<()>>(
    entries: impl Iterator<Item = Result<PageEntryRef<'a>, Corrupt>>,
    mut overlay: Peekable<impl Iterator<Item = (&'b [u8], Option<&'b [u8]>)>>,
    is_before: impl Fn(&[u8], &[u8]) -> bool,
    shown: &mut ScanVisitor<'_, V>,
) -> Result<ControlFlow<()>, Corrupt> {
    let mut entry_key = Vec::new();
    for entry in entries {
        let entry = entry?;
        entry_key.clear();
        entry_key.extend_from_slice(entry.prefix);
        entry_key.extend_from_slice(entry.suffix);
        while let Some((key, value)) = overlay.next_if(|(over, _)| is_before(over, &entry_key)) {
            if shown.show_over(key, value).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let over = overlay.next_if(|(over, _)| *over == entry_key);
        let value = over.map_or(Some(entry.value), |(_, value)| value);
        if shown.show_over(&entry_key, value).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    for (key, value) in overlay {
        if shown.show_over(key, value).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
