//! Connections to a server that all see one snapshot.
//!
//! The client library drives its own event loop and refuses to do so on a thread that already drives one. Every use of it therefore has
//! a thread of its own, so that callers may be on any.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::{CancelToken, Client, Config, NoTls};

use quire_files::CopyControl;

use super::address;
use crate::error::{SourceError, stopped};

/// Between two looks at the control while a query runs.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(50);
const VERSION_MIN: i32 = 120_000;
/// What could end a long read, begin one in the middle of a table, or change how values look as text.
const SETTINGS: &str = "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET synchronize_seqscans = off; \
     SET DateStyle = ISO; SET IntervalStyle = postgres; SET TimeZone = 'UTC'; SET bytea_output = hex; SET extra_float_digits = 1";
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Why work on a connection ended: for the library's reason, whose server the work need not know, or for ours.
#[derive(Debug)]
pub(super) enum PostgresStop {
    Library(postgres::Error),
    Source(SourceError),
}

impl From<postgres::Error> for PostgresStop {
    fn from(error: postgres::Error) -> Self {
        Self::Library(error)
    }
}

impl From<SourceError> for PostgresStop {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

/// A server, and the connection whose open transaction keeps the snapshot.
pub(crate) struct PostgresServer {
    pub(super) shown_name: Arc<str>,
    config: Config,
    snapshot: String,
    /// Never used again. `None` while it is dropped.
    keeper: Mutex<Option<Client>>,
}

impl std::fmt::Debug for PostgresServer {
    /// Without the configuration, which has the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresServer")
            .field("shown_name", &self.shown_name)
            .finish_non_exhaustive()
    }
}

impl PostgresServer {
    pub(super) fn connect(address: &str) -> Result<Self, SourceError> {
        let (config, shown_name) = address::parse(address)?;
        let kept = apart(&shown_name, || keep_snapshot(&config, &shown_name))?;
        let (keeper, snapshot) = kept?;
        Ok(Self {
            shown_name,
            config,
            snapshot,
            keeper: Mutex::new(Some(keeper)),
        })
    }

    /// A connection whose transaction sees the snapshot. On a thread of its own only.
    pub(super) fn snapshot_client(&self) -> Result<Client, SourceError> {
        let mut client = connected(&self.config, &self.shown_name)?;
        let transaction = format!("{BEGIN}; SET TRANSACTION SNAPSHOT '{}'", self.snapshot);
        client
            .batch_execute(&transaction)
            .map_err(|error| self.said(&error))?;
        Ok(client)
    }

    /// Does something with a connection of its own, and asks the server to stop it when the control is cancelled.
    pub(super) fn run<T: Send>(
        &self,
        control: &CopyControl,
        work: impl FnOnce(&mut Client) -> Result<T, PostgresStop> + Send,
    ) -> Result<T, SourceError> {
        control.check().map_err(stopped)?;
        let (say_token, token) = channel();
        let (say_done, done) = channel::<()>();
        thread::scope(|scope| {
            let worker = move || {
                let mut client = self.snapshot_client()?;
                // Who waits for it may have gone.
                let _ = say_token.send(client.cancel_token());
                let result = work(&mut client).map_err(|stop| self.stopped(stop));
                drop(client);
                drop(say_done);
                result
            };
            let worker = thread::Builder::new()
                .name("quire-source".into())
                .spawn_scoped(scope, worker);
            let worker = worker.map_err(|error| self.internal(error))?;
            let token: Option<CancelToken> = token.recv().ok();
            while done.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // Again and again: a request that comes between two queries is lost.
                if control.check().is_err()
                    && let Some(token) = &token
                {
                    self.cancel(token);
                }
            }
            let result = worker
                .join()
                .unwrap_or_else(|_| Err(self.internal("a panic while talking to the server")));
            if control.check().is_err() {
                Err(SourceError::Cancelled)
            } else {
                result
            }
        })
    }

    /// Asks the server to end what it does for a connection. It may have ended before.
    pub(super) fn cancel(&self, token: &CancelToken) {
        let _ = apart(&self.shown_name, || token.cancel_query(NoTls));
    }

    pub(super) fn stopped(&self, stop: PostgresStop) -> SourceError {
        match stop {
            PostgresStop::Library(error) => self.said(&error),
            PostgresStop::Source(error) => error,
        }
    }

    /// The library's error as ours.
    pub(super) fn said(&self, error: &postgres::Error) -> SourceError {
        SourceError::Postgres {
            server: Arc::clone(&self.shown_name),
            detail: detail(error),
        }
    }

    pub(super) fn internal(&self, detail: impl ToString) -> SourceError {
        SourceError::Internal {
            database: Arc::clone(&self.shown_name),
            detail: detail.to_string(),
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let keeper = self
            .keeper
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let _ = apart(&self.shown_name, move || drop(keeper));
    }
}

/// Runs `work` on a thread of its own and waits for it.
fn apart<T: Send>(server: &Arc<str>, work: impl FnOnce() -> T + Send) -> Result<T, SourceError> {
    let internal = |detail: String| SourceError::Internal {
        database: Arc::clone(server),
        detail,
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("quire-source".into())
            .spawn_scoped(scope, work);
        let worker = worker.map_err(|error| internal(error.to_string()))?;
        worker
            .join()
            .map_err(|_| internal("a panic while talking to the server".to_owned()))
    })
}

fn connected(config: &Config, server: &Arc<str>) -> Result<Client, SourceError> {
    let refused = |error: postgres::Error| {
        let detail = detail(&error);
        let is_refusal = error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION);
        // A rule that wants TLS does not match a connection without, so that there is none.
        let wants_tls = is_refusal && detail.contains("no pg_hba.conf entry");
        let server = Arc::clone(server);
        if wants_tls {
            SourceError::TlsRequired { server, detail }
        } else {
            SourceError::Connect { server, detail }
        }
    };
    let mut client = config.connect(NoTls).map_err(refused)?;
    client.batch_execute(SETTINGS).map_err(refused)?;
    Ok(client)
}

/// A connection with an open transaction, and the name of what it sees.
fn keep_snapshot(config: &Config, server: &Arc<str>) -> Result<(Client, String), SourceError> {
    let mut client = connected(config, server)?;
    let refused = |error: postgres::Error| SourceError::Postgres {
        server: Arc::clone(server),
        detail: detail(&error),
    };
    let version = client.query_one(
        "SELECT current_setting('server_version_num')::int4, current_setting('server_version')",
        &[],
    );
    let version = version.map_err(refused)?;
    if version.get::<_, i32>(0) < VERSION_MIN {
        let (server, version) = (Arc::clone(server), version.get(1));
        return Err(SourceError::ServerTooOld { server, version });
    }
    client.batch_execute(BEGIN).map_err(refused)?;
    let snapshot = client
        .query_one("SELECT pg_export_snapshot()", &[])
        .map_err(refused)?
        .get(0);
    Ok((client, snapshot))
}

/// What the server says, with its SQLSTATE; otherwise what happened to the connection.
fn detail(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} (SQLSTATE {})", said.message(), said.code().code()),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

/// A name as SQL quotes it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
