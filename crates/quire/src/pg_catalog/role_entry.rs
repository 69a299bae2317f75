//! Roles, as one connection sees them.

use quire_tables::{RoleDefinition, Snapshot};

use crate::settings::Identity;

/// The role that owns everything.
pub(super) const OWNER: u32 = 10;
/// Numbers of roles are apart from those of relations.
const FIRST_OID: u32 = 0x1000_0000;

/// A role as this connection sees it.
pub(super) struct RoleEntry {
    pub(super) oid: u32,
    pub(super) name: String,
    pub(super) is_superuser: bool,
    pub(super) can_log_in: bool,
    pub(super) verifier: Option<String>,
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
