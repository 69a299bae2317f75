//! What all connections of a server share.

use std::sync::Arc;

use quire::Database;

use crate::auth::{Authentication, Decoys, Login, Tls};
use crate::net::{Penalties, Registry, ServerLog};
use crate::options::ServerOptions;

pub(crate) struct ServerState {
    pub(crate) database: Database,
    pub(crate) options: ServerOptions,
    pub(crate) registry: Registry,
    pub(crate) tls: Option<Tls>,
    pub(crate) decoys: Decoys,
    pub(crate) penalties: Penalties,
    pub(crate) log: Arc<ServerLog>,
}

impl ServerState {
    /// Whether clients without TLS are refused.
    pub(crate) fn requires_tls(&self) -> bool {
        self.options.requires_tls || !self.options.listen.ip().is_loopback()
    }

    /// Whether a client that connects now has to prove who it is.
    pub(crate) fn requires_login(&self) -> bool {
        match self.options.authentication {
            Authentication::Trust => false,
            Authentication::Scram => true,
            Authentication::Automatic => {
                !self.options.listen.ip().is_loopback() || self.database.has_login_role()
            }
        }
    }

    /// Begins to ask a client for its proof. A role that there is not, or that has no password, is asked the same.
    pub(crate) fn begin_login(&self, user: &str, certificate_hash: Option<Vec<u8>>) -> Login {
        let known = self.database.role(user).and_then(|role| role.verifier);
        let is_known = known.is_some();
        let verifier = known.unwrap_or_else(|| self.decoys.verifier(user));
        Login::new(user, verifier, is_known, certificate_hash)
    }
}
