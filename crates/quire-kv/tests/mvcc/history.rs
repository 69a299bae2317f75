//! Threads that append to lists, and a search for circles in what they have seen.
//!
//! A value is a list of numbers, each appended once. From a list follows the order of the appends, and what a transaction
//! that read it has seen, as in K. Kingsbury, P. Alvaro, *Elle* (2020). A transaction depends on those whose appends it has
//! read or followed (ww, wr), and precedes those whose appends it has not seen (rw). READ COMMITTED permits no circle of
//! dependencies alone (G0, G1c). Snapshot isolation permits a circle only if two rw edges follow each other in it (Fekete et al.,
//! 2005), SERIALIZABLE none; at both a transaction that began after another had returned depends on it.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_kv::mvcc::{
    Isolation, KeyWriteError, KvCommitError, KvTransaction, LockError, LockWait, MvccOptions,
    RowLockMode, Synchronous, TransactionOptions, TreeId,
};

use super::fixture::*;

pub(super) const TREE: TreeId = TreeId::new(1);
const KEYS: usize = 12;
pub(super) const THREADS: u64 = 4;

type List = Vec<u32>;

/// A transaction that was committed, or not.
#[derive(Default)]
pub(super) struct Record {
    pub(super) is_committed: bool,
    pub(super) synchronous: Synchronous,
    /// Operations of the disk when the commit was called, and when it returned.
    pub(super) called_at: usize,
    pub(super) returned_at: usize,
    began: u64,
    returned: u64,
    /// Lists of committed appends, as they were read; the own ones are taken off.
    pub(super) reads: Vec<(usize, List)>,
    /// In order: key and number.
    pub(super) appends: Vec<(usize, u32)>,
}

