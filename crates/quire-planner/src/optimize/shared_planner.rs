//! Places of plans that are computed once: see [`SharedPlan`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, internal_err};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use tokio::sync::OnceCell;

use super::cancellation::yielding_joins;
use super::recursion::{RoundRows, reads_work_table};
use super::shared_rows::{SharedPlan, SharedRows};
use super::shared_subplans::{SharedSubplanExec, SubplanRows};

/// Plans the places of [`SharedPlan`] in one statement.
#[derive(Debug, Default)]
pub(super) struct SharedRowsPlanner {
    volatile: Mutex<HashMap<usize, Arc<SharedRows>>>,
    /// Places are planned side by side: whichever is first plans the subplan.
    subplans: Mutex<HashMap<usize, Arc<OnceCell<Arc<SubplanRows>>>>>,
}

impl SharedRowsPlanner {
    /// A place of a subplan that is optimized.
    async fn place_of_subplan(
        &self,
        shared: &SharedPlan,
        state: &SessionState,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (rows, number, is_first) = self.subplan(shared.address());
        let planned = rows.get_or_try_init(|| async {
            let planner = state.query_planner();
            let plan = planner.create_physical_plan(&shared.plan, state).await?;
            // The statement's own step does not see it.
            let plan = yielding_joins(plan, state.config_options())?;
            let schema = Arc::clone(shared.plan.schema().inner());
            SubplanRows::new(plan, schema, number)
        });
        let rows = Arc::clone(planned.await?);
        let partitions = state.config().target_partitions();
        Ok(Arc::new(SharedSubplanExec::new(rows, is_first, partitions)))
    }

    /// The rows of a subplan, its number if this is its first place, and whether it is.
    fn subplan(&self, address: usize) -> (Arc<OnceCell<Arc<SubplanRows>>>, usize, bool) {
        let mut subplans = self.subplans.lock().unwrap_or_else(PoisonError::into_inner);
        let number = subplans.len() + 1;
        match subplans.entry(address) {
            Entry::Occupied(known) => (Arc::clone(known.get()), number, false),
            Entry::Vacant(place) => (Arc::clone(place.insert(Arc::default())), number, true),
        }
    }

    /// A place of a plan that calls a volatile function.
    async fn place_of_volatile(
        &self,
        shared: &SharedPlan,
        state: &SessionState,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = {
            let mut known = self.volatile.lock().unwrap_or_else(PoisonError::into_inner);
            let plan: &LogicalPlan = &shared.plan;
            let rows = known.entry(shared.address());
            let rows = rows.or_insert_with(|| SharedRows::new(state.clone(), plan.clone()));
            Arc::clone(rows)
        };
        rows.table()?.scan(state, None, &[], None).await
    }
}

#[async_trait]
impl ExtensionPlanner for SharedRowsPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        _: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(shared) = node.as_any().downcast_ref::<SharedPlan>() else {
            return Ok(None);
        };
        let Some(state) = session.as_any().downcast_ref::<SessionState>() else {
            return internal_err!("shared rows have a state of another kind");
        };
        if shared.is_optimized {
            return self.place_of_subplan(shared, state).await.map(Some);
        }
        if reads_work_table(&shared.plan)? {
            let plan = state.create_physical_plan(&shared.plan).await?;
            let schema = Arc::clone(shared.plan.schema().inner());
            return Ok(Some(Arc::new(RoundRows::new(
                plan,
                schema,
                shared.address(),
            ))));
        }
        self.place_of_volatile(shared, state).await.map(Some)
    }
}
