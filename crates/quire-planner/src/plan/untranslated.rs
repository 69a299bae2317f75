//! Why a statement has no counterpart in the algebra.

use quire_exec::plan::PlanError;

/// The first part of a plan that was found to have none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untranslated {
    /// A node of the plan.
    #[error("{0}")]
    Node(String),
    /// An aggregate function.
    #[error("aggregate {0}")]
    Aggregate(String),
    /// An expression, or a part of one.
    #[error("expression {0}")]
    Expression(String),
    /// What came out is wrong: a fault of the translation.
    #[error("internal error: {0}")]
    Wrong(#[from] PlanError),
}
