//! Passwords as SCRAM-SHA-256 keeps them (RFC 5802, RFC 7677): a file has what proofs are verified with, never a password.
//!
//! The text form is PostgreSQL's, `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`, so that a client can make it, and
//! the password never leaves it (`\password` of psql).

use std::fmt;
use std::num::NonZeroU32;

use quire_text::base64::{decode_base64, encode_base64};
use ring::{digest, hmac, pbkdf2};

use quire_error::Error;

/// Rounds for a new password, as PostgreSQL has them.
pub const DEFAULT_ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4095);
/// Bytes of a salt for a new password.
pub const SALT_BYTES: usize = 16;
/// Bytes of a key, a proof or a signature.
pub const KEY_BYTES: usize = digest::SHA256_OUTPUT_LEN;

const MECHANISM: &str = "SCRAM-SHA-256";

/// What a password is verified with.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramVerifier {
    iterations: NonZeroU32,
    salt: Vec<u8>,
    stored_key: [u8; KEY_BYTES],
    server_key: [u8; KEY_BYTES],
}

impl ScramVerifier {
    /// Of a password, with a new salt.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn of_password(password: &str) -> Result<Self, Error> {
        let mut salt = [0; SALT_BYTES];
        getrandom::fill(&mut salt).map_err(|error| {
            Error::new("XX000", format!("there are no random numbers: {error}"))
        })?;
        Ok(Self::with_salt(password, &salt, DEFAULT_ITERATIONS))
    }

    /// Of a password, with a salt and a number of rounds.
    pub fn with_salt(password: &str, salt: &[u8], iterations: NonZeroU32) -> Self {
        // A password that SASLprep refuses is taken as it is, as PostgreSQL does.
        let prepared = stringprep::saslprep(password).unwrap_or_else(|_| password.into());
        let mut salted = [0; KEY_BYTES];
        pbkdf2::derive(
            pbkdf2::PBKDF2_HMAC_SHA256,
            iterations,
            salt,
            prepared.as_bytes(),
            &mut salted,
        );
        Self {
            iterations,
            salt: salt.to_vec(),
            stored_key: hash(&keyed(&salted, b"Client Key")),
            server_key: keyed(&salted, b"Server Key"),
        }
    }

    /// Of nobody: for a name that has no password, always the same salt, and keys that no proof fits. `secret` is the server's.
    pub fn decoy(secret: &[u8], name: &str) -> Self {
        let salt = keyed(secret, name.as_bytes());
        Self {
            iterations: DEFAULT_ITERATIONS,
            salt: salt.iter().copied().take(SALT_BYTES).collect(),
            stored_key: keyed(&salt, secret),
            server_key: keyed(&salt, &salt),
        }
    }

    /// Reads the text form; nothing if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (costs, keys) = text
            .strip_prefix(MECHANISM)?
            .strip_prefix('$')?
            .split_once('$')?;
        let (iterations, salt) = costs.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        if iterations.is_empty() || !iterations.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self {
            iterations: iterations.parse().ok()?,
            salt: decode_base64(salt).filter(|salt| !salt.is_empty())?,
            stored_key: decode_base64(stored_key)?.try_into().ok()?,
            server_key: decode_base64(server_key)?.try_into().ok()?,
        })
    }

    /// How many rounds a client has to compute.
    pub fn iterations(&self) -> NonZeroU32 {
        self.iterations
    }

    /// What a client mixes with its password.
    pub fn salt(&self) -> &[u8] {
        &self.salt
    }

    /// Whether `proof` shows that its maker knows the password and has seen `auth_message`. Takes as long whatever is wrong.
    pub fn is_proved(&self, auth_message: &[u8], proof: &[u8; KEY_BYTES]) -> bool {
        let signature = keyed(&self.stored_key, auth_message);
        let mut client_key = *proof;
        for (byte, other) in client_key.iter_mut().zip(signature) {
            *byte ^= other;
        }
        let found = hash(&client_key);
        let differences = found.iter().zip(&self.stored_key);
        std::hint::black_box(differences.fold(0, |all, (left, right)| all | (left ^ right))) == 0
    }

    /// What shows a client that the server knows its verifier.
    pub fn server_signature(&self, auth_message: &[u8]) -> [u8; KEY_BYTES] {
        keyed(&self.server_key, auth_message)
    }
}

impl fmt::Display for ScramVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let salt = encode_base64(&self.salt);
        let (stored, server) = (
            encode_base64(&self.stored_key),
            encode_base64(&self.server_key),
        );
        write!(
            f,
            "{MECHANISM}${}:{salt}${stored}:{server}",
            self.iterations
        )
    }
}

/// Keys do not get into logs.
impl fmt::Debug for ScramVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScramVerifier").finish_non_exhaustive()
    }
}

fn keyed(key: &[u8], message: &[u8]) -> [u8; KEY_BYTES] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    fixed(tag.as_ref())
}

fn hash(bytes: &[u8]) -> [u8; KEY_BYTES] {
    fixed(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn fixed(bytes: &[u8]) -> [u8; KEY_BYTES] {
    let mut fixed = [0; KEY_BYTES];
    for (place, byte) in fixed.iter_mut().zip(bytes) {
        *place = *byte;
    }
    fixed
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The conversation of RFC 7677, section 3: user "user", password "pencil".
    const AUTH_MESSAGE: &[u8] = b"n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";

    fn of_the_rfc() -> ScramVerifier {
        let salt = decode_base64("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        ScramVerifier::with_salt("pencil", &salt, DEFAULT_ITERATIONS)
    }

    #[test]
    fn the_conversation_of_the_rfc_is_verified() {
        let verifier = of_the_rfc();
        let proof = decode_base64("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=").unwrap();
        let proof: [u8; KEY_BYTES] = proof.try_into().unwrap();
        assert!(verifier.is_proved(AUTH_MESSAGE, &proof));
        let signature = verifier.server_signature(AUTH_MESSAGE);
        assert_eq!(
            encode_base64(&signature),
            "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
        );
        for bit in 0..256 {
            let mut wrong = proof;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!verifier.is_proved(AUTH_MESSAGE, &wrong), "bit {bit}");
        }
        assert!(!verifier.is_proved(&AUTH_MESSAGE[1..], &proof));
    }

    #[test]
    fn the_text_form_comes_back() {
        let verifier = of_the_rfc();
        let text = verifier.to_string();
        assert!(
            text.starts_with("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"),
            "{text}"
        );
        assert!(ScramVerifier::parse(&text) == Some(verifier));
        for length in 0..text.len() {
            assert!(ScramVerifier::parse(&text[..length]).is_none(), "{length}");
        }
        for wrong in [
            "pencil",
            "SCRAM-SHA-256$0:AA==$AA==:AA==",
            "SCRAM-SHA-256$+1:AA==$AA==:AA==",
        ] {
            assert!(ScramVerifier::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn passwords_are_prepared() {
        let of =
            |password| ScramVerifier::with_salt(password, b"salt", DEFAULT_ITERATIONS).to_string();
        // RFC 4013: a soft hyphen is nothing, compatibility forms are one; RFC 3454: a control character is refused.
        assert_eq!(of("I\u{AD}X"), of("IX"));
        assert_eq!(of("\u{2168}"), of("IX"));
        assert_ne!(of("ix"), of("IX"));
        assert_ne!(of("\u{7}"), of(""));
    }
}
