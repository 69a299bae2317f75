//! Crashes at every operation of the disk, and calls of it that fail: what was acknowledged as durable is there, in
//! its order, whole, and nothing else.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use quire_kv::btree::BTree;
use quire_kv::mvcc::{
    Isolation, KvCommitError, Mvcc, MvccOptions, Synchronous, TransactionOptions, TreeId, TreeSpec,
};
use quire_store::disk::{CrashImages, DiskOperation, Fault, FaultKind};
use quire_store::log::{LogOptions, VolumeLog};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{
    BatchWriteError, CATALOG_PAGE, CommitError as LogError, OpenMode, PageId, PageKind, SimDisk,
    Volume, VolumeOptions,
};

use super::fixture::{PAGE_BYTES, Random, all, cases, tree_options};

const TREES: u64 = 2;

type Place = (u64, Vec<u8>);
type Changes = BTreeMap<Place, Option<Vec<u8>>>;
type State = BTreeMap<Place, Vec<u8>>;

struct Commit {
    changes: Changes,
    synchronous: Synchronous,
    /// Operations of the disk when it was called, and when it returned.
    called_at: usize,
    returned_at: usize,
}

#[derive(Default)]
struct History {
    created_at: usize,
    commits: BTreeMap<u64, Commit>,
    /// Newest commits of checkpoints, and when these returned.
    checkpoints: Vec<(u64, usize)>,
    /// A commit that failed such that it may be there: it can only be the last.
    unknown: Option<(usize, Changes)>,
}

/// The newest commit that must be there, and the newest that may.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    min: u64,
    max: u64,
}

impl History {
    fn bounds(&self, journal: &[DiskOperation], position: usize) -> Bounds {
        let is_durable = |commit: &Commit| {
            let later = journal.get(commit.returned_at..position);
            let is_synced_later =
                || later.is_some_and(|later| later.contains(&DiskOperation::Sync));
            match commit.synchronous {
                Synchronous::Full => commit.returned_at <= position,
                Synchronous::Normal => is_synced_later(),
                Synchronous::Off => false,
            }
        };
        let checkpoints = self.checkpoints.iter().filter(|(_, at)| *at <= position);
        let checkpointed = checkpoints.map(|(sequence, _)| *sequence).max();
        let mut newest = self.commits.iter().rev();
        let min = newest.clone().find(|(_, commit)| is_durable(commit));
        let max = newest.find(|(_, commit)| commit.called_at <= position);
        let max = max.map_or(0, |(sequence, _)| *sequence);
        let has_unknown = self.unknown.as_ref().is_some_and(|(at, _)| *at <= position);
        Bounds {
            min: min
                .map(|(sequence, _)| *sequence)
                .max(checkpointed)
                .unwrap_or(0),
            max: max + u64::from(has_unknown),
        }
    }

    fn state_after(&self, sequence: u64) -> State {
        let mut state = State::new();
        let mut apply = |changes: &Changes| {
            for (place, value) in changes {
                match value {
                    Some(value) => state.insert(place.clone(), value.clone()),
                    None => state.remove(place),
                };
            }
        };
        let known = self.commits.range(..=sequence);
        known.for_each(|(_, commit)| apply(&commit.changes));
        if !self.commits.contains_key(&sequence)
            && sequence > 0
            && let Some((_, changes)) = &self.unknown
        {
            apply(changes);
        }
        state
    }
}

fn volume_options(seed: u64) -> VolumeOptions {
    VolumeOptions {
        salt_seed: Some(seed),
        checkpoint_log_bytes: 200_000,
        run_bytes: 20_000,
        growth_bytes: 16 << 10,
        clean_dead_percent: 30,
        ..VolumeOptions::default()
    }
}

fn codec(tree: u64) -> PageCodec {
    match tree {
        1 => PageCodec::NONE,
        _ => PageCodec::new(quire_codec::block::BlockCodecId::Lz4, None).unwrap(),
    }
}

fn specs(roots: &[PageId]) -> Vec<TreeSpec> {
    let spec = |(tree, root): (u64, &PageId)| TreeSpec {
        id: TreeId::new(tree),
        root: *root,
        codec: codec(tree),
        options: tree_options(),
        holds_deletions: false,
    };
    (1..).zip(roots).map(spec).collect()
}

struct Opened {
    volume: Volume,
    pool: Pool,
    mvcc: Mvcc,
}

