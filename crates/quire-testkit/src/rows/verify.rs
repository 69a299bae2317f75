//! Is the database what a crash may have left of it?

use std::sync::Arc;

use quire_kv::{btree::Direction, mvcc::TransactionOptions};
use quire_store::{
    DICTIONARY_LIST_PAGE, MemDisk, OpenMode, PageKind, STAGING_PAGE, SimDisk, Volume,
};
use quire_tables::row_table::{KeyRange, Value};
use quire_tables::{Engine, RowTable, ScanRowSource};

use super::model::{ModelState, RowChange};
use super::options::{engine_options, volume_options};
use super::schema::{Row, Variant, definition, first_columns};
use super::session::{KeyedRow, WorkloadOutcome, next_value, perform, read_rows, read_state, text};
use crate::random::TestRandom;
use crate::recovery::{Recovered, open_volume};

/// Opens what a crash left, compares it with what is allowed, checks every invariant, commits something, and opens the file
/// again.
pub(super) fn verify(
    image: Vec<u8>,
    allowed: &[Arc<ModelState>],
    may_be_blank: bool,
    seed: u64,
) -> Result<Recovered, String> {
    let disk = Arc::new(MemDisk::from_bytes(image));
    let volume = open_volume(disk.clone(), volume_options(seed), may_be_blank)?;
    let was_staged = volume.pin().contains(STAGING_PAGE);
    let has_page_dictionaries = volume.pin().contains(DICTIONARY_LIST_PAGE);
    let engine = open_engine(volume, seed)?;
    let found = read_state(&engine.snapshot())?;
    let position = allowed.iter().position(|state| **state == found);
    let position = position.ok_or_else(|| describe_difference(&found, allowed))?;
    verify_engine(&engine)?;
    engine.checkpoint().map_err(text)?;
    verify_engine(&engine)?;
    the_log_is_empty(&engine)?;
    let expected = commit_something(&engine, found)?;
    if allowed[position].given > 0 {
        next_value(&engine, allowed[position].given)?;
    }
    drop(engine);
    let volume = Volume::open(disk, OpenMode::ReadOnly);
    let volume = volume.map_err(|error| format!("reopen: {error}"))?;
    if let Some(finding) = Engine::check(&volume).first() {
        return Err(format!("check of the reopened file: {finding}"));
    }
    let engine = open_engine(volume, seed)?;
    if read_state(&engine.snapshot())? != expected {
        return Err("what was committed after the recovery is not there".to_owned());
    }
    Ok(Recovered {
        position,
        was_staged,
        has_page_dictionaries,
    })
}

/// Recovers on a disk that records what is written meanwhile, and writes everything into pages.
pub(super) fn recover(disk: Arc<SimDisk>, seed: u64) -> Result<(), String> {
    let engine = open_engine(open_volume(disk, volume_options(seed), false)?, seed)?;
    engine.checkpoint().map_err(text)
}

fn open_engine(volume: Volume, seed: u64) -> Result<Engine, String> {
    let engine = Engine::open_with(volume, engine_options(seed, false));
    engine.map_err(|error| format!("open the tables: {error}"))
}

/// Every page belongs to something, every index says what its table says, in either direction.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify_engine(engine: &Engine) -> Result<(), String> {
    if engine.volume().pin().contains(STAGING_PAGE) {
        return Err("the staging mark is still there".to_owned());
    }
    let mut findings = engine.check_rows();
    findings.extend(Engine::check(engine.volume()));
    if let Some(finding) = findings.first() {
        return Err(format!("check: {finding}"));
    }
    let pages = engine.volume().check().findings;
    // A crash may tear the older superblock, and only that.
    let mut pages = pages.iter();
    if let Some(finding) = pages.find(|finding| !finding.invariant.contains("superblock")) {
        return Err(format!("check of the volume: {finding}"));
    }
    let snapshot = engine.snapshot();
    for table in snapshot.row_tables().map_err(text)? {
        let mut rows = read_rows(&table, ScanRowSource::all(), Direction::Forward)?;
        let mut backward = read_rows(&table, ScanRowSource::all(), Direction::Backward)?;
        backward.reverse();
        if rows != backward {
            return Err("a table has other rows backwards".to_owned());
        }
        several_ranges_have_their_rows(&table, &rows)?;
        rows.sort();
        for index in 0..table.indexes().len() {
            let source = ScanRowSource::index(index, KeyRange::all());
            let mut forward = read_rows(&table, source.clone(), Direction::Forward)?;
            let mut backward = read_rows(&table, source, Direction::Backward)?;
            backward.reverse();
            if forward != backward {
                return Err(format!("index {index} has other rows backwards"));
            }
            forward.sort();
            if forward != rows {
                let name = &table.definition().name;
                return Err(format!("index {index} of {name} has other rows"));
            }
        }
    }
    Ok(())
}

