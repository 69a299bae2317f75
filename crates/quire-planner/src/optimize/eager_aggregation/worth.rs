//! Whether a partial aggregate below the join is expected to cost less.
//!
//! It is if it reduces the rows by much; if the join drops few of these rows, whose aggregation would be wasted; and if the aggregate above the join has
//! so many groups that its own look-ups are expensive.

use datafusion::common::Column;
use datafusion::logical_expr::Expr;

use super::{JoinSide, JoinedGroups};
use crate::optimize::join_order::estimate;

/// For fewer rows a join costs no more than a partial aggregate. Moreover the groups may become the build side of the join, and their scan then receives
/// no filter from it. Measured with and without the rule: TPC-H Q13 takes the same time at scale 1 and 0.82 of the time at scale 10; TPC-DS Q11 and Q74 at scale 1,
/// with 600,000 rows, take 1.08 and 1.11 of the time.
const ROWS_MIN: f64 = 2_000_000.0;
/// Average rows of a partial group.
const GROUP_ROWS_MIN: f64 = 3.0;
/// More groups do not fit into a processor's caches, so that finding them costs as much as probing the join; each must then save more.
const MANY_GROUPS: f64 = 1_100_000.0;
const GROUP_ROWS_MIN_OF_MANY: f64 = 8.0;
/// Result rows of the join, as a share of the rows of the side.
const JOINED_SHARE_MIN: f64 = 0.5;
/// Partial groups for each group above the join.
const PARTIAL_GROUPS_MAX: f64 = 4.0;

pub(super) fn costs_less(groups: &JoinedGroups<'_>, side: JoinSide, keys: &[Column]) -> bool {
    let input = estimate(groups.input(side));
    if input.rows < ROWS_MIN {
        return false;
    }
    let keys: Vec<Expr> = keys.iter().cloned().map(Expr::Column).collect();
    let partial_groups = input.groups(&keys);
    let group_rows_min = if partial_groups > MANY_GROUPS {
        GROUP_ROWS_MIN_OF_MANY
    } else {
        GROUP_ROWS_MIN
    };
    if partial_groups * group_rows_min > input.rows {
        return false;
    }
    let joined = estimate(&groups.aggregate.input);
    let groups_after_join = joined.groups(&groups.aggregate.group_expr);
    joined.rows >= input.rows * JOINED_SHARE_MIN
        && partial_groups <= groups_after_join * PARTIAL_GROUPS_MAX
}
