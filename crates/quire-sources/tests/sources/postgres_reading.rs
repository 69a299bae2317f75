//! One moment, early ends, cancellation and samples with PostgreSQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quire_files::CopyControl;
use quire_sources::definition::SourceRowCount;
use quire_sources::{SourceDatabase, SourceError};

use crate::cells::{Cell, int, rows, rows_of, text, try_rows};
use crate::postgres_server::server;

const TABLE: &str = "CREATE TABLE t (a int4 PRIMARY KEY, b text); INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 50000) i";

#[test]
fn all_reads_see_the_moment_of_opening() {
    let Some(server) = server() else { return };
    let (mut client, address) = server.database(&format!("{TABLE}; CREATE TABLE u (a int4)"));
    let database = SourceDatabase::open(&address).unwrap();
    client
        .batch_execute(
            "DELETE FROM t WHERE a > 5; INSERT INTO u VALUES (1); UPDATE t SET b = 'new'",
        )
        .unwrap();
    let expected: Vec<_> = (1..=50_000)
        .map(|i| vec![int(i), text(&format!("n{i}"))])
        .collect();
    assert_eq!(rows(&database, "t"), expected);
    assert_eq!(rows(&database, "u").len(), 0);
    let count = database
        .sample(&database.find("u").unwrap(), 2, 2, &CopyControl::default())
        .unwrap();
    assert_eq!(
        (count.row_count, count.pieces.len()),
        (SourceRowCount::Exact(0), 0)
    );
    let now = SourceDatabase::open(&address).unwrap();
    assert_eq!(rows(&now, "u"), [[int(1)]]);
    assert_eq!(rows(&now, "t").len(), 5);
}

#[test]
fn a_projection_has_its_columns_in_its_order() {
    let Some(server) = server() else { return };
    let database = server.source("CREATE TABLE t (a int4, b text, c float8); INSERT INTO t VALUES (1, 'x', 0.5), (2, 'y', 1.5)");
    assert_eq!(
        try_rows(&database, "t", Some(&[1, 0, 1])).unwrap(),
        [
            [text("x"), int(1), text("x")],
            [text("y"), int(2), text("y")]
        ]
    );
    assert_eq!(
        try_rows(&database, "t", Some(&[])).unwrap(),
        vec![Vec::<Cell>::new(); 2]
    );
    assert!(matches!(
        try_rows(&database, "t", Some(&[3])),
        Err(SourceError::NoColumn {
            index: 3,
            column_count: 3,
            ..
        })
    ));
}

#[test]
fn two_readers_take_turns() {
    let Some(server) = server() else { return };
    let database = server.source(TABLE);
    let table = database.find("t").unwrap();
    let control = CopyControl::default();
    let first = database.read(&table, None, &control).unwrap();
    let second = database.read(&table, None, &control).unwrap();
    let mut row_count = 0;
    for (a, b) in first.zip(second) {
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!(a, b);
        row_count += a.num_rows();
    }
    assert_eq!(row_count, 50_000);
}

#[test]
fn a_reader_that_is_dropped_or_cancelled_ends_its_query() {
    let Some(server) = server() else { return };
    let (mut client, address) = server.database(
        "CREATE VIEW endless AS SELECT generate_series(1, 9000000000000000000) AS i; CREATE VIEW slow AS SELECT count(*) AS c FROM endless",
    );
    let database = SourceDatabase::open(&address).unwrap();
    let mut reader = database
        .read(
            &database.find("endless").unwrap(),
            None,
            &CopyControl::default(),
        )
        .unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 8_192);
    drop(reader);
    let flag = Arc::new(AtomicBool::new(false));
    let control = CopyControl::default().with_cancel_flag(Arc::clone(&flag));
    let mut slow = database
        .read(&database.find("slow").unwrap(), None, &control)
        .unwrap();
    let waiting = std::thread::spawn(move || slow.next_batch());
    flag.store(true, Ordering::Relaxed);
    assert!(matches!(
        waiting.join().unwrap(),
        Err(SourceError::Cancelled)
    ));
    flag.store(false, Ordering::Relaxed);
    let (asked, table) = (database.clone(), database.find("slow").unwrap());
    let sampling = std::thread::spawn(move || asked.sample(&table, 2, 2, &control));
    flag.store(true, Ordering::Relaxed);
    assert!(matches!(
        sampling.join().unwrap(),
        Err(SourceError::Cancelled)
    ));
    // Only the connection that keeps the snapshot is left; the server needs a moment to see that others went.
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while client.query_one(others, &[]).unwrap().get::<_, i64>(0) > 1 {
        std::thread::yield_now();
    }
    drop(database);
    while client.query_one(others, &[]).unwrap().get::<_, i64>(0) > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn an_error_of_the_server_in_the_middle_is_an_error_here() {
    let Some(server) = server() else { return };
    let database = server.source(
        "CREATE VIEW v AS SELECT i, 10 / (20000 - i) AS x FROM generate_series(1, 30000) i",
    );
    let error = try_rows(&database, "v", None).unwrap_err();
    assert!(
        matches!(&error, SourceError::Postgres { .. })
            && error
                .to_string()
                .contains("division by zero (SQLSTATE 22012)"),
        "{error}"
    );
}

