//! From the planner's expressions to those of the engine's algebra, [`quire_exec::plan`].

mod cast;
mod foreign;
mod function;
mod operators;
mod translate;

pub(crate) use operators::{checked_operator, operator_of};
pub use translate::{ExpressionTranslator, OuterScope, Slots, parameter_number};
