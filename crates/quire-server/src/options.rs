//! How a server serves.

use std::net::SocketAddr;
use std::time::Duration;

use crate::auth::{Authentication, TlsFiles};

/// See [`crate::Server::start`].
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Connections at a time; more are refused with SQLSTATE 53300.
    pub connections_max: usize,
    /// Bytes of the largest message that clients may send.
    pub message_bytes_max: usize,
    /// How long a client may take to say and prove who it is. Where there is no place for others, it may have less.
    pub startup_timeout: Duration,
    /// How long a client may leave an answer untaken.
    pub write_timeout: Duration,
    /// How long a statement may take, unless its session sets `statement_timeout`.
    pub statement_timeout: Option<Duration>,
    /// Who has to prove who they are.
    pub authentication: Authentication,
    /// Certificate and key; without them there is no TLS.
    pub tls: Option<TlsFiles>,
    /// Whether clients without TLS are refused. Elsewhere than on addresses of the machine itself they always are.
    pub requires_tls: bool,
    /// Whether standard error gets a line for each client that is turned away, and for the start and the end of the server.
    pub logs: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 5432)),
            connections_max: 256,
            message_bytes_max: 64 << 20,
            startup_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            statement_timeout: None,
            authentication: Authentication::Automatic,
            tls: None,
            requires_tls: false,
            logs: false,
        }
    }
}
