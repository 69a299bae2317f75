//! What a page is called and what it holds.

use std::fmt;
use std::num::NonZeroU64;

/// Name of a page for as long as it lives. Names are never given out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(NonZeroU64);

/// The well-known root: the page a reader starts from. It is replaced by every commit that
/// changes the catalog.
pub const CATALOG_PAGE: PageId = PageId(NonZeroU64::MIN);

/// Where the log of row transactions begins: replaced when the log is truncated.
pub const LOG_ROOT_PAGE: PageId = match NonZeroU64::new(2) {
    Some(number) => PageId(number),
    None => CATALOG_PAGE,
};

/// Says that pages may be in the volume to which nothing refers: see [`crate::staging_mark`].
pub const STAGING_PAGE: PageId = match NonZeroU64::new(3) {
    Some(number) => PageId(number),
    None => CATALOG_PAGE,
};

/// Which dictionaries the trees of row tables have: see [`crate::page_dictionary`].
pub const DICTIONARY_LIST_PAGE: PageId = match NonZeroU64::new(4) {
    Some(number) => PageId(number),
    None => CATALOG_PAGE,
};

/// Pages below this one have fixed meanings; the volume gives out names from here upwards.
pub const FIRST_FREE_PAGE: u64 = 16;

/// Highest page name a volume accepts; it bounds what a damaged file can make the map allocate.
pub const LAST_PAGE: u64 = (1 << 40) - 1;

impl PageId {
    /// The page called `number`; `None` for 0 and for numbers above [`LAST_PAGE`].
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        if number > LAST_PAGE {
            return None;
        }
        NonZeroU64::new(number).map(Self)
    }

    /// The number of the page, at least 1.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What the bytes of a page mean to the rooms above the store. The store only keeps the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PageKind {
    /// The catalog root.
    Catalog = 1,
    /// Description of one table.
    Table = 2,
    /// Description of one row group of a column table.
    RowGroup = 3,
    /// One column of one row group.
    Segment = 4,
    /// Redo records of row transactions.
    Log = 5,
    /// Which log pages count.
    LogRoot = 6,
    /// A page of the B+tree of a row table.
    Row = 7,
    /// Pages may have been written ahead of their commit.
    Staging = 8,
    /// Which dictionaries there are.
    DictionaryList = 9,
    /// What the pages of a tree have in common.
    Dictionary = 10,
    /// The list of data sets, the root of their volume.
    DataSetTable = 11,
    /// The state of one data set.
    DataSetHead = 12,
    /// A node of the tree of a data set.
    DataSetNode = 13,
    /// A record of a file of a data set.
    DataSetRecord = 14,
    /// Pages that only snapshots have.
    DeadPages = 15,
    /// Writes of files that were synced before their records are written.
    LoggedWrites = 16,
}

impl PageKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [Self; 16] = [
        Self::Catalog,
        Self::Table,
        Self::RowGroup,
        Self::Segment,
        Self::Log,
        Self::LogRoot,
        Self::Row,
        Self::Staging,
        Self::DictionaryList,
        Self::Dictionary,
        Self::DataSetTable,
        Self::DataSetHead,
        Self::DataSetNode,
        Self::DataSetRecord,
        Self::DeadPages,
        Self::LoggedWrites,
    ];

    /// The kind with the number `number`, if there is one.
    #[must_use]
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}
