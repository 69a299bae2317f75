//! The reference volume with a PAX table: what is in it, and how it was made.
//!
//! The file is under `tests/golden`; every later program must open it and find this.

use std::sync::Arc;

use quire_store::{Disk, MemDisk, Volume, VolumeOptions};
use quire_tables::{AppendOptions, Engine};

use super::rows::{Row, Tables, batch, definition, read_tables};

/// Its name.
pub const GOLDEN_PAX_NAME: &str = "pax.volume";

/// Bytes that a block of the table is to have.
pub const GOLDEN_PAX_BLOCK_BYTES: usize = 16 << 10;

/// The table `reading` with 20,000 rows: row `n` has the number `n * n mod 100,003` and the text `text t` with `t = 7 n mod 50`, or NULL
/// where 11 divides `n`.
#[must_use]
pub fn golden_pax_tables() -> Tables {
    let row = |n: i64| -> Row {
        let text = (n % 11 > 0).then(|| format!("text {}", 7 * n % 50));
        (n * n % 100_003, text)
    };
    Tables::from([("reading".to_owned(), (0..20_000).map(row).collect())])
}

/// Makes the file.
///
/// # Errors
/// The message of the engine.
pub fn make_golden_pax() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let disk = Arc::new(MemDisk::new());
    let options = VolumeOptions {
        salt_seed: Some(1),
        ..VolumeOptions::default()
    };
    let volume = Volume::create(disk.clone() as Arc<dyn Disk>, options)?;
    let engine = Engine::open(volume.clone())?;
    for (name, rows) in golden_pax_tables() {
        let mut transaction = engine.begin()?;
        transaction.create_table(definition(&name).in_blocks_of(GOLDEN_PAX_BLOCK_BYTES))?;
        let options = AppendOptions {
            workers: Some(1),
            ..AppendOptions::default()
        };
        let mut appender = transaction.appender_with(&name, options)?;
        appender.append(&batch(&rows)?)?;
        appender.finish()?;
        transaction.commit()?;
    }
    drop(engine);
    volume.close()?;
    Ok(disk.to_bytes())
}

/// Adds the rows of the table once more.
///
/// # Errors
/// The message of the engine.
pub fn append_to_golden_pax(engine: &Engine) -> Result<(), Box<dyn std::error::Error>> {
    for (name, rows) in golden_pax_tables() {
        let mut transaction = engine.begin()?;
        let mut appender = transaction.appender_with(&name, AppendOptions::default())?;
        appender.append(&batch(&rows)?)?;
        appender.finish()?;
        transaction.commit()?;
    }
    Ok(())
}

/// The tables of a file, with their rows.
///
/// # Errors
/// The message of the engine.
pub fn read_golden_pax(engine: &Engine) -> Result<Tables, String> {
    read_tables(&engine.snapshot())
}
