//! A database with everything in it, and what a file that was made of it is asked.

use std::path::Path;

use quire::{Connection, Database, Error, Outcome};

/// Rows and columns in many codecs, indexes, long values, views, sequences, changed rows of column tables.
pub const DEFINITIONS: &str = "CREATE TABLE shop (id INTEGER PRIMARY KEY, region TEXT NOT NULL, size INTEGER UNIQUE, opened DATE) USING row;
CREATE INDEX shop_region ON shop (region);
INSERT INTO shop SELECT i, 'region ' || i % 7, i * 3, DATE '2020-01-01' + i::INTEGER FROM generate_series(1, 700) AS g(i);
CREATE TABLE sale (id BIGINT PRIMARY KEY, shop INTEGER REFERENCES shop, amount DECIMAL(10,2), note TEXT) USING row WITH (page_codec = none);
INSERT INTO sale SELECT i, i % 700 + 1, i / 7.0, 'note ' || i FROM generate_series(1, 900) AS g(i);
CREATE TABLE packed (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, code TEXT) USING row WITH (page_codec = zstd);
INSERT INTO packed SELECT i, i * 17 % 1000, i % 3, 'C-' || i * 7919 % 10000 FROM generate_series(1, 900) AS g(i);
CREATE TABLE long_text (id INTEGER PRIMARY KEY, body TEXT) USING row;
INSERT INTO long_text SELECT i, repeat('long text ' || i || ' ', 2000) FROM generate_series(1, 8) AS g(i);
CREATE TABLE item (id BIGINT, kind TEXT, price DECIMAL(12,2), weight DOUBLE PRECISION, sold TIMESTAMP, is_new BOOLEAN, code TEXT) USING column;
INSERT INTO item SELECT i, 'kind ' || i % 11, i * 1.25, i / 3.0::DOUBLE PRECISION, (DATE '2024-01-01' + (i / 1440)::INTEGER)::TIMESTAMP, i % 2 = 0, 'code-' || i * 7919 % 100003 FROM generate_series(1, 20000) AS g(i);
UPDATE item SET price = 0 WHERE id % 1000 = 1;
DELETE FROM item WHERE id % 1500 = 2;
INSERT INTO item VALUES (20001, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE SEQUENCE counter;
SELECT nextval('counter');
CREATE VIEW large_shop AS SELECT id, region FROM shop WHERE size > 1000;
ANALYZE shop";

/// What is in the log only.
pub const LAST_CHANGES: &str = "UPDATE shop SET size = size + 100000 WHERE id < 40;
INSERT INTO sale SELECT i, 1, 1, 'late' FROM generate_series(1001, 1050) AS g(i);
DELETE FROM packed WHERE id % 10 = 0;
INSERT INTO item VALUES (20002, 'late', 1, 1, NULL, true, 'late')";

/// Reads of everything in several ways, then writes.
const QUESTIONS: [&str; 27] = [
    "SELECT count(*), min(region), max(size), min(opened) FROM shop",
    "SELECT * FROM shop WHERE id = 350",
    "SELECT * FROM shop WHERE size = 300",
    "SELECT count(*) FROM shop WHERE region = 'region 3'",
    "SELECT * FROM shop ORDER BY size DESC LIMIT 5",
    "SELECT * FROM sale",
    "SELECT count(*), sum(amount) FROM sale JOIN shop ON shop.id = sale.shop WHERE region <> 'region 1'",
    "SELECT * FROM packed",
    "SELECT b, count(*), max(code) FROM packed GROUP BY b",
    "SELECT id, length(body), md5(body) FROM long_text",
    "SELECT * FROM item",
    "SELECT kind, count(*), sum(price), avg(weight), max(sold) FROM item GROUP BY kind ORDER BY kind",
    "SELECT count(*) FROM item WHERE kind = 'kind 4' AND price > 100",
    "SELECT count(*) FROM item WHERE code LIKE 'code-1%'",
    "SELECT * FROM item WHERE id = 7001",
    "SELECT count(*) FROM item WHERE sold < TIMESTAMP '2024-01-02 00:00:00' AND is_new",
    "SELECT * FROM large_shop",
    "SELECT * FROM quire_tables()",
    "SELECT * FROM quire_storage('item')",
    "SELECT table_name FROM information_schema.tables",
    "UPDATE shop SET region = 'moved' WHERE id BETWEEN 100 AND 200",
    "INSERT INTO sale VALUES (5000, 3, 1, 'new')",
    "DELETE FROM packed WHERE a < 100",
    "UPDATE item SET price = 1 WHERE id < 3000",
    "SELECT nextval('counter')",
    "VACUUM",
    "CHECKPOINT",
];

/// What became of the questions.
#[derive(Debug, Default)]
pub struct Answers {
    /// Files that could not be opened.
    pub refused: u64,
    /// Files in which `check` found something.
    pub found: u64,
    pub rows: u64,
    pub errors: u64,
}

impl Answers {
    pub fn add(&mut self, other: &Self) {
        self.refused += other.refused;
        self.found += other.found;
        self.rows += other.rows;
        self.errors += other.errors;
    }
}

/// Checks a file, opens it and asks it everything, of batches and of the tuple engine.
pub fn ask_all(path: &Path) -> Answers {
    let mut answers = Answers::default();
    let is_clean = Database::check(path).is_ok_and(|report| report.findings.is_empty());
    answers.found += u64::from(!is_clean);
    let Ok(database) = Database::open_with(path, crate::options()) else {
        answers.refused += 1;
        return answers;
    };
    let mut connection = database.connect();
    for engine in ["batch", "tuple"] {
        let _ = ask(&mut connection, &format!("SET engine = '{engine}'"));
        for question in QUESTIONS {
            match ask(&mut connection, question) {
                Ok(()) => answers.rows += 1,
                Err(_) => answers.errors += 1,
            }
        }
    }
    answers
}

/// Runs a statement to its end.
pub fn ask(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    if let Outcome::Rows(mut rows) = connection.execute(sql)? {
        while rows.next_batch()?.is_some() {}
    }
    Ok(())
}
