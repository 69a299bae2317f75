//! Rows about roles.

use datafusion::common::Result;

use super::PgCatalog;
use super::rows::{CatalogRows, flag, number, optional, text};

/// What stands for a password that is not to be seen.
const HIDDEN: &str = "********";
/// Fills one of the tables of roles.
pub(super) fn fill(catalog: &PgCatalog, rows: &mut CatalogRows, table: &str) -> Result<()> {
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
