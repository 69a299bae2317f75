//! Rows that several places of a query read: made once, if that costs less than to make them in each place.

use std::sync::Arc;

use super::builder::{Builder, Built};
use super::demand::Demand;
use super::estimate::PlanCost;
use super::relation::attributes;
use super::shared_plans::may_be_repeated;
use super::spilling::SpilledForm;
use super::whole::WholePlan;
use crate::costs::Cost;
use crate::plan::{Plan, SharedNode};
use crate::tuple::shared_temporary::{SharedTemporary, TemporaryMaker};
use crate::tuple::temporary::Temporary;
use crate::tuple::{KeptRowShape, LowerError};

/// What the rows of a shared plan cost beside making them, in nanoseconds.
struct SharedCosts {
    /// Keeping them.
    keeping_ns: f64,
    /// Reading them in one place.
    reading_ns: f64,
}

impl Builder<'_> {
    /// A place that reads a shared plan.
    pub(super) fn shared(
        &mut self,
        node: &Plan,
        shared: &SharedNode,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        if !self.makes_once(shared)? {
            return self.node(&shared.plan, demand);
        }
        let plans = self.context.shared;
        let known = plans.known.borrow().get(&shared.id).cloned();
        let is_first = known.is_none();
        let temporary = match known {
            Some(known) => known,
            None => self.shared_temporary(node, shared)?,
        };
        let tuple = self.tuple(node.columns.len())?;
        let row_bytes = self.estimate(node)?.row_bytes();
        self.kept_bytes.insert(tuple, row_bytes);
        let reader = temporary.reader(tuple, is_first, &mut self.registers);
        Ok(Built {
            iterator: Box::new(reader),
            places: attributes(tuple, 0..node.columns.len()),
        })
    }

    /// What makes the rows when they are read.
    fn shared_temporary(
        &self,
        node: &Plan,
        shared: &SharedNode,
    ) -> Result<Arc<SharedTemporary>, LowerError> {
        let WholePlan {
            mut pool,
            mut registers,
            iterator,
            columns,
        } = Builder::whole(&shared.plan, self.context, self.parameters)?;
        let estimate = self.estimate(node)?;
        let values = self.kept_columns(node, &columns, &estimate);
        let shape = KeptRowShape {
            values,
            register: pool.tuple()?,
            tuples: Vec::new(),
        };
        let form = SpilledForm::of(&shape);
        let workspace = self.workspace(estimate.rows, estimate.row_bytes(), form);
        let temporary = Temporary::of(shape, &mut registers)?;
        let maker = TemporaryMaker {
            registers,
            iterator,
            temporary,
            workspace,
        };
        let place_count = self.context.shared.place_count(shared);
        let temporary = Arc::new(SharedTemporary::new(shared.id, place_count, maker));
        let known = Arc::clone(&temporary);
        let mut all = self.context.shared.known.borrow_mut();
        all.insert(shared.id, known);
        Ok(temporary)
    }

    /// Whether the rows are made once for all places. Decided when the first is met.
    pub(super) fn makes_once(&self, shared: &SharedNode) -> Result<bool, LowerError> {
        let decided = self
            .context
            .shared
            .decided
            .borrow()
            .get(&shared.id)
            .copied();
        if let Some(decided) = decided {
            return Ok(decided);
        }
        let makes_once = !may_be_repeated(shared) || {
            let places = self.context.shared.place_count(shared) as f64;
            let of_plan = self.estimate(&shared.plan)?;
            let costs = self.shared_costs(&of_plan);
            let once_ns = of_plan.cost_ns + costs.keeping_ns + places * costs.reading_ns;
            once_ns < places * of_plan.cost_ns
        };
        let mut decided = self.context.shared.decided.borrow_mut();
        decided.insert(shared.id, makes_once);
        Ok(makes_once)
    }

    fn shared_costs(&self, of_plan: &PlanCost) -> SharedCosts {
        let rows = of_plan.rows;
        let kept = (rows, of_plan.row_bytes());
        // Written and read once.
        let spilling_ns = self.spilling_ns(kept, kept);
        let costs = &self.workspace.costs;
        let written_share = costs.write_ns / (costs.write_ns + costs.read_ns);
        SharedCosts {
            keeping_ns: rows * self.costs.of(Cost::KeepRow) + spilling_ns * written_share,
            reading_ns: rows * self.costs.of(Cost::Row) + spilling_ns * (1.0 - written_share),
        }
    }

    /// Rows of a place, and what they cost there: the first one makes and keeps them, others only read.
    pub(super) fn estimate_shared(
        &self,
        node: &Plan,
        shared: &SharedNode,
    ) -> Result<PlanCost, LowerError> {
        let of_plan = self.estimate(&shared.plan)?;
        if !self.makes_once(shared)? {
            return Ok(PlanCost::clone(&of_plan));
        }
        let costs = self.shared_costs(&of_plan);
        let is_first = self.context.shared.is_first(node, shared);
        let (making_ns, batch_making_ns) = if is_first {
            (of_plan.cost_ns + costs.keeping_ns, of_plan.batch_ns)
        } else if may_be_repeated(shared) {
            // Batches join again.
            (0.0, of_plan.batch_ns)
        } else {
            (0.0, 0.0)
        };
        Ok(PlanCost {
            rows: of_plan.rows,
            cost_ns: making_ns + costs.reading_ns,
            batch_ns: batch_making_ns + self.costs.of(Cost::BatchNode),
            distinct: of_plan.distinct.clone(),
            widths: of_plan.widths.clone(),
        })
    }
}
