//! What can be locked.

use crate::mvcc::TreeId;

/// A lock, by a hash of what is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LockName(pub(super) u64);

/// What a lock is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockObject {
    /// A row of a tree.
    Row(TreeId),
    /// A table or view, by its number.
    Table(u64),
    /// All rows of a tree.
    Tree(TreeId),
    /// All definitions of the database, and the row groups of its column tables: shared by those that change some.
    Definitions,
    /// What has one name among tables, indexes, views and sequences, or among roles: its definition, and the row groups of a column
    /// table. With the number of the table or view, or 0 where there is none yet.
    Definition(u64),
}

/// The same in eight bytes: the kind, and behind it the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedObject(u64);

const KIND_SHIFT: u32 = 56;
const ROW: u64 = 1;
const TABLE: u64 = 2;
const TREE: u64 = 3;
const DEFINITIONS: u64 = 4;
const DEFINITION: u64 = 5;

impl PackedObject {
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    pub(super) fn is_row(self) -> bool {
        self.0 >> KIND_SHIFT == ROW
    }

    pub(super) fn unpacked(self) -> LockObject {
        let number = self.0 & ((1 << KIND_SHIFT) - 1);
        match self.0 >> KIND_SHIFT {
            ROW => LockObject::Row(TreeId::new(number)),
            TABLE => LockObject::Table(number),
            TREE => LockObject::Tree(TreeId::new(number)),
            DEFINITION => LockObject::Definition(number),
            _ => LockObject::Definitions,
        }
    }
}

impl From<LockObject> for PackedObject {
    fn from(object: LockObject) -> Self {
        // Numbers are given in their order and never come to 56 bits.
        let (kind, number) = match object {
            LockObject::Row(tree) => (ROW, tree.get()),
            LockObject::Table(id) => (TABLE, id),
            LockObject::Tree(tree) => (TREE, tree.get()),
            LockObject::Definitions => (DEFINITIONS, 0),
            LockObject::Definition(id) => (DEFINITION, id),
        };
        Self(kind << KIND_SHIFT | number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_kind_and_number() {
        let tree = TreeId::new(77);
        for object in [
            LockObject::Row(tree),
            LockObject::Table(1),
            LockObject::Tree(tree),
            LockObject::Definitions,
            LockObject::Definition(9),
        ] {
            assert_eq!(PackedObject::from(object).unpacked(), object);
        }
    }
}
