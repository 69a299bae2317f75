//! `BEGIN` to `COMMIT`, and the transaction that every statement runs in.
//!
//! A statement outside of `BEGIN` … `COMMIT` is a transaction of its own. Inside, the engine's transaction is begun by the first
//! statement that reads or writes, so that a snapshot is as young as possible. A statement that fails leaves the transaction
//! aborted, as in PostgreSQL: only `ROLLBACK`, `ROLLBACK TO` a savepoint, or `COMMIT`, which then rolls back, is accepted.

mod spare;

use std::mem;
use std::sync::Arc;

use quire_kv::{mvcc::Isolation, mvcc::LockWait, mvcc::TableLockMode};
use quire_tables::{Savepoint, Snapshot, Transaction as EngineTransaction};
use tokio::sync::MutexGuard;
use tokio::task::block_in_place;

use super::context::{Session, SettingsThen};
use crate::merging::ChangedRows;
use quire_error::Error;
use quire_error::cancel::CancelToken;

pub(crate) use spare::SpareTransaction;

/// Where a connection is.
#[derive(Default)]
pub(crate) enum SessionTransaction {
    /// Every statement is its own transaction.
    #[default]
    Idle,
    /// `BEGIN` has been said, and nothing was read or written yet.
    Begun {
        isolation: Isolation,
        is_read_only: bool,
    },
    /// Something was.
    Open(Box<OpenTransaction>),
    /// A statement failed. What came before the newest savepoint is kept for `ROLLBACK TO`; everything else is undone, and its locks
    /// are given back.
    Aborted(Option<Box<OpenTransaction>>),
}

/// A transaction of several statements.
pub(crate) struct OpenTransaction {
    engine: EngineTransaction,
    /// The oldest first.
    savepoints: Vec<(String, Savepoint, SettingsThen)>,
    is_read_only: bool,
    /// Rows of column tables that have been changed, rolled back ones among them.
    changed: ChangedRows,
}

impl SessionTransaction {
    /// What a reading statement sees.
    pub(crate) fn snapshot(&mut self, session: &Session) -> Result<Snapshot, Error> {
        if let SessionTransaction::Begun {
            isolation,
            is_read_only,
        } = *self
        {
            // It begins with its first statement.
            let open = OpenTransaction::begin(session, isolation, is_read_only, false);
            let snapshot = open.engine.snapshot();
            *self = SessionTransaction::Open(open);
            return Ok(snapshot);
        }
        match self {
            SessionTransaction::Idle => Ok(session.database.engine.snapshot()),
            SessionTransaction::Open(open) => {
                open.engine.begin_statement();
                Ok(open.engine.snapshot())
            }
            _ => Err(aborted()),
        }
    }

