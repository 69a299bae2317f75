//! A connection's state.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use quire_error::Error;
use quire_error::activity::micros_of;
use quire_exec::plan::Environment;
use quire_functions::{QuireOptions, SequenceValues, StatementClock, micros_now, zone_of};
use quire_kv::{mvcc::Isolation, mvcc::TransactionOptions};
use quire_planner::external::ExternalTables;
use quire_tables::Snapshot;
use quire_tables::row_table::Value;
use quire_text::temporal::TimeZoneRules;

use super::transaction::{SessionTransaction, SpareTransaction};
use crate::opened::Opened;
use crate::settings::{ConnectionSettings, DatabaseSettings};

/// One connection.
pub(crate) struct Session {
    /// Above the database, which is to go last.
    pub(crate) spare: SpareTransaction,
    pub(crate) database: Arc<Opened>,
    settings: Arc<Mutex<ConnectionSettings>>,
    /// Settings as they were and will be, once the open transaction has changed some.
    changed_settings: Mutex<Option<ChangedSettings>>,
    /// What `RESET` goes back to.
    defaults: Mutex<ConnectionSettings>,
    external_tables: Mutex<Option<ExternalTables>>,
    pub(crate) sequence_values: Arc<SequenceValues>,
    /// Its place among the connections of the database.
    pub(crate) number: u32,
    /// When `BEGIN` was said, in microseconds since 1970; 0 outside of a transaction.
    transaction_start: AtomicU64,
    /// Held while a statement changes tables; statements of a connection follow one another.
    pub(crate) transaction: tokio::sync::Mutex<SessionTransaction>,
}

/// Settings around a transaction that has changed some.
#[derive(Clone)]
struct ChangedSettings {
    before: ConnectionSettings,
    /// Without what is local to the transaction.
    after: ConnectionSettings,
}

/// What a savepoint keeps of them.
#[derive(Clone)]
pub(crate) struct SettingsThen {
    now: ConnectionSettings,
    changed: Option<ChangedSettings>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(crate) fn new(database: Arc<Opened>, number: u32) -> Self {
        let of_database = DatabaseSettings::new(database.engine.row_pool());
        let settings = ConnectionSettings::new(&database.options, of_database);
        Self {
            spare: SpareTransaction::default(),
            database,
            defaults: Mutex::new(settings.clone()),
            settings: Arc::new(Mutex::new(settings)),
            changed_settings: Mutex::new(None),
            external_tables: Mutex::new(None),
            sequence_values: Arc::default(),
            number,
            transaction_start: AtomicU64::new(0),
            transaction: tokio::sync::Mutex::new(SessionTransaction::Idle),
        }
    }

