//! One thread, several transactions and views at a time, beside a model that keeps every version of every key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quire_kv::btree::Direction;
use quire_kv::mvcc::{
    Isolation, KeyWriteError, KvCommitError, KvSavepoint, KvTransaction, LockError, LockWait,
    MvccOptions, ReadView, RowLockMode, TreeId, TreeSpec,
};
use quire_store::{Disk, MemDisk};

use super::fixture::*;

const TREES: u64 = 2;

type Place = (u64, Vec<u8>);
/// When a value was committed.
type Version = (u64, Option<Vec<u8>>);
type Changes = BTreeMap<Place, Option<Vec<u8>>>;

/// What is committed, and when it was.
#[derive(Default)]
struct History {
    versions: BTreeMap<Place, Vec<Version>>,
    newest: u64,
}

impl History {
    fn as_of(&self, at: u64, own: &Changes, tree: u64) -> Entries {
        let value = |versions: &Vec<Version>| {
            let mut until = versions.iter().rev().filter(|(from, _)| *from <= at);
            until.next().and_then(|(_, value)| value.clone())
        };
        let of_tree = |place: &Place| place.0 == tree;
        let committed = self
            .versions
            .iter()
            .filter(|(place, _)| of_tree(place))
            .filter_map(|(place, versions)| Some((place.1.clone(), value(versions)?)));
        let mut entries: Entries = committed.collect();
        for (place, value) in own.iter().filter(|(place, _)| of_tree(place)) {
            match value {
                Some(value) => entries.insert(place.1.clone(), value.clone()),
                None => entries.remove(&place.1),
            };
        }
        entries
    }

    fn changed_at(&self, place: &Place) -> u64 {
        let versions = self.versions.get(place);
        versions.map_or(0, |versions| versions[versions.len() - 1].0)
    }
}

struct Running {
    transaction: KvTransaction,
    isolation: Isolation,
    snapshot: Option<u64>,
    own: Changes,
    locks: BTreeSet<Place>,
    savepoints: Vec<(KvSavepoint, Changes, BTreeSet<Place>)>,
    /// At `Serializable`: keys that were read.
    reads: BTreeSet<Place>,
}

struct OpenView {
    view: ReadView,
    wanted: Vec<Entries>,
}

struct World {
    disk: Arc<dyn Disk>,
    setup: Setup,
    specs: Vec<TreeSpec>,
    history: History,
    running: Vec<Running>,
    views: Vec<OpenView>,
    seed: u64,
    random: Random,
    commits: u64,
    conflicts: u64,
}

/// Every third world puts what a transaction has changed into files soon.
fn options(seed: u64) -> MvccOptions {
    MvccOptions {
        write_set_bytes: [64 << 20, 64 << 20, 1500][seed as usize % 3],
        ..quiet()
    }
}

fn any_key(random: &mut Random) -> Vec<u8> {
    let number = random.below(120) as u32;
    // Some keys are prefixes of others; one has no bytes.
    match number % 4 {
        0 => vec![0xAA; number as usize / 4],
        _ => (number * 7919).to_be_bytes().to_vec(),
    }
}

fn any_value(random: &mut Random) -> Vec<u8> {
    let length = match random.below(10) {
        0 => random.below(600),
        _ => random.below(40),
    };
    vec![random.next() as u8; length]
}

impl World {
    fn new(seed: u64) -> Self {
        let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
        let mut specs = Vec::new();
        let setup = open(disk.clone(), 12 * PAGE_BYTES, options(seed), |volume| {
            let spec = |number| spec(number, volume.allocate_page().unwrap());
            specs.extend((1..=TREES).map(spec));
            specs.clone()
        });
        Self {
            disk,
            setup,
            specs,
            history: History::default(),
            running: Vec::new(),
            views: Vec::new(),
            seed,
            random: Random(seed),
            commits: 0,
            conflicts: 0,
        }
    }

