//! The server over TCP, byte by byte: what clients hide is seen here.
#![allow(clippy::unwrap_used)]

mod catalog;
mod client;
mod commands;
mod copy;
mod damage;
mod extended;
mod limits;
mod roles;
mod simple;
mod startup;
mod transactions;
mod values;
