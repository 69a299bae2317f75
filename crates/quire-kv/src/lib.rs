//! Transactions over trees of keys and values.
//!
//! It knows nothing of tables: keys and values are bytes. [`btree`] is the tree, [`mvcc`] its transactions, [`progress`] what long
//! statements count.
#![forbid(unsafe_code)]

pub mod btree;
pub mod mvcc;
pub mod progress;
