//! Changes of column tables: rows that are in no row group yet, and rows of row groups that are deleted.
//!
//! | module | answers |
//! |---|---|
//! | `changes` | what one snapshot has of the changes of a table |
//! | `deleted` | which rows of a row group are deleted |
//!
//! Both are trees of `mvcc`: the *delta* is a row table without a name, of the same columns, whose keys are numbers of rows; the
//! *deletions* have the positions of deleted rows as keys ([`quire_format::row_position`]). Isolation, locks, recovery and spilling are those of row tables.

mod changes;
mod deleted;

pub(crate) use changes::{ColumnChanges, change_trees, has_change_trees};
pub(crate) use deleted::DeletedRows;
