//! Default selectivities: shares of rows that pass conditions of which nothing is known.
//!
//! P. Selinger et al., *Access Path Selection in a Relational Database Management System* (SIGMOD 1979), Table 1. 1/4 and 1/2 are theirs; they
//! take 1/10 for an equality and 1/3 for a comparison. The join order and the choice of an executor use the same values, so that they do
//! not contradict each other.

/// Equality with a column whose distinct values are not counted.
pub const EQUALITY: f64 = 0.05;
/// `<`, `<=`, `>` and `>=` where the bounds of the column or the value are not known.
pub const INEQUALITY: f64 = 0.4;
/// A pattern that must occur somewhere in a text.
pub const PATTERN: f64 = 0.08;
/// Upper bound for `IN`, however long its list is.
pub const LIST_MAX: f64 = 0.5;
/// Any other condition.
pub const UNKNOWN: f64 = 0.25;
/// Lower bound: no condition is estimated to pass nothing.
pub const LEAST: f64 = 1e-9;
