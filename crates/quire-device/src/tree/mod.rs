//! The tree of a data set: items by their keys, in nodes that are never changed.

mod apply;
mod nodes;
mod pack;
mod read;
mod walk;

pub(crate) use apply::{TreeChange, TreeUpdate};
pub(crate) use read::{PageReader, open_node};
