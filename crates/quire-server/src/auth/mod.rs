//! Who clients are: passwords and certificates.
//!
//! | module | answers |
//! |---|---|
//! | `scram` | does a client know the password of a role |
//! | `binding` | what ties such a proof to the TLS connection it is given on |
//! | `tls` | the certificate and the key of the server |

mod binding;
mod scram;
mod tls;

pub(crate) use scram::{Login, Step};
pub(crate) use tls::{PROTOCOL, Tls};
pub use tls::{TlsError, TlsFiles};

use quire::scram::ScramVerifier;

use crate::server::Shared;

/// Who has to prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Authentication {
    /// Everybody, as soon as there is a role that can log in with a password; before, nobody.
    #[default]
    Automatic,
    /// Nobody. Only for addresses of the machine itself.
    Trust,
    /// Everybody.
    Scram,
}

/// What is known only to this server while it runs: it makes up verifiers of roles that there are not.
pub(crate) struct Decoys([u8; 32]);

impl Decoys {
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(std::io::Error::other)?;
        Ok(Self(secret))
    }
}

/// Whether a client that connects now has to prove who it is.
pub(crate) fn is_wanted(shared: &Shared) -> bool {
    match shared.options.authentication {
        Authentication::Trust => false,
        Authentication::Scram => true,
        Authentication::Automatic => {
            !shared.options.listen.ip().is_loopback() || shared.database.has_login_role()
        }
    }
}

/// Begins to ask a client for its proof. A role that there is not, or that has no password, is asked the same.
pub(crate) fn begin_login(shared: &Shared, user: &str, certificate_hash: Option<Vec<u8>>) -> Login {
    let known = shared.database.role(user).and_then(|role| role.verifier);
    let is_known = known.is_some();
    let verifier = known.unwrap_or_else(|| ScramVerifier::decoy(&shared.decoys.0, user));
    Login::new(user, verifier, is_known, certificate_hash)
}
