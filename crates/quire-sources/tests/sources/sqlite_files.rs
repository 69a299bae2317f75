//! The file stays as it is, its log is read, one moment is seen, and damage is an error.

use std::fs;
use std::path::Path;

use quire_files::CopyControl;
use quire_sources::{SourceDatabase, SourceError};
use rusqlite::Connection;

use crate::cells::{int, rows, text};
use crate::folder::{SourceTestFolder, opened};
use crate::random::{SourceTestRandom, seed};

fn made(path: &Path, statements: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(statements).unwrap();
    connection
}

#[test]
fn a_file_is_recognized_by_its_first_bytes() {
    let folder = SourceTestFolder::new();
    let path = folder.file("music.csv");
    drop(made(&path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)"));
    let location = |path: &Path| path.to_str().unwrap().to_owned();
    assert!(SourceDatabase::recognizes(&location(&path)));
    assert_eq!(rows(&opened(&path), "t"), [[int(1)]]);
    for (name, content) in [
        ("empty.db", &b""[..]),
        ("short.db", b"SQLite"),
        ("text.db", b"SQLite format 2\0and more"),
    ] {
        let path = folder.file(name);
        fs::write(&path, content).unwrap();
        assert!(!SourceDatabase::recognizes(&location(&path)));
        let error = SourceDatabase::open(&location(&path)).unwrap_err();
        assert!(
            matches!(&error, SourceError::NotADatabase { .. }) && error.to_string().contains(name),
            "{error}"
        );
    }
    for missing in [folder.file("none.db"), folder.0.clone()] {
        assert!(!SourceDatabase::recognizes(&location(&missing)));
        let error = SourceDatabase::open(&location(&missing)).unwrap_err();
        assert!(
            matches!(&error, SourceError::Io { .. })
                && error.to_string().contains(&location(&missing)),
            "{error}"
        );
    }
}

#[test]
fn names_of_files_mean_nothing_to_sqlite() {
    let folder = SourceTestFolder::new();
    for name in ["a?mode=memory", "b%20c#d", "e f"] {
        let plain = folder.file("plain.db");
        drop(made(&plain, "CREATE TABLE t (a); INSERT INTO t VALUES (1)"));
        fs::rename(&plain, folder.file(name)).unwrap();
        assert_eq!(rows(&opened(&folder.file(name)), "t"), [[int(1)]], "{name}");
    }
}

#[test]
fn a_file_stays_as_it_is_and_alone() {
    for mode in ["DELETE", "WAL"] {
        let folder = SourceTestFolder::new();
        let path = folder.file("app.db");
        drop(made(
            &path,
            &format!(
                "PRAGMA journal_mode = {mode}; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'); CREATE VIEW v AS SELECT * FROM t"
            ),
        ));
        assert_eq!(folder.names(), ["app.db"]);
        let before = (
            fs::read(&path).unwrap(),
            fs::metadata(&path).unwrap().modified().unwrap(),
        );
        let database = opened(&path);
        let reader = database
            .read(&database.find("v").unwrap(), None, &CopyControl::default())
            .unwrap();
        assert_eq!(rows(&database, "t"), [[text("x")]]);
        drop(database);
        // The reader holds the file until it goes, too.
        assert_eq!(
            reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
            1
        );
        assert_eq!(folder.names(), ["app.db"], "{mode}");
        assert_eq!(
            (
                fs::read(&path).unwrap(),
                fs::metadata(&path).unwrap().modified().unwrap()
            ),
            before,
            "{mode}"
        );
    }
}

#[test]
fn the_log_is_read_and_one_moment_is_seen() {
    let folder = SourceTestFolder::new();
    let path = folder.file("app.db");
    let writer = made(
        &path,
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a INTEGER PRIMARY KEY); CREATE TABLE u (a)",
    );
    writer.execute_batch("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i FROM n").unwrap();
    // All of it is in the log.
    let database = opened(&path);
    writer
        .execute_batch(
            "DELETE FROM t WHERE a > 5; INSERT INTO u VALUES (1); CREATE TABLE later (a)",
        )
        .unwrap();
    assert_eq!(rows(&database, "t").len(), 20_000);
    assert_eq!(rows(&database, "u").len(), 0);
    assert!(database.find("later").is_err());
    let log = fs::read(folder.file("app.db-wal")).unwrap();
    drop(database);
    // The writer's log is as it was, and the writer goes on.
    assert_eq!(fs::read(folder.file("app.db-wal")).unwrap(), log);
    writer.execute_batch("INSERT INTO u VALUES (2)").unwrap();
    let now = opened(&path);
    assert_eq!(rows(&now, "t").len(), 5);
    assert_eq!(rows(&now, "u"), [[int(1)], [int(2)]]);
}

