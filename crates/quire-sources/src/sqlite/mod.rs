//! SQLite files: one connection, one read transaction, which several readers share batch by batch.

mod catalog;
mod column_profile;
mod connection;
mod declared_type;
mod described_table;
mod keys;
mod row_key;
mod rows;
mod sample;
mod values;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quire_files::CopyControl;

pub(crate) use self::connection::is_sqlite_file;
pub(crate) use self::rows::SqliteReader;

use self::connection::SqliteFile;
use self::described_table::DescribedTable;
use crate::definition::{SourceTable, SourceTableDefinition, SourceTableName};
use crate::error::SourceError;
use crate::sample::SourceSample;

/// An open file, and what is known of its tables.
#[derive(Debug, Clone)]
pub(crate) struct SqliteDatabase {
    file: Arc<SqliteFile>,
    /// The transaction sees one state of the file: what was found once stays true.
    described: Arc<Mutex<HashMap<SourceTableName, Arc<DescribedTable>>>>,
}

impl SqliteDatabase {
    pub(crate) fn open(location: &str) -> Result<Self, SourceError> {
        Ok(Self {
            file: Arc::new(SqliteFile::open(location)?),
            described: Arc::default(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.file.shown_name
    }

    pub(crate) fn tables(&self) -> Result<Vec<SourceTable>, SourceError> {
        self.file.run(&CopyControl::default(), catalog::tables)
    }

    pub(crate) fn definition(
        &self,
        table: &SourceTableName,
        control: &CopyControl,
    ) -> Result<Arc<SourceTableDefinition>, SourceError> {
        Ok(Arc::clone(&self.described(table, control)?.definition))
    }

    pub(crate) fn read(
        &self,
        table: &SourceTableName,
        projection: Option<&[usize]>,
        control: &CopyControl,
    ) -> Result<SqliteReader, SourceError> {
        let described = self.described(table, control)?;
        SqliteReader::new(Arc::clone(&self.file), described, projection, control)
    }

    pub(crate) fn sample(
        &self,
        table: &SourceTableName,
        piece_count: usize,
        rows_per_piece: usize,
        control: &CopyControl,
    ) -> Result<SourceSample, SourceError> {
        let described = self.described(table, control)?;
        sample::sample(&self.file, &described, piece_count, rows_per_piece, control)
    }

    fn described(
        &self,
        table: &SourceTableName,
        control: &CopyControl,
    ) -> Result<Arc<DescribedTable>, SourceError> {
        // Held while the table is read, so that two who ask at once read it once.
        let mut described = self
            .described
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = described.get(table) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(DescribedTable::read(&self.file, table, control)?);
        described.insert(table.clone(), Arc::clone(&made));
        Ok(made)
    }
}
