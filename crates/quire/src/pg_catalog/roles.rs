//! Rows about roles.

use datafusion::common::Result;
use quire_tables::{RoleDefinition, Snapshot};

use super::PgCatalog;
use super::rows::{Rows, flag, number, optional, text};
use super::surroundings::OWNER;
use crate::session::Identity;

/// What stands for a password that is not to be seen.
const HIDDEN: &str = "********";
/// Numbers of roles are apart from those of relations.
const FIRST_OID: u32 = 0x1000_0000;

/// A role as this connection sees it.
pub(super) struct RoleEntry {
    pub(super) oid: u32,
    pub(super) name: String,
    pub(super) is_superuser: bool,
    can_log_in: bool,
    verifier: Option<String>,
}

impl RoleEntry {
    /// The user's first, whether or not there is such a role.
    pub(super) fn all(snapshot: &Snapshot, identity: &Identity) -> Vec<Self> {
        let own = snapshot.role(&identity.user);
        let is_superuser = !identity.is_role || own.is_some_and(|role| role.is_superuser);
        let first = Self {
            oid: OWNER,
            name: identity.user.clone(),
            is_superuser,
            can_log_in: own.is_none_or(|role| role.can_log_in),
            verifier: own.and_then(|role| role.verifier.clone()),
        };
        let others = snapshot.roles().filter(|role| role.name != identity.user);
        let mut all: Vec<_> = std::iter::once(first)
            .chain(others.map(|role| Self::of(role)))
            .collect();
        if !is_superuser {
            all.iter_mut().for_each(|role| role.verifier = None);
        }
        all
    }

    fn of(role: &RoleDefinition) -> Self {
        Self {
            oid: FIRST_OID | (role.id as u32 & (FIRST_OID - 1)),
            name: role.name.clone(),
            is_superuser: role.is_superuser,
            can_log_in: role.can_log_in,
            verifier: role.verifier.clone(),
        }
    }
}

/// Fills one of the tables of roles.
pub(super) fn fill(catalog: &PgCatalog, rows: &mut Rows, table: &str) -> Result<()> {
    let sees_verifiers = matches!(table, "pg_authid" | "pg_shadow");
    for role in &catalog.roles {
        let password = if sees_verifiers {
            optional(role.verifier.clone())
        } else {
            text(HIDDEN)
        };
        let is_superuser = flag(role.is_superuser);
        match table {
            "pg_roles" | "pg_authid" => rows.push(&[
                ("oid", number(role.oid)),
                ("rolname", text(&role.name)),
                ("rolsuper", is_superuser.clone()),
                ("rolinherit", flag(true)),
                ("rolcreaterole", is_superuser.clone()),
                ("rolcreatedb", flag(false)),
                ("rolcanlogin", flag(role.can_log_in)),
                ("rolconnlimit", number(-1)),
                ("rolbypassrls", is_superuser),
                ("rolpassword", password),
            ])?,
            // These two have those who can log in.
            _ if role.can_log_in => rows.push(&[
                ("usename", text(&role.name)),
                ("usesysid", number(role.oid)),
                ("usecreatedb", flag(false)),
                ("usesuper", is_superuser.clone()),
                ("usebypassrls", is_superuser),
                ("passwd", password),
            ])?,
            _ => {}
        }
    }
    Ok(())
}
