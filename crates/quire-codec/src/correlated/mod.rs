//! Columns that other columns of the same rows tell: dates that follow dates, ids that repeat ids, totals, names that
//! belong to codes.
//!
//! Integers are expected from one or two other columns, their *references*, by a [`Combination`], and stored as
//! what is left ([`Residuals`]), by the codecs of integers; what is told exactly becomes a constant. A column of any type
//! that has one value for each value of another needs no number per row at all: a [`FunctionalMap`] says which.
//! (Paper 1 §3.2 leaves correlation to the designer of the schema; here it is found in a sample.)
//!
//! ```
//! use quire_codec::RowGroupValues;
//! use quire_codec::correlated::{Combination, Residuals, add, residuals, wide};
//!
//! let shipped = [9_000, 12_345, 8_100];
//! let received = [9_007, 12_346, 8_130];
//! let mut expected = wide(&RowGroupValues::Int32(&shipped), None).unwrap_or_default();
//! Combination::Same.apply(&mut expected, &[]);
//! let mut decoded = match residuals(&RowGroupValues::Int32(&received), &expected) {
//!     Some(Residuals::Int32(residuals)) => residuals,
//!     _ => unreachable!(),
//! };
//! assert_eq!(decoded, [7, 1, 30]);
//! add(&mut decoded, &expected);
//! assert_eq!(decoded, received);
//! ```

mod combination;
mod functional;

pub use combination::{Combination, DIVISOR_DIGITS_MAX, Residual, Residuals};
pub use combination::{add, is_supported, residuals, subtract, wide};
pub use functional::{FunctionalMap, functional_map};