    fn any_place(&mut self) -> Place {
        let tree = 1 + self.random.next() % TREES;
        (tree, any_key(&mut self.random))
    }

    fn step(&mut self) {
        let choice = self.random.below(100);
        if self.running.is_empty() || choice < 6 && self.running.len() < 5 {
            return self.begin();
        }
        let which = self.random.below(self.running.len());
        match choice {
            6..40 => self.change(which),
            40..48 => self.read(which),
            48..56 => self.begin_statement(which),
            56..62 => self.lock(which),
            62..74 => self.savepoint(which),
            74..84 => self.finish(which),
            84..90 => self.open_view(),
            90..96 => self.check_views(),
            96..99 => self.setup.mvcc.checkpoint().unwrap(),
            _ => self.reopen(),
        }
    }

    fn begin(&mut self) {
        let isolation = [
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ][self.random.below(3)];
        self.running.push(Running {
            transaction: self.setup.mvcc.begin(impatient(isolation)),
            isolation,
            snapshot: None,
            own: Changes::new(),
            locks: BTreeSet::new(),
            savepoints: Vec::new(),
            reads: BTreeSet::new(),
        });
    }

    /// What asking for a lock must bring.
    fn expected_lock(&mut self, which: usize, place: &Place) -> Result<bool, LockError> {
        let newest = self.history.newest;
        let is_taken =
            |(index, other): (usize, &Running)| index != which && other.locks.contains(place);
        let is_taken = self.running.iter().enumerate().any(is_taken);
        let running = &mut self.running[which];
        if running.isolation != Isolation::ReadCommitted {
            running.snapshot.get_or_insert(newest);
        }
        if is_taken {
            return Err(LockError::Timeout);
        }
        running.locks.insert(place.clone());
        let changed_at = self.history.changed_at(place);
        let is_changed = running.snapshot.is_some_and(|at| changed_at > at);
        match running.isolation {
            Isolation::ReadCommitted => Ok(is_changed),
            _ if is_changed => Err(LockError::Conflict),
            _ => Ok(false),
        }
    }

    fn lock(&mut self, which: usize) {
        let place = self.any_place();
        let expected = self.expected_lock(which, &place);
        let transaction = &mut self.running[which].transaction;
        let tree = TreeId::new(place.0);
        let mode = RowLockMode::Exclusive;
        let locked = transaction.lock_row(tree, &place.1, mode, LockWait::Wait);
        let locked = locked.map(|locked| locked.unwrap().is_changed_since_snapshot);
        assert_eq!(locked, expected);
        if locked.is_ok() {
            let latest = transaction
                .get_latest(tree, &place.1, <[u8]>::to_vec)
                .unwrap();
            let running = &mut self.running[which];
            let entries = self
                .history
                .as_of(self.history.newest, &running.own, place.0);
            assert_eq!(latest.as_ref(), entries.get(&place.1));
            running.reads.insert(place);
        }
    }

    fn change(&mut self, which: usize) {
        let place = self.any_place();
        let expected = self.expected_lock(which, &place).err();
        let value = (self.random.below(3) > 0).then(|| any_value(&mut self.random));
        let running = &mut self.running[which];
        let tree = TreeId::new(place.0);
        let result = match &value {
            Some(value) => running.transaction.put(tree, &place.1, value),
            None => running.transaction.remove(tree, &place.1),
        };
        match (result, expected) {
            (Ok(()), None) => drop(running.own.insert(place, value)),
            (Err(KeyWriteError::Lock(error)), Some(expected)) => assert_eq!(error, expected),
            (result, expected) => panic!("{result:?} instead of {expected:?}"),
        }
    }

