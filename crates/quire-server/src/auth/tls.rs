//! The server's certificate and key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use thiserror::Error;

use super::binding::certificate_hash;

/// What clients say within TLS that they are about to speak.
pub(crate) const PROTOCOL: &[u8] = b"postgresql";

/// Where certificate and key are, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, and behind it those of its issuers.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why there can be no TLS.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file that is not there, or no PEM.
    #[error("cannot read {what} from {}: {reason}", .path.display())]
    Unreadable {
        /// "a certificate" or "a private key".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Files that can be read and not be used.
    #[error(
        "certificate {} and key {} cannot be used: {reason}; the key must be that of the first certificate in the file",
        .files.certificate.display(), .files.key.display()
    )]
    Unusable {
        /// The files.
        files: TlsFiles,
        /// What is wrong with them.
        reason: String,
    },
}

/// How TLS is spoken here.
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    /// What proofs are bound to.
    pub(crate) certificate_hash: Option<Vec<u8>>,
}

impl Tls {
    pub(crate) fn load(files: &TlsFiles) -> Result<Self, TlsError> {
        let certificates = read_certificates(&files.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| unreadable("a private key", &files.key, error.to_string()))?;
        let certificate_hash = certificates
            .first()
            .and_then(|first| certificate_hash(first));
        let unusable = |error: rustls::Error| TlsError::Unusable {
            files: files.clone(),
            reason: error.to_string(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self {
            config: Arc::new(config),
            certificate_hash,
        })
    }

    /// A connection that is about to shake hands.
    pub(crate) fn accept(&self) -> std::io::Result<ServerConnection> {
        ServerConnection::new(Arc::clone(&self.config)).map_err(std::io::Error::other)
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    let wrong = |reason: String| unreadable("a certificate", path, reason);
    let certificates = read().map_err(|error| wrong(error.to_string()))?;
    if certificates.is_empty() {
        Err(wrong("there is none in the file".to_owned()))
    } else {
        Ok(certificates)
    }
}

fn unreadable(what: &'static str, path: &Path, reason: String) -> TlsError {
    TlsError::Unreadable {
        what,
        path: path.to_owned(),
        reason,
    }
}
