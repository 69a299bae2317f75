//! `COPY`, and files in place of tables.

mod client;
mod client_reader;
mod convert;
mod copy_format;
mod export;
mod file;
mod import;
mod options;
mod read_ahead;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::catalog::TableProvider;
use quire_files::{CopyControl, CopyPhase, CopyProgress};

use crate::outcome::Outcome;
use crate::roles::check_files;
use crate::session::Session;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_sql::copy_statement::{CopyDirection, CopyPlace, CopyStatement};
use quire_sql::file_relations::FileRelation;

pub use self::{
    client::{CopyIn, CopyStream},
    copy_format::{CopyFormat, CopyKind},
};
pub(crate) use client::begin_copy;
pub(super) use file::of_source;

/// Runs `COPY`.
pub(super) async fn run(
    session: &Arc<Session>,
    copy: CopyStatement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let CopyPlace::File(path) = copy.place.clone() else {
        let text = "COPY to or from the client needs one that sends or takes rows";
        return Err(Error::new("0A000", text).with_hint("Name a file: COPY table FROM 'file'."));
    };
    check_files(session)?;
    let path = Path::new(&path);
    match copy.direction {
        CopyDirection::From => import::run(session, copy, path, token).await,
        CopyDirection::To => export::run(session, copy, path, token).await,
    }
}

/// The rows of a file, or of a table in another database, as a table, with types found there.
pub(super) fn file_table(
    relation: &FileRelation,
    token: &CancelToken,
) -> Result<Arc<dyn TableProvider>, Error> {
    // An address may have a password in it.
    let shown = match relation.location.contains("://") {
        true => relation.table.as_deref(),
        false => Some(relation.location.as_str()),
    };
    token.work().begin(Phase::Inferring, shown);
    let control = control(token);
    let table = tokio::task::block_in_place(|| file::FileTable::open(relation, control))?;
    Ok(Arc::new(table))
}

/// Ties a copy to its statement: the statement's cancellation stops it, and its work is counted with the statement's.
fn control(token: &CancelToken) -> CopyControl {
    let work = Arc::clone(token.work());
    let last: Mutex<Option<CopyProgress>> = Mutex::new(None);
    let control = CopyControl::default().with_cancel_flag(token.flag());
    control.with_progress(Arc::new(move |progress| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.replace(progress);
        let before = before.filter(|before| before.phase == progress.phase);
        let more = |count: fn(&CopyProgress) -> u64| {
            count(&progress).saturating_sub(before.as_ref().map_or(0, count))
        };
        let (rows, bytes) = (more(|it| it.row_count), more(|it| it.bytes_done));
        if progress.phase == CopyPhase::Writing {
            return work.note_written(rows, bytes);
        }
        work.foresee(Some(0), more(|it| it.bytes_total.unwrap_or(0)));
        work.note_read(rows, bytes);
    }))
}
