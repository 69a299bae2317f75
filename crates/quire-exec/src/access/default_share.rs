//! Shares of rows that pass conditions of which nothing is known.
//!
//! The idea of P. Selinger et al., *Access Path Selection in a Relational Database Management System* (SIGMOD 1979), Table 1. Their 1/10 of
//! an equality and 1/3 of a comparison are of System R's catalogs; these are smaller for equalities, since conditions on keys are known
//! better. The planner orders joins by the same shares, so that it and the choice of an executor do not contradict each other.

/// One value of a column whose distinct values are not counted.
pub const EQUALITY: f64 = 0.05;
/// `<`, `<=`, `>` and `>=` with something of unknown place among the values.
pub const INEQUALITY: f64 = 0.4;
/// A pattern that must occur somewhere in a text.
pub const PATTERN: f64 = 0.08;
/// A list of members, however long, that are not counted.
pub const LIST_MAX: f64 = 0.5;
/// Any other condition.
pub const UNKNOWN: f64 = 0.25;
/// No condition is believed to be true of nothing.
pub const LEAST: f64 = 1e-9;
