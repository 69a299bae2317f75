//! Pieces of long values.

use quire_kv::mvcc::{ReadView, TreeId};

use crate::error::RowScanError;

/// Appends a piece of a long value.
pub(super) fn fetch_long(
    view: &ReadView,
    overflow: Option<TreeId>,
    key: &[u8],
    target: &mut Vec<u8>,
) -> Result<bool, RowScanError> {
    let Some(tree) = overflow else {
        return Ok(false);
    };
    let found = view.get(tree, key, |bytes| target.extend_from_slice(bytes))?;
    Ok(found.is_some())
}
