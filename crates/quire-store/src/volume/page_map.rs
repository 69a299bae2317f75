//! Where the newest image of each page is: a persistent radix tree, so that a snapshot is one
//! pointer and a commit copies only the paths it changes.
//!
//! A dense range of pages costs 16 bytes a page (offset, length, checksum) and little more.

use std::sync::Arc;

use quire_format::volume::{IMAGE_HEADER_BYTES, PageEntry, PageId, PageRange};

const FANOUT_BITS: u32 = 6;
const FANOUT: usize = 1 << FANOUT_BITS;

/// A slot of a leaf; offset 0 means that there is no such page.
#[derive(Clone, Copy, Default)]
struct PageMapSlot {
    offset: u64,
    payload_bytes: u32,
    payload_checksum: u32,
}

#[derive(Clone)]
enum PageMapNode {
    Leaf(Box<[PageMapSlot; FANOUT]>),
    Inner(Box<[Option<Arc<PageMapNode>>; FANOUT]>),
}

/// The page map of one commit.
#[derive(Clone, Default)]
pub(crate) struct PageMap {
    root: Option<Arc<PageMapNode>>,
    /// Levels of inner nodes above the leaves.
    height: u32,
    page_count: u64,
    live_bytes: u64,
    digest: u64,
}

impl PageMap {
    /// Pages in the map.
    pub(crate) fn page_count(&self) -> u64 {
        self.page_count
    }

