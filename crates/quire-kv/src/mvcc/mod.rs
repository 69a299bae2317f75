//! Transactions over trees of keys and values: snapshots, locks, isolation, commit, recovery, checkpoints.
//!
//! This module knows nothing about tables: keys and values are bytes, and trees have numbers. A transaction keeps its changes in its
//! own memory until it commits, so pages contain committed values only, and recovery has nothing to undo. Superseded values stay in
//! memory until no snapshot needs them.
//!
//! | module | answers |
//! |---|---|
//! | `manager` | the entry point: trees, transactions, views, checkpoints |
//! | `transaction`, `write_set` | what a transaction sees, changes, and takes back |
//! | `changes`, `ordered`, `spill` | what is changed in one tree, in memory and in a file |
//! | `spare` | memory that one transaction leaves to the next |
//! | `view`, `scan` | what one statement reads |
//! | `versions`, `snapshots` | what keys had before, and who still needs it |
//! | `locks` | who may change which row or table; who waits; deadlocks |
//! | `commit`, `redo`, `clock` | when a transaction counts, and for whom |
//! | `serializable` | could they have run one after the other |
//! | `recovery`, `background` | what is redone after a crash; when changed pages are written |
//!
//! ```
//! use std::sync::Arc;
//! use quire_kv::btree::{Direction, TreeOptions};
//! use quire_kv::mvcc::{Mvcc, MvccOptions, TransactionOptions, TreeId, TreeSpec};
//! use quire_store::log::{VolumeLog, LogOptions};
//! use quire_store::pool::{PageCodec, Pool, PoolOptions};
//! use quire_store::{MemDisk, Volume, VolumeOptions};
//!
//! let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
//! let pool = Pool::new(&volume, PoolOptions::default());
//! let log = VolumeLog::open(&volume, LogOptions::default())?;
//! let accounts = TreeId::new(1);
//! let spec = TreeSpec {
//!     id: accounts,
//!     root: volume.allocate_page().ok_or("no page")?,
//!     codec: PageCodec::NONE,
//!     options: TreeOptions::default(),
//!     holds_deletions: false,
//! };
//! let mvcc = Mvcc::open(&volume, &pool, &log, &[spec], MvccOptions::default())?;
//!
//! let mut transaction = mvcc.begin(TransactionOptions::default());
//! transaction.put(accounts, b"Ada", b"10")?;
//! transaction.put(accounts, b"Bob", b"20")?;
//! assert_eq!(mvcc.get(accounts, b"Ada", <[u8]>::to_vec)?, None);
//! transaction.commit()?;
//!
//! let before = mvcc.view();
//! let mut transaction = mvcc.begin(TransactionOptions::default());
//! transaction.remove(accounts, b"Ada")?;
//! transaction.commit()?;
//! let mut scan = before.scan(accounts, b"", b"", Direction::Backward)?;
//! assert_eq!(scan.next_entry()?, Some((b"Bob".as_slice(), b"20".as_slice())));
//! assert_eq!(scan.next_entry()?, Some((b"Ada".as_slice(), b"10".as_slice())));
//! assert_eq!(mvcc.get(accounts, b"Ada", <[u8]>::to_vec)?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod changes;
mod clock;
mod commit;
mod error;
mod locks;
mod manager;
mod options;
mod ordered;
mod recovery;
mod redo;
mod room;
mod scan;
mod serializable;
mod snapshots;
mod spare;
mod spill;
mod transaction;
mod trees;
mod versions;
mod view;
mod write_set;

pub use error::{
    KeyWriteError, KvCommitError, LockError, RedoError, SpillError, TreeCheckpointError,
    TreeReadError, TreesOpenError,
};
pub use locks::{
    DefinitionLock, DefinitionLocks, LockObject, LockReport, LockWait, RowLockMode, TableLockMode,
};
pub use manager::{Mvcc, MvccStatistics};
pub use options::{Cancel, Isolation, MvccOptions, Synchronous, TransactionOptions};
pub use redo::Redo;
pub use scan::BTreeScan;
pub use transaction::{KvSavepoint, KvTransaction, LockedRow};
pub use trees::{TreeId, TreeSpec};
pub use view::ReadView;
