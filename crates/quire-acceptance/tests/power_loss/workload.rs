//! What runs until the power goes: three threads that change rows, load files and change definitions.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use quire::{Connection, Database, DatabaseOptions, Error, Outcome};
use quire_store::{Disk, OpenMode};
use quire_testkit::random::TestRandom;

use crate::recording::RecordingDisk;

pub const ACCOUNTS: u64 = 20;
pub const FIRST_BALANCE: i64 = 1_000;
/// Rows of a file that is loaded.
pub const LOAD_ROWS: u64 = 400;

/// Kinds of acknowledged statements. Each counts from 1 on, without a gap.
pub const SCHEMA: &str = "schema";
pub const TRANSFER: &str = "transfer";
pub const PAIR: &str = "pair";
pub const LOAD: &str = "load";

const TRANSFERS: u64 = 60;
const PAIRS: u64 = 60;
const LOADS: u64 = 4;

/// All definitions in one transaction, so that there is all of them or nothing.
const DEFINITIONS: &str = "BEGIN;
    CREATE TABLE account (id INTEGER PRIMARY KEY, balance BIGINT NOT NULL) USING row;
    CREATE TABLE ledger (id BIGINT PRIMARY KEY, debit INTEGER NOT NULL, credit INTEGER NOT NULL, amount BIGINT NOT NULL) USING row;
    CREATE TABLE pair_row (id BIGINT PRIMARY KEY, note TEXT NOT NULL, number INTEGER) USING row;
    CREATE INDEX pair_note ON pair_row (note);
    CREATE TABLE pair_column (id BIGINT, note TEXT, number INTEGER) USING column;
    CREATE TABLE loaded (id BIGINT, note TEXT) USING column;
    INSERT INTO account SELECT i, 1000 FROM generate_series(1, 20) AS g(i);
    COMMIT";

/// What changes definitions and the places of bytes, and no answer.
const UPHEAVALS: [&str; 12] = [
    "VACUUM pair_row",
    "VACUUM pair_column",
    "VACUUM FULL pair_row",
    "VACUUM FULL",
    "ALTER TABLE pair_row SET (page_codec = zstd)",
    "ALTER TABLE pair_row SET (page_codec = lz4)",
    "ALTER TABLE ledger SET (page_codec = zstd)",
    "CREATE INDEX pair_number ON pair_row (number)",
    "DROP INDEX pair_number",
    "CHECKPOINT",
    "ANALYZE pair_row",
    "VACUUM",
];

/// Works until all rows are written; the disk has the log of it.
pub fn run(disk: &Arc<RecordingDisk>, folder: &Path, seed: u64) {
    let shared = Arc::clone(disk) as Arc<dyn Disk>;
    let options = DatabaseOptions {
        cache_bytes: 4 << 20,
        memory_bytes: 64 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let database = Database::on_disk(shared, OpenMode::ReadWrite, options).unwrap();
    let mut connection = database.connect();
    for statement in DEFINITIONS.split(';') {
        execute(&mut connection, statement).unwrap();
    }
    disk.acknowledge(SCHEMA, 1);
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let upheavals = scope.spawn(|| upset(&database, seed, &has_ended));
        let transfers = scope.spawn(|| transfer(&database, disk, seed));
        let loads = scope.spawn(|| load(&database, disk, folder));
        add_pairs(&mut connection, disk, seed);
        transfers.join().unwrap();
        loads.join().unwrap();
        has_ended.store(true, Ordering::Relaxed);
        upheavals.join().unwrap();
    });
}

/// Moves money between accounts, and writes it down in the same transaction.
fn transfer(database: &Database, disk: &RecordingDisk, seed: u64) {
    let mut connection = database.connect();
    let mut random = TestRandom::new(seed ^ 1);
    for number in 1..=TRANSFERS {
        let (from, to) = (1 + random.below(ACCOUNTS), 1 + random.below(ACCOUNTS));
        let amount = 1 + random.below(50);
        let statements = [
            format!("UPDATE account SET balance = balance - {amount} WHERE id = {from}"),
            format!("UPDATE account SET balance = balance + {amount} WHERE id = {to}"),
            format!("INSERT INTO ledger VALUES ({number}, {from}, {to}, {amount})"),
        ];
        commit(&mut connection, &statements);
        disk.acknowledge(TRANSFER, number);
    }
}

/// Adds a row to a row table and to a column table, in one transaction; some rows are changed in both.
fn add_pairs(connection: &mut Connection, disk: &RecordingDisk, seed: u64) {
    let mut random = TestRandom::new(seed ^ 2);
    for number in 1..=PAIRS {
        let note = format!("note {}", random.below(7));
        let mut statements = Vec::new();
        for table in ["pair_row", "pair_column"] {
            statements.push(format!(
                "INSERT INTO {table} VALUES ({number}, '{note}', {number} % 5)"
            ));
        }
        if random.chance(30) {
            let changed = 1 + random.below(number);
            for table in ["pair_row", "pair_column"] {
                statements.push(format!(
                    "UPDATE {table} SET note = 'changed by {number}' WHERE id = {changed}"
                ));
            }
        }
        commit(connection, &statements);
        disk.acknowledge(PAIR, number);
    }
}

/// Loads files.
fn load(database: &Database, disk: &RecordingDisk, folder: &Path) {
    let mut connection = database.connect();
    for number in 1..=LOADS {
        let mut text = String::from("id,note\n");
        for row in 0..LOAD_ROWS {
            writeln!(text, "{},load {number}", number * LOAD_ROWS + row).unwrap();
        }
        let path = folder.join("load.csv");
        std::fs::write(&path, text).unwrap();
        let copy = format!("COPY loaded FROM '{}'", path.display());
        commit(&mut connection, &[copy]);
        disk.acknowledge(LOAD, number);
    }
}

/// Changes definitions until the others have ended, each at least once.
fn upset(database: &Database, seed: u64, has_ended: &AtomicBool) {
    let mut connection = database.connect();
    let mut random = TestRandom::new(seed ^ 3);
    let mut done = 0;
    while done < UPHEAVALS.len() || !has_ended.load(Ordering::Relaxed) {
        let at = if done < UPHEAVALS.len() {
            done
        } else {
            random.below(UPHEAVALS.len() as u64) as usize
        };
        done += 1;
        if let Err(error) = execute(&mut connection, UPHEAVALS[at]) {
            // The index may be there already, or not yet.
            let is_expected = ["42P07", "42704"].contains(&error.sqlstate());
            assert!(
                is_expected || is_conflict(&error),
                "{}: {error}",
                UPHEAVALS[at]
            );
        }
    }
}

/// Runs a statement to its end.
pub fn execute(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    if let Outcome::Rows(mut rows) = connection.execute(sql)? {
        while rows.next_batch()?.is_some() {}
    }
    Ok(())
}

/// Runs statements as one transaction until it comes through: others may be in its way.
fn commit(connection: &mut Connection, statements: &[String]) {
    let whole = |connection: &mut Connection| {
        execute(connection, "BEGIN")?;
        for statement in statements {
            execute(connection, statement)?;
        }
        execute(connection, "COMMIT")
    };
    while let Err(error) = whole(connection) {
        assert!(is_conflict(&error), "{statements:?}: {error}");
        let _ = execute(connection, "ROLLBACK");
    }
}

/// Whether the same may come through when it is tried again.
fn is_conflict(error: &Error) -> bool {
    let again = error.hint().is_some_and(|hint| hint.contains("again"));
    error.sqlstate().starts_with("40") || error.sqlstate() == "42P01" || again
}
