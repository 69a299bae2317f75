//! Hash joins by an index of ranks or of packed keys, beside those of DataFusion's operator and beside nested loops.

use quire::Database;

use crate::support::{Random, connected, database, explained, rows, sorted_rows};

/// Two tables whose keys have many types, with duplicates, NULLs and keys that only one side has.
fn sides() -> Database {
    let database = database();
    let mut connection = database.connect();
    for (table, row_count, step) in [("l", 900, 7), ("r", 700, 11)] {
        rows(
            &mut connection,
            &format!(
                "CREATE TABLE {table} AS SELECT i, i * {step} % 401 AS dense, \
                   CAST(CASE WHEN i % 13 = 0 THEN NULL ELSE i % 90 END AS SMALLINT) AS small, \
                   CAST(i * {step} % 500 * 4000000 AS INTEGER) AS sparse, \
                   CASE WHEN i % 11 = 0 THEN NULL ELSE (i * {step} % 400 - 200) * 46116860184273 END AS large, \
                   DATE '2020-01-01' + CAST(i * {step} % 300 AS INTEGER) AS day, \
                   CAST(i % 200 * 1.25 AS DECIMAL(10,2)) AS amount, \
                   i % 3 = 0 AS flag, \
                   CASE WHEN i % 17 = 0 THEN NULL ELSE 'k' || i * {step} % 350 END AS short, \
                   repeat('b', i % 3 * 10) || i * {step} % 350 AS long \
                 FROM generate_series(1, {row_count}) AS g(i)"
            ),
        );
    }
    database
}

const KEYS: [&str; 10] = [
    "dense", "small", "sparse", "large", "day", "amount", "flag", "short", "long", "i",
];

/// A join of each kind over random keys, and the same where only nested loops can find the pairs.
fn query(random: &mut Random) -> [String; 2] {
    let mut keys: Vec<&str> = (0..1 + random.below(3))
        .map(|_| random.pick(&KEYS))
        .collect();
    // Pairs of few keys alone would be hundreds of thousands.
    if keys.iter().all(|key| ["flag", "small"].contains(key)) {
        keys.push("i");
    }
    let residual = random.pick(&[
        "",
        "",
        " AND l.i < r.i",
        " AND l.i % 5 <> r.i % 5",
        " AND l.i > 2000",
    ]);
    let filter = random.pick(&["TRUE", "TRUE", "l.i % 3 = 1", "l.i < 0"]);
    let (kind, nulls_equal) = (random.below(10), random.below(4) == 0);
    let joined = |equals: fn(&str, &str) -> String| {
        let operator = if nulls_equal {
            "IS NOT DISTINCT FROM"
        } else {
            "="
        };
        let on: Vec<String> = keys.iter().map(|key| equals(key, operator)).collect();
        let on = format!("{}{residual}", on.join(" AND "));
        match kind {
            0 => format!(
                "SELECT l.i, l.long FROM l WHERE {filter} AND EXISTS (SELECT 1 FROM r WHERE {on})"
            ),
            1 => format!(
                "SELECT l.i, l.short FROM l WHERE {filter} AND NOT EXISTS (SELECT 1 FROM r WHERE {on})"
            ),
            2 => format!(
                "SELECT l.i, r.i, l.long, r.short FROM l LEFT JOIN r ON {on} WHERE {filter}"
            ),
            3 => format!("SELECT l.i, r.i, l.long, r.short FROM l RIGHT JOIN r ON {on}"),
            4 => format!("SELECT l.i, r.i FROM l FULL JOIN r ON {on}"),
            5 => format!(
                "SELECT count(*), sum(l.i), min(r.long) FROM l JOIN r ON {on} WHERE {filter}"
            ),
            6 => format!(
                "SELECT l.i, l.day FROM l WHERE {filter} AND (l.i % 7 = 0 OR EXISTS (SELECT 1 FROM r WHERE {on}))"
            ),
            7 => format!(
                "SELECT l.i, NOT EXISTS (SELECT 1 FROM r WHERE {on}) AS is_alone FROM l WHERE {filter}"
            ),
            _ => format!("SELECT l.i, r.i, l.long, r.day FROM l JOIN r ON {on} WHERE {filter}"),
        }
    };
    [
        joined(|key, operator| format!("l.{key} {operator} r.{key}")),
        joined(|key, operator| format!("(l.{key} {operator} r.{key}) IS TRUE")),
    ]
}