    /// A transaction of several statements has begun, if none was open.
    pub(crate) fn note_transaction_start(&self) {
        let now = micros_of(SystemTime::now());
        // Another `BEGIN` within it changes nothing.
        let _ =
            self.transaction_start
                .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// When the transaction of several statements began, if there is one, in microseconds since 1970.
    pub(crate) fn transaction_start(&self) -> Option<u64> {
        let start = self.transaction_start.load(Ordering::Relaxed);
        (start != 0).then_some(start)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, ConnectionSettings> {
        locked(&self.settings)
    }

    /// The switches of the planner.
    pub(crate) fn planner_options(&self) -> QuireOptions {
        self.settings().planner_options()
    }

    /// How a transaction runs that begins now.
    pub(crate) fn transaction_options(&self, isolation: Isolation) -> TransactionOptions {
        TransactionOptions {
            session: self.number,
            ..self.settings().transaction_options(isolation)
        }
    }

    /// Makes the settings as they are what `RESET` goes back to.
    pub(crate) fn keep_settings(&self) {
        let settings = self.settings().clone();
        *locked(&self.defaults) = settings;
    }

    /// `RESET name`, or of all settings.
    pub(crate) fn reset(&self, name: Option<&str>) -> Result<(), Error> {
        let defaults = locked(&self.defaults).clone();
        match name {
            None => self.change_settings(false, |settings| {
                *settings = defaults.clone();
                Ok(())
            }),
            Some(name) => {
                self.check_right_to_set(name)?;
                if defaults.of_database().reset(&name.to_lowercase())? {
                    return Ok(());
                }
                self.set(name, &defaults.show(name)?, false)
            }
        }
    }

    /// `SET name = value`; a local change lasts as long as the transaction.
    pub(crate) fn set(&self, name: &str, value: &str, is_local: bool) -> Result<(), Error> {
        self.check_right_to_set(name)?;
        self.change_settings(is_local, |settings| settings.set(name, value))
    }

    /// Whether the user of the connection may do everything.
    pub(crate) fn is_superuser(&self, snapshot: &Snapshot) -> bool {
        let identity = self.settings().identity().clone();
        let role = || snapshot.role(&identity.user);
        !identity.is_role || role().is_some_and(|role| role.is_superuser)
    }

    /// Fails for a setting of the whole database, unless the user may do everything.
    fn check_right_to_set(&self, name: &str) -> Result<(), Error> {
        let name = name.to_lowercase();
        if DatabaseSettings::has(&name) && !self.is_superuser(&self.database.engine.snapshot()) {
            let text = format!("permission denied to set parameter \"{name}\"");
            let hint = "It is one of the whole database. Only a SUPERUSER may set it.";
            return Err(Error::new("42501", text).with_hint(hint));
        }
        Ok(())
    }

    /// Changes settings, so that the end of an open transaction can take it back.
    fn change_settings(
        &self,
        is_local: bool,
        change: impl Fn(&mut ConnectionSettings) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.transaction_start().is_none() {
            // Without a transaction a local change lasts for nothing.
            let mut settings = self.settings().clone();
            change(&mut settings)?;
            if !is_local {
                *self.settings() = settings;
            }
            return Ok(());
        }
        let before = self.settings().clone();
        change(&mut self.settings())?;
        let mut changed = locked(&self.changed_settings);
        let changed = changed.get_or_insert_with(|| ChangedSettings {
            before: before.clone(),
            after: before,
        });
        if is_local {
            Ok(())
        } else {
            change(&mut changed.after)
        }
    }

    /// The settings as a savepoint finds them.
    pub(crate) fn settings_then(&self) -> SettingsThen {
        SettingsThen {
            now: self.settings().clone(),
            changed: locked(&self.changed_settings).clone(),
        }
    }

    /// Takes back what has been set since a savepoint.
    pub(crate) fn restore_settings(&self, then: SettingsThen) {
        *self.settings() = then.now;
        *locked(&self.changed_settings) = then.changed;
    }

    /// The transaction of several statements has ended; its settings are kept or taken back.
    pub(crate) fn note_transaction_end(&self, is_kept: bool) {
        self.transaction_start.store(0, Ordering::Relaxed);
        if let Some(changed) = locked(&self.changed_settings).take() {
            *self.settings() = if is_kept {
                changed.after
            } else {
                changed.before
            };
        }
    }

    /// What a statement's execution sees beside rows.
    pub(crate) fn environment<'a>(&self, parameters: &'a [Value]) -> Environment<'a> {
        match self.transaction_start() {
            None => Environment::new(parameters),
            Some(start) => Environment::at(parameters, start.cast_signed()),
        }
    }

    /// Where the session is.
    pub(crate) fn zone(&self) -> TimeZoneRules {
        zone_of(self.settings().config().options())
    }

    pub(crate) fn statement_clock(&self) -> StatementClock {
        let statement = micros_now();
        StatementClock {
            transaction: self.transaction_start().map_or(statement, u64::cast_signed),
            statement,
        }
    }

    /// The settings, to be kept by what changes them while a statement runs.
    pub(crate) fn shared_settings(&self) -> Arc<Mutex<ConnectionSettings>> {
        Arc::clone(&self.settings)
    }

    pub(crate) fn set_external_tables(&self, tables: Option<ExternalTables>) {
        *locked(&self.external_tables) = tables;
    }

    /// Where tables are looked for that are none of the file's.
    pub(crate) fn external_tables(&self) -> Option<ExternalTables> {
        locked(&self.external_tables).clone()
    }

    pub(crate) fn has_external_tables(&self) -> bool {
        locked(&self.external_tables).is_some()
    }

    /// The tables this connection sees now: the newest committed ones, or those of its open
    /// transaction.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, Error> {
        let mut transaction = self.transaction.lock().await;
        tokio::task::block_in_place(|| transaction.snapshot(self))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.database.sessions.remove(self.number);
    }
}
