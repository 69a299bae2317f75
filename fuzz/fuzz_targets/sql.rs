//! Arbitrary text as statements: they run or fail with an SQLSTATE, and the connection goes on.
//!
//! `cargo +nightly fuzz run --features sql sql`
//!
//! The first byte chooses the machine. Statements that name files are left out: a fuzzer must not write where it likes.
#![no_main]
#![forbid(unsafe_code)]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use quire::{Database, Outcome};

const ENGINES: [&str; 3] = ["batch", "tuple", "auto"];

fn prepared() -> quire::Connection {
    let database = Database::in_memory().expect("a database in memory");
    let mut connection = database.connect();
    for statement in [
        "CREATE TABLE r (a INTEGER PRIMARY KEY, b TEXT, c DECIMAL(9, 2), d DATE) USING row",
        "CREATE TABLE s (a BIGINT, b DOUBLE PRECISION, c TIMESTAMP, d BOOLEAN)",
        "INSERT INTO r VALUES (1, 'one', 1.5, '2026-01-31'), (2, NULL, NULL, NULL)",
        "INSERT INTO s VALUES (1, 'NaN', '2026-01-31 12:00:00', true), (NULL, NULL, NULL, NULL)",
    ] {
        connection.execute(statement).expect("a valid statement");
    }
    connection
}

/// Runs it for two seconds at most: some statements never end by themselves.
fn run_in_time(connection: &mut quire::Connection, text: &str) -> Result<(), quire::Error> {
    let cancel = connection.cancel_handle();
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while end.recv_timeout(Duration::from_secs(2)) == Err(RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let result = run(connection, text);
        drop(ended);
        result
    })
}

fn run(connection: &mut quire::Connection, text: &str) -> Result<(), quire::Error> {
    if let Outcome::Rows(mut rows) = connection.execute(text)? {
        while rows.next_batch()?.is_some() {}
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let [engine, rest @ ..] = bytes else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let lower = text.to_lowercase();
    if ["copy", "external"].iter().any(|word| lower.contains(word)) {
        return;
    }
    let mut connection = prepared();
    let engine = ENGINES[usize::from(*engine) % ENGINES.len()];
    let chosen = connection.execute(&format!("SET engine = '{engine}'"));
    chosen.expect("a valid setting");
    let begun = std::time::Instant::now();
    if let Err(error) = run_in_time(&mut connection, text) {
        assert_eq!(error.sqlstate().len(), 5, "{error}");
        assert_ne!(error.sqlstate(), "XX000", "{text}: {error}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{text}");
});