#[test]
fn joins_do_not_depend_on_the_index_of_their_keys() {
    let database = sides();
    let mut others = connected(&database, &["SET quire.vector_joins = off"]);
    let mut vectors = [
        connected(&database, &[]),
        connected(
            &database,
            &["SET batch_rows = 16", "SET quire.build_sides = off"],
        ),
        connected(
            &database,
            &[
                "SET threads = 3",
                "SET quire.recorded_keys = off",
                "SET quire.filter_pushdown = off",
            ],
        ),
    ];
    let mut random = Random(11);
    for case in 0..100 {
        let [sql, nested] = query(&mut random);
        let expected = sorted_rows(&mut others, &nested);
        assert!(
            sorted_rows(&mut others, &sql) == expected,
            "case {case}: {sql}"
        );
        for connection in &mut vectors {
            assert!(
                sorted_rows(connection, &sql) == expected,
                "case {case}: {sql}"
            );
        }
        // Nested loops over the index of a key that all rows share.
        assert!(
            sorted_rows(&mut vectors[case % 3], &nested) == expected,
            "case {case}: {nested}"
        );
    }
}

#[test]
fn joins_of_most_kinds_and_keys_have_an_index() {
    let database = sides();
    let mut connection = database.connect();
    let mut indexed = |sql: &str| {
        let plan = explained(&mut connection, "", sql);
        plan.matches("vector hash join").count()
    };
    for key in KEYS {
        assert_eq!(
            indexed(&format!(
                "SELECT l.i, r.i FROM l JOIN r ON l.{key} = r.{key}"
            )),
            1,
            "{key}"
        );
    }
    for kind in ["LEFT", "RIGHT"] {
        assert_eq!(
            indexed(&format!(
                "SELECT l.i, r.i FROM l {kind} JOIN r ON l.long = r.long AND l.day = r.day"
            )),
            1
        );
    }
    assert_eq!(
        indexed("SELECT i FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.i = l.i)"),
        1
    );
    for sql in [
        "SELECT l.i, r.i FROM l FULL JOIN r ON l.i = r.i",
        "SELECT i FROM l WHERE i < 5 OR EXISTS (SELECT 1 FROM r WHERE r.i = l.i)",
        "SELECT l.i, r.i FROM l JOIN r ON l.small IS NOT DISTINCT FROM r.small",
        "SELECT l.i, r.i FROM l JOIN r ON l.i + r.i = 40 AND l.i < r.i",
        "SELECT l.i, r.i FROM l CROSS JOIN r",
        "SELECT l.i, r.i FROM l LEFT JOIN r ON l.i < r.i",
        "SELECT i FROM l WHERE small NOT IN (SELECT small FROM r)",
        "SELECT l.i, r.i FROM l JOIN r ON ARRAY[l.i, 1] = ARRAY[r.i, 1]",
    ] {
        assert_eq!(indexed(sql), 1, "{sql}");
    }
}

/// A key that most rows of both sides have: its pairs are more than a batch, from one row of the probe side.
#[test]
fn the_pairs_of_one_row_are_more_than_a_batch() {
    let mut connection = database().connect();
    rows(
        &mut connection,
        "CREATE TABLE few AS SELECT i, 1 AS k FROM generate_series(1, 3) AS g(i)",
    );
    rows(
        &mut connection,
        "CREATE TABLE many AS SELECT i, CASE WHEN i % 4 = 0 THEN i ELSE 1 END AS k FROM generate_series(1, 40000) AS g(i)",
    );
    rows(&mut connection, "SET batch_rows = 100");
    let mut value = |sql: &str| rows(&mut connection, sql).concat();
    // The three rows with i = 1, 2, 3 each beside the 30,000 rows that are not divisible by 4.
    let sum: i64 = (1..=40_000).filter(|i| i % 4 != 0).sum();
    let expected = ["90000".to_owned(), (3 * sum).to_string()];
    for kind in ["", "LEFT", "RIGHT"] {
        let joined = format!(
            "SELECT count(few.i), sum(many.i) FILTER (WHERE few.i IS NOT NULL) FROM many {kind} JOIN few ON many.k = few.k"
        );
        assert_eq!(value(&joined), expected, "{kind}");
        let joined = format!(
            "SELECT count(few.i), sum(many.i) FILTER (WHERE few.i IS NOT NULL) FROM few {kind} JOIN many ON many.k = few.k"
        );
        assert_eq!(value(&joined), expected, "{kind}");
    }
    assert_eq!(
        value("SELECT count(*) FROM many RIGHT JOIN few ON many.k = few.k AND many.i < 0"),
        ["3"]
    );
    assert_eq!(
        value(
            "SELECT count(*) FROM few WHERE NOT EXISTS (SELECT 1 FROM many WHERE many.k = few.k AND many.i = few.i + 39995)"
        ),
        ["1"]
    );
}

