//! How an append uses the machine and cuts its rows.

use quire_format::row_group::ROW_GROUP_ROWS;
use quire_format::segment::Beneath;

/// Raw bytes at which a row group is closed before it has all its rows.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// How an append uses the machine and cuts its rows.
#[derive(Debug, Clone)]
pub struct AppendOptions {
    /// Threads that encode row groups; `None`: as many as the machine runs at a time.
    pub workers: Option<usize>,
    /// Rows at which a row group is full, 1 to [`ROW_GROUP_ROWS`].
    pub row_group_rows: usize,
    /// Raw bytes at which a row group is full.
    pub row_group_bytes: usize,
    /// What the volume's file lies on: codecs are ranked by what it leaves of them. A volume keeps segments as they are.
    pub beneath: Beneath,
}

impl Default for AppendOptions {
    fn default() -> Self {
        AppendOptions {
            workers: None,
            row_group_rows: ROW_GROUP_ROWS,
            row_group_bytes: ROW_GROUP_BYTES,
            beneath: Beneath::Nothing,
        }
    }
}
