//! The queries of our own statement tests, and a sample of SQLite's corpus (all of it with `QUIRE_CORPUS=full`).

use std::path::{Path, PathBuf};

use sqllogictest::{DefaultColumnType, QueryExpect, Record};

use super::Fixture;
use super::tally::Tally;

/// Of the queries of one file, how many are taken unless all are.
const SAMPLED: usize = 150;

/// What the tuple engine has not: why, and of how many of our own queries. A number may only fall; a new one is to be thought about.
const LEFT_TO_BATCHES: [(&str, usize); 47] = [
    // Lists, of which percentile_disc is made.
    ("aggregate array_agg", 22),
    ("aggregate bit_and", 1),
    ("aggregate bit_or", 1),
    // Sums of REALs, which are added one by one.
    ("aggregate checked_sum", 3),
    // Texts in an order, DISTINCT ON, and subqueries of one row that read the row around them.
    ("aggregate collected_rows", 23),
    ("aggregate covar_pop", 1),
    ("aggregate first_value", 86),
    // Extremes of intervals, which compare by length.
    ("aggregate interval_max", 1),
    ("aggregate nth_value", 2),
    // Of floats, where the order changes the sum.
    ("aggregate ordered_avg", 1),
    ("aggregate ordered_sum", 4),
    ("aggregate percentile_cont", 1),
    ("aggregate regr_r2", 3),
    ("aggregate regr_sxx", 1),
    ("aggregate stddev", 1),
    ("aggregate string_agg", 4),
    ("aggregate var", 1),
    // Intervals have no registers.
    ("expression IntervalMonthDayNano", 11),
    ("expression cast_to_interval", 9),
    ("expression time_subtract", 5),
    // Arrays, and functions without a counterpart.
    ("expression List", 1),
    ("expression array_cast", 1),
    ("expression array_element", 1),
    ("expression array_has", 1),
    ("expression array_length", 1),
    ("expression nested_to_text", 4),
    ("expression quote_literal", 1),
    // Whole rows in DISTINCT.
    ("expression struct", 1),
    // Volatile functions.
    ("expression clock_timestamp()", 1),
    ("expression currval", 1),
    ("expression lastval", 3),
    ("expression nextval", 6),
    ("expression random()", 23),
    ("expression setval", 1),
    ("expression uuid()", 1),
    ("grouping sets", 113),
    ("recursivequery", 50),
    ("scan of generate_series()", 20),
    // Queries of WITH that are asked once.
    ("scan of c\u{1f}shared", 6),
    ("scan of x\u{1f}shared", 1),
    // Rows of volatile functions, which several parts of a query read.
    ("shared", 10),
    // Functions that show what is stored.
    ("scan of quire_costs()", 1),
    ("scan of quire_pool()", 1),
    ("scan of quire_storage()", 12),
    ("scan of quire_tables()", 2),
    ("unnest", 18),
    // Also for LIMIT and DISTINCT ON in subqueries that read the row around them.
    ("windowaggr", 218),
];

fn add_files(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            add_files(&path, ending, files);
        } else if path.extension().is_some_and(|found| found == ending) {
            files.push(path);
        }
    }
    files.sort();
}

/// The corpus puts remarks behind its conditions, which the parser does not know.
fn without_remarks(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("skipif ") || line.starts_with("onlyif ") {
            line.split('#')
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        } else {
            line.to_owned()
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the statements of a file, and compares `sampled` of its queries, evenly spread.
fn add_file(path: &Path, sampled: usize, tally: &mut Tally) {
    let text = without_remarks(&std::fs::read_to_string(path).unwrap());
    let name = path.to_string_lossy();
    let records = sqllogictest::parse_with_name::<DefaultColumnType>(&text, &*name).unwrap();
    let is_query = |record: &&Record<DefaultColumnType>| matches!(record, Record::Query { .. });
    let step = (records.iter().filter(is_query).count() / sampled).max(1);
    let mut fixture = Fixture::new();
    let mut place = 0;
    for record in &records {
        match record {
            Record::Halt { .. } => break,
            Record::Statement {
                sql, conditions, ..
            } if conditions.is_empty() => {
                // What must fail does.
                let _ = fixture.run(sql);
            }
            Record::Query {
                sql,
                conditions,
                expected: QueryExpect::Results { .. },
                ..
            } if conditions.is_empty() => {
                place += 1;
                if place % step == 0 {
                    tally.add(sql, fixture.compare(sql));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn our_own_queries_are_translated_and_agree() {
    let folder = Path::new("../../tests/slt");
    let mut files = Vec::new();
    add_files(folder, "slt", &mut files);
    assert!(files.len() >= 6);
    let mut tally = Tally::default();
    for path in files {
        add_file(&path, usize::MAX, &mut tally);
    }
    tally.judge("tests/slt", &LEFT_TO_BATCHES);
}

#[test]
fn the_corpus_is_translated_and_agrees() {
    // Asked when it runs: a cached build may have been made in another folder.
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let shared =
        std::env::var("QUIRE_SHARED").unwrap_or_else(|_| format!("{here}/../../../shared"));
    let mut files = Vec::new();
    add_files(&Path::new(&shared).join("slt"), "test", &mut files);
    if files.is_empty() {
        println!("skipped: no corpus; QUIRE_SHARED says where it lies");
        return;
    }
    let sampled = match std::env::var("QUIRE_CORPUS").as_deref() {
        Ok("full") => usize::MAX,
        _ => SAMPLED,
    };
    let mut tally = Tally::default();
    for path in files {
        add_file(&path, sampled, &mut tally);
    }
    tally.judge("the corpus", &[]);
}
