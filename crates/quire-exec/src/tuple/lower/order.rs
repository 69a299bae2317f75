//! Orders.

use super::builder::{Builder, Built};
use super::cost::comparisons;
use super::demand::Demand;
use super::estimate::PlanCost;
use super::kept::KeptInput;
use super::spilling::SpilledForm;
use crate::avm::Register;
use crate::costs::Cost;
use crate::plan::{Expression, Plan, PlanSortKey, SortNode as Planned};
use crate::tuple::counted::Counted;
use crate::tuple::{
    LimitIterator, LowerError, RegisterIterator, SortIterator, TupleSortKey, Workspace,
};

impl Builder<'_> {
    pub(super) fn sort(&mut self, sort: &Planned, demand: &Demand) -> Result<Built, LowerError> {
        if let Some(wanted) = self.wanted_merge_of(sort)? {
            let may_end_early = self.may_end_early || sort.fetch.is_some();
            self.wanted_merge = Some(wanted);
            let Built { iterator, places } = self.input(&sort.input, demand, may_end_early)?;
            let iterator: Box<dyn RegisterIterator> = match sort.fetch {
                Some(fetch) => Box::new(LimitIterator::new(iterator, 0, Some(fetch))),
                None => iterator,
            };
            return Ok(Built { iterator, places });
        }
        let workspace_shares = 1;
        self.sorted(
            &sort.input,
            (&sort.keys, sort.fetch),
            workspace_shares,
            demand,
        )
    }

    /// A side of a join in the order of its keys, in one of so many shares of what the join may keep.
    pub(super) fn sorted_side(
        &mut self,
        plan: &Plan,
        (keys, shares): (&[PlanSortKey], usize),
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let Built { iterator, places } = self.sorted(plan, (keys, None), shares, demand)?;
        if !self.is_counted {
            return Ok(Built { iterator, places });
        }
        let estimate = self.estimate(plan)?;
        let sorting_ns = self.sorting_ns(&estimate, shares);
        let expected = (estimate.rows, estimate.cost_ns + sorting_ns);
        let iterator = Counted::new(iterator, expected, self.spilling.take());
        Ok(Built {
            iterator: Box::new(iterator),
            places,
        })
    }

    /// What sorting all of so many rows costs, in one of so many shares of what a node may keep.
    pub(super) fn sorting_ns(&self, input: &PlanCost, shares: usize) -> f64 {
        let (rows, row_bytes) = (input.rows, input.row_bytes());
        let comparing_ns = comparisons(rows, rows) * self.costs.of(Cost::Compare);
        let kept = (rows * shares as f64, row_bytes);
        let spilling_ns = self.spilling_ns(kept, (rows, row_bytes));
        rows * self.costs.of(Cost::KeepRow) + comparing_ns + spilling_ns
    }

    /// What a sort of so many rows, of so many bytes each, costs beside them.
    pub(super) fn sort_ns(&self, sort: &Planned, rows: f64, row_bytes: f64) -> f64 {
        let wanted = sort.fetch.map_or(rows, |fetch| fetch as f64);
        let kept = (kept_rows(rows, sort.fetch), row_bytes);
        let spilling_ns = self.spilling_ns(kept, kept);
        let comparing_ns = comparisons(rows, wanted) * self.costs.of(Cost::Compare);
        rows * self.costs.of(Cost::KeepRow) + comparing_ns + spilling_ns
    }

    /// One of so many shares of what a node may keep.
    pub(super) fn share_of_workspace(&self, shares: usize) -> Workspace {
        Workspace {
            memory_bytes: self.workspace.memory_bytes / shares.max(1),
            ..self.workspace.clone()
        }
    }

    fn sorted(
        &mut self,
        input: &Plan,
        (sort_keys, fetch): (&[PlanSortKey], Option<u64>),
        shares: usize,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let later = demand.part(0, input.columns.len());
        let keys = sort_keys.iter().map(|key| key.expression.clone());
        let keys: Vec<Expression> = keys.collect();
        let built = self.input(input, &later.clone().with(&keys), false)?;
        let row_count = kept_rows(self.estimate(input)?.rows, fetch);
        // In a share of the memory they are as many rows as so many times more are in all of it.
        let crowding_rows = row_count * shares.max(1) as f64;
        let KeptInput {
            built,
            keys: registers,
            row,
            row_bytes,
            places,
        } = self.kept_input((input, crowding_rows), built, &keys, &later)?;
        let key = |(key, register): (&PlanSortKey, Register)| TupleSortKey {
            register,
            is_descending: key.is_descending,
            nulls_first: key.nulls_first,
        };
        let keys: Vec<TupleSortKey> = sort_keys.iter().zip(registers).map(key).collect();
        let most_rows = fetch.map(|fetch| usize::try_from(fetch).unwrap_or(usize::MAX));
        let workspace = self.workspace(row_count, row_bytes, SpilledForm::of(&row));
        let workspace = Workspace {
            memory_bytes: workspace.memory_bytes / shares.max(1),
            ..workspace
        };
        let iterator = SortIterator::new(
            built.iterator,
            &keys,
            row,
            most_rows,
            workspace,
            &mut self.registers,
        )?;
        Ok(Built {
            iterator: Box::new(iterator),
            places,
        })
    }
}

/// About how many rows a sort keeps: all, or twice as many as are wanted.
fn kept_rows(rows: f64, fetch: Option<u64>) -> f64 {
    let wanted = fetch.map_or(rows, |fetch| fetch as f64);
    rows.min(wanted * 2.0)
}
