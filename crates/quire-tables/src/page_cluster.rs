//! The order in which the pages of one batch go into the file.
//!
//! Paper 2 (§6.2.3) groups the blocks of a column in large chunks, so that a scan of a few columns reads the disk sequentially. Here a column of
//! a row group is a segment of some 100 KB, and a load writes a buffer of many row groups at once: its pages are sorted by cluster, so that the segments
//! of one column lie side by side and come with one request.

/// What pages lie side by side. The order is that of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PageCluster {
    /// Metadata of row groups: a scan needs it before it can ask for segments.
    RowGroups,
    /// Blocks of PAX tables, in the order of their row groups.
    Blocks,
    /// Segments of the column with that index.
    Column(usize),
    /// All others, in the order of their names.
    Other,
}
