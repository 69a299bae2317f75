//! Costs choose ways, and nothing else: each choice is turned over by a cost, which `EXPLAIN` shows, and the answer stays.

use quire::{Connection, Database, DatabaseOptions};

use crate::support::{explained, rows};

/// 20,000 sales, of which some are of each of 2,000 buyers, and the days of 5,000 of them. The costs are those of the tuple engine.
fn shop(memory_bytes: usize) -> Connection {
    let options = DatabaseOptions {
        memory_bytes,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    for sql in [
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, buyer INTEGER NOT NULL, price INTEGER, remark TEXT NOT NULL)",
        "CREATE INDEX sale_buyer ON sale (buyer)",
        "CREATE TABLE buyer (id INTEGER PRIMARY KEY, town INTEGER NOT NULL)",
        "CREATE TABLE day (sale INTEGER PRIMARY KEY, day INTEGER NOT NULL)",
        "INSERT INTO sale SELECT i, i * 7919 % 2000, i % 1000, 'remark ' || i % 90 FROM generate_series(1, 20000) AS g(i)",
        "INSERT INTO buyer SELECT i, i % 20 FROM generate_series(0, 1999) AS g(i)",
        "INSERT INTO day SELECT i * 4, i % 365 FROM generate_series(1, 5000) AS g(i)",
        "ANALYZE",
        "SET quire.statement_path = off",
        "SET engine = 'tuple'",
    ] {
        rows(&mut connection, sql);
    }
    connection
}

/// For each setting of costs, words that the plan must have; the answers of all must be equal.
fn turns_over(connection: &mut Connection, sql: &str, expected: &[(&str, &str)]) {
    let mut answers = Vec::new();
    for (costs, words) in expected {
        rows(connection, &format!("SET costs = '{costs}'"));
        let plan = explained(connection, "", sql);
        assert!(plan.contains(words), "{costs}: {words} in\n{plan}");
        let mut answer = rows(connection, sql);
        answer.sort();
        answers.push(answer);
    }
    rows(connection, "RESET costs");
    assert!(!answers[0].is_empty());
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{sql}");
}

#[test]
fn a_cost_chooses_between_an_index_and_all_rows() {
    let mut connection = shop(1 << 30);
    let sql = "SELECT id, price FROM sale WHERE buyer < 300";
    let ways = [
        ("lookup = 1", "scan of sale by sale_buyer"),
        ("lookup = 100000", "scan of sale by sale_pkey to t0, all"),
    ];
    turns_over(&mut connection, sql, &ways);
}

#[test]
fn batches_choose_their_way_by_the_same_costs() {
    let mut connection = shop(1 << 30);
    rows(&mut connection, "SET engine = 'batch'");
    let sql = "SELECT id, price FROM sale WHERE buyer < 300";
    let ways = [
        ("lookup = 1", "index=sale_buyer"),
        ("lookup = 100000", "all rows"),
    ];
    turns_over(&mut connection, sql, &ways);
}

#[test]
fn a_cost_chooses_how_rows_are_joined() {
    let mut connection = shop(1 << 30);
    let sql =
        "SELECT sale.id, day.day FROM sale JOIN day ON day.sale = sale.id WHERE sale.price < 500";
    let ways = [
        ("lookup = 0.01, range_start = 0.01", "join by looking up"),
        (
            "compare = 0.01, keep_row = 0.01, lookup = 1e6",
            "join in order of",
        ),
        (
            "hash_insert = 0.01, hash_probe = 0.01, keep_row = 0.01, compare = 1e6, lookup = 1e6",
            "join by hashing",
        ),
    ];
    turns_over(&mut connection, sql, &ways);
}

/// Buyers come in the order of their keys; sales are sorted for that, or kept in a hash table.
#[test]
fn a_cost_chooses_whether_a_side_is_sorted_for_a_join() {
    let mut connection = shop(1 << 30);
    let sql = "SELECT sale.id, buyer.town FROM sale JOIN buyer ON sale.buyer = buyer.id WHERE sale.price < 500";
    let ways = [
        (
            "hash_insert = 1e6, hash_probe = 1e6, lookup = 1e6, range_start = 1e6",
            "sort by 1 keys",
        ),
        (
            "compare = 1e6, lookup = 1e6, range_start = 1e6",
            "join by hashing",
        ),
    ];
    turns_over(&mut connection, sql, &ways);
}

