//! Outer joins whose added rows are dropped above them, as inner joins.
//!
//! A row without partner has NULL in the columns of the other side. If a condition above the join does not hold of NULL in one of them, such rows need
//! not be made, and the join may be reordered and pass on filters as inner joins do (Galindo-Legaria and Rosenthal, "Outerjoin simplification and
//! reordering for query optimization", TODS 1997, §3). DataFusion asks a filter right above the join; here conditions also come from filters and
//! join keys further up, through projections, groups and other joins.

mod null_rejection;

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::logical_expr::{Distinct, Expr, Join, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use null_rejection::{rejected, required};

/// The rule.
#[derive(Debug)]
pub(super) struct OuterJoins;

impl OptimizerRule for OuterJoins {
    fn name(&self) -> &str {
        "outer_joins"
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        simplified(plan, &Columns::new())
    }
}

type Columns = HashSet<Column>;

/// The plan with fewer outer joins, where all of its rows that have NULL in one of the columns `dropped` are dropped above it.
fn simplified(plan: LogicalPlan, dropped: &Columns) -> Result<Transformed<LogicalPlan>> {
    let mut result = match plan {
        LogicalPlan::Join(join) => simplified_join(join, dropped)?,
        plan => {
            let from_inputs: Vec<Columns> = plan
                .inputs()
                .into_iter()
                .map(|input| dropped_of_input(&plan, input, dropped))
                .collect();
            let mut from_inputs = from_inputs.into_iter();
            plan.map_children(|input| {
                let dropped = from_inputs.next().unwrap_or_default();
                simplified(input, &dropped)
            })?
        }
    };
    let subqueries = result
        .data
        .map_subqueries(|query| simplified(query, &Columns::new()))?;
    result.data = subqueries.data;
    result.transformed |= subqueries.transformed;
    result.tnr = TreeNodeRecursion::Continue;
    Ok(result)
}

/// Which columns of an input of `plan`, which is no join, make a row that has NULL there as good as dropped.
fn dropped_of_input(plan: &LogicalPlan, input: &LogicalPlan, dropped: &Columns) -> Columns {
    match plan {
        LogicalPlan::Filter(filter) => dropped | &rejected(&filter.predicate),
        LogicalPlan::Projection(projection) => computed(plan, &projection.expr, dropped),
        // A group that is dropped needs no rows.
        LogicalPlan::Aggregate(aggregate)
            if !matches!(aggregate.group_expr.as_slice(), [] | [Expr::GroupingSet(_)]) =>
        {
            computed(plan, &aggregate.group_expr, dropped)
        }
        LogicalPlan::SubqueryAlias(_) | LogicalPlan::Union(_) => {
            let columns = plan.schema().columns().into_iter();
            let pairs = columns.zip(input.schema().columns());
            let pairs = pairs.filter(|(column, _)| dropped.contains(column));
            pairs.map(|(_, below)| below).collect()
        }
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => dropped.clone(),
        LogicalPlan::Distinct(Distinct::All(_)) => dropped.clone(),
        // The rows of others decide about a row.
        _ => Columns::new(),
    }
}

/// The columns that the dropped ones among the first columns of `plan` are computed of, by these expressions.
fn computed(plan: &LogicalPlan, expressions: &[Expr], dropped: &Columns) -> Columns {
    let columns = plan.schema().columns();
    let expressions = columns.iter().zip(expressions);
    let expressions = expressions.filter(|(column, _)| dropped.contains(column));
    let below = expressions.map(|(_, expression)| required(expression));
    below.flatten().collect()
}

fn has_column(input: &LogicalPlan, column: &Column) -> bool {
    input.schema().has_column(column)
}

fn simplified_join(mut join: Join, dropped: &Columns) -> Result<Transformed<LogicalPlan>> {
    // Semi joins, anti joins and marks have columns of one side alone; the other may call its columns the same.
    let (has_left, has_right) = match join.join_type {
        JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => (true, false),
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => (false, true),
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => (true, true),
    };
    let of_output = |is_shown: bool, input: &LogicalPlan| -> Columns {
        let columns = dropped.iter();
        let columns = columns.filter(|column| is_shown && has_column(input, column));
        columns.cloned().collect()
    };
    let mut left = of_output(has_left, &join.left);
    let mut right = of_output(has_right, &join.right);
    let kind = simpler(join.join_type, !left.is_empty(), !right.is_empty());
    let is_changed = kind != join.join_type;
    // The schema stays: that its columns cannot be NULL any more is not worth telling all plans above.
    join.join_type = kind;
    let (keeps_left, keeps_right) = match kind {
        JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi => (false, false),
        JoinType::Left | JoinType::LeftAnti if !join.null_aware => (true, false),
        JoinType::Right | JoinType::RightAnti => (false, true),
        _ => (true, true),
    };
    let (matching_left, matching_right) = matching(&join);
    // A row that does not match is gone, unless its side is kept.
    if !keeps_left {
        left.extend(matching_left);
    }
    if !keeps_right {
        right.extend(matching_right);
    }
    let below_left = simplified(Arc::unwrap_or_clone(join.left), &left)?;
    let below_right = simplified(Arc::unwrap_or_clone(join.right), &right)?;
    let is_changed = is_changed || below_left.transformed || below_right.transformed;
    join.left = Arc::new(below_left.data);
    join.right = Arc::new(below_right.data);
    Ok(Transformed::new_transformed(
        LogicalPlan::Join(join),
        is_changed,
    ))
}

/// The columns of each side that are not NULL in rows which have a partner.
fn matching(join: &Join) -> (Columns, Columns) {
    let of_filter = join.filter.as_ref().map(rejected).unwrap_or_default();
    // A name that both sides have says nothing.
    let (left, right) = (&join.left, &join.right);
    let (mut of_left, mut of_right) = (Columns::new(), Columns::new());
    for column in of_filter {
        match (has_column(left, &column), has_column(right, &column)) {
            (true, false) => of_left.insert(column),
            (false, true) => of_right.insert(column),
            _ => false,
        };
    }
    if join.null_equality == NullEquality::NullEqualsNothing {
        for (of_one, of_other) in &join.on {
            of_left.extend(required(of_one));
            of_right.extend(required(of_other));
        }
    }
    (of_left, of_right)
}

/// The kind of a join whose rows with NULL in some column of a side are dropped.
fn simpler(kind: JoinType, drops_left: bool, drops_right: bool) -> JoinType {
    match (kind, drops_left, drops_right) {
        (JoinType::Left, _, true) | (JoinType::Right, true, _) => JoinType::Inner,
        (JoinType::Full, true, true) => JoinType::Inner,
        (JoinType::Full, true, false) => JoinType::Left,
        (JoinType::Full, false, true) => JoinType::Right,
        _ => kind,
    }
}
