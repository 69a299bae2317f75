//! The server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677), as far as PostgreSQL's clients speak it.
//!
//! ```text
//! client: n,,n=,r=NONCE                       server: r=NONCE MORE,s=SALT,i=ITERATIONS
//! client: c=biws,r=NONCE MORE,p=PROOF         server: v=SIGNATURE
//! ```
//!
//! With -PLUS the first field is `p=tls-server-end-point`, and `c` has the hash of the server's certificate behind the header.
//! The name in the first message is not looked at: that of the startup packet counts, as in PostgreSQL.

use quire::scram::{KEY_BYTES, ScramVerifier};
use quire_text::base64::{decode_base64, encode_base64};

use crate::failure::ServerFailure;
use crate::wire::SaslInitial;

pub(crate) const PLAIN: &str = "SCRAM-SHA-256";
pub(crate) const BOUND: &str = "SCRAM-SHA-256-PLUS";
const BINDING: &str = "p=tls-server-end-point";
/// Random bytes of the server's part of the nonce.
const NONCE_BYTES: usize = 18;

/// A client that is asked for its proof.
pub(crate) struct Login {
    user: String,
    verifier: ScramVerifier,
    /// There is such a password; else no proof is right.
    is_known: bool,
    /// What the client has to repeat if it binds its proof to the connection.
    certificate_hash: Option<Vec<u8>>,
    state: ScramState,
}

enum ScramState {
    Asked,
    Challenged(Challenge),
}

struct Challenge {
    client_first: String,
    server_first: String,
    nonce: String,
    /// What `c` has to say.
    binding: Vec<u8>,
}

/// What the client is told.
pub(crate) enum ScramStep {
    Continue(String),
    /// It knows the password.
    Proved(String),
}

impl Login {
    pub(crate) fn new(
        user: &str,
        verifier: ScramVerifier,
        is_known: bool,
        certificate_hash: Option<Vec<u8>>,
    ) -> Self {
        Self {
            user: user.to_owned(),
            verifier,
            is_known,
            certificate_hash,
            state: ScramState::Asked,
        }
    }

    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// The ways to give a proof, the best first.
    pub(crate) fn mechanisms(&self) -> &'static [&'static str] {
        match self.certificate_hash {
            Some(_) => &[BOUND, PLAIN],
            None => &[PLAIN],
        }
    }

    /// Takes the next message of the client.
    pub(crate) fn take(&mut self, body: &[u8]) -> Result<ScramStep, ServerFailure> {
        match &self.state {
            ScramState::Asked => {
                let mut nonce = [0; NONCE_BYTES];
                getrandom::fill(&mut nonce).map_err(|error| {
                    ServerFailure::fatal("XX000", format!("there are no random numbers: {error}"))
                })?;
                self.challenge(body, &encode_base64(&nonce))
            }
            ScramState::Challenged(challenge) => self.verify(challenge, body),
        }
    }

    fn challenge(&mut self, body: &[u8], own_nonce: &str) -> Result<ScramStep, ServerFailure> {
        let initial = SaslInitial::read(body)
            .map_err(|malformed| ServerFailure::fatal("08P01", malformed.to_string()))?;
        if !self.mechanisms().contains(&initial.mechanism) {
            let text = "client selected an invalid SASL authentication mechanism";
            return Err(ServerFailure::fatal("08P01", text));
        }
        let first = text(initial.data.unwrap_or_default())?;
        let (flag, rest) = first.split_once(',').ok_or_else(malformed)?;
        let (authorization, bare) = rest.split_once(',').ok_or_else(malformed)?;
        self.check_flag(flag, initial.mechanism == BOUND)?;
        if !authorization.is_empty() {
            let text = "client uses authorization identity, but it is not supported";
            return Err(ServerFailure::fatal("0A000", text));
        }
        let (name, rest) = bare.split_once(',').ok_or_else(malformed)?;
        if !name.starts_with("n=") {
            // `m=` would be an extension that must be understood.
            return Err(malformed());
        }
        let nonce = rest
            .split(',')
            .next()
            .and_then(|field| field.strip_prefix("r="));
        let nonce = nonce
            .filter(|nonce| is_nonce(nonce))
            .ok_or_else(malformed)?;
        let mut binding = format!("{flag},,").into_bytes();
        if let Some(hash) = self.certificate_hash.as_ref().filter(|_| flag == BINDING) {
            binding.extend(hash);
        }
        let nonce = format!("{nonce}{own_nonce}");
        let (salt, iterations) = (
            encode_base64(self.verifier.salt()),
            self.verifier.iterations(),
        );
        let server_first = format!("r={nonce},s={salt},i={iterations}");
        self.state = ScramState::Challenged(Challenge {
            client_first: bare.to_owned(),
            server_first: server_first.clone(),
            nonce,
            binding,
        });
        Ok(ScramStep::Continue(server_first))
    }

    /// Whether what the client says of binding is what it was offered, and has chosen.
    fn check_flag(&self, flag: &str, is_bound: bool) -> Result<(), ServerFailure> {
        match (flag, is_bound) {
            (BINDING, true) | ("n", false) => Ok(()),
            // It could, and thinks that the server cannot: somebody has changed the offer.
            ("y", false) if self.certificate_hash.is_some() => {
                let text = "SCRAM channel binding negotiation error";
                let detail = "The client supports SCRAM channel binding but thinks the server does not. \
                              However, this server does support channel binding.";
                Err(ServerFailure::fatal("28000", text).with_detail(detail))
            }
            ("y", false) => Ok(()),
            (other, true) if other.starts_with("p=") => {
                let text = "unsupported SCRAM channel-binding type";
                Err(ServerFailure::fatal("08P01", text))
            }
            _ => Err(malformed()),
        }
    }

    fn verify(&self, challenge: &Challenge, body: &[u8]) -> Result<ScramStep, ServerFailure> {
        let last = text(body)?;
        let (unproved, proof) = last.rsplit_once(",p=").ok_or_else(malformed)?;
        let mut fields = unproved.split(',');
        let binding = fields.next().and_then(|field| field.strip_prefix("c="));
        let binding = binding.and_then(decode_base64).ok_or_else(malformed)?;
        if binding != challenge.binding {
            return Err(ServerFailure::fatal(
                "28000",
                "SCRAM channel binding check failed",
            ));
        }
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        if nonce != Some(challenge.nonce.as_str()) {
            let text = "invalid SCRAM response";
            return Err(ServerFailure::fatal("08P01", text).with_detail("Nonce does not match."));
        }
        let proof = decode_base64(proof).and_then(|proof| <[u8; KEY_BYTES]>::try_from(proof).ok());
        let proof = proof.ok_or_else(malformed)?;
        let conversation = format!(
            "{},{},{unproved}",
            challenge.client_first, challenge.server_first
        );
        let is_proved = self.verifier.is_proved(conversation.as_bytes(), &proof);
        if !(is_proved & self.is_known) {
            let text = format!("password authentication failed for user \"{}\"", self.user);
            return Err(ServerFailure::fatal("28P01", text));
        }
        let signature = self.verifier.server_signature(conversation.as_bytes());
        Ok(ScramStep::Proved(format!(
            "v={}",
            encode_base64(&signature)
        )))
    }
}

fn malformed() -> ServerFailure {
    ServerFailure::fatal("08P01", "malformed SCRAM message")
}

fn text(bytes: &[u8]) -> Result<&str, ServerFailure> {
    std::str::from_utf8(bytes).map_err(|_| malformed())
}

/// Printable ASCII without commas.
fn is_nonce(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b',')
}

#[cfg(test)]
mod tests;
