//! How far statements have come, told by counts at their end: what was expected has been done.

use quire::{Connection, Outcome, Phase, Progress};

use crate::support::{Folder, database, rows};

const COLUMN_ROWS: u64 = 300_000;
const OTHER_ROWS: u64 = 20_000;
const ROW_ROWS: u64 = 60_000;

/// Column tables `c` and `d`, and a row table `r` with columns in the order of its key and in none.
fn connection() -> Connection {
    let mut connection = database().connect();
    for sql in [
        format!(
            "CREATE TABLE c AS SELECT value AS a, value * 7 % 1000 AS b FROM generate_series(1, {COLUMN_ROWS}) AS s(value)"
        ),
        format!(
            "CREATE TABLE d AS SELECT value AS a FROM generate_series(1, {OTHER_ROWS}) AS s(value)"
        ),
        "CREATE TABLE r (id BIGINT PRIMARY KEY, mixed BIGINT, name TEXT)".to_owned(),
        format!(
            "INSERT INTO r SELECT value, value * 7919 % {ROW_ROWS}, 'name ' || value FROM generate_series(1, {ROW_ROWS}) AS s(value)"
        ),
        "ANALYZE".to_owned(),
    ] {
        rows(&mut connection, &sql);
    }
    connection
}

/// Runs a statement to its end; what it tells then.
fn after(connection: &mut Connection, sql: &str) -> Progress {
    rows(connection, sql);
    let progress = connection.progress_handle().now();
    progress.unwrap_or_else(|| panic!("nothing is known of {sql}"))
}

#[test]
fn queries_of_column_tables_read_as_many_rows_as_expected() {
    let mut connection = connection();
    for (sql, expected) in [
        ("SELECT sum(a) FROM c", COLUMN_ROWS),
        // Zones rule most groups out: these count as read.
        ("SELECT sum(a) FROM c WHERE a > 299000", COLUMN_ROWS),
        (
            "SELECT count(*) FROM c JOIN d ON c.b = d.a WHERE d.a % 7 = 3",
            COLUMN_ROWS + OTHER_ROWS,
        ),
        ("SELECT a FROM c ORDER BY b, a LIMIT 3", COLUMN_ROWS),
        ("SELECT b, count(*) FROM c GROUP BY b LIMIT 3", COLUMN_ROWS),
        (
            "SELECT a FROM c WHERE a < (SELECT sum(a) / 20000000 FROM d)",
            COLUMN_ROWS + OTHER_ROWS,
        ),
    ] {
        let progress = after(&mut connection, sql);
        assert_eq!(progress.phase, Phase::Reading, "{sql}");
        assert_eq!(progress.rows_total, Some(expected), "{sql}");
        assert_eq!(progress.rows_done, expected, "{sql}");
        assert_eq!(progress.share(), None, "{sql}");
        assert!(
            progress.bytes_done > 0 && progress.rows_written > 0,
            "{sql}"
        );
    }
}

#[test]
fn what_zones_rule_out_is_not_among_the_bytes_read() {
    let mut connection = connection();
    let all = after(&mut connection, "SELECT sum(a) FROM c WHERE a > 0");
    let few = after(&mut connection, "SELECT sum(a) FROM c WHERE a > 299000");
    assert!(few.bytes_done < all.bytes_done, "{few:?} {all:?}");
}

#[test]
fn there_is_no_total_where_nobody_knows_one() {
    let mut connection = connection();
    for sql in [
        "SELECT a FROM c LIMIT 5",
        "SELECT a FROM c WHERE b = 3 LIMIT 5",
        "SELECT count(*) FROM d JOIN generate_series(1, 10) AS s(value) ON d.a = s.value",
        "SELECT sum(value) FROM generate_series(1, 100000) AS s(value)",
    ] {
        let progress = after(&mut connection, sql);
        assert_eq!(
            (progress.rows_total, progress.bytes_total),
            (None, None),
            "{sql}"
        );
        assert!(progress.rows_written > 0, "{sql}");
    }
}

