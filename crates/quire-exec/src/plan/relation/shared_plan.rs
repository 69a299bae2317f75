//! Plans that several places of a query have.

use std::sync::Arc;

use super::{Plan, PlanNode};

/// A plan whose rows several places of a query read. Each place has a node with the same plan; the rows are made once.
#[derive(Debug, Clone)]
pub struct SharedNode {
    /// Of the plan among those that the query shares: the same in all of its places.
    pub id: usize,
    /// Where the rows come from. It has the same rows in the same statement however often it runs.
    pub plan: Arc<Plan>,
}

/// A place that reads a shared plan.
#[derive(Clone, Copy)]
pub(crate) struct SharedPlace<'p> {
    /// The node, whose address tells it from the other places.
    pub(crate) node: &'p Plan,
    pub(crate) shared: &'p SharedNode,
}

impl Plan {
    /// A place that reads the rows of a plan which others read, too.
    #[must_use]
    pub fn shared(id: usize, plan: Arc<Self>) -> Self {
        Self {
            columns: plan.columns.clone(),
            node: PlanNode::Shared(SharedNode { id, plan }),
        }
    }
}

/// The places of shared plans in some plans, inputs behind the nodes that read them. What is within a shared plan is there once.
pub(crate) fn shared_places<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Vec<SharedPlace<'p>> {
    let mut places = Vec::new();
    for plan in plans {
        add_places(plan, &mut places);
    }
    places
}

fn add_places<'p>(node: &'p Plan, places: &mut Vec<SharedPlace<'p>>) {
    if let PlanNode::Shared(shared) = &node.node {
        let is_known = places.iter().any(|place| place.shared.id == shared.id);
        places.push(SharedPlace { node, shared });
        if is_known {
            return;
        }
    }
    for input in node.node.inputs() {
        add_places(input, places);
    }
}