#[test]
fn a_thread_that_runs_tasks_may_read_too() {
    let Some(server) = server() else { return };
    let (_client, address) = server.database(TABLE);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let row_count = runtime.block_on(async {
        let database = SourceDatabase::open(&address).unwrap();
        let mut reader = database
            .read(&database.find("t").unwrap(), None, &CopyControl::default())
            .unwrap();
        reader.next_batch().unwrap();
        drop(reader);
        rows(&database, "t").len()
    });
    assert_eq!(row_count, 50_000);
}

#[test]
fn samples_are_consecutive_rows_from_spread_places() {
    let Some(server) = server() else { return };
    let statements = format!(
        "{TABLE}; CREATE VIEW v AS SELECT * FROM t ORDER BY a; CREATE TABLE p (a int4, b text) PARTITION BY RANGE (a);
         CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (20001); CREATE TABLE p2 (b text, a int4); ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (20001) TO (60000);
         INSERT INTO p SELECT * FROM t; CREATE TABLE few (a int4, b text); INSERT INTO few VALUES (1, 'n1'), (2, 'n2')"
    );
    let database = server.source(&statements);
    for table in ["t", "v", "p"] {
        let sample = database
            .sample(
                &database.find(table).unwrap(),
                8,
                40,
                &CopyControl::default(),
            )
            .unwrap();
        assert_eq!(sample.row_count, SourceRowCount::Exact(50_000), "{table}");
        assert_eq!(sample.pieces.len(), 8, "{table}");
        let mut last = 0;
        for (piece, batch) in sample.pieces.iter().enumerate() {
            assert_eq!(batch.schema(), sample.schema);
            let rows = rows_of(batch);
            assert_eq!(rows.len(), 40);
            let Cell::Int(first) = rows[0][0] else {
                panic!("no number")
            };
            for (row, i) in rows.iter().zip(first..) {
                assert_eq!(row[..], [int(i), text(&format!("n{i}"))], "{table}");
            }
            // A page has less than 230 such rows.
            assert!(
                (first - 50_000 * piece as i64 / 8).abs() < 500,
                "{first} for piece {piece} of {table}"
            );
            assert!(first > last);
            last = first + 39;
        }
    }
    let few = database
        .sample(
            &database.find("few").unwrap(),
            8,
            40,
            &CopyControl::default(),
        )
        .unwrap();
    let found: Vec<_> = few.pieces.iter().flat_map(rows_of).collect();
    assert_eq!(found, [[int(1), text("n1")], [int(2), text("n2")]]);
}

#[test]
fn large_values_come_in_small_batches() {
    let Some(server) = server() else { return };
    let database = server.source("CREATE TABLE t (i int4, x bytea); INSERT INTO t SELECT i, convert_to(repeat(chr(64 + i), 7000000 + i), 'UTF8') FROM generate_series(1, 8) i");
    let mut next = 1;
    for batch in database
        .read(&database.find("t").unwrap(), None, &CopyControl::default())
        .unwrap()
    {
        let batch = batch.unwrap();
        assert!(batch.num_rows() <= 3, "16 MiB are reached by the third row");
        for row in rows_of(&batch) {
            assert_eq!(
                row,
                [
                    int(next),
                    Cell::Bytes(vec![64 + next as u8; 7_000_000 + next as usize])
                ]
            );
            next += 1;
        }
    }
    assert_eq!(next, 9);
}