#[test]
fn both_machines_count_the_rows_of_row_tables() {
    let mut connection = connection();
    // Compiled statements meet few rows, and count nothing.
    rows(&mut connection, "SET quire.statement_path = off");
    for machine in ["batch", "tuple"] {
        rows(&mut connection, &format!("SET engine = '{machine}'"));
        for (sql, expected) in [
            ("SELECT sum(mixed + id) FROM r", ROW_ROWS),
            ("SELECT id FROM r ORDER BY mixed LIMIT 3", ROW_ROWS),
            (
                "SELECT mixed % 5 AS g, count(*) FROM r GROUP BY 1 LIMIT 3",
                ROW_ROWS,
            ),
            ("SELECT count(*) FROM r WHERE id <= 20000", 20_000),
            (
                "SELECT count(*) FROM r AS a JOIN r AS b ON a.mixed + 0 = b.mixed + 1",
                2 * ROW_ROWS,
            ),
        ] {
            let progress = after(&mut connection, sql);
            assert_eq!(progress.phase, Phase::Reading, "{machine}: {sql}");
            assert_eq!(progress.rows_done, expected, "{machine}: {sql}");
            // It is an estimate.
            let total = progress.rows_total.unwrap_or_default() as f64;
            let ratio = total / expected as f64;
            assert!((0.8..1.25).contains(&ratio), "{machine}: {sql}: {total}");
        }
        let partial = after(
            &mut connection,
            "SELECT id, name FROM r WHERE mixed > 3 LIMIT 5",
        );
        assert_eq!(partial.rows_total, None, "{machine}");
        assert!(
            partial.rows_done > 0 && partial.rows_written == 5,
            "{machine}: {partial:?}"
        );
    }
}

#[test]
fn an_index_is_read_and_then_sorted() {
    let mut connection = connection();
    let progress = after(&mut connection, "CREATE INDEX by_mixed ON r (mixed)");
    assert_eq!(progress.phase, Phase::Committing);
    assert_eq!(progress.subject.as_deref(), Some("by_mixed"));
    // Each row has an entry, and all of them were put in order.
    assert_eq!(
        (progress.rows_done, progress.rows_total),
        (ROW_ROWS, Some(ROW_ROWS))
    );
}

#[test]
fn rows_that_are_written_again_are_counted() {
    let mut connection = connection();
    // Its entries are put in order, which is told by a phase of its own.
    rows(&mut connection, "CREATE INDEX by_mixed ON r (mixed)");
    for sql in [
        "ALTER TABLE r SET (compression = none)",
        "ALTER TABLE r ALTER COLUMN mixed TYPE TEXT",
        "ALTER TABLE c ALTER COLUMN b TYPE TEXT",
    ] {
        let progress = after(&mut connection, sql);
        let (table, rows) = if sql.contains("TABLE r") {
            ("r", ROW_ROWS)
        } else {
            ("c", COLUMN_ROWS)
        };
        assert_eq!(progress.phase, Phase::Committing, "{sql}");
        // And not the one that takes its place.
        assert_eq!(progress.subject.as_deref(), Some(table), "{sql}");
        // Of a table with an index the last phase counts what is put in order: its rows and the entries of the index.
        let counts = [rows, 2 * rows];
        assert!(counts.contains(&progress.rows_done), "{sql}: {progress:?}");
        assert_eq!(progress.rows_total, Some(progress.rows_done), "{sql}");
    }
}

#[test]
fn samples_count_the_pages_and_rows_that_are_read() {
    let mut connection = connection();
    // One that is read from end to end, and one of which some pages are.
    let small = after(&mut connection, "ANALYZE r");
    assert_eq!(
        (small.phase, small.subject.as_deref()),
        (Phase::Committing, Some("r"))
    );
    assert_eq!(small.rows_done, ROW_ROWS);
    assert!(small.bytes_total.is_some_and(|total| total > 0));
    assert_eq!(Some(small.bytes_done), small.bytes_total);
    rows(
        &mut connection,
        "INSERT INTO r SELECT value + 60000, value, 'name' FROM generate_series(1, 240000) AS s(value)",
    );
    let large = after(&mut connection, "ANALYZE r");
    assert!(
        0 < large.rows_done && large.rows_done < 300_000,
        "{large:?}"
    );
    assert!(large.bytes_done > small.bytes_done, "{large:?}");
    assert_eq!(Some(large.bytes_done), large.bytes_total);
    assert_eq!(large.rows_total, None);
}

#[test]
fn cleaning_counts_the_bytes_that_it_moves() {
    let mut connection = connection();
    rows(
        &mut connection,
        "CREATE TABLE filler AS SELECT value * 7919 % 1000003 AS a FROM generate_series(1, 2000000) AS s(value)",
    );
    rows(&mut connection, "ALTER TABLE c ALTER COLUMN b TYPE TEXT");
    rows(&mut connection, "DROP TABLE d");
    rows(&mut connection, "DROP TABLE filler");
    let progress = after(&mut connection, "VACUUM FULL r");
    assert_eq!((progress.phase, progress.subject), (Phase::Cleaning, None));
    assert!(progress.bytes_done > 0);
    let total = progress.bytes_total.unwrap_or_default();
    assert!(total >= progress.bytes_done, "{total}");
}

