//! Databases with the tables of TPC-H as column tables.

use std::path::Path;
use std::sync::Arc;

use quire::{Database, DatabaseOptions};
use quire_store::{Disk, FileDisk, MemDisk, OpenMode};

use crate::column_tables::session::{ColumnSession, reading};
use crate::column_tables::{ColumnLayout, ExperimentProgress, RunConditions};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::Files;
use crate::tpcd::warehouse::CsvAnswer;

/// How the columns are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnCodecs {
    /// Each row group of a column by the codec that suits it.
    Auto,
    /// Values as they are.
    Plain,
}

impl ColumnCodecs {
    pub(crate) const BOTH: [Self; 2] = [Self::Auto, Self::Plain];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "compressed",
            Self::Plain => "uncompressed",
        }
    }
}

const SCHEMA: &str = include_str!("../../../../tests/tpch/schema.sql");

/// The statement that makes a table.
fn definition(table: &str, (layout, codecs): (ColumnLayout, ColumnCodecs)) -> Option<String> {
    let statements = SCHEMA.split(';').map(str::trim);
    let text = statements
        .filter_map(|text| {
            text.find("CREATE TABLE")
                .and_then(|start| text.get(start..))
        })
        .find(|text| text.starts_with(&format!("CREATE TABLE {table} (")))?;
    let columns = match codecs {
        ColumnCodecs::Auto => text.to_owned(),
        ColumnCodecs::Plain => text.replace(" NOT NULL", " COMPRESSION plain NOT NULL"),
    };
    Some(format!("{columns}{}", layout.clause()))
}

/// A database that was loaded and closed.
pub(crate) struct LoadedColumns {
    disk: Arc<dyn Disk>,
}

impl LoadedColumns {
    /// Loads tables from their files, in their order, into a database in memory, or into a new file.
    ///
    /// # Errors
    /// When the file cannot be made, or a statement fails.
    fn load(
        file: Option<&Path>,
        files: &Files,
        tables: &[&str],
        storage: (ColumnLayout, ColumnCodecs),
    ) -> Result<Self, BenchmarkFailure> {
        let loaded = Self {
            disk: new_disk(file)?,
        };
        let mut statements = Vec::new();
        for table in tables {
            let path = files.path(table).display().to_string().replace('\'', "''");
            statements.extend(definition(table, storage));
            statements.push(format!("COPY {table} FROM '{path}'"));
        }
        loaded.change(&statements)?;
        Ok(loaded)
    }

    /// Opens the database, runs statements, and closes it.
    ///
    /// # Errors
    /// When one of them fails.
    pub(crate) fn change(&self, statements: &[String]) -> Result<(), BenchmarkFailure> {
        let options = DatabaseOptions {
            merges_in_background: false,
            ..DatabaseOptions::default()
        };
        let disk = Arc::clone(&self.disk);
        let database = Database::on_disk(disk, OpenMode::ReadWrite, options)?;
        let mut connection = database.connect();
        for statement in statements {
            CsvAnswer::of(&mut connection, statement)?;
        }
        CsvAnswer::of(&mut connection, "CHECKPOINT")?;
        Ok(())
    }

    /// Opens the database for reading by so many connections at a time.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open_for_streams(&self, streams: usize) -> Result<Database, BenchmarkFailure> {
        let options = reading(streams);
        let disk = Arc::clone(&self.disk);
        Ok(Database::on_disk(disk, OpenMode::ReadOnly, options)?)
    }

    /// Loads tables as [`LoadedColumns::load`] does, and tells how long it took and how large the database is.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn load_telling(
        file: Option<&Path>,
        (files, tables): (&Files, &[&str]),
        storage: (ColumnLayout, ColumnCodecs),
        progress: &mut ExperimentProgress<'_>,
    ) -> Result<Self, BenchmarkFailure> {
        let (layout, codecs) = storage;
        let what = format!("loading {} {} tables", codecs.name(), layout.name());
        let loaded = progress.timed(&what, || Self::load(file, files, tables, storage))?;
        let megabytes = loaded.disk.len()? as f64 / 1e6;
        progress.say(&format!("  {megabytes:.1} MB"));
        Ok(loaded)
    }

    /// Opens the database for reading with one thread; nothing of it is in memory.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(
        &self,
        conditions: RunConditions,
    ) -> Result<ColumnSession, BenchmarkFailure> {
        ColumnSession::open(Arc::clone(&self.disk), conditions)
    }
}

fn new_disk(file: Option<&Path>) -> Result<Arc<dyn Disk>, BenchmarkFailure> {
    let Some(path) = file else {
        return Ok(Arc::new(MemDisk::new()));
    };
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let disk = FileDisk::open_or_create(path).map_err(quire::Error::from)?;
    Ok(Arc::new(disk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcd::data::TABLES;

    #[test]
    fn every_column_of_every_table_can_be_plain() {
        let definitions = |codecs| {
            TABLES.map(|table| definition(table, (ColumnLayout::Dsm, codecs)).unwrap_or_default())
        };
        let plain = definitions(ColumnCodecs::Plain).join("\n");
        assert_eq!(plain.matches("COMPRESSION plain NOT NULL").count(), 61);
        let auto = definitions(ColumnCodecs::Auto);
        assert_eq!(auto.join("\n").matches("NOT NULL").count(), 61);
        for (text, table) in auto.iter().zip(TABLES) {
            assert!(
                text.starts_with(&format!("CREATE TABLE {table} (")),
                "{text}"
            );
        }
        let storage = (ColumnLayout::Dsm, ColumnCodecs::Auto);
        assert_eq!(definition("part_of_nothing", storage), None);
    }

    #[test]
    fn blocks_are_asked_for_behind_the_columns() {
        for codecs in ColumnCodecs::BOTH {
            let columns = definition("nation", (ColumnLayout::Dsm, codecs)).unwrap_or_default();
            let blocks = definition("nation", (ColumnLayout::Pax, codecs)).unwrap_or_default();
            assert!(columns.ends_with(')'), "{columns}");
            assert_eq!(
                blocks,
                format!("{columns} USING pax WITH (block_bytes = 1048576)")
            );
        }
    }
}
