//! The shared plans of a query: where they are read, and those that iterators were built for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::{Plan, PlanNode, PlanQuery, SharedNode, SharedPlace, shared_places};
use crate::tuple::shared_temporary::SharedTemporary;

/// Where a shared plan is read.
struct SharedPlaces {
    count: usize,
    /// The address of the first node: there the rows are made, as far as costs go.
    first: usize,
}

/// The shared plans of one query, by their ids.
pub(in crate::tuple) struct SharedPlans {
    places: HashMap<usize, SharedPlaces>,
    /// How many nodes of the query may keep rows at the same time, if plans are shared.
    keeping_nodes: Option<usize>,
    /// Whether the rows of a plan are made once, as far as that was decided.
    pub(super) decided: RefCell<HashMap<usize, bool>>,
    pub(super) known: RefCell<HashMap<usize, Arc<SharedTemporary>>>,
}

/// How many nodes of a plan may keep rows, those of the plans that it shares with other places left out.
fn own_keeping_nodes(plan: &Plan) -> usize {
    if matches!(plan.node, PlanNode::Shared(_)) {
        return 0;
    }
    let inputs = plan.node.inputs().into_iter();
    let keeps = matches!(
        plan.node,
        PlanNode::Sort(_) | PlanNode::Aggregate(_) | PlanNode::Distinct(_) | PlanNode::Join(_)
    );
    usize::from(keeps) + inputs.map(own_keeping_nodes).sum::<usize>()
}

/// Whether places may make the rows each for itself: pairs may be so many that to keep them costs more. Groups are fewer than what they are
/// made of.
pub(super) fn may_be_repeated(shared: &SharedNode) -> bool {
    matches!(shared.plan.node, PlanNode::Join(_))
}

fn address(node: &Plan) -> usize {
    std::ptr::from_ref(node).addr()
}

impl SharedPlans {
    pub(in crate::tuple) fn of(query: &PlanQuery) -> Self {
        let plans = || query.values.iter().chain([&query.plan]);
        let mut places: HashMap<usize, SharedPlaces> = HashMap::new();
        let mut shared_nodes = 0;
        for SharedPlace { node, shared } in shared_places(plans()) {
            let is_known = places.contains_key(&shared.id);
            let of_plan = places.entry(shared.id).or_insert(SharedPlaces {
                count: 0,
                first: address(node),
            });
            of_plan.count += 1;
            if !is_known {
                // What keeps its rows.
                shared_nodes += 1;
            }
            if !is_known || may_be_repeated(shared) {
                shared_nodes += own_keeping_nodes(&shared.plan);
            }
        }
        // The values are made one after the other, before the rows.
        let most = plans().map(own_keeping_nodes).max().unwrap_or(0);
        Self {
            keeping_nodes: (!places.is_empty()).then_some(shared_nodes + most),
            places,
            decided: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// How many nodes may keep rows while this plan of the query runs.
    pub(super) fn keeping_nodes(&self, plan: &Plan) -> usize {
        self.keeping_nodes
            .unwrap_or_else(|| own_keeping_nodes(plan))
    }

    /// What was built for the shared plans.
    pub(in crate::tuple) fn temporaries(&self) -> Vec<Arc<SharedTemporary>> {
        self.known.borrow().values().cloned().collect()
    }

    pub(super) fn place_count(&self, shared: &SharedNode) -> usize {
        let places = self.places.get(&shared.id);
        places.map_or(1, |places| places.count)
    }

    pub(super) fn is_first(&self, node: &Plan, shared: &SharedNode) -> bool {
        let places = self.places.get(&shared.id);
        places.is_none_or(|places| places.first == address(node))
    }
}
