//! Statements with their rows as text, and repeatable randomness.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use quire::arrow::util::display::{ArrayFormatter, FormatOptions};
use quire::{Connection, Database, DatabaseOptions, Error, Outcome};

/// A database in memory with two threads.
pub fn database() -> Database {
    Database::in_memory_with(DatabaseOptions {
        threads: 2,
        ..DatabaseOptions::default()
    })
    .unwrap()
}

/// Runs a statement that must succeed; returns its rows, NULL as `NULL`.
pub fn rows(connection: &mut Connection, sql: &str) -> Vec<Vec<String>> {
    try_rows(connection, sql).unwrap_or_else(|error| panic!("{sql}\n{error}"))
}

/// Runs a statement to the end of its rows.
pub fn try_rows(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>, Error> {
    let mut result = Vec::new();
    let Outcome::Rows(mut rows) = connection.execute(sql)? else {
        return Ok(result);
    };
    let options = FormatOptions::default().with_null("NULL");
    while let Some(batch) = rows.next_batch()? {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            result.push(columns.iter().map(|c| c.value(row).to_string()).collect());
        }
    }
    Ok(result)
}

/// A connection with these settings.
pub fn connected(database: &Database, settings: &[&str]) -> Connection {
    let mut connection = database.connect();
    for setting in settings {
        rows(&mut connection, setting);
    }
    connection
}

/// The rows in an order of their own.
pub fn sorted_rows(connection: &mut Connection, sql: &str) -> Vec<Vec<String>> {
    let mut rows = rows(connection, sql);
    rows.sort();
    rows
}

/// What `EXPLAIN` with these options shows, in one line: where lines are broken depends on the digits of their times.
pub fn explained(connection: &mut Connection, options: &str, sql: &str) -> String {
    let lines = rows(connection, &format!("EXPLAIN {options} {sql}")).concat();
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

/// The single value of a query.
pub fn value(connection: &mut Connection, sql: &str) -> String {
    let rows = rows(connection, sql);
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}");
    rows[0][0].clone()
}

/// Runs a statement that must fail, now or while its rows are read.
pub fn error(connection: &mut Connection, sql: &str) -> Error {
    match try_rows(connection, sql) {
        Ok(rows) => panic!("{sql}\nshould fail, but returned {rows:?}"),
        Err(error) => error,
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

static NEXT_FOLDER: AtomicU64 = AtomicU64::new(0);

/// A folder that goes with the value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let number = NEXT_FOLDER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("quire-copy-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
