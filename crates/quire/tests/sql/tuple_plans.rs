//! `EXPLAIN` by the tuple engine: what it expects of its iterators, and what they did.

use std::fs;
use std::path::Path;
use std::time::Duration;

use quire::Connection;

use crate::support::{database, error, explained, rows, value};

/// 20,000 sales of a day in 2023 (of which 400 have no price), and the 2,000 buyers that half of them name.
fn shop() -> Connection {
    let mut connection = database().connect();
    for sql in [
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, buyer INTEGER NOT NULL, item INTEGER NOT NULL, \
         day DATE NOT NULL, price INTEGER, remark TEXT NOT NULL)",
        "CREATE TABLE buyer (id INTEGER PRIMARY KEY, town INTEGER NOT NULL)",
        "INSERT INTO sale SELECT i, i * 7919 % 4000, i * 31 % 50, DATE '2023-01-01' + i * 17 % 365, \
         CASE WHEN i % 50 = 0 THEN NULL ELSE i % 1000 END, 'remark ' || (i * 13 % 90 + 10) \
         FROM generate_series(1, 20000) AS g(i)",
        "INSERT INTO buyer SELECT i, i % 20 FROM generate_series(0, 1999) AS g(i)",
        "SET engine = 'tuple'",
    ] {
        rows(&mut connection, sql);
    }
    connection
}

/// An iterator as it was explained.
struct Line {
    text: String,
    expected: f64,
    counted: f64,
}

fn analyzed(connection: &mut Connection, sql: &str) -> Vec<Line> {
    let lines = rows(connection, &format!("EXPLAIN ANALYZE {sql}")).concat();
    let mut texts: Vec<String> = Vec::new();
    for line in lines {
        // What follows up to the next operator are details and the rest of a broken line.
        match texts.last_mut().filter(|_| !line.contains("(about ")) {
            Some(text) => *text = format!("{text} {}", line.trim()),
            None => texts.push(line),
        }
    }
    let line = |text: String| {
        let (_, note) = text.split_once("(about ").unwrap();
        let (expected, rest) = note.split_once(" rows, ").unwrap();
        let (_, rest) = rest.split_once(" ms; ").unwrap();
        let (counted, _) = rest.split_once(" rows").unwrap();
        Line {
            expected: expected.parse().unwrap(),
            counted: counted.parse().unwrap(),
            text,
        }
    };
    texts.into_iter().map(line).collect()
}

/// With samples, every iterator makes about as many rows as it was expected to.
#[test]
fn after_analyze_estimates_are_near_what_comes() {
    let mut connection = shop();
    rows(&mut connection, "ANALYZE");
    for sql in [
        "SELECT id FROM sale WHERE item = 7",
        "SELECT id FROM sale WHERE item IN (7, 8, 9)",
        "SELECT id FROM sale WHERE day >= DATE '2023-03-01' AND day < DATE '2023-04-01'",
        "SELECT id FROM sale WHERE item = 7 AND day < DATE '2023-07-01'",
        "SELECT id FROM sale WHERE item < 10 OR item >= 40",
        "SELECT id FROM sale WHERE price IS NULL",
        "SELECT id FROM sale WHERE price >= 900",
        "SELECT id FROM sale WHERE remark >= 'remark 70'",
        "SELECT id FROM sale WHERE id BETWEEN 1000 AND 2000",
        "SELECT sale.id FROM sale JOIN buyer ON sale.buyer = buyer.id",
        "SELECT sale.id FROM sale JOIN buyer ON sale.buyer = buyer.id WHERE buyer.town = 3",
        "SELECT sale.id FROM sale LEFT JOIN buyer ON sale.buyer = buyer.id WHERE sale.item = 7",
        "SELECT id FROM sale WHERE buyer IN (SELECT id FROM buyer)",
        "SELECT id FROM sale WHERE NOT EXISTS (SELECT * FROM buyer WHERE buyer.id = sale.buyer)",
        "SELECT item, count(*) FROM sale GROUP BY item",
        "SELECT item, price, count(*) FROM sale WHERE day < DATE '2023-01-10' GROUP BY item, price",
        "SELECT DISTINCT day FROM sale",
        "SELECT id FROM sale ORDER BY price LIMIT 10",
    ] {
        for line in analyzed(&mut connection, sql) {
            let near = line.counted / 2.0..=line.counted * 2.0;
            assert!(near.contains(&line.expected), "{sql}\n{}", line.text);
        }
    }
}

