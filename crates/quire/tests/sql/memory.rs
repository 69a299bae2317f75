//! Statements that need more memory than there is: those that can spill answer, the others fail with 53200. Expected values are counted by
//! hand: `few` has the ids from 1 to 30,000, `many` those from 15,001 to 45,000.

use quire::{Connection, Database, DatabaseOptions};

use crate::support::{explained, rows, sorted_rows, try_rows};

const LITTLE_BYTES: usize = 40 << 20;

/// Two tables of some 8 MB each, beside 40 MiB of memory.
fn tables() -> Connection {
    let options = DatabaseOptions {
        memory_bytes: LITTLE_BYTES,
        cache_bytes: 32 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    for (table, first, last) in [("few", 1, 30_000), ("many", 15_001, 45_000)] {
        let sql = format!(
            "CREATE TABLE {table} AS SELECT i AS id, i % 7 AS k, repeat('text ', 50) || i AS body FROM generate_series({first}, {last}) AS g(i)"
        );
        rows(&mut connection, &sql);
    }
    connection
}

/// What is selected of both sides, so that both must be kept.
const SUMS: &str = "count(*), count(f.id), count(m.id), max(f.body), max(m.body)";

fn text(number: u32) -> String {
    format!("{}{number}", "text ".repeat(50))
}

#[test]
fn joins_of_all_kinds_spill() {
    let mut connection = tables();
    // By what is known of the tables, and where it is not known that both are large: `id % 1 = 0` is expected to leave a few rows.
    for (few, many) in [
        ("few", "many"),
        (
            "(SELECT * FROM few WHERE id % 1 = 0 AND k % 1 = 0) AS",
            "(SELECT * FROM many WHERE id % 1 = 0 AND k % 1 = 0) AS",
        ),
    ] {
        for (kind, counts) in [
            ("JOIN", [15_000, 15_000, 15_000]),
            ("LEFT JOIN", [30_000, 30_000, 15_000]),
            ("RIGHT JOIN", [30_000, 15_000, 30_000]),
            ("FULL JOIN", [45_000, 30_000, 30_000]),
        ] {
            let sql = format!("SELECT {SUMS} FROM {few} f {kind} {many} m ON f.id = m.id");
            let mut expected = counts.map(|count| count.to_string()).to_vec();
            expected.extend([max_of(kind, true), max_of(kind, false)]);
            assert_eq!(rows(&mut connection, &sql), [expected], "{sql}");
        }
        for (condition, count) in [
            ("EXISTS (SELECT 1", "15000"),
            ("NOT EXISTS (SELECT 1", "15000"),
        ] {
            let sql = format!(
                "SELECT count(*) FROM {few} f WHERE {condition} FROM {many} m WHERE f.id = m.id AND f.body = m.body)"
            );
            assert_eq!(rows(&mut connection, &sql), [[count]], "{sql}");
        }
    }
}

/// The greatest text of one side: of `few` that of 9,999 or, if only common ids count, that of 30,000.
fn max_of(kind: &str, is_few: bool) -> String {
    match (kind, is_few) {
        ("LEFT JOIN" | "FULL JOIN", true) => text(9_999),
        ("RIGHT JOIN" | "FULL JOIN", false) => text(45_000),
        _ => text(30_000),
    }
}

#[test]
fn not_in_knows_null_however_little_memory_there_is() {
    let mut connection = tables();
    for (condition, expected) in [
        ("f.body NOT IN (SELECT m.body FROM many AS m)", "15000"),
        (
            "f.body NOT IN (SELECT nullif(m.body, m.body) FROM many AS m)",
            "0",
        ),
    ] {
        let sql = format!("SELECT count(*) FROM few AS f WHERE {condition}");
        match try_rows(&mut connection, &sql) {
            Ok(found) => assert_eq!(found, [[expected]], "{sql}"),
            Err(error) => assert_eq!(error.sqlstate(), "53200", "{sql}: {error}"),
        }
    }
}

#[test]
fn sorts_groups_and_large_offsets_spill() {
    let mut connection = tables();
    for (sql, expected) in [
        (
            "SELECT id FROM many ORDER BY body DESC, id LIMIT 2 OFFSET 29998",
            vec!["15002", "15001"],
        ),
        (
            "SELECT count(*) FROM (SELECT body FROM few UNION SELECT body FROM many) AS u",
            vec!["45000"],
        ),
        ("SELECT count(DISTINCT body) FROM few", vec!["30000"]),
        (
            "SELECT count(*) FROM (SELECT body, max(id) FROM many GROUP BY body) AS g",
            vec!["30000"],
        ),
        // The text goes through the window.
        (
            "SELECT max(n) || '/' || count(DISTINCT body) FROM (SELECT body, row_number() OVER (ORDER BY body, id) AS n FROM few) AS w",
            vec!["30000/30000"],
        ),
        (
            "SELECT max(n) FROM (SELECT body, rank() OVER (PARTITION BY k ORDER BY body) AS n FROM few WHERE body > '') AS w WHERE body > 'a'",
            vec!["4286"],
        ),
        (
            "SELECT count(*) FROM (SELECT body, lag(body) OVER (ORDER BY id) AS before FROM few WHERE id < 3000) AS w WHERE body <> before",
            vec!["2998"],
        ),
        (
            "SELECT max(n) FROM (SELECT body, count(*) FILTER (WHERE body LIKE '%9') OVER (ORDER BY body) AS n FROM few WHERE id < 3000) AS w",
            vec!["300"],
        ),
    ] {
        let found: Vec<_> = rows(&mut connection, sql).concat();
        assert_eq!(found, expected, "{sql}");
    }
}

#[test]
fn what_cannot_spill_fails_cleanly_and_leaves_the_memory_to_others() {
    let mut connection = tables();
    for sql in [
        "SELECT length(string_agg(body, ',')) FROM few",
        "SELECT length(string_agg(body, ',' ORDER BY id)) FROM few",
        "SELECT cardinality(array_agg(body)) FROM few",
        "SELECT count(*), max(s) FROM (SELECT body, sum(id) OVER () AS s FROM few) AS w WHERE body > ''",
        "SELECT count(*) FROM few AS f JOIN many AS m ON f.body < m.body AND f.id > 29990 AND m.id > f.id",
    ] {
        match try_rows(&mut connection, sql) {
            Ok(found) => assert_eq!(found.len(), 1, "{sql}"),
            Err(error) => assert_eq!(error.sqlstate(), "53200", "{sql}: {error}"),
        }
    }
    let sql = "SELECT count(DISTINCT body) FROM few";
    assert_eq!(rows(&mut connection, sql), [["30000"]]);
}

#[test]
fn totals_in_slots_and_recorded_keys_give_way_where_memory_is_little() {
    let mut connection = tables();
    // Slots for forty totals of a window of keys would be larger than the memory.
    let sums: Vec<String> = (0..40).map(|n| format!("sum(id + {n}) AS s{n}")).collect();
    let sql = format!(
        "SELECT count(*), sum(s0), sum(s39), max(s7) FROM (SELECT id, {} FROM few GROUP BY id) AS g",
        sums.join(", ")
    );
    // 30,000 × 30,001 / 2, and 39 more for each.
    let expected = [["30000", "450015000", "451185000", "30007"]];
    assert_eq!(rows(&mut connection, &sql), expected);
    // The bits of keys that lie far apart: 2 MiB for 2^24 possible keys.
    rows(
        &mut connection,
        "CREATE TABLE apart AS SELECT id * 500 AS key FROM few",
    );
    let sql = "SELECT count(*), max(key) FROM apart WHERE key IN (SELECT id * 500 FROM many WHERE id % 100 = 0)";
    assert_eq!(rows(&mut connection, sql), [["150", "15000000"]]);
}

#[test]
fn groups_of_many_sets_spill() {
    let mut connection = tables();
    // Each of the 30,000 rows is a group of its own in four of the eight sets, and one of 7 or of all in the others.
    let sql = "SELECT count(*), sum(n), max(b) FROM (SELECT id, k, body, count(*) AS n, max(body) AS b FROM few GROUP BY CUBE (id, k, body)) AS c";
    let found = rows(&mut connection, sql);
    // Of the sets with id or body, six, each has 30,000 groups; then 7 and 1.
    assert_eq!(found, [["180008", "240000", text(9_999).as_str()]]);
    let sql = "SELECT count(*), sum(n), sum(s) FROM (SELECT id, k, body, count(*) AS n, sum(id) AS s FROM few GROUP BY CUBE (id, k, body)) AS c";
    assert_eq!(
        rows(&mut connection, sql),
        [["180008", "240000", "3600120000"]]
    );
}

#[test]
fn joins_within_subplans_that_are_computed_once_spill() {
    let mut connection = tables();
    // It is expected that few rows are left of each side.
    let joined = "SELECT f.k, count(*) AS n, max(f.body) AS b, max(m.body) AS c FROM (SELECT * FROM few WHERE id % 1 = 0 AND k % 1 = 0) AS f JOIN (SELECT * FROM many WHERE id % 1 = 0 AND k % 1 = 0) AS m ON f.id = m.id GROUP BY f.k";
    let sql = format!(
        "SELECT sum(n) FROM (SELECT n FROM ({joined}) AS a UNION ALL SELECT n + 1 FROM ({joined}) AS b) AS u"
    );
    assert_eq!(rows(&mut connection, &sql), [["30007"]]);
}

/// Two tables of some 13 MB each. Of `a` a quarter of the rows have one key, of which `b` has three; some keys of both are NULL.
fn skewed_tables(memory_bytes: usize) -> Connection {
    let options = DatabaseOptions {
        memory_bytes,
        cache_bytes: 32 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    for sql in [
        "CREATE TABLE a AS SELECT i AS id, CASE WHEN i % 4 = 0 THEN 7 WHEN i % 400 = 1 THEN NULL ELSE i END AS k, \
         'key ' || i % 30011 AS t, repeat('text ', 60) || i AS body FROM generate_series(1, 40000) AS g(i)",
        "CREATE TABLE b AS SELECT i AS id, CASE WHEN i % 15000 = 0 THEN 7 WHEN i % 400 = 2 THEN NULL ELSE i - 10000 END AS k, \
         'key ' || i % 30011 AS t, repeat('text ', 60) || i AS body FROM generate_series(10001, 50000) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    connection
}

#[test]
fn joins_by_parts_answer_as_those_in_memory() {
    let [mut little, mut plenty] = [32 << 20, 1 << 30].map(skewed_tables);
    let sums = "count(*), count(a.id), count(b.id), sum(a.id), sum(b.id), max(a.body), min(b.body)";
    let mut queries = Vec::new();
    for kind in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        for on in [
            "a.k = b.k",
            "a.t = b.t",
            "a.k = b.k AND a.t = b.t",
            "a.k = b.k AND a.body < b.body",
            "a.k IS NOT DISTINCT FROM b.k",
        ] {
            queries.push(format!("SELECT {sums} FROM a {kind} b ON {on}"));
        }
    }
    for condition in [
        "EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND a.body <> b.body)",
        "NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND a.body <> b.body)",
        "t IN (SELECT t FROM b WHERE body <> '')",
        "k < 100 OR EXISTS (SELECT 1 FROM b WHERE a.t = b.t AND a.body <> b.body)",
    ] {
        queries.push(format!(
            "SELECT count(*), sum(id), max(body) FROM a WHERE {condition}"
        ));
    }
    for sql in &queries {
        let expected = rows(&mut plenty, sql);
        assert_eq!(rows(&mut little, sql), expected, "{sql}");
    }
    let explained = explained(&mut little, "ANALYZE", &queries[1]);
    assert!(explained.contains("hybrid hash join"), "{explained}");
    assert!(explained.contains("spilled bytes"), "{explained}");
}

/// The rows of a join by parts leave it while it runs, those of its largest key last, merged.
#[test]
fn a_skewed_join_by_parts_gives_its_rows_as_one_in_memory() {
    let [mut little, mut plenty] = [32 << 20, 1 << 30].map(skewed_tables);
    let sql = "SELECT a.id, b.id, a.body, length(b.body) FROM b JOIN a ON a.k = b.k AND a.id <> -1";
    let expected = sorted_rows(&mut plenty, sql);
    assert!(expected.len() > 30_000);
    assert!(sorted_rows(&mut little, sql) == expected);
}
