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

pub(crate) use scram::{Login, ScramStep};
pub(crate) use tls::{PROTOCOL, Tls};
pub use tls::{TlsError, TlsFiles};

use quire::scram::ScramVerifier;

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

    /// What a client is asked to prove that says it is `user`, where there is no such role.
    pub(crate) fn verifier(&self, user: &str) -> ScramVerifier {
        ScramVerifier::decoy(&self.0, user)
    }
}
