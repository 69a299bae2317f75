//! SQLite's sqllogictest corpus, run with the label `postgresql`: how much of it passes, and why the rest does not.
//!
//! The files lie outside the repository (`QUIRE_SHARED`, else `../shared` beside it). Without them the test says so and
//! passes; in CI only where the whole folder around them is missing. The share that passes must not fall below `tests/slt_corpus.counts`.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use quire::{Database, Value};
use quire_acceptance::sql_logic::{DeclaredTypes, SqlLogicDatabase, Style};
use sqllogictest::{DefaultColumnType, QueryExpect, Record, RecordOutput, Runner, TestErrorKind};

const LABEL: &str = "postgresql";
const CAUSES_SHOWN_MAX: usize = 25;

/// Of so many files the tuple engine runs one every day.
const SAMPLED_FILES: usize = 8;

/// Outcomes of the records of one file or of all.
#[derive(Default)]
struct Tally {
    passed: usize,
    /// Cause → (how often, first place).
    failed: BTreeMap<String, (usize, String)>,
    /// Queries that the tuple engine was asked to run, and those that it left to batches.
    asked: usize,
    left: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.asked += other.asked;
        self.left += other.left;
        for (cause, (count, place)) in other.failed {
            self.failed.entry(cause).or_insert((0, place)).0 += count;
        }
    }

    fn failed_count(&self) -> usize {
        self.failed.values().map(|(count, _)| count).sum()
    }
}

/// How the corpus is run.
struct Way {
    name: &'static str,
    settings: &'static [&'static str],
    /// Which of the files are enough for every day; with QUIRE_CORPUS=full each run has everything.
    has: fn(usize, &str) -> bool,
}

#[test]
fn the_corpus_passes_as_far_as_it_did_in_column_tables() {
    run_corpus(&Way {
        name: "column",
        settings: &[],
        // Tables of `index` have primary keys, so this run would be that of row tables.
        has: |_, part| !part.starts_with("index"),
    });
}

#[test]
fn the_corpus_passes_as_far_as_it_did_in_row_tables() {
    run_corpus(&Way {
        name: "row",
        settings: &[
            "SET default_table_access_method = 'row'",
            "SET engine = 'batch'",
        ],
        // Tables of `random` are only read.
        has: |_, part| !part.starts_with("random"),
    });
}

#[test]
fn the_corpus_passes_as_far_as_it_did_by_the_tuple_engine() {
    run_corpus(&Way {
        name: "tuple",
        settings: &[
            "SET default_table_access_method = 'row'",
            "SET quire.statement_path = off",
            "SET engine = 'tuple'",
        ],
        has: |number, _| number % SAMPLED_FILES == SAMPLED_FILES / 2,
    });
}

/// One run at a time: each uses all cores.
static RUNNING: Mutex<()> = Mutex::new(());

/// Runs the corpus.
fn run_corpus(way: &Way) {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(files) = corpus_files() else {
        return;
    };
    let is_full = std::env::var("QUIRE_CORPUS").as_deref() == Ok("full");
    let numbered = files.into_iter().enumerate();
    let wanted = numbered.filter(|(number, (part, _))| is_full || (way.has)(*number, part));
    let files: Vec<(String, PathBuf)> = wanted.map(|(_, file)| file).collect();
    let (next, total) = (
        AtomicUsize::new(0),
        Mutex::new(BTreeMap::<String, Tally>::new()),
    );
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                while let Some((part, path)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = run_file(path, way.settings);
                    let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                    total.entry(part.clone()).or_default().add(tally);
                }
            });
        }
    });
    let parts = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut whole = Tally::default();
    for (part, tally) in parts {
        println!(
            "corpus, {} {part}: {} passed, {} failed",
            way.name,
            tally.passed,
            tally.failed_count()
        );
        whole.add(tally);
    }
    print_causes(&whole);
    let recorded = recorded_counts();
    let of_way = |name: &str| recorded[&format!("{}_{name}", way.name)];
    let passed_min = of_way("passed_min");
    assert!(
        whole.passed >= passed_min,
        "{} records passed, {passed_min} did before",
        whole.passed,
    );
    let failed_max = of_way("failed_max");
    assert!(
        whole.failed_count() <= failed_max,
        "{} records failed, {failed_max} did before",
        whole.failed_count(),
    );
    if let Some(per_mille) = (1000 * whole.left).checked_div(whole.asked) {
        println!(
            "corpus: {} of {} queries were left to batches",
            whole.left, whole.asked
        );
        let left_max = of_way("left_per_mille_max");
        assert!(
            per_mille <= left_max,
            "{per_mille} of 1000 queries were left, {left_max} before"
        );
    }
}

fn print_causes(whole: &Tally) {
    let count = whole.passed + whole.failed_count();
    println!("corpus in all: {} of {count} records passed", whole.passed);
    let mut causes: Vec<_> = whole.failed.iter().collect();
    causes.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (cause, (count, place)) in causes.into_iter().take(CAUSES_SHOWN_MAX) {
        println!("  {count:>7}  {cause}  (first: {place})");
    }
}