/// Opens the trees; on a new volume it makes them, by a catalog that says where they are.
fn open(volume: Volume, options: MvccOptions) -> Result<Opened, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    if !volume.pin().contains(CATALOG_PAGE) && !volume.is_read_only() {
        let roots: Vec<PageId> = (0..TREES)
            .map(|_| volume.allocate_page().unwrap())
            .collect();
        let catalog: Vec<u8> = roots
            .iter()
            .flat_map(|root| root.get().to_le_bytes())
            .collect();
        let batch = volume.begin().map_err(|error| text(&error))?;
        let written = batch.replace(CATALOG_PAGE, PageKind::Catalog, &catalog);
        written.map_err(|error| text(&error))?;
        batch.commit().map_err(|error| text(&error))?;
    }
    let catalog = volume.read(CATALOG_PAGE).map_err(|error| text(&error))?;
    let root = |bytes: &[u8]| PageId::new(u64::from_le_bytes(bytes.try_into().unwrap())).unwrap();
    let roots: Vec<PageId> = catalog.chunks(8).map(root).collect();
    let pool_options = PoolOptions {
        budget_bytes: 8 * PAGE_BYTES,
        compression_threads: 0,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, pool_options);
    let log = VolumeLog::open(&volume, LogOptions::default()).map_err(|error| text(&error))?;
    let mvcc = Mvcc::open(&volume, &pool, &log, &specs(&roots), options);
    let mvcc = mvcc.map_err(|error| text(&error))?;
    Ok(Opened { volume, pool, mvcc })
}

/// Some runs put the changes of most transactions into files, and log them in parts.
fn options(seed: u64, has_background_thread: bool) -> MvccOptions {
    MvccOptions {
        has_background_thread,
        write_set_bytes: [64 << 20, 64 << 20, 64 << 20, 700][seed as usize % 4],
        checkpoint_log_bytes: 40_000,
        ..MvccOptions::default()
    }
}

fn any_changes(random: &mut Random, growing: bool) -> Changes {
    let mut changes = Changes::new();
    for _ in 0..1 + random.below(6) {
        let tree = 1 + random.next() % TREES;
        let key = (random.below(60) as u32 * 7919).to_be_bytes().to_vec();
        let removes = if growing { 2 } else { 7 };
        let value = (random.below(10) >= removes).then(|| {
            let length = 100 + random.below(400);
            let first = random.next() as u8;
            (0..length)
                .map(|index| first.wrapping_add(index as u8 / 8))
                .collect()
        });
        changes.insert((tree, key), value);
    }
    changes
}

fn commit(
    disk: &SimDisk,
    mvcc: &Mvcc,
    changes: Changes,
    synchronous: Synchronous,
    history: &Mutex<History>,
) -> Result<(), String> {
    let mut transaction = mvcc.begin(TransactionOptions {
        isolation: Isolation::ReadCommitted,
        synchronous,
        ..TransactionOptions::default()
    });
    for ((tree, key), value) in &changes {
        let tree = TreeId::new(*tree);
        let written = match value {
            Some(value) => transaction.put(tree, key, value),
            None => transaction.remove(tree, key),
        };
        written.map_err(|error| error.to_string())?;
    }
    let called_at = disk.journal_len();
    let committed = transaction.commit();
    let returned_at = disk.journal_len();
    let mut history = history.lock().unwrap();
    match committed {
        Ok(sequence) => {
            let commit = Commit {
                changes,
                synchronous,
                called_at,
                returned_at,
            };
            assert!(history.commits.insert(sequence.get(), commit).is_none());
            Ok(())
        }
        Err(error) => {
            // A write that failed half-way may have been long enough.
            if !matches!(
                error,
                KvCommitError::Log(LogError::Write(BatchWriteError::Full { .. }))
            ) {
                history.unknown = Some((called_at, changes));
            }
            Err(error.to_string())
        }
    }
}

const SYNCHRONOUS: [Synchronous; 3] = [Synchronous::Full, Synchronous::Normal, Synchronous::Off];

/// One thread; the first error ends it.
fn run(disk: &Arc<SimDisk>, seed: u64, steps: usize) -> (History, Result<(), String>) {
    let history = Mutex::new(History::default());
    let result = run_steps(disk, seed, steps, &history);
    (history.into_inner().unwrap(), result)
}

fn run_steps(
    disk: &Arc<SimDisk>,
    seed: u64,
    steps: usize,
    history: &Mutex<History>,
) -> Result<(), String> {
    let volume = Volume::create(disk.clone(), volume_options(seed));
    let volume = volume.map_err(|error| error.to_string())?;
    let opened = open(volume, options(seed, false))?;
    history.lock().unwrap().created_at = disk.journal_len();
    let mut random = Random(seed);
    for step in 0..steps {
        let Opened { volume, mvcc, .. } = &opened;
        match random.below(14) {
            0 => {
                let newest = mvcc.visible().get();
                mvcc.checkpoint().map_err(|error| error.to_string())?;
                let checkpoint = (newest, disk.journal_len());
                history.lock().unwrap().checkpoints.push(checkpoint);
            }
            1 => volume.checkpoint().map_err(|error| error.to_string())?,
            2 => assert_eq!(mvcc.view().sequence(), mvcc.visible()),
            _ => {
                let changes = any_changes(&mut random, step % 40 < 25);
                let synchronous = SYNCHRONOUS[random.below(3)];
                commit(disk, mvcc, changes, synchronous, history)?;
            }
        }
    }
    Ok(())
}

