//! How often columns are asked for.

use crate::avm::ColumnBinding;
use crate::plan::Expression;

/// How many expressions ask for each column of a row.
#[derive(Clone, Debug)]
pub(in crate::tuple) struct Demand(Vec<u32>);

impl Demand {
    /// Nobody asks for any of so many columns.
    pub(in crate::tuple) fn none(column_count: usize) -> Self {
        Self(vec![0; column_count])
    }

    /// Each of so many columns is asked for once.
    pub(in crate::tuple) fn all(column_count: usize) -> Self {
        Self(vec![1; column_count])
    }

    /// An expression asks, too; its columns start at this slot.
    pub(super) fn add(&mut self, expression: &Expression) {
        if let Expression::Column { slot, .. } = expression {
            self.ask(*slot);
        }
        for child in expression.children() {
            self.add(child);
        }
    }

    pub(super) fn with<'e>(
        mut self,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) -> Self {
        expressions
            .into_iter()
            .for_each(|expression| self.add(expression));
        self
    }

    pub(super) fn ask(&mut self, slot: usize) {
        if let Some(count) = self.0.get_mut(slot) {
            *count += 1;
        }
    }

    pub(super) fn is_asked(&self, slot: usize) -> bool {
        self.0.get(slot).is_some_and(|count| *count > 0)
    }

    /// Says of attributes whether others than the next program ask for them.
    pub(super) fn mark(&self, places: &mut [ColumnBinding]) {
        for (slot, place) in places.iter_mut().enumerate() {
            if let ColumnBinding::Attribute { is_shared, .. } = place {
                *is_shared = self.is_asked(slot);
            }
        }
    }

    /// That of some columns of it, from one on.
    pub(super) fn part(&self, start: usize, count: usize) -> Self {
        let part = self.0.iter().skip(start).take(count);
        let mut part: Vec<u32> = part.copied().collect();
        part.resize(count, 0);
        Self(part)
    }
}
