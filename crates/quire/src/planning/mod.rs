//! What one statement sees: the planner, its tables, and its plans.

mod catalog;
mod second_try;
mod statement_context;

pub(crate) use statement_context::{StatementContext, next_of};