/// The files with the part of the corpus they belong to; `None` when there are none and nobody insists.
fn corpus_files() -> Option<Vec<(String, PathBuf)>> {
    // Asked when it runs: a cached build may have been made in another folder.
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let shared =
        std::env::var("QUIRE_SHARED").unwrap_or_else(|_| format!("{here}/../../../shared"));
    let root = Path::new(&shared).join("slt");
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    collect_files(&root, "", &mut files);
    if files.is_empty() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true") || !Path::new(&shared).is_dir(),
            "no corpus under {}",
            root.display()
        );
        println!(
            "skipped: no corpus under {}; QUIRE_SHARED says where it lies",
            root.display()
        );
        return None;
    }
    files.sort_by_key(|(_, path)| {
        std::cmp::Reverse(std::fs::metadata(path).map_or(0, |file| file.len()))
    });
    Some(files)
}

/// Adds the tests of a folder and of those below it, each with the name of its folder.
fn collect_files(folder: &Path, part: &str, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let below = if part.is_empty() {
                name
            } else {
                format!("{part}/{name}")
            };
            collect_files(&path, &below, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "test")
        {
            let part = if part.is_empty() { "select" } else { part };
            files.push((part.to_owned(), path));
        }
    }
}

fn run_file(path: &Path, settings: &[&str]) -> Tally {
    let place = path.file_name().unwrap().to_string_lossy().into_owned();
    let database = Database::in_memory().unwrap();
    let declared = DeclaredTypes::default();
    let mut runner = Runner::new(|| async {
        let mut connection = database.connect();
        for setting in settings {
            connection.execute(setting).unwrap();
        }
        Ok(SqlLogicDatabase::new(
            connection,
            Style::Corpus,
            declared.clone(),
        ))
    });
    runner.add_label(LABEL);
    // One of the files leaves out the directive that the others begin with.
    runner.with_hash_threshold(8);
    runner.run_script("control resultmode valuewise\n").unwrap();
    let text = without_remarks(&std::fs::read_to_string(path).unwrap());
    let mut tally = Tally::default();
    for record in sqllogictest::parse_with_name::<DefaultColumnType>(&text, &*place).unwrap() {
        if matches!(record, Record::Halt { .. }) {
            break;
        }
        let types = match &record {
            Record::Query {
                expected: QueryExpect::Results { types, .. },
                ..
            } => types.clone(),
            _ => Vec::new(),
        };
        *declared.lock().unwrap_or_else(PoisonError::into_inner) = types;
        match runner.run(record) {
            Ok(RecordOutput::Nothing) => {}
            Ok(_) => tally.passed += 1,
            Err(error) => {
                let at = format!("{place}:{}", error.location().line());
                tally
                    .failed
                    .entry(cause(&error.kind()))
                    .or_insert((0, at))
                    .0 += 1;
            }
        }
    }
    (tally.asked, tally.left) = asked_and_left(&database);
    tally
}

/// How many queries the tuple engine was asked to run, and how many of them it left.
fn asked_and_left(database: &Database) -> (usize, usize) {
    let mut connection = database.connect();
    let mut counts = connection
        .prepare("SELECT tuple_queries, left_to_batches FROM quire_engine()")
        .unwrap();
    let mut counts = counts.execute(&[]).unwrap();
    match counts.next_row().unwrap() {
        Some([Value::Integer(asked), Value::Integer(left)]) => (*asked as usize, *left as usize),
        other => panic!("{other:?}"),
    }
}

/// The corpus puts remarks behind its conditions, which the runner's grammar does not know.
fn without_remarks(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.lines() {
        let is_condition = line.starts_with("skipif ") || line.starts_with("onlyif ");
        let kept = if is_condition {
            line.split('#').next().unwrap_or_default().trim_end()
        } else {
            line
        };
        clean.push_str(kept);
        clean.push('\n');
    }
    clean
}

/// Why a record failed, in words that are the same for records that fail alike.
fn cause(kind: &TestErrorKind) -> String {
    match kind {
        TestErrorKind::Fail { err, .. } => {
            let message = err.to_string();
            format!(
                "refused: {}",
                without_names(message.lines().next().unwrap_or_default())
            )
        }
        TestErrorKind::QueryResultMismatch { actual, .. } if actual.is_empty() => {
            "answer differs: no rows".to_owned()
        }
        TestErrorKind::QueryResultMismatch { .. } => "answer differs".to_owned(),
        TestErrorKind::Ok { .. } => "accepted what had to be refused".to_owned(),
        other => without_names(other.to_string().lines().next().unwrap_or_default()),
    }
}

/// A message with its quoted words and numbers replaced.
fn without_names(message: &str) -> String {
    let mut general = String::new();
    for (at, part) in message.split(['"', '\'', '`']).enumerate() {
        if at % 2 == 1 {
            general.push('…');
            continue;
        }
        for character in part.chars() {
            let is_digit = character.is_ascii_digit();
            if !is_digit {
                general.push(character);
            } else if !general.ends_with('#') {
                general.push('#');
            }
        }
    }
    general
}

/// `name = number` lines of the record beside this file.
fn recorded_counts() -> HashMap<String, usize> {
    let lines = include_str!("slt_corpus.counts")
        .lines()
        .filter_map(|line| line.split_once(" = "));
    lines
        .map(|(name, number)| (name.to_owned(), number.trim().parse().unwrap()))
        .collect()
}

#[test]
fn remarks_and_names_are_taken_out() {
    assert_eq!(
        without_remarks("onlyif mysql # a: b\nSELECT '#'\n"),
        "onlyif mysql\nSELECT '#'\n"
    );
    assert_eq!(
        without_names("column \"a1\" of 12 rows"),
        "column … of # rows"
    );
}
