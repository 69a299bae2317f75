//! Rows that are written.
//!
//! What a row is written to, the transaction of a statement, is behind [`RowSink`]: locks, keys of other rows and foreign keys are its
//! concern. The snapshot that the input reads is older than every write of the statement, so that it meets none of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use quire_tables::row_table::TupleValue;

use super::{Explanation, RegisterIterator};
use crate::avm::{Register, RegisterSet, Trap, TrapReason};
use crate::plan::WriteKind;

/// What rows are written to.
pub trait RowSink: Send {
    /// Writes a row. False when it is not written now, because another transaction has changed it since the snapshot.
    ///
    /// # Errors
    /// [`NotWritten`]; the sink keeps the reason for whoever made it.
    fn write(&mut self, row: &WrittenRow<'_>) -> Result<bool, NotWritten>;
}

/// A row was refused, or could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWritten;

impl From<NotWritten> for TrapReason {
    fn from(_: NotWritten) -> Self {
        Self::NotWritten
    }
}

/// A sink that whoever runs a query keeps a hold of.
#[derive(Clone)]
pub struct SharedSink(pub Arc<Mutex<dyn RowSink>>);

impl std::fmt::Debug for SharedSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedSink")
    }
}

/// Where a row has what is written.
#[derive(Debug)]
pub(crate) struct WriteSlots {
    /// The key of the row that is changed or deleted.
    pub(crate) row_key: Option<Register>,
    /// The values of a row that comes or changes.
    pub(crate) values: Vec<Register>,
    /// Conditions of which none may be false.
    pub(crate) checks: Vec<Register>,
}

/// A row as its registers have it.
pub struct WrittenRow<'r> {
    slots: &'r WriteSlots,
    registers: &'r RegisterSet,
}

impl WrittenRow<'_> {
    /// The key of the row that is changed or deleted; of a new row empty.
    #[must_use]
    pub fn row_key(&self) -> &[u8] {
        let value = self.slots.row_key.map(|it| self.registers.tuple_value(it));
        match value {
            Some(TupleValue::Bytes(key)) => key,
            _ => &[],
        }
    }

    /// The values of the columns that are not dropped, in their order.
    pub fn values(&self) -> impl Iterator<Item = TupleValue<'_>> {
        let values = self.slots.values.iter();
        values.map(|register| self.registers.tuple_value(*register))
    }

    /// The first condition that is false.
    #[must_use]
    pub fn failed_check(&self) -> Option<usize> {
        let mut checks = self.slots.checks.iter();
        checks.position(|check| self.registers.tuple_value(*check) == TupleValue::Bool(false))
    }
}

/// Writes the rows of its input; those that were written come out as they are.
pub(crate) struct WriteIterator<I> {
    input: I,
    slots: WriteSlots,
    sink: SharedSink,
    /// Keys of rows that are written, where one may come again.
    written: Option<HashSet<Box<[u8]>>>,
    /// What it does, and to which table.
    title: String,
}

impl<I: RegisterIterator> WriteIterator<I> {
    /// Gives the rows of `input` to `sink`; with `may_repeat` none of them twice.
    pub(crate) fn new(
        input: I,
        (kind, table): (WriteKind, &str),
        slots: WriteSlots,
        may_repeat: bool,
        sink: SharedSink,
    ) -> Self {
        Self {
            input,
            slots,
            sink,
            written: may_repeat.then(HashSet::new),
            title: format!("{} {table}", kind.name()),
        }
    }

    fn write(&mut self, registers: &RegisterSet) -> Result<bool, Trap> {
        let row = WrittenRow {
            slots: &self.slots,
            registers,
        };
        let is_known = |written: &HashSet<Box<[u8]>>| written.contains(row.row_key());
        if self.written.as_ref().is_some_and(is_known) {
            return Ok(false);
        }
        // A sink that has panicked is not used again: the statement has ended.
        let sink = self.sink.0.lock();
        let is_written = sink
            .unwrap_or_else(PoisonError::into_inner)
            .write(&row)
            .map_err(Trap::from)?;
        if let Some(written) = self.written.as_mut().filter(|_| is_written) {
            written.insert(row.row_key().into());
        }
        Ok(is_written)
    }
}

impl<I: RegisterIterator> RegisterIterator for WriteIterator<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        while self.input.next(registers)? {
            if self.write(registers)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn explain(&self, explanation: &mut Explanation) {
        let Self { title, slots, .. } = self;
        explanation.line(match slots.checks.len() {
            0 => format!("{title}, {} values", slots.values.len()),
            checks => format!("{title}, {} values, {checks} checks", slots.values.len()),
        });
        explanation.input(&self.input);
    }
}
