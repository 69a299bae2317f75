//! Scans of row tables: which rows a statement needs, found by the primary key or an index, as Arrow batches.

mod access;
mod joined;
mod known_look_ups;
mod provider;
mod source;
mod stream;

pub(crate) use joined::JoinedRows;
pub(super) use provider::with_row_key;
pub use provider::{ROW_KEY_COLUMN, RowKeys, RowTableProvider};
pub(super) use source::RowScanSource;
