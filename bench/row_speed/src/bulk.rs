//! Bulk load: rows in the order of the key into an empty table, one transaction, to a closed file.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use quire_codec::block::BlockCodecId;
use quire_tables::row_table::TupleValue;
use quire_tables::{ColumnDefinition, Engine, EngineOptions, KeyDefinition, CatalogKeyPart, SqlType, Storage, TableDefinition};
use quire_kv::mvcc::TransactionOptions;
use quire_store::{FileDisk, Volume, VolumeOptions};
use rusqlite::params;

use crate::Failure;
use crate::measure::median;
use crate::parts::{CODECS, file, remove_files};
use crate::rows::Row;
use crate::sqlite::Sqlite;

const COUNT: i64 = 400_000;
const ROUNDS: usize = 3;

/// Texts are made beforehand, and come again after so many rows: far more than a page has.
const TEXTS: i64 = 10_000;

fn texts() -> Vec<Row> {
    let row = |id| {
        let mut row = Row::default();
        row.fill(id);
        row
    };
    (0..TEXTS).map(row).collect()
}

fn definition(codec: BlockCodecId) -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, sql_type)
    };
    let columns = vec![
        column("id", SqlType::BigInt),
        column("k", SqlType::Integer),
        column("c", SqlType::Text),
        column("pad", SqlType::Text),
    ];
    let mut definition = TableDefinition::new("t", columns);
    definition.storage = Storage::Row;
    definition.options.page_codec = codec;
    let part = CatalogKeyPart {
        column: 0,
        is_descending: false,
    };
    definition.primary_key = Some(KeyDefinition {
        name: "t_pkey".to_owned(),
        columns: vec![part],
    });
    definition
}

/// Rows a second, and bytes of the file.
fn load_quire(path: &Path, codec: BlockCodecId, texts: &[Row]) -> Result<(f64, u64), Failure> {
    let disk = Arc::new(FileDisk::open_or_create(path)?);
    let volume = Volume::open_or_create(disk, VolumeOptions::default())?;
    let engine = Engine::open_with(volume.clone(), EngineOptions::default())?;
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.define(|tables| tables.create_table(definition(codec)))?;
    transaction.commit()?;
    let start = Instant::now();
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("t")?.ok_or("no table")?;
    let mut fill = transaction
        .begin_fill(&table, &[])?
        .ok_or("it is not empty")?;
    for (id, row) in (0..COUNT).zip(texts.iter().cycle()) {
        fill.insert(&[
            TupleValue::Integer(id),
            TupleValue::Integer(row.k),
            TupleValue::Bytes(row.c.as_bytes()),
            TupleValue::Bytes(row.pad.as_bytes()),
        ])?;
    }
    transaction.finish_fill(fill)?;
    transaction.commit()?;
    drop((table, engine));
    volume.close()?;
    let rate = COUNT as f64 / start.elapsed().as_secs_f64();
    Ok((rate, std::fs::metadata(path)?.len()))
}

fn load_sqlite(path: &Path, texts: &[Row]) -> Result<(f64, u64), Failure> {
    let connection = Sqlite::open(path, 256 << 20)?.connect(true)?;
    let start = Instant::now();
    connection.execute_batch("BEGIN")?;
    let mut statement = connection.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)")?;
    for (id, row) in (0..COUNT).zip(texts.iter().cycle()) {
        statement.execute(params![id, row.k, row.c, row.pad])?;
    }
    drop(statement);
    connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
    drop(connection);
    let rate = COUNT as f64 / start.elapsed().as_secs_f64();
    Ok((rate, std::fs::metadata(path)?.len()))
}

pub fn bulk(folder: &Path) -> Result<(), Failure> {
    println!("Bulk load: {COUNT} rows in the order of the key, one transaction, closed");
    let texts = texts();
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); CODECS.len() + 1];
    let mut bytes = vec![0; CODECS.len() + 1];
    for _ in 0..ROUNDS {
        remove_files(folder)?;
        for (at, codec) in CODECS.into_iter().enumerate() {
            let path = file(folder, codec.name());
            let (rate, file_bytes) = load_quire(&path, codec, &texts)?;
            rates[at].push(rate);
            bytes[at] = file_bytes;
            std::fs::remove_file(path)?;
        }
        let (rate, file_bytes) = load_sqlite(&file(folder, "sqlite"), &texts)?;
        rates[CODECS.len()].push(rate);
        bytes[CODECS.len()] = file_bytes;
    }
    let medians: Vec<f64> = rates.into_iter().map(median).collect();
    let names = CODECS.iter().map(|codec| codec.name()).chain(["SQLite"]);
    for ((name, rate), bytes) in names.zip(&medians).zip(bytes) {
        let ratio = rate / medians[CODECS.len()];
        println!(
            "{:24} {name:12} {rate:>10.0} rows/s  {:>4} MB       {ratio:>6.2} x SQLite",
            "bulk load",
            bytes >> 20
        );
    }
    Ok(())
}
