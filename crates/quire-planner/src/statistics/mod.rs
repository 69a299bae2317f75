//! What the optimizer may know before a statement runs: how many rows a table has, how its values
//! are spread, and how many rows a filter leaves.

mod column_profile;
mod profile;
mod rows;
mod selectivity;

pub use self::{column_profile::ColumnProfile, profile::TableProfile};
pub use selectivity::selectivity;