/// A scan of the first third and of the last third of the keys leaves out the rows between them, in both directions.
fn several_ranges_have_their_rows(table: &RowTable, rows: &[KeyedRow]) -> Result<(), String> {
    let (first, second) = (rows.len() / 3, rows.len() * 2 / 3);
    let (Some((high, _)), Some((low, _))) = (rows.get(first), rows.get(second)) else {
        return Ok(());
    };
    let ranges = [
        KeyRange {
            low: Vec::new(),
            high: Some(high.to_vec()),
        },
        KeyRange::none(),
        KeyRange {
            low: low.to_vec(),
            high: None,
        },
    ];
    let source = ScanRowSource::Ranges(ranges.into());
    let expected = [&rows[..first], &rows[second..]].concat();
    let mut backward = read_rows(table, source.clone(), Direction::Backward)?;
    backward.reverse();
    if read_rows(table, source, Direction::Forward)? != expected || backward != expected {
        return Err("two ranges of a table have other rows than the whole of it".to_owned());
    }
    Ok(())
}

/// After a checkpoint no page of the log is left: not even parts of transactions that came to nothing.
///
/// # Errors
/// There is one.
pub(super) fn the_log_is_empty(engine: &Engine) -> Result<(), String> {
    let pin = engine.volume().pin();
    for page in pin.pages() {
        if pin.kind(page).map_err(text)? == PageKind::Log {
            return Err(format!("page {page} of the log is left over"));
        }
    }
    Ok(())
}

/// A row for each table; `heap` is made if it is not there.
fn commit_something(engine: &Engine, mut state: ModelState) -> Result<ModelState, String> {
    let variant = Variant::new(&mut TestRandom::new(7));
    let mut transaction = engine.transaction(TransactionOptions::default());
    if !state.tables.contains_key("heap") {
        let made = transaction.define(|tables| tables.create_table(definition("heap", &variant)));
        made.map_err(text)?;
        state.tables.insert("heap".to_owned(), Default::default());
    }
    let tables: Vec<String> = state.tables.keys().cloned().collect();
    for name in tables {
        let width = first_columns(&name) + state.tables[&name].added.len();
        let mut row = row_after_crash(&name);
        row.resize(width, Value::Null);
        let change = RowChange::Insert(row);
        if perform(&mut transaction, &name, &[], &change)? != WorkloadOutcome::Done {
            return Err(format!("{name}: a row was refused after the crash"));
        }
        state.apply(&name, &change, &variant);
    }
    transaction.commit().map_err(text)?;
    Ok(state)
}

/// A row that no transaction has made before.
fn row_after_crash(table: &str) -> Row {
    let long = || "after the crash ".repeat(1_000);
    let number = Value::Integer(1_000_000);
    match table {
        "parent" => vec![number, Value::Null, Value::Null, Value::Null],
        "child" => {
            let note = Value::Bytes(long().into_bytes().into());
            vec![number, Value::Text("after".into()), Value::Null, note]
        }
        _ => vec![number, Value::Text(long().into())],
    }
}

fn describe_difference(found: &ModelState, allowed: &[Arc<ModelState>]) -> String {
    let allowed: Vec<String> = allowed.iter().map(|state| state.describe()).collect();
    format!(
        "found {}, allowed {}",
        found.describe(),
        allowed.join(" or ")
    )
}
