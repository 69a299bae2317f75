//! Joins that keep one side block by block, and read the other for each.

use super::builder::Builder;
use super::estimate::PlanCost;
use crate::costs::Cost;
use crate::plan::{Join, JoinKind, Plan, PlanNode};
use crate::tuple::LowerError;

/// More blocks than that are not planned for: where a side is larger than it was expected to be, each costs reading the other one.
const BLOCKS_MAX: f64 = 8.0;

/// Which side is kept in blocks, and how the other one is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockJoinPlan {
    pub(super) keeps_left: bool,
    /// Whether the other side is computed again, and not kept in a file.
    pub(super) restarts: bool,
}

/// A side, with its rows and what they cost.
struct BlockSide<'p> {
    plan: &'p Plan,
    estimate: &'p PlanCost,
}

impl Builder<'_> {
    /// The cheapest join by blocks, where the kept side needs some of them but not many.
    pub(super) fn by_blocks(
        &self,
        join: &Join,
        (left, right): (&PlanCost, &PlanCost),
    ) -> Result<Option<(f64, BlockJoinPlan)>, LowerError> {
        let left = BlockSide {
            plan: &join.left,
            estimate: left,
        };
        let right = BlockSide {
            plan: &join.right,
            estimate: right,
        };
        let mut found = self.of_blocks(join, &left, &right, false)?;
        if join.kind.shows_right()
            && let Some(turned) = self.of_blocks(join, &right, &left, true)?
            && found.is_none_or(|(least, _)| turned.0 < least)
        {
            found = Some(turned);
        }
        Ok(found)
    }

    /// What it costs to keep `kept` in blocks.
    fn of_blocks(
        &self,
        join: &Join,
        looking: &BlockSide<'_>,
        kept: &BlockSide<'_>,
        keeps_left: bool,
    ) -> Result<Option<(f64, BlockJoinPlan)>, LowerError> {
        let block_count = self.workspace.part_count(kept.estimate.size().kept_bytes());
        let is_possible = !join.keys.is_empty() && !join.is_null_aware;
        if !is_possible || !(2.0..=BLOCKS_MAX).contains(&block_count) {
            return Ok(None);
        }
        // Which of them have matched is a bit of memory for each, beside the blocks.
        let has_bits = !matches!(join.kind, JoinKind::Inner);
        let bits_bytes = looking.estimate.rows / 8.0;
        if has_bits && bits_bytes > self.workspace.room_bytes() as f64 / 2.0 {
            return Ok(None);
        }
        let again = block_count - 1.0;
        let restarting_ns = if may_restart(join, keeps_left) && self.restarts(looking.plan)? {
            again * looking.estimate.cost_ns
        } else {
            f64::INFINITY
        };
        let costs = &self.workspace.costs;
        let looking_kib = looking.estimate.size().written_bytes() / 1024.0;
        let storing_ns = looking_kib * (costs.write_ns + again * costs.read_ns);
        let (kept_rows, row_bytes) = (kept.estimate.rows, kept.estimate.row_bytes());
        let keeping_ns = self.costs.of(Cost::KeepRow) + self.costs.of(Cost::HashInsert);
        let waiting_ns = self
            .join_costs()
            .waiting_ns(kept_rows / block_count, row_bytes);
        let finding_ns = self.costs.of(Cost::HashProbe) + waiting_ns;
        let own_ns = kept_rows * keeping_ns + block_count * looking.estimate.rows * finding_ns;
        let inputs_ns = looking.estimate.cost_ns + kept.estimate.cost_ns;
        let plan = BlockJoinPlan {
            keeps_left,
            restarts: restarting_ns < storing_ns,
        };
        let cost_ns = inputs_ns + own_ns + restarting_ns.min(storing_ns);
        Ok(Some((cost_ns, plan)))
    }

    /// Whether the iterators of a plan can begin again.
    fn restarts(&self, plan: &Plan) -> Result<bool, LowerError> {
        match &plan.node {
            PlanNode::Scan(_) => Ok(true),
            PlanNode::Filter(input, _) | PlanNode::Project(input, _) => self.restarts(input),
            PlanNode::Shared(shared) => self.makes_once(shared),
            _ => Ok(false),
        }
    }
}

/// Whether the side that looks may begin again. Where right rows come out alone, the registers of the left ones are set to NULL; constants among these have
/// their values from a file only.
fn may_restart(join: &Join, keeps_left: bool) -> bool {
    let keeps_rest = match join.kind {
        JoinKind::Full => true,
        JoinKind::Right => !keeps_left,
        JoinKind::Left => keeps_left,
        _ => false,
    };
    !keeps_rest
}