/// What is in all trees, which are what trees must be.
fn state_of(mvcc: &Mvcc) -> State {
    let view = mvcc.view();
    let mut state = State::new();
    for tree in 1..=TREES {
        let id = TreeId::new(tree);
        let report = mvcc.check_tree(id).unwrap();
        assert_eq!(report.findings, []);
        let entries = all(&view, id);
        assert_eq!(entries.len() as u64, report.entry_count);
        state.extend(entries.into_iter().map(|(key, value)| ((tree, key), value)));
    }
    state
}

fn open_image(image: Vec<u8>, seed: u64, mode: OpenMode) -> (Arc<SimDisk>, Result<Opened, String>) {
    let disk = Arc::new(SimDisk::recording(image));
    let volume = match mode {
        OpenMode::ReadWrite => Volume::open_or_create(disk.clone(), volume_options(seed)),
        OpenMode::ReadOnly => Volume::open_with(disk.clone(), mode, volume_options(seed)),
    };
    let opened = volume.map_err(|error| error.to_string());
    (
        disk,
        opened.and_then(|volume| open(volume, options(seed, false))),
    )
}

/// Opens what a crash has left, and crashes again on the way.
fn recover(image: Vec<u8>, history: &History, bounds: Bounds, random: &mut Random, depth: u32) {
    let seed = random.next();
    let (disk, opened) = open_image(image.clone(), seed, OpenMode::ReadWrite);
    let opened = opened.unwrap();
    let found = opened.mvcc.visible().get();
    assert!(
        (bounds.min..=bounds.max).contains(&found),
        "{found} {bounds:?}"
    );
    let state = history.state_after(found);
    assert!(
        state_of(&opened.mvcc) == state,
        "not the state after {found}"
    );
    if random.below(4) == 0 && opened.volume.commit_sequence() > 0 {
        let (_, read_only) = open_image(image.clone(), seed, OpenMode::ReadOnly);
        assert!(state_of(&read_only.unwrap().mvcc) == state, "read-only");
    }
    if depth == 0 {
        return;
    }
    opened.mvcc.checkpoint().unwrap();
    assert_pages(&opened);
    drop(opened);
    let journal = disk.journal();
    let mut crashes = CrashImages::new(image, &journal);
    let again = Bounds {
        min: found,
        max: found,
    };
    for _ in 0..3 {
        for _ in 0..random.below(6) {
            crashes.advance();
        }
        let image = crashes.image(random.next());
        recover(image, history, again, random, depth - 1);
    }
}

/// After a checkpoint the pages of the volume are those of the trees.
fn assert_pages(opened: &Opened) {
    let mut wanted = Vec::new();
    let catalog = opened.volume.read(CATALOG_PAGE).unwrap();
    for (tree, root) in (1..).zip(catalog.chunks(8)) {
        let root = PageId::new(u64::from_le_bytes(root.try_into().unwrap())).unwrap();
        let tree = BTree::open(&opened.pool, codec(tree), root).unwrap();
        wanted.extend(tree.check().pages);
    }
    wanted.sort_unstable();
    let mut pages = opened.volume.pin().pages();
    pages.retain(|page| page.get() >= 16);
    pages.sort_unstable();
    assert_eq!(pages, wanted);
}

fn crash_everywhere(disk: &SimDisk, history: &History, random: &mut Random) -> usize {
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut recovered = 0;
    while crashes.advance() {
        if crashes.position() < history.created_at {
            continue;
        }
        let bounds = history.bounds(&journal, crashes.position());
        let depth = u32::from(random.below(10) == 0);
        recover(crashes.image(random.next()), history, bounds, random, depth);
        recovered += 1;
    }
    recovered
}

#[test]
fn after_a_crash_all_that_was_durable_is_there_and_nothing_else() {
    let mut recovered = 0;
    for seed in 0..cases("QUIRE_MVCC_CRASHES", 12) {
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let (history, result) = run(&disk, seed, 90);
        result.unwrap();
        recovered += crash_everywhere(&disk, &history, &mut Random(seed ^ 0xC4A5));
    }
    assert!(recovered > 200, "{recovered}");
}

