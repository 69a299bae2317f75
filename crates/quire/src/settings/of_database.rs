//! Settings that all connections of an open database share. They take effect at once, for all, and no `ROLLBACK` takes them back.

use std::fmt;

use quire_error::Error;
use quire_store::pool::Pool;

/// Threads that compress the pages of row tables in the background; with 0, whoever fills the log of a page compresses it.
const COMPRESSION_THREADS: &str = "compression_threads";

/// More threads than this only wait for processors.
pub(crate) const COMPRESSION_THREADS_MAX: usize = 64;

/// The settings of one open database; clones are the same.
#[derive(Clone, Default)]
pub(crate) struct DatabaseSettings {
    /// None outside of a database, as in tests of settings.
    pool: Option<Pool>,
    compression_threads_at_start: usize,
}

impl DatabaseSettings {
    pub(crate) const NAMES: [&str; 1] = [COMPRESSION_THREADS];

    pub(crate) fn new(pool: &Pool) -> Self {
        Self {
            pool: Some(pool.clone()),
            compression_threads_at_start: pool.compression_threads(),
        }
    }

    /// Whether it is one of these settings. Names are in lower case.
    pub(crate) fn has(name: &str) -> bool {
        Self::NAMES.contains(&name)
    }

    /// Changes the setting of that name; false if there is none.
    ///
    /// # Errors
    /// When the value is none that it can have, or the system gives no more threads.
    pub(super) fn set(&self, name: &str, value: &str) -> Result<bool, Error> {
        if !Self::has(name) {
            return Ok(false);
        }
        match value.parse() {
            Ok(count @ 0..=COMPRESSION_THREADS_MAX) => self.set_threads(count)?,
            _ => {
                let text = format!("invalid value for parameter \"{name}\": \"{value}\"");
                let hint = format!("Say a number of threads from 0 to {COMPRESSION_THREADS_MAX}.");
                return Err(Error::new("22023", text).with_hint(hint));
            }
        }
        Ok(true)
    }

    fn set_threads(&self, count: usize) -> Result<(), Error> {
        let Some(pool) = &self.pool else {
            return Ok(());
        };
        let started = pool.set_compression_threads(count);
        if started == count {
            return Ok(());
        }
        let text = format!("the system gives {started} of {count} threads");
        Err(Error::new("53000", text))
    }

    /// Goes back to what the database was opened with; false if there is no setting of that name.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(crate) fn reset(&self, name: &str) -> Result<bool, Error> {
        if !Self::has(name) {
            return Ok(false);
        }
        self.set_threads(self.compression_threads_at_start)?;
        Ok(true)
    }

    /// The text of the value.
    pub(super) fn show(&self, name: &str) -> Option<String> {
        let threads = || self.pool.as_ref().map_or(0, Pool::compression_threads);
        Self::has(name).then(|| threads().to_string())
    }
}

impl fmt::Debug for DatabaseSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseSettings").finish_non_exhaustive()
    }
}
