//! The databases that this process has open. Connections to one file share it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use quire::{Database, DatabaseOptions, Error};

struct SharedDatabase {
    database: Database,
    read_only: bool,
    connection_count: usize,
}

type Known = Mutex<HashMap<PathBuf, SharedDatabase>>;

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(Known::default)
}

/// One connection's part in an open database.
pub struct Share {
    /// Nothing of a database in memory, which has one owner or its duplicates.
    path: Option<PathBuf>,
    database: Option<Database>,
}

/// Why there is no connection.
pub enum PythonOpenError {
    Database(Error),
    /// The file is open in this process in the other mode.
    OtherMode {
        is_read_only: bool,
    },
}

impl Share {
    /// A database in memory.
    pub fn in_memory(options: DatabaseOptions) -> Result<Self, PythonOpenError> {
        let database = Database::in_memory_with(options).map_err(PythonOpenError::Database)?;
        Ok(Self {
            path: None,
            database: Some(database),
        })
    }

    /// The file at `path`, opened now or before.
    pub fn of_file(path: &Path, options: DatabaseOptions) -> Result<Self, PythonOpenError> {
        // Held while the file is opened: a second caller finds it open.
        let mut known = known().lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(place) = path.canonicalize()
            && let Some(shared) = known.get_mut(&place)
        {
            if shared.read_only && !options.read_only || options.read_only && !shared.read_only {
                let is_read_only = shared.read_only;
                return Err(PythonOpenError::OtherMode { is_read_only });
            }
            shared.connection_count += 1;
            return Ok(Self {
                path: Some(place),
                database: Some(shared.database.clone()),
            });
        }
        let read_only = options.read_only;
        let database = Database::open_with(path, options).map_err(PythonOpenError::Database)?;
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let shared = SharedDatabase {
            database: database.clone(),
            read_only,
            connection_count: 1,
        };
        known.insert(place.clone(), shared);
        Ok(Self {
            path: Some(place),
            database: Some(database),
        })
    }

    /// Another part in the same database.
    pub fn again(&self) -> Self {
        let mut known = known().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = self.path.as_ref().and_then(|path| known.get_mut(path)) {
            shared.connection_count += 1;
        }
        Self {
            path: self.path.clone(),
            database: self.database.clone(),
        }
    }

    pub fn connect(&self) -> Option<quire::Connection> {
        self.database.as_ref().map(Database::connect)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // The last one closes the file before anybody opens it anew.
        let mut known = known().lock().unwrap_or_else(PoisonError::into_inner);
        self.database = None;
        let Some(path) = &self.path else { return };
        if let Some(shared) = known.get_mut(path) {
            shared.connection_count -= 1;
            if shared.connection_count == 0 {
                known.remove(path);
            }
        }
    }
}
