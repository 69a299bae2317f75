//! Databases of PostgreSQL servers: one connection holds a snapshot, every read has a connection of its own that sees it.

mod address;
mod catalog;
mod column_type;
mod copy_decoder;
mod described_table;
mod keys;
mod numeric;
mod reader;
mod sample;
mod server;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quire_files::CopyControl;

pub(crate) use self::address::is_address;
pub(crate) use self::reader::PostgresReader;

use self::described_table::DescribedRelation;
use self::server::PostgresServer;
use crate::definition::{SourceTable, SourceTableDefinition, SourceTableName};
use crate::error::SourceError;
use crate::sample::SourceSample;

/// A snapshot of a database, and what is known of its tables.
#[derive(Debug, Clone)]
pub(crate) struct PostgresDatabase {
    server: Arc<PostgresServer>,
    described: Arc<Mutex<HashMap<SourceTableName, Arc<DescribedRelation>>>>,
}

impl PostgresDatabase {
    pub(crate) fn connect(address: &str) -> Result<Self, SourceError> {
        Ok(Self {
            server: Arc::new(PostgresServer::connect(address)?),
            described: Arc::default(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.server.shown_name
    }

    pub(crate) fn tables(&self) -> Result<Vec<SourceTable>, SourceError> {
        self.server.run(&CopyControl::default(), catalog::tables)
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
    ) -> Result<PostgresReader, SourceError> {
        let described = self.described(table, control)?;
        PostgresReader::start(&self.server, &described, projection, control)
    }

    pub(crate) fn sample(
        &self,
        table: &SourceTableName,
        piece_count: usize,
        rows_per_piece: usize,
        control: &CopyControl,
    ) -> Result<SourceSample, SourceError> {
        let described = self.described(table, control)?;
        sample::sample(
            &self.server,
            &described,
            piece_count,
            rows_per_piece,
            control,
        )
    }

    fn described(
        &self,
        table: &SourceTableName,
        control: &CopyControl,
    ) -> Result<Arc<DescribedRelation>, SourceError> {
        // Held while the table is read, so that two who ask at once read it once.
        let mut described = self
            .described
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = described.get(table) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(DescribedRelation::read(&self.server, table, control)?);
        described.insert(table.clone(), Arc::clone(&made));
        Ok(made)
    }
}
