//! Errors of files that are read or written.

use quire_files::CopyError;

use super::Error;

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
