//! What the adviser refuses, as an error of the statement.

use quire_advisor::AdvisorError;
use quire_error::Error;

pub(super) fn of_advisor(error: AdvisorError) -> Error {
    let sqlstate = match &error {
        AdvisorError::UnknownDevice { .. } | AdvisorError::Ranking(_) => "22023",
        _ => "55000",
    };
    Error::new(sqlstate, error.to_string())
}
