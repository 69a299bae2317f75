//! Orders, keys, views, projections, samples and cancellation with SQLite.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use quire_files::{CopyControl, CopyPhase};
use quire_sources::definition::{SourceRowCount, SourceTableKind};
use quire_sources::{SourceDatabase, SourceError};
use rusqlite::{Connection, params};

use crate::cells::{Cell, definition, int, real, rows, rows_of, text, try_rows};
use crate::folder::{SourceTestFolder, opened, sqlite};
use crate::random::{SourceTestRandom, seed};

/// Rows with these keys in a table of this definition.
fn keyed(definition: &str, rows: &[(i64, String)]) -> (SourceTestFolder, SourceDatabase) {
    let folder = SourceTestFolder::new();
    let path = folder.file("keyed.db");
    let mut connection = Connection::open(&path).unwrap();
    connection.execute_batch(definition).unwrap();
    let transaction = connection.transaction().unwrap();
    for (a, b) in rows {
        transaction
            .execute("INSERT INTO t (a, b) VALUES (?1, ?2)", params![a, b])
            .unwrap();
    }
    transaction.commit().unwrap();
    let database = opened(&path);
    (folder, database)
}

#[test]
fn rows_come_in_the_order_of_the_key_whatever_it_is() {
    let seed = seed(12);
    let mut random = SourceTestRandom(seed);
    let mut keys: Vec<(i64, String)> = (0..20_000)
        .map(|_| {
            (
                random.below(40) as i64,
                format!(
                    "{}{}",
                    ["a", "A", "b"][random.below(3) as usize],
                    random.next()
                ),
            )
        })
        .collect();
    let cells = |keys: &[(i64, String)]| {
        keys.iter()
            .map(|(a, b)| vec![int(*a), text(b)])
            .collect::<Vec<_>>()
    };
    let definitions = [
        "CREATE TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "CREATE TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a DESC, b)) WITHOUT ROWID",
        // The column compares without case, the key with it: rows that are equal by the column are not lost at the end of a batch.
        "CREATE TABLE t (a INTEGER, b TEXT COLLATE NOCASE, PRIMARY KEY (a, b COLLATE BINARY)) WITHOUT ROWID",
        "CREATE TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID",
    ];
    let mut sorted = keys.clone();
    sorted.sort();
    for statement in definitions {
        let (_folder, database) = keyed(statement, &keys);
        assert_eq!(
            rows(&database, "t"),
            cells(&sorted),
            "{statement}, seed {seed}"
        );
    }
    // With a rowid the order is that of insertion.
    let (_folder, database) = keyed(
        "CREATE TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a, b))",
        &keys,
    );
    assert_eq!(rows(&database, "t"), cells(&keys), "seed {seed}");
    keys.sort_by_key(|key| key.1.to_ascii_lowercase());
    keys.dedup_by(|x, y| x.1.eq_ignore_ascii_case(&y.1));
    let (_folder, database) = keyed(
        "CREATE TABLE t (a INTEGER, b TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID",
        &keys,
    );
    let mut found = rows(&database, "t");
    assert_eq!(found.len(), keys.len());
    found.dedup();
    assert_eq!(found.len(), keys.len(), "seed {seed}");
}

#[test]
fn keys_of_bytes_and_numbers_are_places_too() {
    let (_folder, database) = sqlite(
        "CREATE TABLE t (k BLOB, r REAL, PRIMARY KEY (k, r)) WITHOUT ROWID;
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999) INSERT INTO t SELECT CAST(printf('%05d', i / 2) AS BLOB), i / 4.0 FROM n",
    );
    let expected = |i: i64| {
        vec![
            Cell::Bytes(format!("{:05}", i / 2).into_bytes()),
            real(i as f64 / 4.0),
        ]
    };
    assert_eq!(
        rows(&database, "t"),
        (0..20_000).map(expected).collect::<Vec<_>>()
    );
}

