//! Crashes at every operation of the disk. The log is simulated: it has every operation.

use std::sync::Arc;

use quire_codec::block::BlockCodecId;
use quire_format::row_page::PageOp;
use quire_kv::btree::BTree;
use quire_store::disk::CrashImages;
use quire_store::pool::{PageCodec, Pool};
use quire_store::{CATALOG_PAGE, Durability, PageId, PageKind, SimDisk, Volume};

use super::fixture::*;

const PAGE_BYTES: usize = 4096;

/// What the log has of one change.
type Record = (Vec<u8>, Option<Vec<u8>>);

/// All changes, and after which of them the disk was at which operation.
struct History {
    log: Vec<Record>,
    /// For each flush: LSN of the newest change in it, and the operations of the disk when it was acknowledged.
    flushes: Vec<(u64, usize)>,
    root: PageId,
}

fn op_of((key, value): &Record) -> PageOp<'_> {
    match value {
        Some(value) => PageOp::Put {
            key,
            value,
            overflow: false,
        },
        None => PageOp::Remove { key },
    }
}

/// Flushes, and notes root and LSN in the same batch.
fn flush_noting(volume: &Volume, pool: &Pool, root: PageId, lsn: u64) {
    let (flush, ()) = pool.prepare_flush(|| ()).unwrap();
    let batch = volume.begin().unwrap();
    let note = [root.get().to_le_bytes(), lsn.to_le_bytes()].concat();
    batch
        .replace(CATALOG_PAGE, PageKind::Catalog, &note)
        .unwrap();
    flush.commit(batch, Durability::Synced).unwrap();
}

fn state_after(log: &[Record], lsn: u64) -> Model {
    let mut model = Model::new();
    for (key, value) in &log[..lsn as usize] {
        match value {
            Some(value) => model.insert(key.clone(), value.clone()),
            None => model.remove(key),
        };
    }
    model
}

fn run(disk: Arc<SimDisk>, seed: u64, keys: Keys, codec: PageCodec) -> History {
    let volume = volume_on(disk.clone());
    let pool = pool(&volume, 8 * PAGE_BYTES);
    let tree = tree(&pool, codec, PAGE_BYTES);
    let mut history = History {
        log: Vec::new(),
        flushes: Vec::new(),
        root: tree.root(),
    };
    let mut model = Model::new();
    let random = &mut Random(seed);
    for phase in 0..8 {
        let removals = [10, 90][phase % 2];
        for _ in 0..40 + random.below(200) {
            let mut key = keys.any(random, PAGE_BYTES);
            let record = if random.below(100) < removals {
                let Some(found) = model.range(key.clone()..).next() else {
                    continue;
                };
                key.clone_from(found.0);
                (key, None)
            } else {
                let value = any_value(random, &key, PAGE_BYTES);
                (key, Some(value))
            };
            let guard = pool.begin_change();
            history.log.push(record.clone());
            let lsn = history.log.len() as u64;
            tree.apply(&op_of(&record), lsn, &guard).unwrap();
            match record {
                (key, Some(value)) => model.insert(key, value),
                (key, None) => model.remove(&key),
            };
        }
        let lsn = history.log.len() as u64;
        flush_noting(&volume, &pool, tree.root(), lsn);
        history.flushes.push((lsn, disk.journal_len()));
    }
    history
}

/// Opens what a crash has left: it is the state of one flush; replaying the log makes it the newest.
fn recover(image: Vec<u8>, position: usize, history: &History, codec: PageCodec, back: u64) {
    let acknowledged = history.flushes.iter().rev().find(|(_, at)| *at <= position);
    let volume = volume_on(Arc::new(SimDisk::new(image)));
    if !volume.pin().contains(CATALOG_PAGE) {
        assert!(acknowledged.is_none(), "a flush is lost");
        return;
    }
    let note = volume.read(CATALOG_PAGE).unwrap();
    let (root, lsn) = note.split_at(8);
    let [root, lsn] = [root, lsn].map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
    assert_eq!(root, history.root.get());
    assert!(
        acknowledged.is_none_or(|(newest, _)| lsn >= *newest),
        "a flush is lost"
    );
    let pool = pool(&volume, 8 * PAGE_BYTES);
    let tree = BTree::open(&pool, codec, history.root).unwrap();
    assert_is(&tree, &state_after(&history.log, lsn), "as flushed");
    assert_pages_are_of(&volume, &[&tree]);

    let newest = history.log.len() as u64;
    for (index, record) in history.log.iter().enumerate() {
        let at = index as u64 + 1;
        if at > lsn.saturating_sub(back) {
            tree.redo(&op_of(record), at, &pool.begin_change()).unwrap();
        }
        if at == lsn {
            assert_is(
                &tree,
                &state_after(&history.log, lsn),
                "what was there, again",
            );
        }
    }
    assert_is(&tree, &state_after(&history.log, newest), "replayed");
    flush_noting(&volume, &pool, tree.root(), newest);
    assert_pages_are_of(&volume, &[&tree]);
}

#[test]
fn after_a_crash_the_tree_is_that_of_a_flush_and_the_log_makes_it_the_newest() {
    let lz4 = PageCodec::new(BlockCodecId::Lz4, None).unwrap();
    for (seed, keys) in (1..).zip(Keys::ALL) {
        let codec = if seed == 2 { PageCodec::NONE } else { lz4 };
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let history = run(disk.clone(), seed, keys, codec);
        let journal = disk.journal();
        let mut crashes = CrashImages::new(Vec::new(), &journal);
        let mut random = Random(seed);
        loop {
            let position = crashes.position();
            let image = crashes.image(random.next());
            recover(image, position, &history, codec, random.below(40) as u64);
            if !crashes.advance() {
                break;
            }
        }
    }
}
