//! What is wrong with a plan.

use crate::plan::ValueKind;

/// Why a plan cannot be run: a fault of whoever built it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An expression names a column that its input does not have.
    #[error("{node}: slot {slot} of a row of {column_count} columns")]
    Slot {
        /// The node of the plan.
        node: &'static str,
        /// The slot.
        slot: usize,
        /// How many columns there are.
        column_count: usize,
    },
    /// Values of one kind where there must be others.
    #[error("{node}: {found} where {expected} is needed in {part}")]
    Kind {
        /// The node of the plan.
        node: &'static str,
        /// The operation, or the column.
        part: String,
        /// What is needed.
        expected: ValueKind,
        /// What is there.
        found: ValueKind,
    },
    /// Values of a kind that an operation does not take.
    #[error("{node}: {found} cannot be an operand of {part}")]
    Operand {
        /// The node of the plan.
        node: &'static str,
        /// The operation.
        part: String,
        /// What is there.
        found: ValueKind,
    },
    /// NULL may come where it is said not to.
    #[error("{node}: {part} may be NULL, but is said not to be")]
    Null {
        /// The node of the plan.
        node: &'static str,
        /// The column.
        part: String,
    },
    /// More or fewer columns than there are values.
    #[error("{node}: {found} columns where there must be {expected}")]
    ColumnCount {
        /// The node of the plan.
        node: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An operation without anything to work on.
    #[error("{node}: {part} of nothing")]
    Empty {
        /// The node of the plan.
        node: &'static str,
        /// The operation.
        part: &'static str,
    },
    /// A value depends on a row where there is none.
    #[error("{node}: a value must not depend on rows")]
    NotFixed {
        /// The node of the plan.
        node: &'static str,
    },
    /// A column has a type that expressions do not know.
    #[error("{node}: column {column} has the type {data_type}")]
    Type {
        /// The node of the plan.
        node: &'static str,
        /// Name of the column.
        column: String,
        /// Its type.
        data_type: String,
    },
    /// A parameter that the query does not have, or one of another kind.
    #[error("{node}: there is no parameter {number}")]
    Parameter {
        /// The node of the plan.
        node: &'static str,
        /// Its number, from 0.
        number: usize,
    },
    /// A join for `NOT IN` that is none.
    #[error("join: only an anti join with one key and no residual condition can be NOT IN")]
    NotIn,
    /// Places that should read the same shared plan have different ones.
    #[error("shared: rows {id} are of different plans")]
    Shared {
        /// Which of the shared plans.
        id: usize,
    },
    /// A write whose rows are not all asked for.
    #[error("{node}: only projections can be applied to what was written")]
    Inside {
        /// The node above it.
        node: &'static str,
    },
}
