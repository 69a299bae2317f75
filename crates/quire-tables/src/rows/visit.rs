//! Row-at-a-time scans of a few columns, without Arrow.
//!
//! The visitor sees values in place, under the latch of their page. A row with a wanted value that is stored out of line is copied, and
//! visited after the latch is released. The rows of an index are looked up after the latch of its leaf is released.

use std::ops::ControlFlow;

use quire_codec::Corrupt;
use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;

use super::long_values::fetch_long;
use super::row_keys::RowKeys;
use super::table::RowTable;
use crate::error::RowScanError;
use crate::row_table::{KeyRange, OverflowMark, RowBuffer, RowLayout, StoredValue};

/// Called with the key of a row and the values of the wanted columns, in that order; returns whether to continue. It runs under a latch
/// and must not access any tree.
pub(crate) type VisitRow<'v> = &'v mut dyn FnMut(&[u8], &[TupleValue<'_>]) -> ControlFlow<()>;

/// Up to this many columns are decoded without an allocation.
const FEW_COLUMNS: usize = 12;

/// Rows of an index that are looked up together, at first and at most.
const FIRST_ROWS: usize = 8;
const MOST_ROWS: usize = 256;

/// A row to be visited after the latch is released.
#[derive(Default)]
struct DeferredRow {
    key: Vec<u8>,
    tuple: Vec<u8>,
}

impl RowTable {
    /// Visits the row with that key, if there is one, with the columns of these ordinals.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn visit_key(
        &self,
        row_key: &[u8],
        wanted: &[usize],
        visit: VisitRow<'_>,
    ) -> Result<Option<ControlFlow<()>>, RowScanError> {
        let mut copied = None;
        let show = |tuple: &[u8]| {
            let shown = show(&self.parts.layout, row_key, tuple, wanted, visit);
            if matches!(shown, Ok(None)) {
                copied = Some(tuple.to_vec());
            }
            shown
        };
        let Some(shown) = self.view.get(self.parts.rows, row_key, show)? else {
            return Ok(None);
        };
        match (shown.map_err(self.parts.corrupt_row())?, copied) {
            (None, Some(tuple)) => self.show_long(row_key, &tuple, wanted, visit).map(Some),
            (flow, _) => Ok(flow),
        }
    }

    /// Visits the rows with keys in a range, with the columns of these ordinals.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn visit_range(
        &self,
        range: &KeyRange,
        direction: Direction,
        wanted: &[usize],
        visit: VisitRow<'_>,
    ) -> Result<(), RowScanError> {
        if range.is_empty() {
            return Ok(());
        }
        let high = range.high.as_deref().unwrap_or_default();
        let mut scan = self
            .view
            .scan(self.parts.rows, &range.low, high, direction)?;
        let layout = &self.parts.layout;
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() {
            let mut copied: Option<DeferredRow> = None;
            let mut failed = None;
            let has_leaf = scan.next_leaf(|key, tuple| {
                match show(layout, key, tuple, wanted, visit) {
                    Ok(Some(shown)) => {
                        flow = shown;
                        return shown;
                    }
                    Ok(None) => {
                        let (key, tuple) = (key.to_vec(), tuple.to_vec());
                        copied = Some(DeferredRow { key, tuple });
                    }
                    Err(error) => failed = Some(error),
                }
                ControlFlow::Break(())
            })?;
            if let Some(error) = failed {
                return Err(self.parts.corrupt_row()(error));
            }
            if let Some(DeferredRow { key, tuple }) = copied {
                flow = self.show_long(&key, &tuple, wanted, visit)?;
            } else if !has_leaf {
                break;
            }
        }
        Ok(())
    }

    /// Visits the rows that an index has in a range of its keys, in its order.
    ///
    /// # Errors
    /// An index that the table does not have; an entry without a row; pages that cannot be read or are damaged.
    pub fn visit_index(
        &self,
        index: usize,
        range: &KeyRange,
        direction: Direction,
        wanted: &[usize],
        visit: VisitRow<'_>,
    ) -> Result<(), RowScanError> {
        let found = self
            .parts
            .indexes
            .get(index)
            .ok_or(RowScanError::Index { index })?;
        if range.is_empty() {
            return Ok(());
        }
        let high = range.high.as_deref().unwrap_or_default();
        let mut scan = self.view.scan(found.tree, &range.low, high, direction)?;
        let mut most = FIRST_ROWS;
        let mut keys = RowKeys::default();
        while keys.read(&mut scan, index, &self.parts, most)? {
            for key in keys.iter() {
                match self.visit_key(key, wanted, visit)? {
                    Some(ControlFlow::Continue(())) => {}
                    Some(ControlFlow::Break(())) => return Ok(()),
                    None => {
                        let name = &found.definition.key.name;
                        return Err(self.parts.index_without_row(name));
                    }
                }
            }
            most = (most * 4).min(MOST_ROWS);
        }
        Ok(())
    }

    /// Appends a value that is stored aside.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn read_long(
        &self,
        row_key: &[u8],
        ordinal: usize,
        mark: OverflowMark,
        target: &mut Vec<u8>,
    ) -> Result<(), RowScanError> {
        let fetch = |key: &[u8], target: &mut Vec<u8>| {
            fetch_long(&self.view, self.parts.overflow, key, target)
        };
        self.parts
            .layout
            .read_long(row_key, ordinal, mark, fetch, target)
    }

    fn show_long(
        &self,
        key: &[u8],
        tuple: &[u8],
        wanted: &[usize],
        visit: VisitRow<'_>,
    ) -> Result<ControlFlow<()>, RowScanError> {
        let mut buffer = RowBuffer::default();
        let mut all = Vec::new();
        let fetch = |key: &[u8], target: &mut Vec<u8>| {
            fetch_long(&self.view, self.parts.overflow, key, target)
        };
        self.parts
            .layout
            .decode_row(key, tuple, &mut buffer, fetch, &mut all)?;
        let value = |ordinal: &usize| all.get(*ordinal).copied().unwrap_or_default();
        let values: Vec<TupleValue<'_>> = wanted.iter().map(value).collect();
        Ok(visit(key, &values))
    }
}