#[test]
fn rowids_may_be_negative_hidden_or_far_apart() {
    let (_folder, database) = sqlite(
        "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (-9223372036854775808), (9223372036854775807), (-5), (0);
         CREATE TABLE named (rowid TEXT, oid TEXT); INSERT INTO named VALUES ('b', 'x'), ('a', 'y');
         CREATE TABLE hidden (rowid TEXT, oid TEXT, _rowid_ INT); INSERT INTO hidden VALUES ('b', 'x', 2), ('a', 'y', 1)",
    );
    assert_eq!(
        rows(&database, "t"),
        [[int(i64::MIN)], [int(-5)], [int(0)], [int(i64::MAX)]]
    );
    assert_eq!(
        rows(&database, "named"),
        [[text("b"), text("x")], [text("a"), text("y")]]
    );
    assert_eq!(
        rows(&database, "hidden"),
        [
            [text("b"), text("x"), int(2)],
            [text("a"), text("y"), int(1)]
        ]
    );
    let sample = database
        .sample(&database.find("t").unwrap(), 3, 1, &Default::default())
        .unwrap();
    assert_eq!(sample.row_count, SourceRowCount::Exact(4));
    let found: Vec<_> = sample.pieces.iter().flat_map(rows_of).collect();
    assert_eq!(found, [[int(i64::MIN)], [int(-5)], [int(i64::MAX)]]);
}

#[test]
fn views_generated_columns_and_odd_names_are_read() {
    let (_folder, database) = sqlite(
        "CREATE TABLE \"odd \"\"name\"\".x\" (\"select\" INT, \"a.b\" TEXT, \"q\"\"\" AS (\"select\" * 10), \"Größe\" REAL AS (\"select\" / 2.0) STORED, \"'\" INT);
         INSERT INTO \"odd \"\"name\"\".x\" VALUES (1, 'x', 5), (2, 'y', 6);
         CREATE VIEW v AS SELECT \"a.b\" AS name, \"select\" + 0.5 AS half, 'text' AS \"order\" FROM \"odd \"\"name\"\".x\" ORDER BY name DESC;
         CREATE VIEW twice AS SELECT a.name, b.name AS other FROM v a, v b",
    );
    let odd = [
        [int(1), text("x"), int(10), real(0.5), int(5)],
        [int(2), text("y"), int(20), real(1.0), int(6)],
    ];
    assert_eq!(rows(&database, "odd \"name\".x"), odd);
    assert_eq!(
        rows(&database, "v"),
        [
            [text("y"), real(2.5), text("text")],
            [text("x"), real(1.5), text("text")]
        ]
    );
    assert_eq!(rows(&database, "twice").len(), 4);
    let view = definition(&database, "v");
    assert_eq!(view.kind, SourceTableKind::View);
    assert_eq!(view.columns[0].declared_type, "TEXT");
    // Read again, from the same copy.
    assert_eq!(rows(&database, "v").len(), 2);
}

#[test]
fn a_large_view_is_read_in_batches() {
    let (_folder, database) = sqlite(
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT i, 'n' || i AS name FROM n",
    );
    let expected: Vec<_> = (1..=30_000)
        .map(|i| vec![int(i), text(&format!("n{i}"))])
        .collect();
    assert_eq!(rows(&database, "v"), expected);
}

const TEN_THOUSAND: &str = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO t SELECT i, 'n' || i, i / 2.0 FROM n";

#[test]
fn a_projection_has_its_columns_in_its_order() {
    let (_folder, database) = sqlite(TEN_THOUSAND);
    let expected: Vec<_> = (1..=10_000)
        .map(|i| vec![real(i as f64 / 2.0), int(i), int(i)])
        .collect();
    assert_eq!(
        try_rows(&database, "t", Some(&[2, 0, 0])).unwrap(),
        expected
    );
    let none: Vec<Cell> = Vec::new();
    assert_eq!(
        try_rows(&database, "t", Some(&[])).unwrap(),
        vec![none; 10_000]
    );
    let said = try_rows(&database, "t", Some(&[1, 3]))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("has 3 columns") && said.contains("position 3"),
        "{said}"
    );
}

#[test]
fn readers_take_turns_on_any_thread() {
    let (_folder, database) = sqlite(TEN_THOUSAND);
    let table = database.find("t").unwrap();
    let control = CopyControl::default();
    let mut first = database.read(&table, Some(&[0]), &control).unwrap();
    let mut second = database.read(&table, Some(&[0]), &control).unwrap();
    let head = first.next_batch().unwrap().unwrap();
    assert_eq!(head, second.next_batch().unwrap().unwrap());
    let other =
        std::thread::spawn(move || first.map(|batch| batch.unwrap().num_rows()).sum::<usize>());
    assert_eq!(
        second.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
        10_000 - head.num_rows()
    );
    assert_eq!(other.join().unwrap(), 10_000 - head.num_rows());
}