/// The same with threads that commit in groups, and checkpoints beside them.
#[test]
fn after_a_crash_of_threads_as_well() {
    for seed in 0..cases("QUIRE_MVCC_CRASHES", 12) / 4 {
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let history = Mutex::new(History::default());
        let volume = Volume::create(disk.clone(), volume_options(seed)).unwrap();
        let opened = open(volume, options(seed, true)).unwrap();
        history.lock().unwrap().created_at = disk.journal_len();
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (disk, mvcc, history) = (&disk, &opened.mvcc, &history);
                scope.spawn(move || {
                    let mut random = Random(seed * 3 + thread);
                    for step in 0..60 {
                        // Keys in order: no deadlocks.
                        let changes = any_changes(&mut random, step < 40);
                        let synchronous = SYNCHRONOUS[random.below(3)];
                        commit(disk, mvcc, changes, synchronous, history).unwrap();
                    }
                });
            }
        });
        let history = history.into_inner().unwrap();
        let newest = history.commits.len() as u64;
        assert_eq!(
            history.commits.keys().copied().collect::<Vec<_>>(),
            Vec::from_iter(1..=newest)
        );
        assert!(state_of(&opened.mvcc) == history.state_after(newest));
        crash_everywhere(&disk, &history, &mut Random(seed ^ 0xC4A5));
    }
}

/// Every call of the disk fails once, in one run each; then the disk is sound again.
#[test]
fn after_a_failed_call_nothing_is_lost() {
    const STEPS: usize = 45;
    for seed in 0..cases("QUIRE_MVCC_FAULTS", 1) {
        let disk = Arc::new(SimDisk::new(Vec::new()));
        run(&disk, seed, STEPS).1.unwrap();
        let mut stopped = 0;
        for kind in [FaultKind::Write, FaultKind::Sync, FaultKind::Read] {
            let calls = disk.call_count(kind);
            for nth in 0..calls {
                for error in [ErrorKind::Other, ErrorKind::StorageFull] {
                    let fault = Fault {
                        kind,
                        nth,
                        is_persistent: false,
                        error,
                        effect: 100,
                    };
                    stopped += u32::from(fail_once(seed, STEPS, fault));
                }
            }
        }
        assert!(stopped > 10, "{stopped}");
    }
}

fn fail_once(seed: u64, steps: usize, fault: Fault) -> bool {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    disk.add_fault(fault);
    let (history, result) = run(&disk, seed, steps);
    disk.clear_faults();
    if history.created_at > 0 {
        let journal = disk.journal();
        let bounds = history.bounds(&journal, journal.len());
        let mut random = Random(seed);
        for image in [disk.crash(seed), disk.crash_losing_all(), disk.to_bytes()] {
            recover(image, &history, bounds, &mut random, 0);
        }
    }
    result.is_err()
}

/// On a full disk transactions fail, reading and removing work, and then there is room again.
#[test]
fn a_full_disk_loses_nothing_and_is_emptied_by_removing() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let volume = Volume::create(disk.clone(), volume_options(1)).unwrap();
    let opened = open(volume, options(0, false)).unwrap();
    let history = Mutex::new(History::default());
    let mut random = Random(5);
    let tree = TreeId::new(1);
    let key = |number: u32| number.to_be_bytes().to_vec();
    let put = |number: u32| Changes::from([((1, key(number)), Some(vec![7; 500]))]);
    let mut count = 0;
    while count < 3000 {
        commit(&disk, &opened.mvcc, put(count), Synchronous::Full, &history).unwrap();
        count += 1;
        if random.below(100) == 0 {
            opened.mvcc.checkpoint().unwrap();
        }
    }
    disk.set_quota(Some(disk.to_bytes().len() as u64));
    while commit(&disk, &opened.mvcc, put(count), Synchronous::Full, &history).is_ok() {
        count += 1;
        assert!(count < 10_000, "the disk is never full");
        // It may fail: there is no room. The log has everything.
        let _ = opened.mvcc.checkpoint();
    }
    let view = opened.mvcc.view();
    assert_eq!(all(&view, tree).len() as u32, count);
    drop(view);
    for start in (0..count - 100).step_by(100) {
        let keys = start..(start + 100).min(count - 100);
        let changes = keys.map(|number| ((1, key(number)), None)).collect();
        commit(&disk, &opened.mvcc, changes, Synchronous::Full, &history).unwrap();
    }
    opened.mvcc.checkpoint().unwrap();
    commit(&disk, &opened.mvcc, put(count), Synchronous::Full, &history).unwrap();
    opened.mvcc.checkpoint().unwrap();
    assert_eq!(all(&opened.mvcc.view(), tree).len(), 101);
    let newest = opened.mvcc.visible().get();
    let bounds = Bounds {
        min: newest,
        max: newest,
    };
    let history = history.into_inner().unwrap();
    recover(disk.crash_losing_all(), &history, bounds, &mut random, 0);
}