#[test]
fn a_join_in_the_order_that_is_wanted_is_not_sorted() {
    let mut connection = shop(1 << 30);
    let sql = "SELECT sale.id, day.day FROM sale JOIN day ON day.sale = sale.id ORDER BY sale.id";
    rows(
        &mut connection,
        "SET costs = 'hash_insert = 1e6, hash_probe = 1e6, lookup = 1e6'",
    );
    let plan = explained(&mut connection, "", sql);
    assert!(plan.contains("join in order of 1 keys"), "{plan}");
    assert!(!plan.contains("sort by"), "{plan}");
    let found = rows(&mut connection, sql);
    rows(&mut connection, "SET engine = 'batch'");
    assert_eq!(found, rows(&mut connection, sql));
    assert_eq!(found.len(), 5_000);
}

#[test]
fn a_cost_chooses_the_machine() {
    let mut connection = shop(1 << 30);
    rows(&mut connection, "SET engine = 'auto'");
    let sql = "SELECT buyer, count(*), sum(price) FROM sale GROUP BY buyer";
    let ways = [
        ("batch_start = 1e11", "tuple engine: about"),
        ("tuple_start = 1e11", "batches: about"),
        ("row = 1e6, batch_row = 0.01", "batches: about"),
        ("row = 0.01, batch_row = 1e6", "tuple engine: about"),
    ];
    turns_over(&mut connection, sql, &ways);
    // A table of columns leaves no choice.
    rows(&mut connection, "CREATE TABLE kept AS SELECT id FROM sale");
    let plan = explained(&mut connection, "", "SELECT count(*) FROM kept");
    assert!(!plan.contains("tuple engine"), "{plan}");
}

#[test]
fn a_cost_chooses_whether_a_temporary_is_compressed() {
    let mut connection = shop(1 << 20);
    let sql = "SELECT id * 2 AS twice, remark FROM sale ORDER BY remark, twice";
    let dear = "spill_write = 1e6";
    let ways = [
        (dear, "values compressed, blocks by lz4"),
        (
            "suppress = 1e6, spill_write = 1e4",
            "values plain, blocks by lz4",
        ),
        ("spill_pack = 1e9", "blocks by no codec"),
    ];
    turns_over(&mut connection, sql, &ways);
    let mut written = |costs: &str| {
        rows(&mut connection, &format!("SET costs = '{costs}'"));
        let plan = explained(&mut connection, "ANALYZE", sql);
        let (_, told) = plan.split_once("has written ").unwrap();
        let (records, rest) = told.split_once(" bytes as ").unwrap();
        let file: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (
            records.parse::<u64>().unwrap(),
            file.parse::<u64>().unwrap(),
        )
    };
    let (records, file) = written(dear);
    assert!(file < records, "{file} of {records}");
    let (records, file) = written("spill_pack = 1e9");
    assert_eq!(records, file);
}

/// More rows, more fields and dearer codecs cost more.
#[test]
fn costs_grow_with_what_is_done() {
    let mut connection = shop(1 << 30);
    let mut cost_ms = |sql: &str| {
        let plan = explained(&mut connection, "", sql);
        let (_, note) = plan.split_once("(about ").unwrap();
        let (_, rest) = note.split_once(" rows, ").unwrap();
        let (cost_ms, _) = rest.split_once(" ms").unwrap();
        cost_ms.parse::<f64>().unwrap()
    };
    let few = cost_ms("SELECT id FROM sale WHERE id <= 1000");
    let more = cost_ms("SELECT id FROM sale WHERE id <= 10000");
    assert!(few < more, "{few} {more}");
    let one = cost_ms("SELECT sum(price) FROM sale");
    let two = cost_ms("SELECT sum(price), min(remark) FROM sale");
    assert!(one < two, "{one} {two}");
    rows(
        &mut connection,
        "SET costs = 'decode_suppressed = 500, decode_dictionary = 500'",
    );
    let mut cost_ms = |sql: &str| {
        let plan = explained(&mut connection, "", sql);
        let (_, note) = plan.split_once("(about ").unwrap();
        note.split_once(" rows, ")
            .unwrap()
            .1
            .split_once(" ms")
            .unwrap()
            .0
            .parse::<f64>()
            .unwrap()
    };
    let dear = cost_ms("SELECT sum(price) FROM sale");
    assert!(dear > one + 5.0, "{dear} {one}");
}
