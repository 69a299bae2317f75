//! Modes of locks, and which of them exclude each other.

/// How a row is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowLockMode {
    /// Nobody else may change it: `SELECT … FOR SHARE`, the referenced row of a foreign key.
    Share,
    /// Nobody else may change or lock it: changes, `SELECT … FOR UPDATE`.
    Exclusive,
}

/// How a table is locked. Modes exclude each other as in PostgreSQL (x):
///
/// | | AS | RS | RE | S | SRE | E | AE |
/// |---|---|---|---|---|---|---|---|
/// | `AccessShare`: reading | | | | | | | x |
/// | `RowShare`: locking rows | | | | | | x | x |
/// | `RowExclusive`: changing rows | | | | x | x | x | x |
/// | `Share`: CREATE INDEX | | | x | | x | x | x |
/// | `ShareRowExclusive`: adding a foreign key | | | x | x | x | x | x |
/// | `Exclusive` | | x | x | x | x | x | x |
/// | `AccessExclusive`: DROP, TRUNCATE, most of ALTER TABLE | x | x | x | x | x | x | x |
///
/// `SHARE UPDATE EXCLUSIVE` is missing: nothing here needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableLockMode {
    /// Reading.
    AccessShare,
    /// Locking rows.
    RowShare,
    /// Changing rows.
    RowExclusive,
    /// No changes by others.
    Share,
    /// No changes by others, and only one of these.
    ShareRowExclusive,
    /// Others may only read.
    Exclusive,
    /// Nobody else.
    AccessExclusive,
}

/// A set of modes. Those of rows and those of tables never meet: they are for other names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LockModes(u16);

impl LockModes {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Does who has these need nothing more to have `wanted`? Then all that `wanted` keeps out is kept out.
    pub(super) fn cover(self, wanted: Self) -> bool {
        let kept_out = wanted.excluded();
        !self.is_empty() && self.excluded().0 & kept_out.0 == kept_out.0
    }

    /// PostgreSQL's name of the strongest.
    pub(super) fn name(self) -> &'static str {
        let strongest = u16::BITS - self.0.leading_zeros();
        let named = (strongest as usize)
            .checked_sub(1)
            .and_then(|mode| NAMES.get(mode));
        named.copied().unwrap_or_default()
    }

    /// The modes that others cannot have meanwhile.
    pub(super) fn excluded(self) -> Self {
        let excluded = EXCLUDED.iter().enumerate();
        excluded.fold(Self::NONE, |all, (mode, excluded)| {
            if self.0 >> mode & 1 == 1 {
                Self(all.0 | excluded)
            } else {
                all
            }
        })
    }
}

impl From<RowLockMode> for LockModes {
    fn from(mode: RowLockMode) -> Self {
        Self(1 << mode as u16)
    }
}

impl From<TableLockMode> for LockModes {
    fn from(mode: TableLockMode) -> Self {
        Self(1 << (TABLE_SHIFT + mode as u16))
    }
}

const TABLE_SHIFT: u16 = 2;

/// For each mode the modes it excludes: two of rows, seven of tables.
const EXCLUDED: [u16; 9] = [
    0b10,
    0b11,
    0b100_0000 << TABLE_SHIFT,
    0b110_0000 << TABLE_SHIFT,
    0b111_1000 << TABLE_SHIFT,
    0b111_0100 << TABLE_SHIFT,
    0b111_1100 << TABLE_SHIFT,
    0b111_1110 << TABLE_SHIFT,
    0b111_1111 << TABLE_SHIFT,
];

/// As PostgreSQL calls them.
const NAMES: [&str; 9] = [
    "ShareLock",
    "ExclusiveLock",
    "AccessShareLock",
    "RowShareLock",
    "RowExclusiveLock",
    "ShareLock",
    "ShareRowExclusiveLock",
    "ExclusiveLock",
    "AccessExclusiveLock",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluding_is_mutual() {
        for one in 0..9 {
            for other in 0..9 {
                let excludes = |one: usize, other: usize| EXCLUDED[one] >> other & 1;
                assert_eq!(excludes(one, other), excludes(other, one));
            }
        }
    }

    #[test]
    fn stronger_modes_cover_weaker_ones() {
        let share = LockModes::from(RowLockMode::Share);
        let exclusive = LockModes::from(RowLockMode::Exclusive);
        assert!(exclusive.cover(share) && !share.cover(exclusive));
        assert!(!LockModes::NONE.cover(share));
        let share = LockModes::from(TableLockMode::Share);
        let row_exclusive = LockModes::from(TableLockMode::RowExclusive);
        assert!(!share.cover(row_exclusive) && !row_exclusive.cover(share));
        let both = share.with(row_exclusive);
        assert!(both.cover(TableLockMode::ShareRowExclusive.into()));
        assert!(!both.cover(TableLockMode::Exclusive.into()));
    }
}