/// `NOT IN` is NULL, and no row comes, if the other side has a NULL, wherever that is: it must not be lost among rows that a filter of keys drops.
#[test]
fn a_null_is_not_lost_on_the_other_side_of_not_in() {
    let database = database();
    rows(
        &mut database.connect(),
        "CREATE TABLE few AS SELECT CAST(i AS INTEGER) AS k, CASE WHEN i % 10 = 0 THEN NULL ELSE i END AS n FROM generate_series(1, 1000) AS g(i)",
    );
    rows(
        &mut database.connect(),
        "CREATE TABLE known (k INTEGER NOT NULL)",
    );
    rows(
        &mut database.connect(),
        "INSERT INTO known SELECT k FROM few",
    );
    rows(
        &mut database.connect(),
        "CREATE TABLE many AS SELECT CASE WHEN i = 500000 THEN NULL ELSE i END AS a FROM generate_series(900, 600000) AS g(i)",
    );
    for setting in [
        "SET threads = 2",
        "SET threads = 1",
        "SET quire.vector_joins = off",
        "SET quire.recorded_keys = off",
    ] {
        let mut connection = connected(&database, &[setting]);
        for (sql, expected) in [
            (
                "SELECT count(*) FROM known WHERE k NOT IN (SELECT a FROM many)",
                0,
            ),
            (
                "SELECT count(*) FROM known WHERE k NOT IN (SELECT a FROM many WHERE a < 5000)",
                899,
            ),
            (
                "SELECT count(*) FROM known WHERE k NOT IN (SELECT a FROM many WHERE a < 0)",
                1000,
            ),
            (
                "SELECT count(*) FROM known WHERE k NOT IN (SELECT a FROM many WHERE a IS NULL)",
                0,
            ),
            // 810 of 899 and nothing of the NULLs; all of them without rows on the other side.
            (
                "SELECT count(*) FROM few WHERE n NOT IN (SELECT a FROM many WHERE a < 5000)",
                810,
            ),
            (
                "SELECT count(*) FROM few WHERE n NOT IN (SELECT a FROM many WHERE a < 0)",
                1000,
            ),
            (
                "SELECT count(*) FROM few WHERE n NOT IN (SELECT a FROM many)",
                0,
            ),
            (
                "SELECT count(*) FROM few WHERE n NOT IN (SELECT n + 1 FROM few)",
                0,
            ),
        ] {
            assert_eq!(
                rows(&mut connection, sql),
                [[expected.to_string()]],
                "{setting}: {sql}"
            );
        }
    }
}

/// A build side of unknown size is divided, and each part has an index of its own.
#[test]
fn divided_build_sides_give_what_whole_ones_give() {
    let database = database();
    let mut connection = database.connect();
    // How many rows a function gives is not known before.
    let side = |name: &str| {
        format!(
            "(SELECT i, i % 1000 AS k, CASE WHEN i % 3 = 0 THEN NULL ELSE i % 700 END AS n FROM generate_series(1, 20000) AS g(i)) AS {name}"
        )
    };
    let mut others = connected(&database, &["SET quire.vector_joins = off"]);
    for kind in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        for key in [
            "a.k = b.n",
            "a.n = b.k AND a.i > 3",
            "a.n = b.k AND a.i <> b.i",
            "a.n IS NOT DISTINCT FROM b.n AND a.i = b.i",
        ] {
            let from = format!("FROM {} {kind} {} ON {key}", side("a"), side("b"));
            let sql = format!("SELECT count(*), sum(a.i), sum(b.i), count(a.n), count(b.n) {from}");
            assert_eq!(
                rows(&mut connection, &sql),
                rows(&mut others, &sql),
                "{sql}"
            );
        }
    }
    let sql = format!(
        "SELECT count(*) FROM {} JOIN {} ON a.k = b.n",
        side("a"),
        side("b")
    );
    let plan = explained(&mut connection, "", &sql);
    assert!(plan.contains("vector hash join mode=Partitioned"), "{plan}");
    let n = (1..=20000_i64).filter(|i| i % 3 != 0).map(|i| i % 700);
    let k_count = |n: i64| (1..=20000_i64).filter(|i| i % 1000 == n).count();
    let expected: usize = n.map(k_count).sum();
    assert_eq!(rows(&mut connection, &sql), [[expected.to_string()]]);
}

