//! Who may do what: roles, as the catalog has them.
//!
//! There are no privileges on tables. A role that is no superuser may read and change all of them, but no roles but its own
//! password, and no files of the machine that the database is on.

use quire_error::Error;
use quire_tables::RoleDefinition;

use crate::scram::ScramVerifier;
use crate::session::Session;

/// A role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its name, as SQL resolved it.
    pub name: String,
    /// Whether it may change roles and use files of the server.
    pub is_superuser: bool,
    /// Whether clients may log in as this role.
    pub can_log_in: bool,
    /// What its password is verified with; without one nobody can prove to be it.
    pub verifier: Option<ScramVerifier>,
}

impl Role {
    pub(crate) fn of(role: &RoleDefinition) -> Self {
        Self {
            name: role.name.clone(),
            is_superuser: role.is_superuser,
            can_log_in: role.can_log_in,
            verifier: role.verifier.as_deref().and_then(ScramVerifier::parse),
        }
    }
}

/// Fails unless the user of the session may use files of this machine. What counts are the roles that are committed: the transaction
/// of the session may be lent to the statement that asks.
pub(crate) fn check_files(session: &Session) -> Result<(), Error> {
    let is_restricted = session.settings().identity().is_role;
    if is_restricted && !session.is_superuser(&session.database.engine.snapshot()) {
        let text = "permission denied for files of the server";
        let hint = "Only a SUPERUSER may use them. COPY … FROM STDIN and TO STDOUT, and \\copy of psql, use files of the client.";
        return Err(Error::new("42501", text).with_hint(hint));
    }
    Ok(())
}
