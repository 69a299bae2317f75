//! From parse trees to plans: what Quire adds to DataFusion's planner, and plans in the engine's own algebra.
//!
//! [`optimize`] has our analyzer, optimizer and physical rules; [`scan`] what a plan reads tables by; [`statistics`] what the order of joins
//! is decided by; [`explained`] what `EXPLAIN` shows of a plan; [`plan`] turns DataFusion's logical plans into queries of `quire-exec`, with expressions by [`expression`].
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod explained;
pub mod expression;
pub mod external;
pub mod optimize;
pub mod plan;
pub mod repeatable;
pub mod scalar;
pub mod scan;
pub mod statistics;
pub mod whole_table;
