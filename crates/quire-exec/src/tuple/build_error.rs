//! Why a plan has no iterators.

use crate::avm::{CompileError, Trap};

/// Why a plan has no iterators.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// An expression has no program.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// What was evaluated beforehand has no value.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// A table that is no row table, or none at all.
    #[error("{0:?} is no row table; another engine must read it")]
    Table(String),
    /// What these iterators do not do.
    #[error("no iterator does this: {0}; another engine must")]
    Unsupported(&'static str),
    /// A LIMIT or OFFSET below zero.
    #[error("LIMIT and OFFSET must not be negative")]
    Count,
}
