//! Orders.

use super::builder::{Builder, Built};
use super::demand::Demand;
use super::relation::{all_columns, attributes};
use crate::avm::ColumnBinding;
use crate::plan::{Expression, SortNode as Planned};
use crate::tuple::{LowerError, SortIterator, TupleSortKey};

impl Builder<'_> {
    pub(super) fn sort(&mut self, sort: &Planned, demand: &Demand) -> Result<Built, LowerError> {
        let count = sort.input.columns.len();
        let columns = all_columns(&sort.input)?;
        let kept: Vec<usize> = (0..count).filter(|slot| demand.is_asked(*slot)).collect();
        let mut computed: Vec<Expression> =
            sort.keys.iter().map(|key| key.expression.clone()).collect();
        computed.extend(kept.iter().filter_map(|slot| columns.get(*slot).cloned()));
        let asked = Demand::none(count).with(&computed);
        let built = self.input(&sort.input, &asked, false)?;
        let (built, mut registers) = self.computed(built, &computed, &Demand::none(count))?;
        let kept_registers = registers.split_off(sort.keys.len());
        let keys = sort
            .keys
            .iter()
            .zip(registers)
            .map(|(key, register)| TupleSortKey {
                register,
                is_descending: key.is_descending,
                nulls_first: key.nulls_first,
            });
        let keys: Vec<TupleSortKey> = keys.collect();
        let tuple = self.tuple(kept.len())?;
        let most_rows = sort
            .fetch
            .map(|fetch| usize::try_from(fetch).unwrap_or(usize::MAX));
        let estimate = self.estimate(&sort.input)?;
        let workspace = self.workspace(estimate.rows, kept.len());
        let kept_columns = (kept_registers.as_slice(), tuple);
        let iterator = SortIterator::new(
            built.iterator,
            &keys,
            kept_columns,
            most_rows,
            workspace,
            &mut self.registers,
        )?;
        let mut places = vec![ColumnBinding::None; count];
        for (slot, stored) in kept.iter().zip(attributes(tuple, 0..kept.len())) {
            if let Some(place) = places.get_mut(*slot) {
                *place = stored;
            }
        }
        Ok(Built {
            iterator: Box::new(iterator),
            places,
        })
    }
}
