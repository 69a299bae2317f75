//! The papers' figures that need a whole database.
//!
//! [`tpcd`] has tables 3, 4 and 5 of paper 1, [`avm`] its figures 5 and 6; [`devices`] measures equation 6.1 of paper 2, [`tpch`] its table 6.1, [`bandwidth`] its figure 6.8, [`buffer_pool`] its figure 6.1. `quire-lab` has the figures that need codecs and pages only, and draws all
//! of them. [`dual_format_system`] has figures 1, 10 and 11 of paper 3, [`page_compression`] tables IV to VIII and figures 6 to 9 of paper 4, [`file_system`] the tables of paper 5.
#![forbid(unsafe_code)]

pub mod avm;
pub mod bandwidth;
pub mod buffer_pool;
mod column_tables;
pub mod devices;
pub mod dual_format_system;
mod embedded_target;
pub mod file_system;
pub mod page_compression;
pub mod tpcd;
pub mod tpch;
mod transactions;

pub use column_tables::{ColumnLayout, ColumnTablesSetup};
pub use embedded_target::EmbeddedTarget;