/// Calls `visit` with the wanted values of an entry; `None` if one of them is stored out of line.
pub(crate) fn show(
    layout: &RowLayout,
    key: &[u8],
    tuple: &[u8],
    wanted: &[usize],
    visit: VisitRow<'_>,
) -> Result<Option<ControlFlow<()>>, Corrupt> {
    if wanted.len() > FEW_COLUMNS {
        let mut scratch = vec![Vec::new(); wanted.len()];
        let mut values = vec![TupleValue::Null; wanted.len()];
        let are_there = decode(layout, key, tuple, wanted, &mut scratch, &mut values)?;
        return Ok(are_there.then(|| visit(key, &values)));
    }
    let mut scratch = [const { Vec::new() }; FEW_COLUMNS];
    let mut values = [TupleValue::Null; FEW_COLUMNS];
    let are_there = decode(layout, key, tuple, wanted, &mut scratch, &mut values)?;
    Ok(are_there.then(|| visit(key, values.get(..wanted.len()).unwrap_or_default())))
}

/// Decodes the wanted values; false if one of them is stored out of line.
fn decode<'a>(
    layout: &'a RowLayout,
    key: &'a [u8],
    tuple: &'a [u8],
    wanted: &[usize],
    scratch: &'a mut [Vec<u8>],
    values: &mut [TupleValue<'a>],
) -> Result<bool, Corrupt> {
    for ((ordinal, scratch), value) in wanted.iter().zip(scratch).zip(values) {
        match layout.field(key, tuple, *ordinal, scratch)? {
            StoredValue::Value(found) => *value = found,
            StoredValue::Long(_) => return Ok(false),
        }
    }
    Ok(true)
}
