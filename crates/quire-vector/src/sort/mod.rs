//! The order of rows by keys that are packed into words.
//!
//! [`SortWords`] packs the keys of a row, each in as few bits as its values differ in, so that unsigned words compare as the keys do: the normalized
//! keys of Goetz Graefe ("Implementing Sorting in Database Systems", ACM Computing Surveys 38, 2006, §3.1), with the range of the values in the place of
//! their type. [`sorted_rows`] sorts by them, digit by digit. [`LoserTree`] merges sorted runs.

mod loser_tree;
mod radix;
mod words;

#[cfg(test)]
mod tests;

pub use loser_tree::LoserTree;
pub use radix::sorted_rows;
pub use words::{SortDirection, SortWords};
