//! Are the tables what a crash may have left of them?

use std::sync::Arc;

use quire_engine::Engine;
use quire_store::{MemDisk, OpenMode, Volume};

use super::rows::{Tables, batch, definition, read_tables};
use super::workload::volume_options;

/// Opens what a crash left, compares the tables with what is allowed, checks every invariant of the
/// tables, appends to one, and opens the file again. Returns which of the allowed states it was.
pub(super) fn verify(
    image: Vec<u8>,
    allowed: &[Arc<Tables>],
    may_be_blank: bool,
    seed: u64,
) -> Result<usize, String> {
    let disk = Arc::new(MemDisk::from_bytes(image));
    let opened = if may_be_blank {
        Volume::open_or_create(disk.clone(), volume_options(seed))
    } else {
        Volume::open_with(disk.clone(), OpenMode::ReadWrite, volume_options(seed))
    };
    let volume = opened.map_err(|error| format!("open: {error}"))?;
    let engine = Engine::open(volume).map_err(|error| format!("open: {error}"))?;
    let mut found = read_tables(&engine.snapshot())?;
    let position = allowed.iter().position(|tables| **tables == found);
    let position = position.ok_or_else(|| describe_difference(&found, allowed))?;
    no_findings(&engine)?;
    let rows = vec![(7, Some("after the crash".to_owned()))];
    let mut transaction = engine.begin().map_err(|error| format!("begin: {error}"))?;
    let name = found
        .keys()
        .next()
        .cloned()
        .unwrap_or_else(|| "new table".to_owned());
    if !found.contains_key(&name) {
        transaction
            .create_table(definition(&name))
            .map_err(|error| error.to_string())?;
    }
    let mut appender = transaction
        .appender(&name)
        .map_err(|error| error.to_string())?;
    appender
        .append(&batch(&rows)?)
        .map_err(|error| error.to_string())?;
    appender.finish().map_err(|error| error.to_string())?;
    transaction
        .commit()
        .map_err(|error| format!("commit: {error}"))?;
    found.entry(name).or_default().extend(rows);
    drop(engine);
    let volume =
        Volume::open(disk, OpenMode::ReadOnly).map_err(|error| format!("reopen: {error}"))?;
    let engine = Engine::open(volume).map_err(|error| format!("reopen: {error}"))?;
    if read_tables(&engine.snapshot())? != found {
        return Err("what was appended after the recovery is not there".to_owned());
    }
    no_findings(&engine)?;
    Ok(position)
}

fn no_findings(engine: &Engine) -> Result<(), String> {
    match Engine::check(engine.volume()).first() {
        Some(finding) => Err(format!("check: {finding}")),
        None => Ok(()),
    }
}

fn describe_difference(found: &Tables, allowed: &[Arc<Tables>]) -> String {
    let counts = |tables: &Tables| {
        let count = |(name, rows): (&String, &Vec<_>)| format!("{name:?}: {} rows", rows.len());
        tables.iter().map(count).collect::<Vec<_>>().join(", ")
    };
    let allowed: Vec<String> = allowed.iter().map(|tables| counts(tables)).collect();
    format!(
        "found [{}], allowed [{}]",
        counts(found),
        allowed.join("] or [")
    )
}
