//! The files of `tests/slt` under every configuration that must not change an answer.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use quire::{Connection, Database, DatabaseOptions};
use quire_acceptance::sql_logic::{DeclaredTypes, SqlLogicDatabase, SqlLogicError, Style};
use sqllogictest::{DBOutput, DefaultColumnType, Runner};

/// Settings made before every file, by name.
const SETTINGS: [(&str, &[&str]); 14] = [
    ("as it comes", &[]),
    ("no pruning", &["SET quire.zone_pruning = off"]),
    (
        "aggregates and joins of batches, by hash tables",
        &[
            "SET quire.vector_aggregates = off",
            "SET quire.direct_groups = off",
            "SET quire.hashed_groups = off",
            "SET quire.vector_joins = off",
            "SET quire.totals = off",
            "SET quire.vector_sorts = off",
            "SET quire.recorded_keys = off",
            "SET quire.shared_subplans = off",
            "SET quire.build_sides = off",
            "SET quire.staged_sets = off",
            "SET quire.sorted_windows = off",
            "SET quire.eager_aggregation = off",
            "SET quire.late_dimensions = off",
            "SET quire.transferred_keys = off",
        ],
    ),
    (
        "filters above the scan",
        &["SET quire.filter_pushdown = off"],
    ),
    ("filters on Arrow arrays", &["SET quire.stored_tests = off"]),
    ("joins as written", &["SET quire.join_order = off"]),
    (
        "groups before joins",
        &["SET quire.eager_aggregation_always = on"],
    ),
    (
        "small batches, four threads",
        &["SET batch_rows = 100", "SET threads = 4"],
    ),
    ("one thread", &["SET threads = 1"]),
    ("PAX tables", &["SET default_table_access_method = 'pax'"]),
    ("row tables", &["SET default_table_access_method = 'row'"]),
    (
        "row tables, by the tuple engine",
        &[
            "SET default_table_access_method = 'row'",
            "SET quire.statement_path = off",
            "SET engine = 'tuple'",
        ],
    ),
    (
        "row tables, by batches",
        &[
            "SET default_table_access_method = 'row'",
            "SET quire.statement_path = off",
            "SET engine = 'batch'",
        ],
    ),
    (
        "row tables, by the cheaper machine",
        &[
            "SET default_table_access_method = 'row'",
            "SET quire.statement_path = off",
            "SET engine = 'auto'",
        ],
    ),
];

fn files() -> Vec<PathBuf> {
    let folder = Path::new("../../tests/slt");
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "slt"))
        .collect();
    files.sort();
    // `QUIRE_SLT=times` runs only the files whose names contain "times": the daily loop of whoever works on one of them.
    if let Ok(part) = std::env::var("QUIRE_SLT") {
        files.retain(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().contains(&part))
        });
        assert!(
            !files.is_empty(),
            "no file of {} is called {part}",
            folder.display()
        );
        return files;
    }
    assert!(
        files.len() >= 6,
        "{} files in {}",
        files.len(),
        folder.display()
    );
    files
}

fn connect(database: &Database, settings: &[&str]) -> Connection {
    let mut connection = database.connect();
    for setting in settings {
        connection.execute(setting).unwrap();
    }
    connection
}

/// Runs one file on connections that `open` makes; panics with the place and the difference.
fn run_file(path: &Path, configuration: &str, open: impl Fn() -> SqlLogicDatabase) {
    let mut runner = Runner::new(|| async { Ok(open()) });
    if let Err(error) = runner.run_file(path) {
        panic!("[{configuration}] {}", error.display(false));
    }
}

fn plain(connection: Connection) -> SqlLogicDatabase {
    SqlLogicDatabase::new(connection, Style::Plain, DeclaredTypes::default())
}

#[test]
fn answers_do_not_depend_on_settings() {
    for (configuration, settings) in SETTINGS {
        for path in files() {
            let database = Database::in_memory().unwrap();
            run_file(&path, configuration, || plain(connect(&database, settings)));
        }
    }
}

#[test]
fn answers_do_not_depend_on_the_cache() {
    let options = DatabaseOptions {
        cache_bytes: 1,
        ..DatabaseOptions::default()
    };
    for path in files() {
        let database = Database::in_memory_with(options.clone()).unwrap();
        run_file(&path, "no cache", || plain(database.connect()));
    }
}

/// A connection that has the changes of column tables merged after every statement.
struct Merged(SqlLogicDatabase);

impl sqllogictest::DB for Merged {
    type Error = SqlLogicError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, SqlLogicError> {
        let output = sqllogictest::DB::run(&mut self.0, sql);
        // In a transaction it is refused.
        let _ = sqllogictest::DB::run(&mut self.0, "VACUUM");
        output
    }

    fn error_sql_state(error: &SqlLogicError) -> Option<String> {
        <SqlLogicDatabase as sqllogictest::DB>::error_sql_state(error)
    }
}

/// The transaction of a connection would be aborted by a VACUUM.
fn has_no_transaction(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    !text.lines().any(|line| line == "BEGIN")
}

#[test]
fn answers_do_not_depend_on_merges() {
    for path in files().into_iter().filter(|path| has_no_transaction(path)) {
        let database = Database::in_memory().unwrap();
        let open = || Merged(plain(database.connect()));
        let mut runner = Runner::new(|| async { Ok(open()) });
        if let Err(error) = runner.run_file(&path) {
            panic!("[merged after every statement] {}", error.display(false));
        }
    }
}

/// The changes of row tables are those of column tables, if nothing depends on keys.
#[test]
fn column_tables_change_like_row_tables() {
    let folder = Path::new("../../tests/slt");
    let text = std::fs::read_to_string(folder.join("changes.slt")).unwrap();
    let text = text
        .replace(", PRIMARY KEY (product, amount)", "")
        .replace(" PRIMARY KEY", "")
        .replace("USING row", "USING column");
    for (configuration, settings) in SETTINGS {
        let database = Database::in_memory().unwrap();
        let mut runner = Runner::new(|| async { Ok(plain(connect(&database, settings))) });
        if let Err(error) = runner.run_script_with_name(&text, "changes.slt") {
            panic!("[{configuration}, without keys] {}", error.display(false));
        }
    }
    let database = Database::in_memory().unwrap();
    let mut runner = Runner::new(|| async { Ok(Merged(plain(database.connect()))) });
    if let Err(error) = runner.run_script_with_name(&text, "changes.slt") {
        panic!("[merged, without keys] {}", error.display(false));
    }
}

/// A database that is closed after every statement and opened for the next.
struct Reopened {
    file: PathBuf,
}

impl sqllogictest::DB for Reopened {
    type Error = SqlLogicError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, SqlLogicError> {
        let database = Database::open(&self.file)?;
        sqllogictest::DB::run(&mut plain(database.connect()), sql)
    }

    fn error_sql_state(error: &SqlLogicError) -> Option<String> {
        <SqlLogicDatabase as sqllogictest::DB>::error_sql_state(error)
    }
}

#[test]
fn answers_survive_closing_the_file() {
    let file = std::env::temp_dir().join(format!("quire-slt-{}.quire", std::process::id()));
    // A transaction ends when its connection does.
    for path in files().into_iter().filter(|path| has_no_transaction(path)) {
        let mut runner = Runner::new(|| async { Ok(Reopened { file: file.clone() }) });
        let result = runner.run_file(&path);
        std::fs::remove_file(&file).unwrap();
        if let Err(error) = result {
            panic!("[closed after every statement] {}", error.display(false));
        }
    }
}
