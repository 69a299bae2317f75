//! The papers' figures that need a whole database.
//!
//! [`tpcd`] has tables 3, 4 and 5 of paper 1. `quire-lab` has the figures that need codecs and pages only, and draws all of them.
#![forbid(unsafe_code)]

pub mod tpcd;
