//! Whether grouping before a join is expected to cost less.
//!
//! It does if the groups are far fewer than the rows, if the join would have dropped few of the rows, whose grouping is in vain otherwise, and if
//! the groups behind the join are not so few that finding theirs costs next to nothing.

use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::{JoinSide, JoinedGroups};
use crate::optimize::join_order::estimate;

/// Looking fewer rows up costs as little as grouping them, and a join by rows passes the keys that others have left on to the scan, which the
/// groups' scan does not get where they become the build side. Measured: Q13 of TPC-H takes as long either way at scale 1 and 0.82 of the time at scale 10;
/// Q11 and Q74 of TPC-DS at scale 1, of 600,000 rows, 1.08 and 1.11 of the time.
const ROWS_MIN: f64 = 2_000_000.0;
/// Rows of a group, on average.
const GROUP_ROWS_MIN: f64 = 3.0;
/// The same where the groups do not fit into the caches of a processor, and a second look-up costs as much as the first.
const MANY_GROUPS: f64 = 1_100_000.0;
const GROUP_ROWS_MIN_OF_MANY: f64 = 8.0;
/// Share of the rows that have a partner; more than one partner counts as often.
const JOINED_SHARE_MIN: f64 = 0.5;
/// How many partial groups there may be for each group behind the join.
const PARTIAL_GROUPS_MAX: f64 = 4.0;

pub(super) fn costs_less(groups: &JoinedGroups<'_>, side: JoinSide, keys: &[Column]) -> bool {
    let rows = estimate(groups.input(side));
    if rows.rows < ROWS_MIN {
        return false;
    }
    let keys = keys.iter().cloned().map(Expr::Column);
    let distinct: f64 = keys.map(|key| rows.distinct(&key)).product();
    let partial_groups = distinct.min(rows.rows);
    let group_rows_min = if partial_groups > MANY_GROUPS {
        GROUP_ROWS_MIN_OF_MANY
    } else {
        GROUP_ROWS_MIN
    };
    if partial_groups * group_rows_min > rows.rows {
        return false;
    }
    let joined = estimate(&LogicalPlan::Join(groups.join.clone()));
    let last_groups = estimate(&LogicalPlan::Aggregate(groups.aggregate.clone()));
    joined.rows >= rows.rows * JOINED_SHARE_MIN
        && partial_groups <= last_groups.rows * PARTIAL_GROUPS_MAX
}
