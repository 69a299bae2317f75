//! Rows of a table, in the order of their keys or of an index.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::rows::CopiedRows;
use super::{RegisterIterator, Step};
use crate::avm::{Program, RegisterSet, Trap, Tuple, TupleSource};
use crate::btree::Direction;
use crate::mvcc::Scan;
use crate::row_table::KeyRange;
use crate::rows::{RowKeys, RowScanError, RowTable};

/// Rows of an index that are looked up together, at first and at most: a query may need only the first.
const FIRST_ROWS: usize = 8;
const MOST_ROWS: usize = 256;

/// The rows of a table with keys in some ranges, one range after the other.
pub struct TableScan {
    table: Arc<RowTable>,
    ranges: std::vec::IntoIter<KeyRange>,
    direction: Direction,
    scan: Option<Scan>,
    rows: CopiedRows,
    step: Option<Step>,
}

impl TableScan {
    /// Lets `register` point to each row that `program` does not reject. `columns` are the ordinals of those that any program
    /// reads.
    ///
    /// # Errors
    /// Constants of the program that are too long.
    pub fn new(
        table: Arc<RowTable>,
        ranges: Vec<KeyRange>,
        direction: Direction,
        (register, columns): (Tuple, &[usize]),
        program: Option<Program>,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        registers.set_source(register, TupleSource::Rows(Arc::clone(&table)));
        let with_key = table.layout().needs_key(columns);
        let step = program.map(|program| Step::new(program, registers));
        Ok(Self {
            table,
            ranges: ranges.into_iter(),
            direction,
            scan: None,
            rows: CopiedRows::new(register, with_key, registers),
            step: step.transpose()?,
        })
    }

    /// Copies the rows of the next leaf; false behind the last.
    fn read_leaf(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            if self.scan.is_none() {
                let Some(range) = self.ranges.find(|range| !range.is_empty()) else {
                    return Ok(false);
                };
                let high = range.high.as_deref().unwrap_or_default();
                let rows = self.table.parts().rows;
                let scan = self.table.view.scan(rows, &range.low, high, self.direction);
                self.scan = Some(scan.map_err(RowScanError::from)?);
            }
            let Some(scan) = &mut self.scan else {
                return Ok(false);
            };
            let rows = &mut self.rows;
            let mut bytes = rows.start(registers);
            let has_leaf = scan.next_leaf(|key, tuple| match rows.push(&mut bytes, key, tuple) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            });
            rows.finish(bytes, registers);
            if has_leaf.map_err(RowScanError::from)? {
                return Ok(true);
            }
            self.scan = None;
        }
    }
}

impl RegisterIterator for TableScan {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            while self.rows.next(registers) {
                match &self.step {
                    Some(step) if !step.run(registers)? => {}
                    _ => return Ok(true),
                }
            }
            if !self.read_leaf(registers)? {
                return Ok(false);
            }
        }
    }
}

/// The rows that an index has in some ranges of its keys, one range after the other, each in the order of the index.
pub struct IndexScan {
    table: Arc<RowTable>,
    index: usize,
    ranges: std::vec::IntoIter<KeyRange>,
    direction: Direction,
    scan: Option<Scan>,
    keys: RowKeys,
    most_rows: usize,
    rows: CopiedRows,
    step: Option<Step>,
}

impl IndexScan {
    /// As [`TableScan::new`], by the index in that position.
    ///
    /// # Errors
    /// An index that the table does not have; constants of the program that are too long.
    pub fn new(
        table: Arc<RowTable>,
        (index, ranges): (usize, Vec<KeyRange>),
        direction: Direction,
        (register, columns): (Tuple, &[usize]),
        program: Option<Program>,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        if index >= table.indexes().len() {
            return Err(RowScanError::Index { index }.into());
        }
        registers.set_source(register, TupleSource::Rows(Arc::clone(&table)));
        let with_key = table.layout().needs_key(columns);
        let step = program.map(|program| Step::new(program, registers));
        Ok(Self {
            table,
            index,
            ranges: ranges.into_iter(),
            direction,
            scan: None,
            keys: RowKeys::default(),
            most_rows: FIRST_ROWS,
            rows: CopiedRows::new(register, with_key, registers),
            step: step.transpose()?,
        })
    }

    /// Copies the rows of the next entries; false behind the last.
    fn read_rows(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            if self.scan.is_none() {
                let Some(range) = self.ranges.find(|range| !range.is_empty()) else {
                    return Ok(false);
                };
                self.scan = Some(self.scan_of(&range)?);
            }
            let Some(scan) = &mut self.scan else {
                return Ok(false);
            };
            let parts = self.table.parts();
            if self.keys.read(scan, self.index, parts, self.most_rows)? {
                self.most_rows = (self.most_rows * 4).min(MOST_ROWS);
                let mut bytes = self.rows.start(registers);
                let found = copy_rows(
                    &self.table,
                    self.index,
                    &self.keys,
                    &mut self.rows,
                    &mut bytes,
                );
                self.rows.finish(bytes, registers);
                found?;
                return Ok(true);
            }
            self.scan = None;
        }
    }

    fn scan_of(&self, range: &KeyRange) -> Result<Scan, Trap> {
        let found = self.table.indexes().get(self.index);
        let found = found.ok_or(RowScanError::Index { index: self.index })?;
        let high = range.high.as_deref().unwrap_or_default();
        let scan = self
            .table
            .view
            .scan(found.tree, &range.low, high, self.direction);
        Ok(scan.map_err(RowScanError::from)?)
    }
}

fn copy_rows(
    table: &RowTable,
    index: usize,
    keys: &RowKeys,
    rows: &mut CopiedRows,
    bytes: &mut Vec<u8>,
) -> Result<(), Trap> {
    let parts = table.parts();
    for key in keys.iter() {
        let found = table
            .view
            .get(parts.rows, key, |tuple| rows.push(bytes, key, tuple));
        if found.map_err(RowScanError::from)?.is_none() {
            let name = parts
                .indexes
                .get(index)
                .map_or("", |index| &index.definition.key.name);
            return Err(RowScanError::index_without_row(parts, name).into());
        }
    }
    Ok(())
}

impl RegisterIterator for IndexScan {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            while self.rows.next(registers) {
                match &self.step {
                    Some(step) if !step.run(registers)? => {}
                    _ => return Ok(true),
                }
            }
            if !self.read_rows(registers)? {
                return Ok(false);
            }
        }
    }
}