    /// The isolation of the transaction, if there is one.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        match self {
            SessionTransaction::Begun { isolation, .. } => Some(*isolation),
            SessionTransaction::Open(open) | SessionTransaction::Aborted(Some(open)) => {
                Some(open.engine.isolation())
            }
            _ => None,
        }
    }

    /// Whether `BEGIN` was said.
    pub(crate) fn is_explicit(&self) -> bool {
        !matches!(self, SessionTransaction::Idle)
    }

    /// Whether the transaction has changed definitions, which only it sees until it commits.
    pub(crate) fn has_changed_definitions(&self) -> bool {
        match self {
            SessionTransaction::Open(open) => open.engine.has_changed_definitions(),
            _ => false,
        }
    }

    /// Keeps tables from being changed or dropped until the transaction ends. Waits for who does so.
    pub(crate) fn lock_for_reading(
        &mut self,
        session: &Session,
        tables: &[u64],
        token: &CancelToken,
    ) -> Result<(), Error> {
        let SessionTransaction::Open(open) = self else {
            return Ok(());
        };
        open.heed(session, token);
        let (engine, mode) = (&mut open.engine, TableLockMode::AccessShare);
        let mut tables = tables.iter();
        let locked = tables.try_for_each(|table| {
            engine.lock_table(*table, mode, LockWait::Wait)?;
            Ok(())
        });
        forget_token(open);
        locked
    }

    /// What the same statement sees after waiting for tables.
    pub(crate) fn snapshot_again(&mut self) -> Result<Snapshot, Error> {
        match self {
            SessionTransaction::Open(open) => {
                open.engine.begin_statement();
                Ok(open.engine.snapshot())
            }
            _ => Err(aborted()),
        }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        matches!(self, SessionTransaction::Aborted(_))
    }

    /// Whether a change of the transaction's modes comes in time.
    pub(crate) fn set_modes(&mut self, modes: TransactionModes) -> Result<(), Error> {
        match self {
            SessionTransaction::Begun {
                isolation,
                is_read_only,
            } => {
                *isolation = modes.isolation.unwrap_or(*isolation);
                *is_read_only = modes.is_read_only.unwrap_or(*is_read_only);
                Ok(())
            }
            SessionTransaction::Open(_) if modes.isolation.is_some() => Err(Error::new(
                "25001",
                "SET TRANSACTION ISOLATION LEVEL must be called before any query",
            )),
            SessionTransaction::Open(open) => {
                open.is_read_only = modes.is_read_only.unwrap_or(open.is_read_only);
                Ok(())
            }
            SessionTransaction::Aborted(_) => Err(aborted()),
            // PostgreSQL warns that there is no transaction to change.
            SessionTransaction::Idle => Ok(()),
        }
    }

    /// After a statement failed: an explicit transaction is lost, but for what came before its newest savepoint.
    pub(crate) fn fail(&mut self) {
        *self = match mem::take(self) {
            SessionTransaction::Idle => SessionTransaction::Idle,
            SessionTransaction::Begun { .. } => SessionTransaction::Aborted(None),
            SessionTransaction::Open(open) => open.after_failure(),
            aborted @ SessionTransaction::Aborted(_) => aborted,
        };
    }

    /// `BEGIN`
    pub(crate) fn begin(
        &mut self,
        modes: TransactionModes,
        default: Isolation,
    ) -> Result<(), Error> {
        match self {
            SessionTransaction::Idle => {
                *self = SessionTransaction::Begun {
                    isolation: modes.isolation.unwrap_or(default),
                    is_read_only: modes.is_read_only.unwrap_or(false),
                };
            }
            SessionTransaction::Aborted(_) => return Err(aborted()),
            // PostgreSQL warns and goes on.
            SessionTransaction::Begun { .. } | SessionTransaction::Open(_) => {}
        }
        Ok(())
    }

    /// `COMMIT`; says whether something was kept, `false` after a failure.
    pub(crate) fn commit(&mut self, session: &Session) -> Result<bool, Error> {
        match mem::take(self) {
            SessionTransaction::Idle | SessionTransaction::Begun { .. } => Ok(true),
            SessionTransaction::Aborted(_) => Ok(false),
            SessionTransaction::Open(open) => {
                block_in_place(|| open.commit(session))?;
                Ok(true)
            }
        }
    }

    /// `ROLLBACK`
    pub(crate) fn roll_back(&mut self) {
        block_in_place(|| *self = SessionTransaction::Idle);
    }

    /// `SAVEPOINT name`
    pub(crate) fn save(&mut self, session: &Session, name: String) -> Result<(), Error> {
        if let SessionTransaction::Begun {
            isolation,
            is_read_only,
        } = *self
        {
            let open = OpenTransaction::begin(session, isolation, is_read_only, false);
            *self = SessionTransaction::Open(open);
        }
        match self {
            SessionTransaction::Open(open) => {
                let savepoint = open.engine.savepoint();
                let settings = session.settings_then();
                open.savepoints.push((name, savepoint, settings));
                Ok(())
            }
            SessionTransaction::Aborted(_) => Err(aborted()),
            _ => Err(no_transaction("SAVEPOINT")),
        }
    }

    /// `RELEASE SAVEPOINT name`: the changes stay.
    pub(crate) fn release(&mut self, name: &str) -> Result<(), Error> {
        match self {
            SessionTransaction::Open(open) => {
                let index = open.find(name)?;
                if let Some((_, savepoint, _)) = open.savepoints.drain(index..).next() {
                    open.engine.release(&savepoint);
                }
                Ok(())
            }
            SessionTransaction::Aborted(_) => Err(aborted()),
            _ => Err(no_transaction("RELEASE SAVEPOINT")),
        }
    }

    /// `ROLLBACK TO SAVEPOINT name`: the savepoint stays.
    pub(crate) fn roll_back_to(&mut self, session: &Session, name: &str) -> Result<(), Error> {
        match mem::take(self) {
            SessionTransaction::Open(mut open) | SessionTransaction::Aborted(Some(mut open)) => {
                let found = open.find(name).map(|index| {
                    open.savepoints.truncate(index + 1);
                    let (_, savepoint, settings) = &open.savepoints[index];
                    (savepoint.clone(), settings.clone())
                });
                match found {
                    Ok((savepoint, settings)) => {
                        block_in_place(|| open.engine.roll_back_to(&savepoint));
                        session.restore_settings(settings);
                        *self = SessionTransaction::Open(open);
                        Ok(())
                    }
                    Err(error) => {
                        *self = SessionTransaction::Aborted(Some(open));
                        Err(error)
                    }
                }
            }
            SessionTransaction::Aborted(None) => {
                *self = SessionTransaction::Aborted(None);
                Err(unknown_savepoint(name))
            }
            before @ SessionTransaction::Begun { .. } => {
                *self = before;
                Err(unknown_savepoint(name))
            }
            SessionTransaction::Idle => Err(unknown_savepoint(name)),
        }
    }
}

