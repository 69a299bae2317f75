//! From the planner's expressions to those of the engine's algebra, [`quire_engine::plan`].

mod cast;
mod function;
mod translate;

pub(super) use translate::{Slots, Translator, parameter_number};