/// Only what a query asks for is decoded, and once; a condition that is false ends the row.
#[test]
fn decoded_fields_are_counted() {
    let mut connection = shop();
    let fields = |connection: &mut Connection, sql: &str| -> u64 {
        let lines = analyzed(connection, sql).into_iter();
        let of_line = |line: Line| {
            let (_, note) = line.text.split_once(" ms; ").unwrap();
            let (_, note) = note.split_once("rows, ").unwrap();
            note.split_once(" fields")
                .unwrap()
                .0
                .parse::<u64>()
                .unwrap()
        };
        lines.map(of_line).sum()
    };
    assert_eq!(fields(&mut connection, "SELECT count(*) FROM sale"), 0);
    assert_eq!(
        fields(&mut connection, "SELECT sum(item) FROM sale"),
        20_000
    );
    // 400 of the rows have the item.
    let sql = "SELECT sum(price + price) FROM sale WHERE item = 7";
    assert_eq!(
        value(&mut connection, "SELECT count(*) FROM sale WHERE item = 7"),
        "400"
    );
    assert_eq!(fields(&mut connection, sql), 20_000 + 400);
    assert_eq!(
        fields(&mut connection, "SELECT id, price FROM sale WHERE item = 7"),
        20_000 + 2 * 400
    );
}

#[test]
fn what_was_read_is_told() {
    let mut connection = shop();
    // Who fills a table has it sampled, so something is known of prices.
    let lines = rows(
        &mut connection,
        "EXPLAIN SELECT id FROM sale WHERE price > 5 AND id <= 300",
    );
    let lines = lines.concat();
    let beginnings = [
        "filter (about ",
        "  scan of sale by sale_pkey to t0, 1 range, reads about ",
    ];
    assert_eq!(lines.len(), beginnings.len(), "{lines:?}");
    for (line, beginning) in lines.iter().zip(beginnings) {
        assert!(line.starts_with(beginning), "{lines:?}");
    }
    let count = "SELECT count(*) FROM sale WHERE price > 5 AND id <= 300";
    let count: f64 = value(&mut connection, count).parse().unwrap();
    let expected = lines[0].strip_prefix(beginnings[0]).unwrap();
    let (expected, _) = expected.split_once(" rows, ").unwrap();
    let expected: f64 = expected.parse().unwrap();
    assert!((0.8 * count..1.2 * count).contains(&expected), "{lines:?}");
    let sql = "SELECT sum(price) FROM sale WHERE id <= 100";
    let read = explained(&mut connection, "ANALYZE", sql);
    assert!(read.contains("has read 100 rows of "), "{read}");
    let unread = explained(&mut connection, "", sql);
    assert!(!unread.contains("has read"), "{unread}");
    assert!(!unread.contains("fields decoded"), "{unread}");
}

#[test]
fn what_is_left_to_batches_is_told() {
    let mut connection = shop();
    let sql = "EXPLAIN SELECT id, row_number() OVER (ORDER BY id) FROM sale";
    let lines = rows(&mut connection, sql);
    assert!(
        lines[0][0].starts_with("left to batches: not translated"),
        "{lines:?}"
    );
    assert!(lines.len() > 1);
    rows(&mut connection, "SET engine = 'auto'");
    let lines = rows(&mut connection, sql);
    assert!(lines[0][0].starts_with("left to batches"), "{lines:?}");
    rows(&mut connection, "SET engine = 'batch'");
    let lines = rows(&mut connection, sql);
    assert!(!lines[0][0].starts_with("left"), "{lines:?}");
    let scans = lines.iter().filter(|line| line[0].contains("scan of sale"));
    assert_eq!(scans.count(), 1, "{lines:?}");
}

/// Query 15 of TPC-H over rows that are few: it reads its view once for the greatest total, and once for those who have it.
fn suppliers() -> (Connection, String) {
    let mut connection = database().connect();
    rows(&mut connection, "SET default_table_access_method = 'row'");
    let folder = Path::new("../../tests/tpch");
    let schema = fs::read_to_string(folder.join("schema.sql")).unwrap();
    for sql in Connection::statements(&schema).unwrap() {
        rows(&mut connection, &sql);
    }
    for sql in [
        "INSERT INTO supplier SELECT i, 'supplier ' || i, 'street', 1, '1', 0, '' FROM generate_series(1, 50) AS g(i)",
        "INSERT INTO lineitem SELECT i, 1, i % 50 + 1, 1, 1, 1 + i % 50 / 25 * 9, 0, 0, 'N', 'O', DATE '1996-02-01', \
         DATE '1996-02-01', DATE '1996-02-01', '', '', '' FROM generate_series(1, 1000) AS g(i)",
        "ANALYZE",
        "SET quire.statement_path = off",
        "SET engine = 'tuple'",
    ] {
        rows(&mut connection, sql);
    }
    let query = fs::read_to_string(folder.join("queries/q15.sql")).unwrap();
    let lines = query.lines().filter(|line| !line.starts_with("--"));
    let query = lines.collect::<Vec<_>>().join(" ");
    (connection, query.trim_end_matches(';').to_owned())
}