#[test]
fn changes_count_the_rows_they_look_at() {
    let mut connection = connection();
    for machine in ["batch", "tuple"] {
        rows(&mut connection, &format!("SET engine = '{machine}'"));
        let progress = after(
            &mut connection,
            "UPDATE r SET name = 'other' WHERE mixed % 1000 = 7",
        );
        assert_eq!(progress.rows_done, ROW_ROWS, "{machine}");
        assert!(progress.rows_total.is_some(), "{machine}");
    }
    let progress = after(&mut connection, "DELETE FROM c WHERE b = 3");
    assert_eq!(
        (progress.rows_done, progress.rows_total),
        (COLUMN_ROWS, Some(COLUMN_ROWS))
    );
}

#[test]
fn tables_of_queries_count_what_they_get() {
    let mut connection = connection();
    let sql = "CREATE TABLE made AS SELECT value AS a FROM generate_series(1, 50000) AS s(value)";
    let made = after(&mut connection, sql);
    assert_eq!((made.phase, made.rows_written), (Phase::Committing, 50_000));
    assert_eq!(
        (made.subject.as_deref(), made.rows_total),
        (Some("made"), None)
    );
    let copied = after(&mut connection, "INSERT INTO made SELECT a FROM c");
    assert_eq!(
        (copied.rows_done, copied.rows_total),
        (COLUMN_ROWS, Some(COLUMN_ROWS))
    );
    assert_eq!(copied.rows_written, COLUMN_ROWS);
}

#[test]
fn files_are_counted_by_their_bytes() {
    let folder = Folder::new();
    let path = folder.path("f.csv");
    let mut connection = connection();
    let export = after(&mut connection, &format!("COPY c TO '{path}'"));
    let bytes = std::fs::metadata(&path).unwrap().len();
    // The line of names is no row, and not counted.
    let row_bytes = bytes - "a,b\n".len() as u64;
    assert_eq!(export.phase, Phase::Exporting);
    assert_eq!(
        (export.rows_done, export.rows_total),
        (COLUMN_ROWS, Some(COLUMN_ROWS))
    );
    assert_eq!(
        (export.rows_written, export.bytes_total),
        (COLUMN_ROWS, None)
    );
    assert!(
        0 < export.bytes_written && export.bytes_written <= bytes,
        "{export:?}"
    );

    rows(&mut connection, "CREATE TABLE t (a BIGINT, b BIGINT)");
    let load = after(&mut connection, &format!("COPY t FROM '{path}'"));
    assert_eq!(
        (load.phase, load.subject.as_deref()),
        (Phase::Committing, Some("t"))
    );
    assert_eq!((load.rows_done, load.rows_total), (COLUMN_ROWS, None));
    assert_eq!(
        (load.bytes_done, load.bytes_total),
        (row_bytes, Some(bytes))
    );

    // Its types are found before, by reading it as well.
    let query = after(&mut connection, &format!("SELECT sum(b) FROM '{path}'"));
    assert_eq!(
        (query.phase, query.rows_done),
        (Phase::Reading, COLUMN_ROWS)
    );
    assert_eq!(
        (query.bytes_done, query.bytes_total),
        (row_bytes, Some(bytes))
    );
    let made = after(
        &mut connection,
        &format!("CREATE TABLE u AS SELECT * FROM '{path}'"),
    );
    assert_eq!(
        (made.bytes_done, made.bytes_total),
        (row_bytes, Some(bytes))
    );
    assert_eq!(
        (made.rows_done, made.rows_written),
        (COLUMN_ROWS, COLUMN_ROWS)
    );

    // Bytes of the file and rows of the table do not make one total.
    let mixed = after(
        &mut connection,
        &format!("SELECT count(*) FROM '{path}' AS f JOIN d ON f.a = d.a"),
    );
    assert_eq!((mixed.rows_total, mixed.bytes_total), (None, None));
}

#[test]
fn a_statement_begins_with_nothing_done() {
    let mut connection = connection();
    let handle = connection.progress_handle();
    assert!(after(&mut connection, "SELECT sum(a) FROM c").rows_done > 0);
    // A change by key is over at once, and tells nothing.
    rows(&mut connection, "UPDATE r SET name = 'x' WHERE id = 5");
    assert_eq!(handle.now(), None);
    let Ok(Outcome::Rows(_)) = connection.execute("SELECT a FROM d") else {
        panic!("a query has rows");
    };
    assert_eq!(handle.now().unwrap().rows_total, Some(OTHER_ROWS));
    let fresh = database().connect();
    assert_eq!(fresh.progress_handle().now(), None);
}
