//! Writes.

use super::builder::{Builder, Built};
use super::demand::Demand;
use super::relation::all_columns;
use crate::plan::{Expression, WriteNode as Planned};
use crate::tuple::{LowerError, WriteIterator, WriteSlots};

impl Builder<'_> {
    /// Rows that are written have what is written in registers, and what is shown of them where it was.
    pub(super) fn write(&mut self, write: &Planned, demand: &Demand) -> Result<Built, LowerError> {
        let sink = self.sink.clone();
        let sink = sink.ok_or(LowerError::Unsupported("a write without a transaction"))?;
        let columns = all_columns(&write.input)?;
        let slots = write.row_key.into_iter();
        let slots = slots
            .chain(write.values.clone())
            .chain(write.checks.clone());
        let written = slots.filter_map(|slot| columns.get(slot).cloned());
        let written: Vec<Expression> = written.collect();
        let built = self.plan(&write.input, &demand.clone().with(&written))?;
        let (built, mut registers) = self.computed(built, &written, demand)?;
        let checks = registers.split_off(registers.len() - write.checks.len());
        let values = registers.split_off(registers.len() - write.values.len());
        let slots = WriteSlots {
            row_key: registers.pop(),
            values,
            checks,
        };
        let title = (write.kind, write.table.as_str());
        let iterator = WriteIterator::new(built.iterator, title, slots, write.may_repeat, sink);
        Ok(Built {
            iterator: Box::new(iterator),
            places: built.places,
        })
    }
}
