//! The database for clients of PostgreSQL: its protocol over TCP.
//!
//! A [`Server`] listens on one address and serves one database. It translates messages of clients into calls of `quire`, and the results
//! into messages. Its modules are `wire` (encoding of messages), `types` (encoding of values), `session` (execution of messages), `auth`
//! (authentication), `net` (sockets) and `serve` (threads); the README has their rules.
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
