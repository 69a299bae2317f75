//! What a statement that was a transaction of its own leaves to the next one of its connection.
//!
//! It is a transaction that has done nothing, in the memory of the one that was committed: buffers without content. It holds no
//! snapshot, no lock, no tree and no token. One that failed leaves nothing, so after an error everything is new.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quire_error::Error;

use super::OpenTransaction;
use crate::session::context::Session;

/// The transaction, if there is one.
#[derive(Default)]
pub(crate) struct SpareTransaction(Mutex<Option<Box<OpenTransaction>>>);

impl SpareTransaction {
    /// A transaction for one statement; with `is_of_newest` for one that reads newest rows only.
    pub(super) fn begin(&self, session: &Session, is_of_newest: bool) -> Box<OpenTransaction> {
        let isolation = session.settings().default_isolation();
        let Some(mut open) = self.lock().take() else {
            return OpenTransaction::begin(session, isolation, false, is_of_newest);
        };
        *open.engine.options_mut() = session.transaction_options(isolation);
        if is_of_newest {
            open.engine.begin_newest()
        } else {
            open.engine.begin_statement()
        }
        open
    }

    /// Commits the transaction of one statement, and keeps what is left of it.
    pub(super) fn commit(
        &self,
        mut open: Box<OpenTransaction>,
        session: &Session,
    ) -> Result<(), Error> {
        open.engine.commit_and_renew()?;
        // Otherwise the next statement could not have the token of this one.
        super::forget_token(&mut open);
        session.database.note_changes(mem::take(&mut open.changed));
        *self.lock() = Some(open);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<OpenTransaction>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
