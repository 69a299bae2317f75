//! Sockets and threads: who waits for whom.
//!
//! | module | answers |
//! |---|---|
//! | `channel` | the socket, encrypted or not |
//! | `client` | bytes of one connection, in and out |
//! | `conversation` | from a connection's first packet to its last |
//! | `startup` | how a session begins |
//! | `poller` | the one thread that waits for connections that are silent |
//! | `workers` | threads that serve connections that are not |
//! | `origin` | how many connections of an address have not begun a session |
//! | `penalties` | repeated wrong passwords |
//! | `log` | what the server says of clients that it turns away |
//! | `registry` | which connections there are; cancelling them |
//!
//! A connection is at one place at a time: with a worker while it has something to say and for a moment after, else with the
//! poller. Workers block: on the socket, on locks, on the disk. There may be as many of them as connections, so that the one
//! whose COMMIT the others wait for always finds a thread.

mod channel;
mod client;
mod conversation;
mod log;
mod origin;
mod penalties;
mod poller;
mod registry;
mod startup;
mod workers;

pub(crate) use client::Sender;
pub(crate) use log::Log;
pub(crate) use penalties::Penalties;
pub(crate) use poller::{Doorbell, Poller};
pub(crate) use registry::{Peer, Registry};
