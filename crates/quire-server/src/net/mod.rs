//! One connection: its socket, its bytes, where it comes from, and the list of all of them.
//!
//! | module | answers |
//! |---|---|
//! | `channel` | the socket, encrypted or not |
//! | `client` | bytes that go to a client |
//! | `origin` | how many connections of an address have not begun a session |
//! | `penalties` | repeated wrong passwords |
//! | `log` | the log of the server's events and of refused connections |
//! | `registry` | which connections there are; cancelling them |
//! | `input` | bytes that a client sent |

mod channel;
mod client;
mod input;
mod log;
mod origin;
mod penalties;
mod registry;

pub(crate) use channel::Channel;
pub(crate) use client::Sender;
pub(crate) use input::{ReceiveBuffer, SocketFill};
pub(crate) use log::{ClientIdentity, ServerLog};
pub(crate) use origin::{Newcomer, origin_of};
pub(crate) use penalties::Penalties;
pub(crate) use registry::{AdmissionSlot, Peer, Registry};