    fn read(&mut self, which: usize) {
        let place = self.any_place();
        let newest = self.history.newest;
        let running = &mut self.running[which];
        let tree = TreeId::new(place.0);
        let found = running
            .transaction
            .get(tree, &place.1, <[u8]>::to_vec)
            .unwrap();
        let own = running.own.get(&place);
        let wanted = match own {
            Some(own) => own.clone(),
            None => {
                let at = *running.snapshot.get_or_insert(newest);
                let entries = self.history.as_of(at, &running.own, place.0);
                entries.get(&place.1).cloned()
            }
        };
        assert_eq!(found, wanted);
        running.reads.insert(place);
    }

    fn begin_statement(&mut self, which: usize) {
        let newest = self.history.newest;
        let running = &mut self.running[which];
        let view = running.transaction.begin_statement();
        if running.isolation == Isolation::ReadCommitted {
            running.snapshot = None;
        }
        let at = *running.snapshot.get_or_insert(newest);
        assert_eq!(view.sequence().get(), at);
        let own = running.own.clone();
        let wanted = (1..=TREES).map(|tree| self.history.as_of(at, &own, tree));
        let wanted = wanted.collect();
        self.views.push(OpenView { view, wanted });
    }

    fn savepoint(&mut self, which: usize) {
        let choice = self.random.below(5);
        let running = &mut self.running[which];
        let transaction = &mut running.transaction;
        if choice < 2 || running.savepoints.is_empty() {
            let savepoint = transaction.savepoint();
            let mark = (savepoint, running.own.clone(), running.locks.clone());
            running.savepoints.push(mark);
            return;
        }
        let place = self.random.below(running.savepoints.len());
        let (savepoint, own, locks) = &running.savepoints[place];
        if choice < 4 {
            assert!(transaction.rollback_to(*savepoint));
            (running.own, running.locks) = (own.clone(), locks.clone());
            running.savepoints.truncate(place + 1);
        } else {
            assert!(transaction.release(*savepoint));
            running.savepoints.truncate(place);
        }
    }

