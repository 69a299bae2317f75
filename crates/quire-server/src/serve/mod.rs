//! Threads that serve connections: who waits for whom.
//!
//! | module | answers |
//! |---|---|
//! | `conversation` | from a connection's first packet to its last |
//! | `startup` | how a session begins |
//! | `poller` | the one thread that waits for connections that are silent |
//! | `workers` | threads that serve connections that are not |
//!
//! A connection is at one place at a time: with a worker while it has something to say and for a moment after, else with the
//! poller. Workers block: on the socket, on locks, on the disk. There may be as many of them as connections, so that the one
//! whose COMMIT the others wait for always finds a thread.

mod conversation;
mod poller;
mod startup;
mod workers;

pub(crate) use poller::{Doorbell, Poller};
