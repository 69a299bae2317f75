//! A listening server.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use quire::Database;
use thiserror::Error;

use crate::auth::{Authentication, Decoys, Tls, TlsError};
use crate::net::{Penalties, Registry, ServerLog};
use crate::options::ServerOptions;
use crate::serve::{Doorbell, Poller};
use crate::server_state::ServerState;

/// Why a server does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Anybody could read and change everything.
    #[error(
        "will not listen on {address}, which other machines may reach, without {missing}; \
         or use an address of this machine, such as 127.0.0.1"
    )]
    Exposed {
        /// The address asked for.
        address: SocketAddr,
        /// What would have to be there, and how it comes there.
        missing: String,
    },
    /// Clients are to use TLS, and there is none.
    #[error("TLS cannot be required without a certificate and its key (--tls-cert and --tls-key)")]
    NoCertificate,
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address is in use, or is not of this machine.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no thread or no way to wait for sockets.
    #[error("cannot start the server: {0}")]
    Start(io::Error),
}

/// What other machines may reach needs passwords and TLS.
fn check_exposure(database: &Database, options: &ServerOptions) -> Result<(), ServerError> {
    let mut missing = Vec::new();
    if options.tls.is_none() {
        missing.push("TLS (--tls-cert and --tls-key)");
    }
    if options.authentication == Authentication::Trust {
        missing.push("authentication (--auth scram)");
    } else if !database.has_login_role() {
        missing.push("a role that can log in (CREATE USER name PASSWORD '…' in the shell)");
    }
    if options.listen.ip().is_loopback() || missing.is_empty() {
        Ok(())
    } else {
        Err(ServerError::Exposed {
            address: options.listen,
            missing: missing.join(" and "),
        })
    }
}

/// A server that runs until it is stopped or dropped.
///
/// ```
/// use quire::Database;
/// use quire_server::{Server, ServerOptions};
///
/// let options = ServerOptions { listen: "127.0.0.1:0".parse()?, ..ServerOptions::default() };
/// let server = Server::start(Database::in_memory()?, options)?;
/// assert_ne!(server.address().port(), 0);
/// server.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    address: SocketAddr,
    doorbell: Arc<Doorbell>,
    poller: Option<JoinHandle<()>>,
    log: Arc<ServerLog>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the address may not or cannot be listened on, or certificate and key cannot be used.
    pub fn start(database: Database, options: ServerOptions) -> Result<Self, ServerError> {
        let address = options.listen;
        check_exposure(&database, &options)?;
        if options.requires_tls && options.tls.is_none() {
            return Err(ServerError::NoCertificate);
        }
        let tls = options.tls.as_ref().map(Tls::load).transpose()?;
        let decoys = Decoys::new().map_err(ServerError::Start)?;
        let listen = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let log = Arc::new(ServerLog::new(options.logs).map_err(ServerError::Start)?);
        log.note(&format!("listening on {address}"));
        let shared = ServerState {
            database,
            options,
            registry: Registry::new(),
            tls,
            decoys,
            penalties: Penalties::default(),
            log: Arc::clone(&log),
        };
        let poller = Poller::new(listener, shared).map_err(ServerError::Start)?;
        let doorbell = poller.doorbell();
        let thread = thread::Builder::new()
            .name("quire-poller".to_owned())
            .spawn(move || poller.run())
            .map_err(ServerError::Start)?;
        Ok(Self {
            address,
            doorbell,
            poller: Some(thread),
            log,
        })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections, cancels their statements, rolls their transactions back, and waits for that.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(poller) = self.poller.take() {
            self.doorbell.stop();
            // It has caught what might go wrong; there is nothing else to tell.
            let _ = poller.join();
            self.log.note("stopped");
            self.log.close();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