    fn finish(&mut self, which: usize) {
        let running = self.running.swap_remove(which);
        if self.random.below(4) == 0 {
            return running.transaction.rollback();
        }
        let snapshot = running.snapshot;
        let changed =
            |place: &Place| snapshot.is_some_and(|at| self.history.changed_at(place) > at);
        let is_stale =
            running.isolation == Isolation::Serializable && running.reads.iter().any(changed);
        let has_passed = snapshot.is_some_and(|at| at < self.history.newest);
        match running.transaction.commit() {
            Ok(sequence) if running.own.is_empty() => {
                assert_eq!(sequence.get(), self.history.newest);
            }
            Ok(sequence) => {
                assert!(!is_stale, "what was read has changed");
                self.history.newest += 1;
                assert_eq!(sequence.get(), self.history.newest);
                for (place, value) in running.own {
                    let versions = self.history.versions.entry(place).or_default();
                    versions.push((sequence.get(), value));
                }
                self.commits += 1;
            }
            Err(KvCommitError::Conflict) => {
                // Ranges are remembered by leaves, so there may be conflicts that are none.
                assert!(running.isolation == Isolation::Serializable && has_passed);
                self.conflicts += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn open_view(&mut self) {
        let at = self.history.newest;
        let own = Changes::new();
        let wanted = (1..=TREES).map(|tree| self.history.as_of(at, &own, tree));
        let view = match self.views.last() {
            Some(other) if self.random.below(2) == 0 => OpenView {
                view: other.view.clone(),
                wanted: other.wanted.clone(),
            },
            _ => OpenView {
                view: self.setup.mvcc.view(),
                wanted: wanted.collect(),
            },
        };
        self.views.push(view);
    }

    fn check_views(&mut self) {
        let random = &mut self.random;
        while self.views.len() > 6 {
            self.views.swap_remove(random.below(self.views.len()));
        }
        for OpenView { view, wanted } in &self.views {
            for (entries, number) in wanted.iter().zip(1..) {
                check_view(view, TreeId::new(number), entries, random);
            }
        }
        let place = self.any_place();
        let found = self
            .setup
            .mvcc
            .get(TreeId::new(place.0), &place.1, <[u8]>::to_vec);
        let entries = self
            .history
            .as_of(self.history.newest, &Changes::new(), place.0);
        assert_eq!(found.unwrap().as_ref(), entries.get(&place.1));
    }

    fn reopen(&mut self) {
        self.running.clear();
        self.views.clear();
        let statistics = self.setup.mvcc.statistics();
        assert_eq!((statistics.locks, statistics.versioned_keys), (0, 0));
        let setup = open(Arc::new(MemDisk::new()), 1 << 16, quiet(), |_| Vec::new());
        drop(std::mem::replace(&mut self.setup, setup));
        let specs = self.specs.clone();
        self.setup = open(
            self.disk.clone(),
            12 * PAGE_BYTES,
            options(self.seed),
            |_| specs,
        );
        assert_eq!(self.setup.mvcc.visible().get(), self.history.newest);
        self.check_committed();
    }

    fn check_committed(&self) {
        let view = self.setup.mvcc.view();
        for tree in 1..=TREES {
            let wanted = self
                .history
                .as_of(self.history.newest, &Changes::new(), tree);
            assert_eq!(all(&view, TreeId::new(tree)), wanted);
            let report = self.setup.mvcc.check_tree(TreeId::new(tree)).unwrap();
            assert_eq!(report.findings, []);
            assert_eq!(report.entry_count, wanted.len() as u64);
        }
    }
}

fn check_view(view: &ReadView, tree: TreeId, wanted: &Entries, random: &mut Random) {
    let bound = |random: &mut Random| match random.below(4) {
        0 => Vec::new(),
        _ => any_key(random),
    };
    let (low, high) = (bound(random), bound(random));
    let is_in = |key: &&Vec<u8>| **key >= low && (high.is_empty() || **key < high);
    let wanted_keys: Vec<_> = wanted.keys().filter(is_in).cloned().collect();
    let mut found = scanned(view, tree, &low, &high, Direction::Forward);
    let keys: Vec<_> = found.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(keys, wanted_keys);
    assert!(found.iter().all(|(key, value)| wanted[key] == *value));
    let backward = scanned(view, tree, &low, &high, Direction::Backward);
    found.reverse();
    assert!(backward == found);
    check_breaks(view, tree, [&low, &high], &wanted_keys, random);
    let key = any_key(random);
    assert_eq!(
        view.get(tree, &key, <[u8]>::to_vec).unwrap().as_ref(),
        wanted.get(&key)
    );
}

/// A scan that is left and taken up again at any entry.
fn check_breaks(
    view: &ReadView,
    tree: TreeId,
    [low, high]: [&[u8]; 2],
    wanted_keys: &[Vec<u8>],
    random: &mut Random,
) {
    for direction in [Direction::Forward, Direction::Backward] {
        let mut scan = view.scan(tree, low, high, direction).unwrap();
        let mut keys = Vec::new();
        let mut visit = |key: &[u8], _: &[u8]| {
            keys.push(key.to_vec());
            match random.below(3) {
                0 => std::ops::ControlFlow::Break(()),
                _ => std::ops::ControlFlow::Continue(()),
            }
        };
        while scan.next_leaf(&mut visit).unwrap() {}
        if direction == Direction::Backward {
            keys.reverse();
        }
        assert_eq!(keys, wanted_keys);
    }
}

#[test]
fn transactions_do_what_a_model_does() {
    let (mut commits, mut conflicts) = (0, 0);
    for seed in 0..cases("QUIRE_MVCC_MODELS", 30) {
        let mut world = World::new(seed);
        for _ in 0..1200 {
            world.step();
        }
        world.reopen();
        commits += world.commits;
        conflicts += world.conflicts;
    }
    assert!(commits > 100 && conflicts > 0, "{commits} {conflicts}");
}
