//! A volume, a pool and a tree, and how to compare the tree with an ordered map.

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_format::row_page::space;
use quire_kv::btree::{BTree, Direction, TreeOptions};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{Disk, Durability, MemDisk, PageId, Volume, VolumeOptions};

pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// How keys look.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// Big-endian numbers.
    Numbers,
    /// Strings of few letters, the empty one and zeros among them.
    Short,
    /// Strings that share long beginnings, up to the longest a page permits.
    Long,
}

impl Keys {
    pub const ALL: [Self; 3] = [Self::Numbers, Self::Short, Self::Long];

    pub fn any(self, random: &mut Random, page_bytes: usize) -> Vec<u8> {
        match self {
            Self::Numbers => (random.below(3_000) as u64).to_be_bytes().to_vec(),
            Self::Short => {
                let length = random.below(7);
                let mut letter = |_| [0, 0, b'a', b'b', 0xFF][random.below(5)];
                (0..length).map(&mut letter).collect()
            }
            Self::Long => {
                let most = space::key_bytes_max(page_bytes);
                let mut key = vec![b'k'; random.below(4) * most / 4];
                key.extend((0..random.below(8)).map(|_| b"klm"[random.below(3)]));
                key.resize(key.len() + random.below(2) * random.below(most / 4), b'z');
                key.truncate(most);
                key
            }
        }
    }
}

/// A value for that key, of any length up to the longest.
pub fn any_value(random: &mut Random, key: &[u8], page_bytes: usize) -> Vec<u8> {
    let most = space::entry_bytes_max(page_bytes) - key.len();
    let length = match random.below(20) {
        0 => random.below(most + 1),
        1 => most,
        _ => random.below(80.min(most + 1)),
    };
    let first = random.next() as u8;
    (0..length)
        .map(|index| first.wrapping_add(index as u8 / 16))
        .collect()
}

pub fn volume_options() -> VolumeOptions {
    VolumeOptions {
        salt_seed: Some(7),
        ..VolumeOptions::default()
    }
}

pub fn volume_on(disk: Arc<dyn Disk>) -> Volume {
    Volume::open_or_create(disk, volume_options()).unwrap()
}

pub fn volume() -> Volume {
    volume_on(Arc::new(MemDisk::new()))
}

/// A pool without threads, so that everything happens in one order.
pub fn pool(volume: &Volume, budget_bytes: usize) -> Pool {
    let options = PoolOptions {
        budget_bytes,
        compression_threads: 0,
        ..PoolOptions::default()
    };
    Pool::new(volume, options)
}

pub fn tree(pool: &Pool, codec: PageCodec, page_bytes: usize) -> BTree {
    let options = TreeOptions {
        page_bytes,
        layout: 3,
    };
    BTree::create(pool, codec, options, &pool.begin_change()).unwrap()
}

pub fn flush(volume: &Volume, pool: &Pool) {
    let (flush, ()) = pool.prepare_flush(|| ()).unwrap();
    let batch = volume.begin().unwrap();
    flush.commit(batch, Durability::Synced).unwrap();
}

pub fn key_of(number: u64) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

/// All entries of a range, in the order of the cursor.
pub fn entries(
    tree: &BTree,
    low: &[u8],
    high: &[u8],
    direction: Direction,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cursor = tree.cursor(low, high, direction);
    let mut found = Vec::new();
    while let Some((key, value)) = cursor.next_entry().unwrap() {
        found.push((key.to_vec(), value.to_vec()));
    }
    found
}

/// The tree has what the model has, and is what a tree must be.
pub fn assert_is(tree: &BTree, model: &Model, what: &str) {
    let report = tree.check();
    assert_eq!(report.findings, [], "{what}");
    assert_eq!(report.entry_count, model.len() as u64, "{what}");
    let wanted: Vec<_> = model
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let found = entries(tree, &[], &[], Direction::Forward);
    assert!(
        found == wanted,
        "{what}: forward, {} of {}",
        found.len(),
        wanted.len()
    );
    let mut found = entries(tree, &[], &[], Direction::Backward);
    found.reverse();
    assert!(
        found == wanted,
        "{what}: backward, {} of {}",
        found.len(),
        wanted.len()
    );
}

/// The row pages of the volume are those of the trees.
pub fn assert_pages_are_of(volume: &Volume, trees: &[&BTree]) {
    let mut wanted: Vec<PageId> = trees.iter().flat_map(|tree| tree.check().pages).collect();
    wanted.sort_unstable();
    let mut pages = volume.pin().pages();
    pages.retain(|page| page.get() >= 16);
    pages.sort_unstable();
    assert_eq!(pages, wanted);
}
