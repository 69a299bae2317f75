//! Kernels over vectors of 1,024 values: what a scan or an operator computes for a whole vector at once.
//!
//! Pure code, without I/O, plans or NULLs: whoever calls a kernel combines its mask with the rows that are not NULL. Each kernel is one safe
//! loop over an array of fixed size, compiled for AVX-512, for AVX2 and for the baseline by [`quire_codec::dispatch!`].
//!
//! ```
//! use quire_vector::{Comparison, KeySet, VectorInteger};
//!
//! let mut shipped = [0_i32; 1024];
//! let mut received = [0_i32; 1024];
//! (shipped[3], received[3]) = (5, 9);
//! let mask = i32::compare(&shipped, Comparison::Less, &received);
//! assert_eq!(mask[0], 1 << 3);
//!
//! let wanted = KeySet::new(5, vec![0b1001]);
//! assert!(wanted.contains(5) && wanted.contains(8) && !wanted.contains(9));
//! assert_eq!(i32::select_members(&shipped, &wanted)[0], 1 << 3);
//! ```
#![forbid(unsafe_code)]

mod arithmetic;
mod compare;
mod groups;
mod integer;
mod joins;
mod key_set;
mod slots;
mod sort;

pub use arithmetic::VectorOperator;
pub use compare::Comparison;
pub use groups::{GROUPS_MAX, GroupKeys, GroupLayout, GroupTable, KeyRows, TextBuffers};
pub use integer::VectorInteger;
pub use joins::{KeyRanks, MatchCursor, NO_KEY, RowLists};
pub use key_set::KeySet;
pub use slots::RowSlots;
pub use sort::{LoserTree, SortDirection, SortWords, sorted_rows};