/// Rows of days, and a table that is larger than those of few days. How many there are of a week is not known before they are read.
fn days() -> Database {
    let database = database();
    let mut connection = database.connect();
    for sql in [
        "CREATE TABLE large AS SELECT i AS id, CASE WHEN i % 11 = 0 THEN NULL ELSE i * 7919 % 30000 END AS k, 'text ' || i % 25000 AS t, i % 7 AS r \
         FROM generate_series(1, 30000) AS g(i)",
        "CREATE TABLE facts AS SELECT i AS id, CASE WHEN i % 13 = 0 THEN NULL ELSE i * 104729 % 32000 END AS k, 'text ' || i % 26000 AS t, i % 400 AS day, \
           i % 5 AS r FROM generate_series(1, 200000) AS g(i)",
        "CREATE TABLE days AS SELECT i AS day, i % 100 AS week FROM generate_series(0, 399) AS g(i)",
    ] {
        rows(&mut connection, sql);
    }
    database
}

/// Joins of the rows of some weeks with the table, by some keys: outer, inner, anti, mark and full ones.
fn joins_of(weeks: &str, on: &str) -> [String; 5] {
    let facts = format!(
        "(SELECT f.* FROM facts AS f JOIN days AS d ON f.day = d.day WHERE abs(d.week) - 99 {weeks}) AS f"
    );
    let known = format!("EXISTS (SELECT 1 FROM large AS l WHERE {on})");
    [
        format!("SELECT f.*, l.id FROM {facts} LEFT JOIN large AS l ON {on}"),
        format!("SELECT f.*, l.id FROM {facts} JOIN large AS l ON {on}"),
        format!("SELECT f.* FROM {facts} WHERE NOT {known}"),
        format!("SELECT f.* FROM {facts} WHERE f.r = 1 OR {known}"),
        format!("SELECT count(*), count(l.id), min(l.t) FROM {facts} FULL JOIN large AS l ON {on}"),
    ]
}

#[test]
fn joins_do_not_depend_on_which_side_is_read_first() {
    let database = days();
    let mut others = connected(&database, &["SET quire.vector_joins = off"]);
    let as_written = "SET quire.build_sides = off";
    let mut vectors = [
        connected(&database, &[as_written]),
        connected(&database, &[as_written, "SET threads = 1"]),
        connected(
            &database,
            &[as_written, "SET threads = 3", "SET batch_rows = 100"],
        ),
        connected(&database, &[as_written, "SET quire.transferred_keys = off"]),
    ];
    let mut transferred = 0;
    // No rows, few, some, and more than are read early.
    for weeks in ["< -200", "< -96", "< -60", "< 100"] {
        for on in [
            "l.k = f.k",
            "l.t = f.t",
            "l.k = f.k AND l.t = f.t",
            "l.k = f.k AND l.r < f.r",
        ] {
            for sql in joins_of(weeks, on) {
                let expected = sorted_rows(&mut others, &sql);
                for connection in &mut vectors {
                    assert!(sorted_rows(connection, &sql) == expected, "{sql}");
                }
                let plan = explained(&mut vectors[0], "", &sql);
                transferred += usize::from(plan.contains("transferred keys"));
            }
        }
    }
    assert!(transferred >= 50, "{transferred} of 80");
}

/// A build side is reduced by the keys of the probe side.
#[test]
fn keys_are_transferred_where_the_probe_side_is_small() {
    let database = days();
    let few = "SELECT f.*, l.id FROM facts AS f JOIN days AS d ON f.day = d.day LEFT JOIN large AS l ON l.k = f.k WHERE abs(d.week) < 3";
    let build_rows = |settings: &[&str]| {
        let mut connection = connected(&database, settings);
        let plan = explained(&mut connection, "ANALYZE", few);
        let counts = plan.split(" build input rows").map(|before| {
            let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
            digits.and_then(|digits| digits.parse::<u64>().ok())
        });
        counts.flatten().max().unwrap()
    };
    assert!(build_rows(&["SET quire.build_sides = off"]) < 8_000);
    let off = [
        "SET quire.build_sides = off",
        "SET quire.transferred_keys = off",
    ];
    assert_eq!(build_rows(&off), 30_000);
}

/// Each round of a recursion has keys of its own.
#[test]
fn keys_are_transferred_in_each_round_of_a_recursion() {
    let database = database();
    let mut connection = database.connect();
    let big =
        "CREATE TABLE big AS SELECT i AS id, i * 3 AS nxt FROM generate_series(1, 100000) AS g(i)";
    rows(&mut connection, big);
    let sql = "WITH RECURSIVE r(n) AS (SELECT 5::bigint UNION ALL SELECT big.nxt FROM big JOIN r ON big.id = r.n) SELECT count(*), max(n) FROM r";
    assert_eq!(rows(&mut connection, sql), [["11", "295245"]]);
}
