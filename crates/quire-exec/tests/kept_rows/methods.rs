//! Rows that joins keep by blocks, in partitions that are divided again, and for a key at a time: tuples as they are, or what is asked of them.

use std::sync::Arc;

use quire_exec::plan::Plan;
use quire_kv::mvcc::TransactionOptions;
use quire_store::MemDisk;

use super::fixture::{Random, create, definition, engine_on, fill};
use super::{
    KINDS, Row, TYPES, join, joined, keeping, made_rows, project, projected, run, scan, sort,
};

/// How a join is done: what is said of it, memory, and costs that make it the cheapest.
struct Method {
    words: &'static str,
    memory_bytes: &'static [usize],
    costs: &'static [(&'static str, &'static str)],
    /// Whether the rows are wanted in the order of the key.
    is_sorted: bool,
}

const METHODS: [Method; 3] = [
    Method {
        words: "join by a nested loop over blocks",
        memory_bytes: &[3_000, 6_000, 12_000],
        costs: &[
            ("spill_write", "1e6"),
            ("spill_pack", "1e9"),
            ("hash_probe", "0.01"),
        ],
        is_sorted: false,
    },
    Method {
        words: "partitions divided again",
        memory_bytes: &[100, 200],
        costs: &[("spill_write", "0.01"), ("spill_read", "1000")],
        is_sorted: false,
    },
    Method {
        words: "join in order of 1 keys",
        memory_bytes: &[0, 3_000, 1 << 30],
        costs: &[
            ("compare", "0.1"),
            ("hash_insert", "1e6"),
            ("hash_probe", "1e6"),
        ],
        is_sorted: true,
    },
];

/// The sides are tables, or read shared rows.
#[test]
fn blocks_partitions_and_rows_of_a_key_are_kept_as_they_are() {
    let mut random = Random(4);
    let mut counts = METHODS.map(|_| [0; 4]);
    for has_key in [false, true] {
        let engine = engine_on(Arc::new(MemDisk::new()), 64 << 20);
        create(&engine, definition(has_key));
        let made = made_rows(&mut random, 60, has_key);
        let mut transaction = engine.transaction(TransactionOptions::default());
        fill(&mut transaction, &made).unwrap();
        transaction.commit().unwrap();
        let snapshot = engine.snapshot();
        let tables = |name: &str| snapshot.row_table(name).unwrap();
        let all: Vec<Row> = made.iter().map(|row| row.to_vec()).collect();
        for round in 0..60 {
            let is_shared = round % 3 == 0;
            let shared = Arc::new(scan("t", &TYPES));
            let side = || {
                if is_shared {
                    Plan::shared(1, Arc::clone(&shared))
                } else {
                    scan("t", &TYPES)
                }
            };
            let kind = KINDS[random.below(KINDS.len())];
            let column_count = if kind.shows_right() { 8 } else { 4 };
            let slots = (0..column_count).filter(|slot| *slot == 3 || random.below(2) == 0);
            let slots: Vec<usize> = slots.collect();
            let expected = projected(&joined(kind, &all, &all), &slots);
            for (method, counts) in METHODS.iter().zip(&mut counts) {
                let pairs = join(kind, side(), side(), (1, 1));
                let plan = if method.is_sorted {
                    sort(pairs, 1)
                } else {
                    pairs
                };
                for memory_bytes in method.memory_bytes {
                    let mut options = keeping(*memory_bytes);
                    for (name, ns) in method.costs {
                        options.costs.set(name, ns).unwrap();
                    }
                    let (mut found, text) = run(project(plan.clone(), &slots), &tables, &options);
                    found.sort();
                    assert_eq!(found, expected, "{kind:?} {slots:?} {memory_bytes}\n{text}");
                    if text.contains(method.words) {
                        let is_whole = text.contains("as it is");
                        counts[2 * usize::from(is_shared) + usize::from(is_whole)] += 1;
                    }
                }
            }
        }
    }
    // Tables taken apart and whole, and the same of shared rows.
    println!("{counts:?}");
    assert!(
        counts.iter().flatten().all(|count| *count > 3),
        "{counts:?}"
    );
}
