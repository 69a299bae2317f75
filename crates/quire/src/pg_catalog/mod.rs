//! PostgreSQL's catalog of a database: `pg_catalog` and `information_schema`, as clients read them.
//!
//! Nothing of it is stored. A statement that names a table or a function of the catalog gets them made from its snapshot.
//!
//! | module | answers |
//! |---|---|
//! | `specification` | which tables there are, with which columns |
//! | `objects` | what the database has, with PostgreSQL's numbers |
//! | `types` | types, their numbers and spellings |
//! | `relations`, `roles`, `surroundings`, `information` | the rows of the tables |
//! | `activity` | what connections do, and their locks |
//! | `functions`, `answers`, `sizes`, `backends` | functions such as `format_type` |
//! | `rewrite` | what has to be said otherwise for the planner |

mod activity;
mod answers;
mod arguments;
mod backends;
mod functions;
mod information;
mod objects;
mod relations;
pub(crate) mod rewrite;
mod role_entry;
mod roles;
mod rows;
mod sizes;
mod specification;
mod surroundings;
mod types;
mod waits;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use quire_tables::Snapshot;

use crate::opened::Opened;
use crate::session::Session;
use crate::settings::{ConnectionSettings, Identity};
use objects::Objects;
pub(crate) use objects::ViewColumns;
use quire_error::Error;
use role_entry::RoleEntry;
use rows::{Batch, CatalogRows};
pub(crate) use specification::PG_CATALOG;
use specification::{INFORMATION_SCHEMA, Specification};
pub(crate) use waits::WaitsFunction;

/// The names of the schemas that are made here.
pub(crate) const SCHEMAS: [&str; 2] = [PG_CATALOG, INFORMATION_SCHEMA];

/// The catalog of one snapshot, as one connection sees it.
pub(crate) struct PgCatalog {
    objects: Objects,
    snapshot: Snapshot,
    file_bytes: u64,
    settings: Arc<Mutex<ConnectionSettings>>,
    opened: Arc<Opened>,
    /// Of the connection.
    number: u32,
    user: String,
    database: String,
    /// The user's role first, which owns everything; then the others.
    roles: Vec<RoleEntry>,
    /// Tables that were asked for.
    made: Mutex<HashMap<(&'static str, &'static str), Batch>>,
}

impl std::fmt::Debug for PgCatalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgCatalog").finish_non_exhaustive()
    }
}

impl PgCatalog {
    pub(crate) fn new(
        snapshot: &Snapshot,
        views: &ViewColumns,
        session: &Session,
    ) -> Result<Self, Error> {
        let settings = session.shared_settings();
        let opened = Arc::clone(&session.database);
        let objects = Objects::new(snapshot, views)?;
        let identity = locked(&settings).identity().clone();
        let roles = RoleEntry::all(snapshot, &identity);
        let Identity { user, database, .. } = identity;
        Ok(Self {
            objects,
            snapshot: snapshot.clone(),
            file_bytes: opened.engine.volume().stats().file_bytes,
            settings,
            opened,
            number: session.number,
            user,
            database,
            roles,
            made: Mutex::default(),
        })
    }

    /// Names of the tables of a schema.
    pub(crate) fn table_names(schema: &str) -> Vec<String> {
        let tables = specification::TABLES.iter();
        let tables = tables.filter(|table| table.schema == schema);
        tables.map(|table| table.name.to_owned()).collect()
    }

    /// Whether a name without a schema is that of a table of the catalog.
    pub(crate) fn has_table(name: &str) -> bool {
        specification::find(Some(PG_CATALOG), name).is_some()
    }

    /// The table of that name, as a source of rows.
    pub(crate) fn table(&self, schema: &str, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(table) = specification::find(Some(schema), name) else {
            return Ok(None);
        };
        let batch = self.batch(table)?;
        let partitions = vec![vec![batch.as_ref().clone()]];
        Ok(Some(Arc::new(MemTable::try_new(
            batch.schema(),
            partitions,
        )?)))
    }

    /// Whether the user may do everything.
    fn is_superuser(&self) -> bool {
        self.roles.first().is_some_and(|own| own.is_superuser)
    }

    /// Whether a user called so may. Who is no role has proved nothing and is not restricted.
    fn is_superuser_called(&self, user: &str) -> bool {
        let mut roles = self.roles.iter();
        roles
            .find(|role| role.name == user)
            .is_none_or(|role| role.is_superuser)
    }

    /// The number of the role called so, or NULL.
    fn role_oid(&self, user: &str) -> ScalarValue {
        let mut roles = self.roles.iter();
        let found = roles.find(|role| role.name == user);
        found.map_or(ScalarValue::Null, |role| rows::number(role.oid))
    }

    fn settings(&self) -> MutexGuard<'_, ConnectionSettings> {
        locked(&self.settings)
    }

    fn batch(&self, table: &'static Specification) -> Result<Batch> {
        let key = (table.schema, table.name);
        let mut made = locked(&self.made);
        if let Some(batch) = made.get(&key) {
            return Ok(Arc::clone(batch));
        }
        let mut rows = CatalogRows::new(table);
        match table.schema {
            PG_CATALOG => {
                if !relations::fill(self, &mut rows, table.name)?
                    && !activity::fill(self, &mut rows, table.name)?
                {
                    surroundings::fill(self, &mut rows, table.name)?;
                }
            }
            _ => information::fill(self, &mut rows, table.name)?,
        }
        let batch = Arc::new(rows.into_batch()?);
        made.insert(key, Arc::clone(&batch));
        Ok(batch)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the functions of the catalog known to a planner.
pub(crate) fn register(state: &mut SessionState, catalog: &Arc<PgCatalog>) -> Result<()> {
    for function in functions::all(catalog) {
        state.register_udf(function.into())?;
    }
    Ok(())
}
