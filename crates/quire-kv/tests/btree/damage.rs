//! Each invariant of a tree, broken.

use std::sync::Arc;

use quire_format::row_page::{ChildPointer, PageOp, PageSetup, RowPage, RowPageMut};
use quire_kv::btree::{BTree, Direction, TreeError};
use quire_store::pool::{PageCodec, PageFrame, Pool};
use quire_store::{PageId, Volume};

use super::fixture::*;

struct Damaged {
    _volume: Volume,
    pool: Pool,
    tree: BTree,
    /// Of the leaves, by ascending key.
    leaves: Vec<PageId>,
}

fn fresh() -> Damaged {
    let volume = volume();
    let pool = pool(&volume, 1 << 20);
    let tree = tree(&pool, PageCodec::NONE, 4096);
    for number in 0..1_000 {
        tree.put(&key_of(number), &[1; 20], 1, &pool.begin_change())
            .unwrap();
    }
    let report = tree.check();
    assert_eq!((report.height, report.findings.len()), (2, 0));
    Damaged {
        leaves: report.pages[1..].to_vec(),
        _volume: volume,
        pool,
        tree,
    }
}

impl Damaged {
    fn frame(&self, page: PageId) -> Arc<PageFrame> {
        self.pool.get(page, PageCodec::NONE).unwrap()
    }

    fn overwrite(&self, page: PageId, setup: &PageSetup<'_>) {
        let mut bytes = vec![0; 4096];
        RowPageMut::create(&mut bytes, setup).unwrap();
        let other = RowPage::open(&bytes).unwrap();
        let copied = self
            .frame(page)
            .write(|frame| frame.rewrite(|page| page.overwrite(&other)));
        copied.unwrap().unwrap().unwrap();
    }

    /// Lets the entry of the second leaf refer to another page.
    fn refer_to(&self, page: PageId) {
        let separator = self
            .frame(self.tree.root())
            .read(|page| page.entry(1).unwrap().key());
        let pointer = ChildPointer::new(page);
        let op = PageOp::Put {
            key: &separator.unwrap(),
            value: pointer.as_bytes(),
            overflow: false,
        };
        self.frame(self.tree.root()).apply(&op, 1).unwrap();
    }

    fn invariants(&self) -> Vec<&'static str> {
        let report = self.tree.check();
        report
            .findings
            .iter()
            .map(|finding| finding.invariant)
            .collect()
    }

    fn key_in_second_leaf(&self) -> Vec<u8> {
        let root = self.frame(self.tree.root());
        let separator = root.read(|page| page.entry(1).unwrap().key()).unwrap();
        [separator, vec![0xFF]].concat()
    }

    /// Reading and changing the second leaf are refused, and end.
    fn assert_refused(&self) {
        let key = self.key_in_second_leaf();
        let is_damage = |error: TreeError| {
            matches!(error, TreeError::Astray { .. } | TreeError::Corrupt { .. })
        };
        assert!(is_damage(self.tree.get(&key, |_| ()).unwrap_err()));
        let guard = self.pool.begin_change();
        assert!(is_damage(self.tree.put(&key, b"", 2, &guard).unwrap_err()));
        drop(guard);
        let mut cursor = self.tree.cursor(&key, &[], Direction::Forward);
        assert!(is_damage(cursor.next_entry().unwrap_err()));
    }
}

#[test]
fn a_page_that_two_refer_to() {
    let damaged = fresh();
    damaged.refer_to(damaged.leaves[0]);
    assert_eq!(damaged.invariants(), ["page_is_reached_once"]);
    damaged.assert_refused();
}

#[test]
fn a_page_that_is_not_there() {
    let damaged = fresh();
    damaged.refer_to(PageId::new(1 << 30).unwrap());
    assert_eq!(damaged.invariants(), ["page_can_be_had"]);
    damaged.assert_refused();
}

#[test]
fn a_page_that_is_free() {
    let damaged = fresh();
    damaged
        .frame(damaged.leaves[1])
        .write(|page| page.free())
        .unwrap();
    assert_eq!(damaged.invariants(), ["page_is_a_row_page"]);
    damaged.assert_refused();
}

#[test]
fn a_page_of_another_length() {
    let damaged = fresh();
    let root = damaged.frame(damaged.tree.root());
    let (lower, upper) = root
        .read(|page| (page.entry(1).unwrap().key(), page.entry(2).unwrap().key()))
        .unwrap();
    let mut bytes = vec![0; 8192];
    let setup = PageSetup {
        lower: &lower,
        upper: &upper,
        ..PageSetup::default()
    };
    RowPageMut::create(&mut bytes, &setup).unwrap();
    let longer = damaged.pool.add(bytes.into(), PageCodec::NONE).unwrap();
    damaged.refer_to(longer.page());
    assert_eq!(damaged.invariants(), ["page_has_the_length_of_the_tree"]);
}

#[test]
fn a_page_with_other_fences() {
    let damaged = fresh();
    let setup = PageSetup {
        lower: b"other",
        ..PageSetup::default()
    };
    damaged.overwrite(damaged.leaves[1], &setup);
    assert_eq!(damaged.invariants(), ["fences_are_those_of_the_parent"]);
    damaged.assert_refused();
}

#[test]
fn a_page_of_another_level() {
    let damaged = fresh();
    let leaf = damaged.frame(damaged.leaves[1]);
    let fences = |page: RowPage<'_>| [page.lower_fence(), page.upper_fence()].map(<[u8]>::to_vec);
    let [lower, upper] = leaf.read(fences).unwrap();
    let setup = PageSetup {
        level: 1,
        lower: &lower,
        upper: &upper,
        ..PageSetup::default()
    };
    damaged.overwrite(damaged.leaves[1], &setup);
    assert_eq!(damaged.invariants(), ["level_is_one_below_the_parent"]);
    let key = damaged.key_in_second_leaf();
    assert!(matches!(
        damaged.tree.get(&key, |_| ()),
        Err(TreeError::Astray { .. })
    ));
}

#[test]
fn a_root_that_is_a_leaf() {
    let damaged = fresh();
    let leaf = damaged.leaves[0];
    assert!(matches!(
        BTree::open(&damaged.pool, PageCodec::NONE, leaf),
        Err(TreeError::Astray { .. })
    ));
}

#[test]
fn an_inner_page_without_children() {
    let damaged = fresh();
    let setup = PageSetup {
        level: 1,
        ..PageSetup::default()
    };
    damaged.overwrite(damaged.tree.root(), &setup);
    assert_eq!(damaged.invariants(), ["inner_page_has_children"]);
    assert!(matches!(
        damaged.tree.get(b"key", |_| ()),
        Err(TreeError::Corrupt { .. })
    ));
}

#[test]
fn a_value_that_is_elsewhere() {
    let damaged = fresh();
    let op = PageOp::Put {
        key: &key_of(0),
        value: b"where",
        overflow: true,
    };
    damaged.frame(damaged.leaves[0]).apply(&op, 1).unwrap();
    assert_eq!(damaged.invariants(), ["values_are_in_the_leaf"]);
}
