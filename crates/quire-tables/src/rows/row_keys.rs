//! Keys of the rows that an index has, a few at a time.

use std::ops::ControlFlow;

use quire_kv::mvcc::BTreeScan;

use super::parts::RowParts;
use crate::error::RowScanError;

/// Keys of rows, one behind the other.
#[derive(Default)]
pub struct RowKeys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    scratch: Vec<u8>,
}

impl RowKeys {
    /// Reads the next keys that an index has; false behind the last.
    pub fn read(
        &mut self,
        scan: &mut BTreeScan,
        index: usize,
        parts: &RowParts,
        most: usize,
    ) -> Result<bool, RowScanError> {
        let Self {
            bytes,
            ends,
            scratch,
        } = self;
        bytes.clear();
        ends.clear();
        let layout = &parts
            .indexes
            .get(index)
            .ok_or(RowScanError::Index { index })?
            .layout;
        let mut failed = None;
        let mut has_leaf = true;
        while has_leaf && ends.is_empty() && failed.is_none() {
            has_leaf = scan.next_leaf(|key, value| {
                match layout.row_key(key, value, scratch) {
                    Ok(row_key) => {
                        bytes.extend_from_slice(row_key);
                        ends.push(bytes.len());
                    }
                    Err(error) => failed = Some(error),
                }
                if failed.is_some() || ends.len() >= most {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        }
        match failed {
            Some(error) => Err(parts.corrupt_row()(error)),
            None => Ok(!ends.is_empty()),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default())
    }
}
