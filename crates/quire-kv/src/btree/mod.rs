//! The B+tree of a row table or of an index: bytes by the order of their keys.
//!
//! | module | answers |
//! |---|---|
//! | `tree` | what is under this key; one change of one entry |
//! | `descend` | which leaf has a key, while others change the tree |
//! | `grow`, `shrink` | when pages become two, or one |
//! | `relieve` | leaves whose compressed images are too large |
//! | `cursor` | what is between two keys, in both directions |
//! | `leaf_ahead` | which leaves a cursor will come to, and are to be read meanwhile |
//! | `estimate` | how much is between two keys, and where to cut it |
//! | `levels`, `build` | a tree from sorted entries; the end of a tree |
//! | `check` | is the tree what it must be |
//!
//! Pages are frames of the pool. Changes of entries are page operations, which the caller logs. What the tree does with its pages
//! is not logged: under one guard of the pool, so in one flush, is all of it or nothing.
//!
//! ```
//! use std::sync::Arc;
//! use quire_kv::btree::{BTree, Direction, TreeOptions};
//! use quire_store::pool::{PageCodec, Pool, PoolOptions};
//! use quire_store::{MemDisk, Volume, VolumeOptions};
//!
//! let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
//! let pool = Pool::new(&volume, PoolOptions::default());
//! let guard = pool.begin_change();
//! let tree = BTree::create(&pool, PageCodec::NONE, TreeOptions::default(), &guard)?;
//! for number in 0..1000_u32 {
//!     let value = format!("row {number}");
//!     tree.put(&number.to_be_bytes(), value.as_bytes(), 1 + u64::from(number), &guard)?;
//! }
//! drop(guard);
//!
//! let found = tree.get(&[0, 0, 0, 7], |value| value.to_vec())?;
//! assert_eq!(found, Some(b"row 7".to_vec()));
//! let mut cursor = tree.cursor(&[0, 0, 0, 7], &[0, 0, 0, 9], Direction::Backward);
//! assert_eq!(cursor.next_entry()?.map(|(_, value)| value), Some(b"row 8".as_slice()));
//! assert_eq!(cursor.next_entry()?.map(|(_, value)| value), Some(b"row 7".as_slice()));
//! assert_eq!(cursor.next_entry()?, None);
//! assert_eq!(tree.check().findings, []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod check;
mod counters;
mod cursor;
mod descend;
mod descent;
mod error;
mod estimate;
mod grow;
mod leaf_ahead;
mod levels;
mod pages;
mod relieve;
mod shrink;
mod stored;
mod tree;
mod underfull;

pub use build::TreeBuilder;
pub use check::{TreeFinding, TreeReport};
pub use counters::TreeStatistics;
pub use cursor::{BTreeCursor, Direction, KeyAndValue};
pub(crate) use cursor::{CopiedLeaf, LeafPart, RangeLeft};
pub use error::{StoredTreeError, TreeError};
pub use estimate::{FEW_PAGES, LeafEstimate, untold};
pub(crate) use leaf_ahead::LeafReadAhead;
pub use levels::TreeLevels;
pub use stored::{add_stored_pages, stored_dictionaries};
pub(crate) use tree::NearLeaf;
pub use tree::check_size;
pub use tree::{BTree, TreeOptions};
