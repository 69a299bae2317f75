//! The real program, run as a user or a script runs it.
#![allow(clippy::unwrap_used)]

mod check;
mod commands;
mod files;
mod modes;
mod program;
mod scripts;
mod signals;
mod terminal;
mod typed_rows;
