//! `COPY`, and files in place of tables.

mod client;
mod convert;
mod export;
mod file;
mod import;
mod options;
mod read_ahead;

use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::TableProvider;

use super::copy_statement::{CopyDirection, CopyPlace, CopyStatement};
use crate::cancel::CancelToken;
use crate::copy::{CopyControl, CopyError, CopyPhase};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::progress::{Phase, ProgressObserver};
use crate::roles::check_files;
use crate::session::Session;
use crate::sql::write::Reporter;

impl From<CopyError> for Error {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Cancelled => Error::cancelled(),
            CopyError::Record(ref bad) => {
                Error::new(error.sqlstate(), error.to_string()).in_record(bad.line)
            }
            other => Error::new(other.sqlstate(), other.to_string()),
        }
    }
}

pub(crate) use client::begin_copy;
pub use client::{CopyFormat, CopyIn, CopyKind, CopyStream};

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
    check_files(session).await?;
    let path = Path::new(&path);
    match copy.direction {
        CopyDirection::From => import::run(session, copy, path, token).await,
        CopyDirection::To => export::run(session, copy, path, token).await,
    }
}

/// The rows of the file at `path` as a table, with types found in the file.
pub(super) fn file_table(
    session: &Session,
    path: &str,
    token: &CancelToken,
) -> Result<Arc<dyn TableProvider>, Error> {
    let control = control(session.observer(), token);
    let table = tokio::task::block_in_place(|| file::FileTable::open(Path::new(path), control))?;
    Ok(Arc::new(table))
}

/// Ties a copy to its statement: the statement's cancellation stops it, its observer hears of it.
fn control(observer: Option<ProgressObserver>, token: &CancelToken) -> CopyControl {
    let control = CopyControl::default().with_cancel_flag(token.flag());
    let Some(observer) = observer else {
        return control;
    };
    let reporter = std::sync::Mutex::new(Reporter::new(Some(observer), Phase::Loading));
    control.with_progress(Arc::new(move |progress| {
        let mut reporter = reporter
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let phase = match progress.phase {
            CopyPhase::Inferring | CopyPhase::Reading => Phase::Loading,
            CopyPhase::Writing => Phase::Exporting,
        };
        reporter.report_as(
            phase,
            progress.row_count,
            progress.bytes_done,
            progress.bytes_total,
        );
    }))
}