#[test]
fn a_log_that_a_crash_left_is_read_and_kept() {
    let folder = SourceTestFolder::new();
    let path = folder.file("app.db");
    let writer = made(&path, "PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
    writer
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (7)")
        .unwrap();
    let crashed = folder.file("crashed.db");
    fs::copy(&path, &crashed).unwrap();
    fs::copy(folder.file("app.db-wal"), folder.file("crashed.db-wal")).unwrap();
    let files = || {
        (
            fs::read(&crashed).unwrap(),
            fs::read(folder.file("crashed.db-wal")).unwrap(),
        )
    };
    let before = files();
    assert_eq!(rows(&opened(&crashed), "t"), [[int(7)]]);
    assert_eq!(files(), before);
}

#[test]
fn a_file_that_needs_repair_says_who_does_it() {
    let folder = SourceTestFolder::new();
    let path = folder.file("app.db");
    let writer = made(&path, "PRAGMA cache_size = 10; CREATE TABLE t (a TEXT)");
    // Pages of the open transaction spill into the file, and the journal has what they were.
    writer
        .execute_batch("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT printf('%0100d', i) FROM n; BEGIN; UPDATE t SET a = a || 'x'")
        .unwrap();
    let crashed = folder.file("crashed.db");
    fs::copy(&path, &crashed).unwrap();
    fs::copy(
        folder.file("app.db-journal"),
        folder.file("crashed.db-journal"),
    )
    .unwrap();
    let error = SourceDatabase::open(crashed.to_str().unwrap()).unwrap_err();
    assert!(
        matches!(&error, SourceError::Unrecovered { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("crashed.db") && error.to_string().contains("open it once"),
        "{error}"
    );
}

/// Everything that can be asked of a file; errors name it.
fn ask_everything(path: &Path) -> Result<(), SourceError> {
    let database = SourceDatabase::open(path.to_str().unwrap())?;
    let control = CopyControl::default();
    for table in database.tables()? {
        database.definition(&table.name, &control)?;
        for batch in database.read(&table.name, None, &control)? {
            batch?;
        }
        database.sample(&table.name, 3, 10, &control)?;
    }
    Ok(())
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    let seed = seed(13);
    let mut random = SourceTestRandom(seed);
    let folder = SourceTestFolder::new();
    let path = folder.file("app.db");
    let statements = "PRAGMA page_size = 512; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX tb ON t (b); CREATE VIEW v AS SELECT * FROM t;
        CREATE TABLE k (a TEXT PRIMARY KEY, b REAL) WITHOUT ROWID;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO t SELECT i, printf('%050d', i), zeroblob(i * 5) FROM n;
        INSERT INTO k SELECT b, a FROM t";
    drop(made(&path, statements));
    let whole = fs::read(&path).unwrap();
    ask_everything(&path).unwrap();
    let damaged = folder.file("damaged.db");
    let mut errors = 0;
    for case in 0..400 {
        let mut bytes = whole.clone();
        if case % 4 == 0 {
            bytes.truncate(16 + random.below(bytes.len() as u64 - 16) as usize);
        } else {
            for _ in 0..=random.below(40) {
                let place = 16 + random.below(bytes.len() as u64 - 16) as usize;
                bytes[place] = random.next() as u8;
            }
        }
        fs::write(&damaged, &bytes).unwrap();
        if let Err(error) = ask_everything(&damaged) {
            errors += 1;
            let said = error.to_string();
            assert!(
                said.contains("damaged.db") || said.starts_with("table \""),
                "{said}, case {case}, seed {seed}"
            );
            assert!(
                !matches!(error, SourceError::Internal { .. }),
                "{said}, case {case}, seed {seed}"
            );
        }
    }
    assert!(errors > 100, "{errors} errors, seed {seed}");
    // The root page of the first table, all of it.
    let mut bytes = whole.clone();
    bytes[512..1024].fill(0xee);
    fs::write(&damaged, &bytes).unwrap();
    let error = ask_everything(&damaged).unwrap_err();
    assert!(matches!(error, SourceError::Damaged { .. }), "{error}");
}