fn encode(list: &[u32]) -> Vec<u8> {
    list.iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

pub(super) fn decode(value: &[u8]) -> List {
    let numbers = value
        .chunks(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
    numbers.collect()
}

pub(super) struct Workload<'a> {
    pub(super) setup: &'a Setup,
    pub(super) clock: &'a AtomicU64,
    pub(super) next: &'a AtomicU64,
    pub(super) isolation: Isolation,
    /// Operations of the disk up to now.
    pub(super) journal_len: &'a (dyn Fn() -> usize + Sync),
}

impl Workload<'_> {
    pub(super) fn run(&self, seed: u64, count: usize) -> Vec<Record> {
        let mut random = Random(seed);
        (0..count).map(|_| self.transaction(&mut random)).collect()
    }

    fn transaction(&self, random: &mut Random) -> Record {
        let mut record = Record {
            synchronous: [Synchronous::Full, Synchronous::Normal, Synchronous::Off]
                [random.below(3)],
            began: self.clock.fetch_add(1, Ordering::SeqCst),
            ..Record::default()
        };
        let options = TransactionOptions {
            isolation: self.isolation,
            synchronous: record.synchronous,
            ..TransactionOptions::default()
        };
        let mut transaction = self.setup.mvcc.begin(options);
        for _ in 0..1 + random.below(5) {
            let key = random.below(KEYS);
            let done = match random.below(2) {
                0 => {
                    read(&mut transaction, key, &mut record);
                    Ok(())
                }
                _ => self.append(&mut transaction, key, &mut record),
            };
            match done {
                Ok(()) => {}
                Err(LockError::Conflict | LockError::Deadlock) => return record,
                Err(error) => panic!("{error}"),
            }
        }
        if random.below(12) == 0 {
            return record;
        }
        record.called_at = (self.journal_len)();
        let committed = transaction.commit();
        record.returned_at = (self.journal_len)();
        match committed {
            Ok(_) => record.is_committed = true,
            Err(KvCommitError::Conflict) => {}
            Err(error) => panic!("{error}"),
        }
        record.returned = self.clock.fetch_add(1, Ordering::SeqCst);
        record
    }

    fn append(
        &self,
        transaction: &mut KvTransaction,
        key: usize,
        record: &mut Record,
    ) -> Result<(), LockError> {
        let _statement = transaction.begin_statement();
        let name = key.to_be_bytes();
        transaction.lock_row(TREE, &name, RowLockMode::Exclusive, LockWait::Wait)?;
        let list = transaction.get_latest(TREE, &name, decode).unwrap();
        let mut list = list.unwrap_or_default();
        let number = self.next.fetch_add(1, Ordering::Relaxed) as u32;
        list.push(number);
        record.appends.push((key, number));
        match transaction.put(TREE, &name, &encode(&list)) {
            Ok(()) => Ok(()),
            Err(KeyWriteError::Lock(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }
}

fn read(transaction: &mut KvTransaction, key: usize, record: &mut Record) {
    let view = transaction.begin_statement();
    let list = match record.reads.len() % 2 {
        0 => view.get(TREE, &key.to_be_bytes(), decode).unwrap(),
        _ => all(&view, TREE)
            .get(key.to_be_bytes().as_slice())
            .map(|value| decode(value)),
    };
    let mut list = list.unwrap_or_default();
    let own = record.appends.iter().filter(|(of, _)| *of == key).rev();
    for (_, number) in own {
        assert_eq!(list.pop(), Some(*number), "own appends are at the end");
    }
    record.reads.push((key, list));
}

/// Kinds of edges: a dependency, or that the first has not seen the second.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Dependency,
    NotSeen,
}

#[derive(Default)]
struct Graph {
    edges: Vec<Vec<(usize, Edge)>>,
}

impl Graph {
    fn add(&mut self, from: usize, to: usize, edge: Edge) {
        if from != to {
            self.edges[from].push((to, edge));
        }
    }

    /// Is there a circle in which, after an edge that `is_last` tells of, only edges follow that `may_follow` permits?
    /// A state is a node and the edge by which it was reached.
    fn has_circle(&self, may_follow: impl Fn(Edge, Edge) -> bool) -> bool {
        let state = |node: usize, edge: Edge| 2 * node + usize::from(edge == Edge::NotSeen);
        let reached_by = |state: usize| [Edge::Dependency, Edge::NotSeen][state % 2];
        let mut marks = vec![0_u8; 2 * self.edges.len()];
        for start in 0..marks.len() {
            let mut path = vec![(start, 0)];
            while let Some((at, next)) = path.pop() {
                if next == 0 {
                    if marks[at] == 2 {
                        continue;
                    }
                    marks[at] = 1;
                }
                let Some((to, edge)) = self.edges[at / 2].get(next) else {
                    marks[at] = 2;
                    continue;
                };
                path.push((at, next + 1));
                if !may_follow(reached_by(at), *edge) {
                    continue;
                }
                match marks[state(*to, *edge)] {
                    0 => path.push((state(*to, *edge), 0)),
                    1 => return true,
                    _ => {}
                }
            }
        }
        false
    }
}

/// The order of the appends of each key, from all that was read of it.
fn order(records: &[Record], last: &Entries) -> Vec<List> {
    let mut lists: Vec<List> = (0..KEYS)
        .map(|key| {
            last.get(key.to_be_bytes().as_slice())
                .map_or_else(List::new, |it| decode(it))
        })
        .collect();
    for record in records.iter().filter(|record| record.is_committed) {
        for (key, list) in &record.reads {
            assert!(
                lists[*key].starts_with(list),
                "a list is not a beginning of the last one"
            );
        }
    }
    lists.iter_mut().for_each(|list| list.shrink_to_fit());
    lists
}

pub(super) fn check(records: &[Record], last: &Entries, isolation: Isolation) {
    let lists = order(records, last);
    let mut writers = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        for (_, number) in &record.appends {
            writers.insert(*number, index);
        }
    }
    for list in &lists {
        let distinct: HashSet<_> = list.iter().collect();
        assert_eq!(distinct.len(), list.len(), "an append is there twice");
        assert!(
            list.iter()
                .all(|number| records[writers[number]].is_committed),
            "G1a"
        );
    }
    for record in records.iter().filter(|record| record.is_committed) {
        for (key, number) in &record.appends {
            assert!(lists[*key].contains(number), "an append is lost");
        }
        for (key, list) in &record.reads {
            let next = lists[*key].get(list.len());
            let is_split = list
                .last()
                .zip(next)
                .is_some_and(|(a, b)| writers[a] == writers[b]);
            assert!(!is_split, "G1b: half of what a transaction appended");
        }
    }
    let graph = graph(records, &lists, &writers, isolation);
    let is_dependency = |edge| edge == Edge::Dependency;
    assert!(
        !graph.has_circle(|_, next| is_dependency(next)),
        "G0 or G1c"
    );
    if isolation != Isolation::ReadCommitted {
        let may_follow = |last, next| is_dependency(last) || is_dependency(next);
        assert!(!graph.has_circle(may_follow), "G-single, or worse");
    }
    if isolation == Isolation::Serializable {
        assert!(!graph.has_circle(|_, _| true), "G2");
    }
}

fn graph(
    records: &[Record],
    lists: &[List],
    writers: &HashMap<u32, usize>,
    isolation: Isolation,
) -> Graph {
    let mut graph = Graph {
        edges: vec![Vec::new(); records.len()],
    };
    for list in lists {
        for pair in list.windows(2) {
            graph.add(writers[&pair[0]], writers[&pair[1]], Edge::Dependency);
        }
    }
    for (index, record) in records.iter().enumerate().filter(|(_, it)| it.is_committed) {
        for (key, list) in &record.reads {
            if let Some(last) = list.last() {
                graph.add(writers[last], index, Edge::Dependency);
            }
            // Its own append may be next.
            let next = lists[*key][list.len()..].iter();
            let next = next
                .map(|number| writers[number])
                .find(|writer| *writer != index);
            if let Some(next) = next {
                graph.add(index, next, Edge::NotSeen);
            }
        }
    }
    if isolation != Isolation::ReadCommitted {
        add_time(records, &mut graph);
    }
    graph
}

/// Adds nodes for moments, so that whoever began after another had returned depends on it.
fn add_time(records: &[Record], graph: &mut Graph) {
    let mut moments = Vec::new();
    for (index, record) in records.iter().enumerate().filter(|(_, it)| it.is_committed) {
        moments.push((record.began, index, false));
        moments.push((record.returned, index, true));
    }
    moments.sort_unstable();
    let mut before = None;
    for (_, index, is_return) in moments {
        if is_return {
            graph.edges.push(Vec::new());
            let node = graph.edges.len() - 1;
            graph.add(index, node, Edge::Dependency);
            if let Some(before) = before {
                graph.add(before, node, Edge::Dependency);
            }
            before = Some(node);
        } else if let Some(before) = before {
            graph.add(before, index, Edge::Dependency);
        }
    }
}

fn run(isolation: Isolation, seed: u64) -> (Vec<Record>, Entries) {
    let options = MvccOptions {
        // Some transactions have all rows.
        row_locks_per_tree: [3, 1000][seed as usize % 2],
        checkpoint_log_bytes: 50_000,
        ..MvccOptions::default()
    };
    let setup = fresh(1, options);
    let (clock, next) = (AtomicU64::new(0), AtomicU64::new(1));
    let records = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let workload = Workload {
                setup: &setup,
                clock: &clock,
                next: &next,
                isolation,
                journal_len: &|| 0,
            };
            let records = &records;
            scope.spawn(move || {
                let done = workload.run(seed * THREADS + thread, 150);
                records.lock().unwrap().extend(done);
            });
        }
    });
    let statistics = setup.mvcc.statistics();
    assert_eq!((statistics.locks, statistics.versioned_keys), (0, 0));
    let last = all(&setup.mvcc.view(), TREE);
    (records.into_inner().unwrap(), last)
}

fn check_level(isolation: Isolation) {
    let mut committed = 0;
    for seed in 0..cases("QUIRE_MVCC_HISTORIES", 6) {
        let (records, last) = run(isolation, seed);
        committed += records.iter().filter(|record| record.is_committed).count();
        check(&records, &last, isolation);
    }
    assert!(committed > 100, "only {committed} were committed");
}

#[test]
fn read_committed_has_no_circle_of_dependencies() {
    check_level(Isolation::ReadCommitted);
}

#[test]
fn repeatable_read_is_snapshot_isolation() {
    check_level(Isolation::RepeatableRead);
}

#[test]
fn serializable_has_no_circle() {
    check_level(Isolation::Serializable);
}

/// The search finds circles that there are: a level does not keep the promises of the next.
#[test]
fn weaker_levels_have_the_circles_they_may_have() {
    let finds = |isolation: Isolation, stricter: Isolation| {
        (0..40).any(|seed| {
            let (records, last) = run(isolation, seed);
            std::panic::catch_unwind(|| check(&records, &last, stricter)).is_err()
        })
    };
    assert!(finds(Isolation::ReadCommitted, Isolation::RepeatableRead));
    assert!(finds(Isolation::RepeatableRead, Isolation::Serializable));
}