impl OpenTransaction {
    /// Begins with its first statement; `is_of_newest` says that this reads newest rows only.
    fn begin(
        session: &Session,
        isolation: Isolation,
        is_read_only: bool,
        is_of_newest: bool,
    ) -> Box<Self> {
        let options = session.transaction_options(isolation);
        let engine = &session.database.engine;
        Box::new(Self {
            engine: if is_of_newest {
                engine.transaction_of_newest(options)
            } else {
                engine.transaction(options)
            },
            savepoints: Vec::new(),
            is_read_only,
            changed: ChangedRows::new(),
        })
    }

    /// The settings as they are now rule how the statement of `token` waits and commits.
    fn heed(&mut self, session: &Session, token: &CancelToken) {
        let isolation = self.engine.isolation();
        let mut options = session.transaction_options(isolation);
        options.cancel = Some(token.question());
        options.work = Some(Arc::clone(token.work()));
        *self.engine.options_mut() = options;
    }

    /// What is left when a statement has failed. Others go on at once that waited for what is undone.
    fn after_failure(mut self: Box<Self>) -> SessionTransaction {
        let newest = self.savepoints.last().map(|(_, point, _)| point.clone());
        let Some(savepoint) = newest else {
            return SessionTransaction::Aborted(None);
        };
        forget_token(&mut self);
        self.engine.roll_back_to(&savepoint);
        SessionTransaction::Aborted(Some(self))
    }

    fn commit(self, session: &Session) -> Result<(), Error> {
        self.engine.commit()?;
        session.database.note_changes(self.changed);
        Ok(())
    }

    fn find(&self, name: &str) -> Result<usize, Error> {
        let found = self
            .savepoints
            .iter()
            .rposition(|(known, ..)| known == name);
        found.ok_or_else(|| unknown_savepoint(name))
    }
}

/// What `BEGIN` and `SET TRANSACTION` may say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TransactionModes {
    pub(crate) isolation: Option<Isolation>,
    pub(crate) is_read_only: Option<bool>,
}

pub(crate) fn aborted() -> Error {
    Error::new(
        "25P02",
        "current transaction is aborted, commands ignored until end of transaction",
    )
    .with_hint("Say ROLLBACK.")
}

fn no_transaction(what: &str) -> Error {
    Error::new(
        "25P01",
        format!("{what} can only be used in transaction blocks"),
    )
    .with_hint("Say BEGIN first.")
}

fn unknown_savepoint(name: &str) -> Error {
    Error::new("3B001", format!("savepoint \"{name}\" does not exist"))
}

/// The transaction of a statement, for what owns all that it works with.
pub(crate) struct LentTransaction(Box<OpenTransaction>);

impl LentTransaction {
    pub(crate) fn engine(&mut self) -> &mut EngineTransaction {
        &mut self.0.engine
    }
}

/// One statement's right to change tables. Dropped before [`TableWriteGuard::finish`], it leaves an explicit transaction
/// aborted, and otherwise nothing behind.
pub(crate) struct TableWriteGuard<'s> {
    session: &'s Session,
    slot: MutexGuard<'s, SessionTransaction>,
    is_explicit: bool,
    /// Empty when it has been given back or committed.
    open: Option<Box<OpenTransaction>>,
}

