//! Roles: who may log in, and with which password.

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::reject::not_supported;
use quire_sql::role_statement::{RoleName, RoleOption, RoleStatement};
use quire_tables::RoleDefinition;

use super::change::CatalogChange;
use crate::outcome::Outcome;
use crate::scram::ScramVerifier;
use crate::session::Session;

/// An MD5 digest of a password, as older servers took it.
const MD5_PREFIX: &str = "md5";
const MD5_TEXT_BYTES: usize = 35;

/// Who runs the statement.
struct Caller {
    name: String,
    /// Whether a role of this name is meant; otherwise it is just a name.
    is_role: bool,
    is_superuser: bool,
}

/// Runs a statement about roles.
pub(in crate::sql) async fn run(
    session: &Session,
    statement: &RoleStatement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let mut change = CatalogChange::begin(session, token).await?;
    change.lock_definitions()?;
    let identity = session.settings().identity().clone();
    let caller = Caller {
        name: identity.user,
        is_role: identity.is_role,
        is_superuser: session.is_superuser(&change.snapshot()),
    };
    let tag = match statement {
        RoleStatement::Create { name, options } => {
            caller.check("create", name)?;
            create(&mut change, name, options)?;
            "CREATE ROLE"
        }
        RoleStatement::Alter { name, options } => {
            alter(&mut change, &caller, name, options)?;
            "ALTER ROLE"
        }
        RoleStatement::Rename { name, new_name } => {
            rename(&mut change, &caller, name, new_name)?;
            "ALTER ROLE"
        }
        RoleStatement::Drop {
            names,
            is_conditional,
        } => {
            for name in names {
                drop_role(&mut change, &caller, name, *is_conditional)?;
            }
            "DROP ROLE"
        }
    };
    change.finish(tag)
}

impl Caller {
    fn named<'a>(&'a self, name: &'a RoleName) -> &'a str {
        match name {
            RoleName::Own => &self.name,
            RoleName::Named(name) => name,
        }
    }

    fn is_same(&self, name: &str) -> bool {
        self.is_role && self.name == name
    }

    fn check(&self, verb: &str, name: &str) -> Result<(), Error> {
        if self.is_superuser {
            return Ok(());
        }
        let text = format!("permission denied to {verb} role \"{name}\"");
        Err(Error::new("42501", text).with_hint("Only a SUPERUSER may do so."))
    }
}

fn create(change: &mut CatalogChange<'_>, name: &str, options: &[RoleOption]) -> Result<(), Error> {
    let reserved = ["public", "none"].contains(&name) || name.starts_with("pg_");
    if reserved {
        return Err(Error::new(
            "42939",
            format!("role name \"{name}\" is reserved"),
        ));
    }
    let mut role = RoleDefinition {
        name: name.to_owned(),
        ..RoleDefinition::default()
    };
    apply(&mut role, options)?;
    change.define(|tables| tables.create_role(role))?;
    Ok(())
}

fn alter(
    change: &mut CatalogChange<'_>,
    caller: &Caller,
    name: &RoleName,
    options: &[RoleOption],
) -> Result<(), Error> {
    let name = caller.named(name);
    // Everybody may have another password.
    let changes_password_only = options
        .iter()
        .all(|option| matches!(option, RoleOption::Password(_)));
    if !(caller.is_same(name) && changes_password_only) {
        caller.check("alter", name)?;
    }
    let mut role = found(change, name)?;
    apply(&mut role, options)?;
    change.define(|tables| tables.alter_role(name, role))
}

fn rename(
    change: &mut CatalogChange<'_>,
    caller: &Caller,
    name: &RoleName,
    new_name: &str,
) -> Result<(), Error> {
    let name = caller.named(name);
    caller.check("rename", name)?;
    if caller.is_same(name) {
        return Err(Error::new("0A000", "session user cannot be renamed"));
    }
    let mut role = found(change, name)?;
    role.name = new_name.to_owned();
    change.define(|tables| tables.alter_role(name, role))
}

fn drop_role(
    change: &mut CatalogChange<'_>,
    caller: &Caller,
    name: &RoleName,
    is_conditional: bool,
) -> Result<(), Error> {
    let name = caller.named(name);
    caller.check("drop", name)?;
    if caller.is_same(name) {
        return Err(Error::new("55006", "current user cannot be dropped"));
    }
    if is_conditional && change.snapshot().role(name).is_none() {
        return Ok(());
    }
    found(change, name)?;
    change.define(|tables| tables.drop_role(name))
}

fn found(change: &CatalogChange<'_>, name: &str) -> Result<RoleDefinition, Error> {
    let role = change.snapshot().role(name).map(|role| (**role).clone());
    role.ok_or_else(|| Error::new("42704", format!("role \"{name}\" does not exist")))
}

fn apply(role: &mut RoleDefinition, options: &[RoleOption]) -> Result<(), Error> {
    for option in options {
        match option {
            RoleOption::Superuser(value) => role.is_superuser = *value,
            RoleOption::Login(value) => role.can_log_in = *value,
            RoleOption::Password(password) => {
                role.verifier = password.as_deref().map(verifier_text).transpose()?;
            }
            RoleOption::Absent => {}
            RoleOption::Unsupported(what) => {
                let hint = "Roles have LOGIN, SUPERUSER and PASSWORD.";
                return Err(not_supported(what).with_hint(hint));
            }
        }
    }
    Ok(())
}

/// What is kept of a password. One that is such a text already is taken as it is.
fn verifier_text(password: &str) -> Result<String, Error> {
    if password.is_empty() {
        let text = "an empty string is not a valid password";
        return Err(Error::new("22023", text).with_hint("PASSWORD NULL takes a password away."));
    }
    let is_md5 = password.len() == MD5_TEXT_BYTES
        && password
            .strip_prefix(MD5_PREFIX)
            .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    if is_md5 {
        let hint = "Give the password, or what SCRAM-SHA-256 verifies it with.";
        return Err(not_supported("a password encrypted by MD5").with_hint(hint));
    }
    let verifier = match ScramVerifier::parse(password) {
        Some(verifier) => verifier,
        None => ScramVerifier::of_password(password)?,
    };
    Ok(verifier.to_string())
}