#[test]
fn progress_is_reported_and_cancellation_ends_all() {
    let (_folder, database) = sqlite(TEN_THOUSAND);
    let table = database.find("t").unwrap();
    let counted = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&counted);
    let control = CopyControl::default().with_progress(Arc::new(move |progress| {
        if progress.phase == CopyPhase::Reading {
            seen.store(progress.row_count, Ordering::Relaxed);
        }
    }));
    assert_eq!(database.read(&table, None, &control).unwrap().count(), 2);
    assert_eq!(counted.load(Ordering::Relaxed), 10_000);
    let flag = Arc::new(AtomicBool::new(false));
    let control = CopyControl::default().with_cancel_flag(Arc::clone(&flag));
    let mut reader = database.read(&table, None, &control).unwrap();
    assert!(reader.next_batch().unwrap().is_some());
    flag.store(true, Ordering::Relaxed);
    assert!(matches!(reader.next_batch(), Err(SourceError::Cancelled)));
    assert!(matches!(reader.next_batch(), Ok(None)));
    assert!(matches!(
        database.definition(&table, &control),
        Ok(_) | Err(SourceError::Cancelled)
    ));
    // The snapshot is still there for others.
    assert_eq!(rows(&database, "t").len(), 10_000);
}

#[test]
fn a_view_without_end_can_be_cancelled() {
    let (_folder, database) = sqlite(
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n;
         CREATE TABLE t (a); INSERT INTO t VALUES (1)",
    );
    let view = database.find("v").unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    let control = CopyControl::default().with_cancel_flag(Arc::clone(&flag));
    let asked = database.clone();
    let running = std::thread::spawn(move || asked.definition(&view, &control));
    flag.store(true, Ordering::Relaxed);
    assert!(matches!(
        running.join().unwrap(),
        Err(SourceError::Cancelled)
    ));
    assert_eq!(rows(&database, "t"), [[int(1)]]);
}

#[test]
fn samples_are_consecutive_rows_from_spread_places() {
    let without_rowid = TEN_THOUSAND.replace("c REAL)", "c REAL) WITHOUT ROWID");
    let view = format!("{};  CREATE VIEW v AS SELECT * FROM t", TEN_THOUSAND);
    for (statements, table) in [
        (TEN_THOUSAND, "t"),
        (without_rowid.as_str(), "t"),
        (view.as_str(), "v"),
    ] {
        let (_folder, database) = sqlite(statements);
        let name = database.find(table).unwrap();
        let sample = database
            .sample(&name, 7, 50, &CopyControl::default())
            .unwrap();
        assert_eq!(sample.row_count, SourceRowCount::Exact(10_000));
        assert_eq!(sample.pieces.len(), 7);
        let mut last = 0;
        for (piece, batch) in sample.pieces.iter().enumerate() {
            let rows = rows_of(batch);
            assert_eq!(rows.len(), 50);
            let Cell::Int(first) = rows[0][0] else {
                panic!("no number")
            };
            for (row, i) in rows.iter().zip(first..) {
                assert_eq!(
                    row[..],
                    [int(i), text(&format!("n{i}")), real(i as f64 / 2.0)]
                );
            }
            // The places are those of the definition, up to rounding.
            assert!(
                (first - 10_000 * piece as i64 / 7).abs() <= 2,
                "{first} for piece {piece}"
            );
            assert!(first > last);
            last = first + 49;
        }
        let whole = database
            .sample(&name, 4, 2_500, &CopyControl::default())
            .unwrap();
        assert_eq!(
            whole
                .pieces
                .iter()
                .map(|piece| piece.num_rows())
                .sum::<usize>(),
            10_000
        );
        assert!(
            database
                .sample(&name, 0, 5, &CopyControl::default())
                .unwrap()
                .pieces
                .is_empty()
        );
    }
}

#[test]
fn pieces_do_not_overlap_where_rowids_are_crowded() {
    let (_folder, database) = sqlite(
        "CREATE TABLE t (a INTEGER PRIMARY KEY);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i FROM n; INSERT INTO t VALUES (1000000)",
    );
    let sample = database
        .sample(
            &database.find("t").unwrap(),
            10,
            20,
            &CopyControl::default(),
        )
        .unwrap();
    let ids: Vec<_> = sample
        .pieces
        .iter()
        .flat_map(rows_of)
        .map(|row| row[0].clone())
        .collect();
    let mut distinct = ids.clone();
    distinct.dedup();
    assert_eq!(ids, distinct);
    assert_eq!(ids[..20], (1..=20).map(int).collect::<Vec<_>>()[..]);
    assert_eq!(ids.last(), Some(&int(1_000_000)));
}
