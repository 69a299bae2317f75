//! What the optimizer may know before a statement runs: how many rows a table has, how its values
//! are spread, and how many rows a filter leaves.

mod profile;
mod rows;
mod selectivity;

pub use profile::{ColumnProfile, TableProfile};
pub use selectivity::selectivity;