#[test]
fn a_view_that_is_read_twice_is_computed_once() {
    let (mut connection, query) = suppliers();
    let plan = explained(&mut connection, "", &query);
    assert_eq!(plan.matches("scan of lineitem").count(), 1, "{plan}");
    // One for the view, one for the greatest of its totals.
    assert_eq!(plan.matches("groups by hashing").count(), 2, "{plan}");
    assert_eq!(
        plan.matches("groups by hashing, 1 keys").count(),
        1,
        "{plan}"
    );
    assert_eq!(plan.matches("shared rows 1 to").count(), 2, "{plan}");
    assert_eq!(plan.matches("made once for 2 places").count(), 1, "{plan}");
    let algebra = explained(&mut connection, "(ALGEBRA)", &query);
    assert_eq!(algebra.matches("scan lineitem").count(), 1, "{algebra}");
    let run = explained(&mut connection, "ANALYZE", &query);
    assert_eq!(run.matches("scan of lineitem").count(), 1, "{run}");
    let answer = rows(&mut connection, &query);
    assert_eq!(answer.len(), 25);
    rows(&mut connection, "SET quire.shared_subplans = off");
    let plan = explained(&mut connection, "", &query);
    assert_eq!(plan.matches("scan of lineitem").count(), 2, "{plan}");
    assert_eq!(rows(&mut connection, &query), answer);
    rows(&mut connection, "SET engine = 'batch'");
    assert_eq!(rows(&mut connection, &query), answer);
}

/// Changes are not run by it; what finds their rows is shown below what is done with them.
#[test]
fn changes_are_explained() {
    let mut connection = shop();
    rows(&mut connection, "SET quire.statement_path = off");
    rows(&mut connection, "ANALYZE");
    for (sql, words) in [
        (
            "UPDATE sale SET price = 0 FROM buyer WHERE buyer = buyer.id AND town = 3",
            &["update sale, 6 values", "join by hashing", "scan of buyer"][..],
        ),
        (
            "DELETE FROM buyer WHERE id < 10",
            &[
                "delete from buyer, 0 values",
                "scan of buyer by buyer_pkey to t0, 1 range",
            ],
        ),
        (
            "INSERT INTO buyer SELECT 10000 + id, town FROM buyer WHERE town = 5",
            &["insert into buyer, 2 values", "scan of buyer"],
        ),
    ] {
        let lines = rows(&mut connection, &format!("EXPLAIN {sql}")).concat();
        let mut left = lines.iter();
        for words in words {
            assert!(left.any(|line| line.contains(words)), "{words}: {lines:?}");
        }
        let programs = rows(&mut connection, &format!("EXPLAIN (AVM) {sql}"));
        assert!(programs.len() > lines.len(), "{programs:?}");
    }
    assert_eq!(value(&mut connection, "SELECT count(*) FROM buyer"), "2000");
    let analyze = error(&mut connection, "EXPLAIN ANALYZE DELETE FROM buyer");
    assert_eq!(analyze.sqlstate(), "0A000");
    rows(&mut connection, "SET engine = 'batch'");
    let batches = rows(&mut connection, "EXPLAIN DELETE FROM buyer").concat();
    assert_eq!(batches[0], "delete from buyer, rows by batches");
    assert!(
        batches[1..]
            .iter()
            .any(|line| line.contains("scan of buyer")),
        "{batches:?}"
    );
    // Nothing but the changes was asked of the tuple engine, and it left none of them.
    rows(&mut connection, "SET engine = 'tuple'");
    let asked = "SELECT tuple_queries || ' ' || left_to_batches FROM quire_engine()";
    let before = value(&mut connection, asked);
    rows(
        &mut connection,
        "DELETE FROM buyer WHERE id IN (SELECT buyer FROM sale)",
    );
    let after = value(&mut connection, asked);
    let numbers = |text: &str| -> Vec<u64> {
        let numbers = text.split(' ').map(str::parse);
        numbers.map(Result::unwrap).collect()
    };
    let (before, after) = (numbers(&before), numbers(&after));
    // The question itself is counted, and left: it reads no table.
    assert_eq!(after[0], before[0] + 2, "{before:?} {after:?}");
    assert_eq!(after[1], before[1] + 1, "{before:?} {after:?}");
}

/// What has no rows to give still hears of its cancellation: 400 million pairs are tried here, which takes longer than a moment.
#[test]
fn a_query_without_rows_can_be_cancelled() {
    let mut connection = shop();
    let handle = connection.cancel_handle();
    let sql = "SELECT count(*) FROM sale AS a, sale AS b WHERE a.price + b.price < 0";
    let explained = rows(&mut connection, &format!("EXPLAIN {sql}")).concat();
    assert!(
        explained[0].starts_with("groups by hashing"),
        "{explained:?}"
    );
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Until the statement has begun there is nothing to cancel.
            while ended.recv_timeout(Duration::from_millis(20)).is_err() {
                handle.cancel();
            }
        });
        let failed = error(&mut connection, sql);
        sender.send(()).unwrap();
        assert_eq!(failed.sqlstate(), "57014");
    });
    assert_eq!(value(&mut connection, "SELECT count(*) FROM buyer"), "2000");
}