impl<'s> TableWriteGuard<'s> {
    /// Continues the connection's transaction, or begins one for this statement.
    pub(crate) async fn begin(session: &'s Session, token: &CancelToken) -> Result<Self, Error> {
        Self::begin_with(session, token, false).await
    }

    /// The same for a statement that asks for no snapshot: all that it reads is the newest state of rows.
    pub(crate) async fn begin_newest(
        session: &'s Session,
        token: &CancelToken,
    ) -> Result<Self, Error> {
        Self::begin_with(session, token, true).await
    }

    async fn begin_with(
        session: &'s Session,
        token: &CancelToken,
        is_of_newest: bool,
    ) -> Result<Self, Error> {
        let mut slot = session.transaction.lock().await;
        let is_explicit = !matches!(*slot, SessionTransaction::Idle);
        let mut open = match mem::take(&mut *slot) {
            SessionTransaction::Open(mut open) => {
                if is_of_newest {
                    open.engine.begin_newest()
                } else {
                    open.engine.begin_statement()
                }
                open.heed(session, token);
                open
            }
            SessionTransaction::Aborted(open) => {
                *slot = SessionTransaction::Aborted(open);
                return Err(aborted());
            }
            SessionTransaction::Begun {
                isolation,
                is_read_only,
            } => OpenTransaction::begin(session, isolation, is_read_only, is_of_newest),
            SessionTransaction::Idle => session.spare.begin(session, is_of_newest),
        };
        if open.is_read_only {
            *slot = open.after_failure();
            let text = "cannot change anything in a read-only transaction";
            return Err(Error::new("25006", text));
        }
        let options = open.engine.options_mut();
        options.cancel = Some(token.question());
        options.work = Some(Arc::clone(token.work()));
        Ok(Self {
            session,
            slot,
            is_explicit,
            open: Some(open),
        })
    }

    /// Whose statement it is.
    pub(crate) fn session(&self) -> &'s Session {
        self.session
    }

    /// Whether locks are kept longer than for this statement.
    pub(crate) fn is_explicit(&self) -> bool {
        self.is_explicit
    }

    pub(crate) fn transaction(&mut self) -> Result<&mut EngineTransaction, Error> {
        let ended = || Error::new("XX000", "internal error: the statement has ended");
        Ok(&mut self.open.as_mut().ok_or_else(ended)?.engine)
    }

    /// Gives the transaction away, to get it back by [`TableWriteGuard::take_back`] before anything else is done with it.
    pub(crate) fn lend(&mut self) -> Result<LentTransaction, Error> {
        let ended = || Error::new("XX000", "internal error: the statement has ended");
        self.open.take().map(LentTransaction).ok_or_else(ended)
    }

    pub(crate) fn take_back(&mut self, lent: LentTransaction) {
        self.open = Some(lent.0);
    }

    /// What the statement sees.
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot, Error> {
        Ok(self.transaction()?.snapshot())
    }

    /// Keeps the changes: durable now, or with the explicit transaction's `COMMIT`.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if let Some(work) = &open.engine.options_mut().work {
            work.commit();
        }
        if self.is_explicit {
            forget_token(&mut open);
            *self.slot = SessionTransaction::Open(open);
        } else {
            block_in_place(|| self.session.spare.commit(open, self.session))?;
        }
        Ok(())
    }

    /// Rows of a column table have been changed.
    pub(crate) fn note_changes(&mut self, table: &str, rows: u64) {
        if let Some(open) = &mut self.open {
            *open.changed.entry(table.to_owned()).or_default() += rows;
        }
    }
}

/// The next statement has a token of its own, or this one again if nobody has it any more.
fn forget_token(open: &mut OpenTransaction) {
    let options = open.engine.options_mut();
    options.cancel = None;
    options.work = None;
}

impl Drop for TableWriteGuard<'_> {
    fn drop(&mut self) {
        match self.open.take() {
            Some(open) if self.is_explicit => *self.slot = open.after_failure(),
            // Rolling back may wait for pages.
            Some(open) => drop(open),
            None => {}
        }
    }
}
