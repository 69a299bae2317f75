//! Are the tables what a crash may have left of them?

use std::sync::Arc;

use quire_kv::mvcc::TransactionOptions;
use quire_store::{MemDisk, OpenMode, STAGING_PAGE, SimDisk, Volume};
use quire_tables::{Engine, WriteTransaction};

use super::rows::{EngineContents, Tables, batch, count_rows, definition, insert_row, read_tables};
use super::workload::{engine_options, volume_options};
use crate::recovery::{Recovered, open_volume};

/// Of the engines that recover.
const STAGING_BYTES: usize = 4 << 20;

/// Opens what a crash left, compares tables and rows with what is allowed, checks every invariant of the
/// tables, appends to one, and opens the file again.
pub(super) fn verify(
    image: Vec<u8>,
    allowed: &[Arc<EngineContents>],
    may_be_blank: bool,
    seed: u64,
) -> Result<Recovered, String> {
    let disk = Arc::new(MemDisk::from_bytes(image));
    let volume = open_volume(disk.clone(), volume_options(seed), may_be_blank)?;
    let was_staged = volume.pin().contains(STAGING_PAGE);
    let engine = open_engine(volume)?;
    let mut found = read(&engine)?;
    let position = allowed.iter().position(|contents| **contents == found);
    let position = position.ok_or_else(|| describe_difference(&found, allowed))?;
    nothing_is_left_over(&engine)?;
    append(&engine, &mut found)?;
    drop(engine);
    let volume =
        Volume::open(disk, OpenMode::ReadOnly).map_err(|error| format!("reopen: {error}"))?;
    let engine = open_engine(volume)?;
    if read(&engine)? != found {
        return Err("what was appended after the recovery is not there".to_owned());
    }
    nothing_is_left_over(&engine)?;
    Ok(Recovered {
        position,
        was_staged,
        has_page_dictionaries: false,
    })
}

/// Opens what a crash left on a disk that records what is written meanwhile.
pub(super) fn recover(disk: Arc<SimDisk>, seed: u64) -> Result<(), String> {
    let volume = open_volume(disk, volume_options(seed), false)?;
    open_engine(volume)?;
    Ok(())
}

fn open_engine(volume: Volume) -> Result<Engine, String> {
    let engine = Engine::open_with(volume, engine_options(STAGING_BYTES));
    engine.map_err(|error| format!("open the tables: {error}"))
}

fn read(engine: &Engine) -> Result<EngineContents, String> {
    let snapshot = engine.snapshot();
    let mut tables = read_tables(&snapshot)?;
    // A change moves a row, and so does a merge.
    tables.values_mut().for_each(|rows| rows.sort());
    let row_count = count_rows(&snapshot)?;
    Ok(EngineContents { tables, row_count })
}

/// Appends a row to the first table and one to the row table, in one commit.
fn append(engine: &Engine, found: &mut EngineContents) -> Result<(), String> {
    let rows = vec![(7, Some("after the crash".to_owned()))];
    let mut transaction = engine.transaction(TransactionOptions::default());
    let name = found.tables.keys().next().cloned();
    let name = name.unwrap_or_else(|| "new table".to_owned());
    let half = transaction.tables();
    let half = half.map_err(|error| format!("begin: {error}"))?;
    append_rows(half, &found.tables, &name, &batch(&rows)?)?;
    found.row_count += 1;
    insert_row(&mut transaction, found.row_count)?;
    transaction
        .commit()
        .map_err(|error| format!("commit: {error}"))?;
    let all = found.tables.entry(name).or_default();
    all.extend(rows);
    all.sort();
    Ok(())
}

fn append_rows(
    transaction: &mut WriteTransaction,
    tables: &Tables,
    name: &str,
    batch: &arrow::array::RecordBatch,
) -> Result<(), String> {
    if !tables.contains_key(name) {
        let created = transaction.create_table(definition(name));
        created.map_err(|error| error.to_string())?;
    }
    let appender = transaction.appender(name);
    let mut appender = appender.map_err(|error| error.to_string())?;
    appender.append(batch).map_err(|error| error.to_string())?;
    appender.finish().map_err(|error| error.to_string())?;
    Ok(())
}

/// Every page belongs to something that is there.
fn nothing_is_left_over(engine: &Engine) -> Result<(), String> {
    if engine.volume().pin().contains(STAGING_PAGE) {
        return Err("the staging mark is still there".to_owned());
    }
    match Engine::check(engine.volume()).first() {
        Some(finding) => Err(format!("check: {finding}")),
        None => Ok(()),
    }
}

fn describe_difference(found: &EngineContents, allowed: &[Arc<EngineContents>]) -> String {
    let counts = |contents: &EngineContents| {
        let count = |(name, rows): (&String, &Vec<_>)| format!("{name:?}: {} rows", rows.len());
        let tables: Vec<String> = contents.tables.iter().map(count).collect();
        format!("{}, {} rows", tables.join(", "), contents.row_count)
    };
    let allowed: Vec<String> = allowed.iter().map(|contents| counts(contents)).collect();
    format!(
        "found [{}], allowed [{}]",
        counts(found),
        allowed.join("] or [")
    )
}
