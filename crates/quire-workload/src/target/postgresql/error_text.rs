//! What does an error of the client say?

use std::error::Error;

/// An error with what the server says; by itself the crate only says `db error`.
pub(super) fn error_text(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => format!("{} ({})", error.message(), error.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
