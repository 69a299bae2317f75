//! Which keys lead to the rows that conditions are true of.
//!
//! Conditions that must all be true are read column by column ([`column_test::ColumnTest`]), which needs no parameters. With these, a test is a set of
//! values of its column ([`value_set::ValueSet`]), and the sets of the first columns of a key are ranges of its bytes. Whoever asks may
//! leave out the conditions that the ranges say exactly.

mod choice;
mod column_test;
pub mod default_share;
mod lookup;
mod price;
mod ranges;
mod share;
mod table_look_ups;
#[cfg(test)]
mod tests;
mod value_set;

pub use choice::{AccessChoice, choose, is_of_columns};
pub(crate) use column_test::plain_column;
pub(crate) use lookup::{IndexLookup, fits, lookup};
pub(crate) use price::{Prices, decoding_ns};
pub(crate) use share::{of_scalar, rule, share};
pub use table_look_ups::TableLookUps;
