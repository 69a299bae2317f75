//! The parts of a plan that one scan of a table does.

use crate::plan::{Expression, Plan, PlanNode, ScanNode};

/// A table, and conditions on columns of it that must all be true.
pub(super) struct BaseScan<'p> {
    pub(super) scan: &'p ScanNode,
    pub(super) conditions: Vec<&'p Expression>,
}

impl<'p> BaseScan<'p> {
    /// A scan, and the filters above it.
    pub(super) fn of(plan: &'p Plan) -> Option<Self> {
        let (mut base, more) = match &plan.node {
            PlanNode::Scan(scan) => {
                let base = Self {
                    scan,
                    conditions: Vec::new(),
                };
                (base, scan.conditions.as_slice())
            }
            PlanNode::Filter(input, condition) => {
                (Self::of(input)?, std::slice::from_ref(condition))
            }
            _ => return None,
        };
        let parts = more.iter();
        parts.for_each(|part| add_parts(part, &mut base.conditions));
        Some(base)
    }
}

/// The conditions that a condition is the conjunction of.
fn add_parts<'p>(condition: &'p Expression, parts: &mut Vec<&'p Expression>) {
    match condition {
        Expression::And(sides) => sides.iter().for_each(|side| add_parts(side, parts)),
        other => parts.push(other),
    }
}

/// A scan with the filters above it, and with the slots of the columns that a projection lets through.
pub(super) fn scanned(plan: &Plan) -> Option<(BaseScan<'_>, Vec<usize>)> {
    if let PlanNode::Project(input, expressions) = &plan.node {
        let slot = |expression: &Expression| match expression {
            Expression::Column { slot, .. } => Some(*slot),
            _ => None,
        };
        let slots = expressions
            .iter()
            .map(slot)
            .collect::<Option<Vec<usize>>>()?;
        return Some((BaseScan::of(input)?, slots));
    }
    Some((BaseScan::of(plan)?, (0..plan.columns.len()).collect()))
}
