//! `BEGIN` to `COMMIT`.
//!
//! The engine has one write transaction at a time, and it sees its own changes. A connection opens
//! it with the first statement after `BEGIN` that changes something, and holds it until the end.
//! A statement that fails inside leaves the transaction aborted, as in PostgreSQL: what came before
//! it is lost, and only `ROLLBACK` (or `COMMIT`, which then rolls back) is accepted.

use quire_engine::{Engine, Snapshot, TransactionError, WriteTransaction};
use tokio::sync::MutexGuard;

use crate::error::Error;
use crate::session::Session;

/// Where a connection is.
pub(crate) enum Transaction {
    /// Every statement is its own transaction.
    Idle,
    /// `BEGIN` has been said, and nothing changed yet.
    Begun,
    /// Something has been changed.
    Writing(WriteTransaction),
    /// A statement failed, or is changing something at this moment.
    Aborted,
}

impl Transaction {
    /// What a statement sees: READ COMMITTED, and the connection's own changes.
    pub(crate) fn snapshot(&self, engine: &Engine) -> Result<Snapshot, Error> {
        match self {
            Transaction::Idle | Transaction::Begun => Ok(engine.snapshot()),
            Transaction::Writing(transaction) => Ok(transaction.snapshot()),
            Transaction::Aborted => Err(aborted()),
        }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        matches!(self, Transaction::Aborted)
    }

    /// After a statement failed: an explicit transaction is lost.
    pub(crate) fn fail(&mut self) {
        if !matches!(self, Transaction::Idle) {
            *self = Transaction::Aborted;
        }
    }

    /// `BEGIN`
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        match self {
            Transaction::Idle => *self = Transaction::Begun,
            Transaction::Aborted => return Err(aborted()),
            // PostgreSQL warns and goes on.
            Transaction::Begun | Transaction::Writing(_) => {}
        }
        Ok(())
    }

    /// `COMMIT`; says whether something was kept, `false` after a failure.
    pub(crate) fn commit(&mut self) -> Result<bool, Error> {
        match std::mem::replace(self, Transaction::Idle) {
            Transaction::Idle | Transaction::Begun => Ok(true),
            Transaction::Aborted => Ok(false),
            Transaction::Writing(transaction) => {
                tokio::task::block_in_place(|| transaction.commit())?;
                Ok(true)
            }
        }
    }

    /// `ROLLBACK`
    pub(crate) fn roll_back(&mut self) {
        *self = Transaction::Idle;
    }
}

pub(crate) fn aborted() -> Error {
    Error::new(
        "25P02",
        "current transaction is aborted, commands ignored until end of transaction",
    )
    .with_hint("Say ROLLBACK.")
}

/// One statement's right to change tables. Dropped before [`Writer::finish`], it leaves nothing
/// behind and an explicit transaction aborted.
pub(crate) struct Writer<'s> {
    slot: MutexGuard<'s, Transaction>,
    is_explicit: bool,
    transaction: WriteTransaction,
}

impl<'s> Writer<'s> {
    /// Continues the connection's transaction or begins one for this statement. Waits, cancellably,
    /// while another connection writes.
    pub(crate) async fn begin(session: &'s Session) -> Result<Self, Error> {
        let mut slot = session.transaction.lock().await;
        let is_explicit = !matches!(*slot, Transaction::Idle);
        let before = if is_explicit {
            std::mem::replace(&mut *slot, Transaction::Aborted)
        } else {
            Transaction::Idle
        };
        let transaction = match before {
            Transaction::Writing(transaction) => transaction,
            Transaction::Aborted => return Err(aborted()),
            Transaction::Idle | Transaction::Begun => {
                begin_transaction(&session.database.engine).await?
            }
        };
        Ok(Self {
            slot,
            is_explicit,
            transaction,
        })
    }

    pub(crate) fn transaction(&mut self) -> &mut WriteTransaction {
        &mut self.transaction
    }

    /// What the statement sees.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.transaction.snapshot()
    }

    /// Keeps the changes: durable now, or with the explicit transaction's `COMMIT`.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        if self.is_explicit {
            *self.slot = Transaction::Writing(self.transaction);
        } else {
            tokio::task::block_in_place(|| self.transaction.commit())?;
        }
        Ok(())
    }
}

async fn begin_transaction(engine: &Engine) -> Result<WriteTransaction, Error> {
    let engine = engine.clone();
    let begun: Result<_, TransactionError> = tokio::task::spawn_blocking(move || engine.begin())
        .await
        .map_err(|error| Error::new("XX000", format!("internal error: {error}")))?;
    Ok(begun?)
}
