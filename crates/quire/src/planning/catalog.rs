//! The tables that a statement can name: those of its snapshot, and files it reads as tables.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, CatalogProviderList, MemoryCatalogProvider, MemoryCatalogProviderList,
    SchemaProvider, TableProvider,
};
use datafusion::common::Result;
use quire_error::Error;
use quire_functions::QuireOptions;
use quire_planner::scan::{ColumnTableProvider, RowTableProvider};
use quire_tables::Snapshot;

use crate::pg_catalog::{PG_CATALOG, PgCatalog, SCHEMAS};
use crate::settings::{CATALOG_NAME, SCHEMA_NAME};

/// Tables and files of one statement.
struct StatementSchema {
    snapshot: Snapshot,
    files: HashMap<String, Arc<dyn TableProvider>>,
    options: QuireOptions,
    catalog: Option<Arc<PgCatalog>>,
}

impl std::fmt::Debug for StatementSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StatementSchema").finish_non_exhaustive()
    }
}

/// The catalog list that the planner looks into.
pub(super) fn catalog_list(
    snapshot: Snapshot,
    files: HashMap<String, Arc<dyn TableProvider>>,
    options: QuireOptions,
    pg_catalog: Option<&Arc<PgCatalog>>,
) -> Result<Arc<dyn CatalogProviderList>> {
    let catalog = MemoryCatalogProvider::new();
    catalog.register_schema(
        SCHEMA_NAME,
        Arc::new(StatementSchema {
            snapshot,
            files,
            options,
            catalog: pg_catalog.cloned(),
        }),
    )?;
    for (name, made) in SCHEMAS.into_iter().zip(pg_catalog.into_iter().cycle()) {
        let tables = Arc::clone(made);
        catalog.register_schema(name, Arc::new(CatalogSchema { name, tables }))?;
    }
    let list = MemoryCatalogProviderList::new();
    list.register_catalog(CATALOG_NAME.to_owned(), Arc::new(catalog));
    Ok(Arc::new(list))
}

#[async_trait]
impl SchemaProvider for StatementSchema {
    fn table_names(&self) -> Vec<String> {
        self.snapshot
            .definitions()
            .iter()
            .map(|definition| definition.name.clone())
            .collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(file) = self.files.get(name) {
            return Ok(Some(Arc::clone(file)));
        }
        if let Some(table) = self.snapshot.row_table(name).map_err(Error::from)? {
            return Ok(Some(Arc::new(RowTableProvider::new(table))));
        }
        let table = self.snapshot.table(name).map_err(Error::from)?;
        match (table, &self.catalog) {
            (Some(table), _) => {
                let provider = ColumnTableProvider::new(table, self.options.clone());
                Ok(Some(Arc::new(provider)))
            }
            // Tables of the catalog need no schema before them.
            (None, Some(catalog)) => catalog.table(PG_CATALOG, name),
            (None, None) => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        let definitions = self.snapshot.definitions();
        self.files.contains_key(name) || definitions.iter().any(|known| known.name == name)
    }
}

/// `pg_catalog` or `information_schema`.
#[derive(Debug)]
struct CatalogSchema {
    name: &'static str,
    tables: Arc<PgCatalog>,
}

#[async_trait]
impl SchemaProvider for CatalogSchema {
    fn table_names(&self) -> Vec<String> {
        PgCatalog::table_names(self.name)
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.tables.table(self.name, name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.table_names().iter().any(|known| known == name)
    }
}
