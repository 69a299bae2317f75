//! Are the tables and the log what a crash may have left of them?

use std::sync::Arc;

use quire_engine::{Engine, WriteTransaction};
use quire_store::log::{Log, LogOptions};
use quire_store::{Disk, Durability, MemDisk, OpenMode, STAGING_PAGE, SimDisk, Volume};

use super::rows::{Contents, Tables, batch, definition, read_tables, replay_all};
use super::workload::volume_options;

/// What a recovery found.
pub(super) struct Recovered {
    /// Which of the allowed states.
    pub(super) position: usize,
    /// A transaction had written pages ahead.
    pub(super) was_staged: bool,
}

/// Opens what a crash left, compares tables and log with what is allowed, checks every invariant of the
/// tables, appends to one, and opens the file again.
pub(super) fn verify(
    image: Vec<u8>,
    allowed: &[Arc<Contents>],
    may_be_blank: bool,
    seed: u64,
) -> Result<Recovered, String> {
    let disk = Arc::new(MemDisk::from_bytes(image));
    let volume = open(disk.clone(), may_be_blank, seed)?;
    let was_staged = volume.pin().contains(STAGING_PAGE);
    let engine = Engine::open(volume).map_err(|error| format!("open: {error}"))?;
    let (log, mut found) = read(&engine)?;
    let position = allowed.iter().position(|contents| **contents == found);
    let position = position.ok_or_else(|| describe_difference(&found, allowed))?;
    nothing_is_left_over(&engine)?;
    append(&engine, &log, &mut found)?;
    drop((engine, log));
    let volume =
        Volume::open(disk, OpenMode::ReadOnly).map_err(|error| format!("reopen: {error}"))?;
    let engine = Engine::open(volume).map_err(|error| format!("reopen: {error}"))?;
    if read(&engine)?.1 != found {
        return Err("what was appended after the recovery is not there".to_owned());
    }
    nothing_is_left_over(&engine)?;
    Ok(Recovered {
        position,
        was_staged,
    })
}

/// Opens what a crash left on a disk that records what is written meanwhile.
pub(super) fn recover(disk: Arc<SimDisk>, seed: u64) -> Result<(), String> {
    let volume = open(disk, false, seed)?;
    Engine::open(volume).map_err(|error| format!("open: {error}"))?;
    Ok(())
}

fn open(disk: Arc<dyn Disk>, may_be_blank: bool, seed: u64) -> Result<Volume, String> {
    let opened = if may_be_blank {
        Volume::open_or_create(disk, volume_options(seed))
    } else {
        Volume::open_with(disk, OpenMode::ReadWrite, volume_options(seed))
    };
    opened.map_err(|error| format!("open: {error}"))
}

fn read(engine: &Engine) -> Result<(Log, Contents), String> {
    let tables = read_tables(&engine.snapshot())?;
    let log = Log::open(engine.volume(), LogOptions::default());
    let log = log.map_err(|error| format!("open the log: {error}"))?;
    let redo = replay_all(&log)?;
    Ok((log, Contents { tables, redo }))
}

/// Appends a row to the first table, in one commit with a record of the log.
fn append(engine: &Engine, log: &Log, found: &mut Contents) -> Result<(), String> {
    let rows = vec![(7, Some("after the crash".to_owned()))];
    let mut transaction = engine.begin().map_err(|error| format!("begin: {error}"))?;
    let name = found.tables.keys().next().cloned();
    let name = name.unwrap_or_else(|| "new table".to_owned());
    append_rows(&mut transaction, &found.tables, &name, &batch(&rows)?)?;
    let record = (found.redo + 1).to_le_bytes();
    transaction
        .commit_by(|batch| log.commit_batch(batch, &record, Durability::Synced))
        .map_err(|error| format!("commit: {error}"))?;
    found.tables.entry(name).or_default().extend(rows);
    found.redo += 1;
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

fn describe_difference(found: &Contents, allowed: &[Arc<Contents>]) -> String {
    let counts = |contents: &Contents| {
        let count = |(name, rows): (&String, &Vec<_>)| format!("{name:?}: {} rows", rows.len());
        let tables: Vec<String> = contents.tables.iter().map(count).collect();
        format!("{}, {} commits", tables.join(", "), contents.redo)
    };
    let allowed: Vec<String> = allowed.iter().map(|contents| counts(contents)).collect();
    format!(
        "found [{}], allowed [{}]",
        counts(found),
        allowed.join("] or [")
    )
}
