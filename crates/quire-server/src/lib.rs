//! The database for clients of PostgreSQL: its protocol over TCP.
//!
//! A [`Server`] listens on one address and serves one database; what a client says becomes calls of `quire`, and its answers
//! become messages. The rooms within are `wire` (bytes of messages), `types` (values as bytes), `session` (what a message does), `auth` (who clients are),
//! `net` (sockets) and `serve` (threads); see the README for their rules.
#![forbid(unsafe_code)]

mod auth;
pub mod copy;
mod failure;
mod malformed;
mod net;
mod options;
mod serve;
mod server;
mod server_state;
mod session;
mod types;
mod wire;

pub use auth::{Authentication, TlsError, TlsFiles};

pub use self::{
    options::ServerOptions,
    server::{Server, ServerError},
};

/// Compiles what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ServerExamples;