    /// Bytes of their images, headers included.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// XOR of the digests of the entries.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// Where the image of `page` is.
    pub(crate) fn get(&self, page: PageId) -> Option<PageEntry> {
        let number = page.get();
        if number >> (FANOUT_BITS * (self.height + 1)) != 0 {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut level = self.height;
        loop {
            match node {
                PageMapNode::Leaf(slots) => return entry(page, slots[child(number, 0)]),
                PageMapNode::Inner(children) => {
                    node = children[child(number, level)].as_deref()?;
                    level -= 1;
                }
            }
        }
    }

    /// Puts an entry in, and returns the one it replaces.
    pub(crate) fn insert(&mut self, new: PageEntry) -> Option<PageEntry> {
        assert!(new.offset != 0, "no image lies at byte 0");
        self.raise(new.page.get());
        let root = self
            .root
            .get_or_insert_with(|| Arc::new(empty_node(self.height)));
        let slot = slot_for_writing(root, self.height, new.page.get());
        let old = entry(new.page, *slot);
        *slot = PageMapSlot {
            offset: new.offset,
            payload_bytes: new.payload_bytes,
            payload_checksum: new.payload_checksum,
        };
        self.account(old, Some(new));
        old
    }

    /// Takes the entry of `page` out.
    pub(crate) fn remove(&mut self, page: PageId) -> Option<PageEntry> {
        let old = self.get(page)?;
        if let Some(root) = &mut self.root {
            *slot_for_writing(root, self.height, page.get()) = PageMapSlot::default();
        }
        self.account(Some(old), None);
        Some(old)
    }

    /// The entries of a range of pages, ascending. Costs no more than the map is large, however
    /// long the range is.
    pub(crate) fn range(&self, range: PageRange) -> Vec<PageEntry> {
        let mut found = Vec::new();
        let end = range.first.get() + range.count;
        if let Some(root) = &self.root {
            visit(root, self.height, 0, range.first.get()..end, &mut |entry| {
                found.push(entry)
            });
        }
        found
    }

    /// Calls `visitor` with every entry, ascending by page.
    pub(crate) fn for_each(&self, visitor: &mut dyn FnMut(PageEntry)) {
        if let Some(root) = &self.root {
            visit(root, self.height, 0, 0..u64::MAX, visitor);
        }
    }

    fn account(&mut self, old: Option<PageEntry>, new: Option<PageEntry>) {
        if let Some(old) = old {
            self.page_count -= 1;
            self.live_bytes -= image_bytes(&old);
            self.digest ^= old.digest();
        }
        if let Some(new) = new {
            self.page_count += 1;
            self.live_bytes += image_bytes(&new);
            self.digest ^= new.digest();
        }
    }

    /// Adds levels until `number` fits.
    fn raise(&mut self, number: u64) {
        while number >> (FANOUT_BITS * (self.height + 1)) != 0 {
            self.height += 1;
            if let Some(root) = self.root.take() {
                let mut children = no_children();
                children[0] = Some(root);
                self.root = Some(Arc::new(PageMapNode::Inner(children)));
            }
        }
    }
}

/// Bytes of the image of an entry, header included.
pub(crate) fn image_bytes(entry: &PageEntry) -> u64 {
    IMAGE_HEADER_BYTES as u64 + u64::from(entry.payload_bytes)
}

fn entry(page: PageId, slot: PageMapSlot) -> Option<PageEntry> {
    (slot.offset != 0).then_some(PageEntry {
        page,
        offset: slot.offset,
        payload_bytes: slot.payload_bytes,
        payload_checksum: slot.payload_checksum,
    })
}

fn child(number: u64, level: u32) -> usize {
    (number >> (FANOUT_BITS * level)) as usize % FANOUT
}

fn no_children() -> Box<[Option<Arc<PageMapNode>>; FANOUT]> {
    Box::new([const { None }; FANOUT])
}

fn empty_node(level: u32) -> PageMapNode {
    if level == 0 {
        PageMapNode::Leaf(Box::new([PageMapSlot::default(); FANOUT]))
    } else {
        PageMapNode::Inner(no_children())
    }
}

fn slot_for_writing(node: &mut Arc<PageMapNode>, level: u32, number: u64) -> &mut PageMapSlot {
    match Arc::make_mut(node) {
        PageMapNode::Leaf(slots) => &mut slots[child(number, 0)],
        PageMapNode::Inner(children) => {
            let below = level - 1;
            let next =
                children[child(number, level)].get_or_insert_with(|| Arc::new(empty_node(below)));
            slot_for_writing(next, below, number)
        }
    }
}

fn visit(
    node: &PageMapNode,
    level: u32,
    base: u64,
    range: std::ops::Range<u64>,
    visitor: &mut dyn FnMut(PageEntry),
) {
    let step = 1_u64 << (FANOUT_BITS * level);
    for index in 0..FANOUT {
        let first = base + index as u64 * step;
        if first >= range.end || first + step <= range.start {
            continue;
        }
        match node {
            PageMapNode::Leaf(slots) => {
                if let Some(found) = PageId::new(first).and_then(|page| entry(page, slots[index])) {
                    visitor(found);
                }
            }
            PageMapNode::Inner(children) => {
                if let Some(below) = &children[index] {
                    visit(below, level - 1, first, range.clone(), visitor);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use super::*;

    fn some_entry(page: u64, offset: u64) -> PageEntry {
        let page = PageId::new(page).unwrap();
        PageEntry {
            page,
            offset,
            payload_bytes: offset as u32 % 977,
            payload_checksum: 7,
        }
    }

    #[test]
    fn behaves_like_a_sorted_map() {
        let mut map = PageMap::default();
        let mut model = BTreeMap::new();
        let mut random = 1_u64;
        for step in 1..20_000_u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let page = 1 + (random >> 33) % [50, 5_000, 1 << 30][step as usize % 3];
            if random >> 62 == 0 {
                let removed = map.remove(PageId::new(page).unwrap());
                assert_eq!(removed, model.remove(&page));
            } else {
                let new = some_entry(page, step);
                assert_eq!(map.insert(new), model.insert(page, new));
            }
        }
        let mut listed = Vec::new();
        map.for_each(&mut |entry| listed.push(entry));
        assert_eq!(listed, model.values().copied().collect::<Vec<_>>());
        assert_eq!(map.page_count(), model.len() as u64);
        assert_eq!(
            map.live_bytes(),
            model.values().map(image_bytes).sum::<u64>()
        );
        assert_eq!(
            map.digest(),
            model
                .values()
                .fold(0, |digest, entry| digest ^ entry.digest())
        );
        let range = PageRange {
            first: PageId::new(40).unwrap(),
            count: 3_000,
        };
        let expected: Vec<_> = model.range(40..3_040).map(|(_, entry)| *entry).collect();
        assert_eq!(map.range(range), expected);
    }

    #[test]
    fn a_copy_does_not_see_later_changes() {
        let mut map = PageMap::default();
        map.insert(some_entry(3, 100));
        let snapshot = map.clone();
        map.insert(some_entry(3, 200));
        map.insert(some_entry(1 << 39, 300));
        assert_eq!(
            snapshot.get(PageId::new(3).unwrap()),
            Some(some_entry(3, 100))
        );
        assert_eq!(snapshot.get(PageId::new(1 << 39).unwrap()), None);
        assert_eq!(
            map.get(PageId::new(1 << 39).unwrap()),
            Some(some_entry(1 << 39, 300))
        );
    }
}
