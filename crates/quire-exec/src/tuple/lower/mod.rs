//! Plans become iterators and their programs.
//!
//! Every node says where its columns are: in registers, or attributes of tuples that registers point to. What nobody asks for is never decoded.
//! How often the nodes above ask for a column goes down with the walk: a column that is asked for once may stay an operand where it is.

mod aggregate;
mod base_scan;
mod builder;
mod cost;
mod demand;
mod estimate;
mod join;
mod join_sides;
mod lookup;
mod merge;
mod order;
mod plan_estimate;
mod relation;
mod spilling;
mod workspace;
mod write;

pub(super) use builder::Builder;
pub(super) use demand::Demand;
pub(super) use relation::all_columns;
pub(super) use spilling::Spilling;
