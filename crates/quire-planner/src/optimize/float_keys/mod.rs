//! Floats are compared as SQL compares them: one NaN, greater than every number, and one zero.
//!
//! DataFusion's kernels compare, sort and hash floats by their bits. Where a plan compares floats, this rule puts
//! [`quire_functions::FloatKey`] around them, which maps equal floats to equal bits and the order of SQL to that of bits. It runs once types
//! are settled and subqueries are joins, and before anything is computed or moved, so rules that fold constants, make joins of filters or hand filters to
//! scans find the function in place. Values keep their sign of zero where they are only computed and returned.
//!
//! Why this is enough: the comparisons of a plan are the operators and functions of [`expressions`] and the keys of the nodes of
//! [`nodes`]; what later rules make of them (equality joins, groups for DISTINCT) consists of the same expressions.
//! The engine's own comparisons follow the same order without the function, so where an expression is translated for it, the
//! function is left out of comparisons.
//!
//! What it costs: one pass over the floats that are compared, and nothing where there are none. Zones prune as before:
//! the scan looks through the function.

mod expressions;
mod nodes;

pub(super) use self::{
    expressions::{compare_by_keys, compares},
    nodes::key_node,
};
