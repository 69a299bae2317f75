//! Where filters may go: DataFusion's rule that pushes them down, kept from places where they mean something else.
//!
//! A volatile predicate is asked for each row that reaches it, so it stays where it is written. Nothing goes below an aggregate
//! that has a row even without input (`HAVING` without `GROUP BY`, an empty grouping set), or whose grouping sets put NULL into the
//! column that is compared. Below a window only columns that all its partitions are made of may be compared, and those of the same
//! name as an expression that is cast are none. Of a comparison with a constant the constant comes last. DISTINCT ON chooses among rows that a filter above does not remove.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, Filter, Join, JoinType, LogicalPlan, Window, lit,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::inferred_filters;

/// The rule, in place of the one that it asks.
#[derive(Debug, Default)]
pub(super) struct FilterPlaces {
    push_down: PushDownFilter,
}

impl OptimizerRule for FilterPlaces {
    fn name(&self) -> &str {
        self.push_down.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Filter(filter) => self.place(filter, config),
            LogicalPlan::Join(join) if has_volatile_condition(&join) => Ok(lifted(join)),
            other => self.push(other, config),
        }
    }
}

impl FilterPlaces {
    /// Asks DataFusion's rule.
    fn push(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if !inferred_filters::may_fail(&plan) {
            return self.push_down.rewrite(plan, config);
        }
        let hidden = inferred_filters::with_hidden_keys(plan);
        let pushed = self.push_down.rewrite(hidden, config)?;
        Ok(pushed.update_data(inferred_filters::with_shown_keys))
    }

    /// Lets the predicates go down that may.
    fn place(
        &self,
        mut filter: Filter,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if let LogicalPlan::Join(join) = filter.input.as_ref()
            && has_volatile_condition(join)
        {
            let lifted = lifted(join.clone());
            filter.input = Arc::new(lifted.data);
            return Ok(Transformed::new_transformed(
                LogicalPlan::Filter(filter),
                lifted.transformed,
            ));
        }
        // Two filters are one, so that DataFusion's rule, which makes one of them, does not decide for both.
        while let LogicalPlan::Filter(below) = filter.input.as_ref() {
            let predicate = below.predicate.clone().and(filter.predicate);
            filter = Filter::try_new(predicate, Arc::clone(&below.input))?;
        }
        filter.predicate = with_columns_first(filter.predicate);
        let predicates = split_conjunction(&filter.predicate).into_iter();
        let (moving, staying): (Vec<&Expr>, Vec<&Expr>) =
            predicates.partition(|predicate| may_pass(predicate, &filter.input));
        if staying.is_empty() {
            return self.push(LogicalPlan::Filter(filter), config);
        }
        let Some(moving) = conjunction(moving.into_iter().cloned()) else {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        };
        let below = Filter::try_new(moving, Arc::clone(&filter.input))?;
        let below = self.push(LogicalPlan::Filter(below), config)?;
        match conjunction(staying.into_iter().cloned()) {
            Some(staying) if below.transformed => {
                let above = Filter::try_new(staying, Arc::new(below.data))?;
                Ok(Transformed::yes(LogicalPlan::Filter(above)))
            }
            _ => Ok(Transformed::no(LogicalPlan::Filter(filter))),
        }
    }
}

/// The predicate with `x = 5` for `5 = x`. DataFusion's rule takes the two for equality with two values, and both together for false.
fn with_columns_first(predicate: Expr) -> Expr {
    let turned = |part| match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if left.as_literal().is_some() && right.as_literal().is_none() =>
        {
            Expr::BinaryExpr(match op.swap() {
                Some(op) => BinaryExpr::new(right, op, left),
                None => BinaryExpr::new(left, op, right),
            })
        }
        other => other,
    };
    let parts = split_conjunction_owned(predicate).into_iter().map(turned);
    conjunction(parts).unwrap_or_else(|| lit(true))
}

/// Whether a predicate means the same below `input`.
fn may_pass(predicate: &Expr, input: &LogicalPlan) -> bool {
    if predicate.is_volatile() {
        return false;
    }
    match input {
        LogicalPlan::Aggregate(aggregate) => may_pass_groups(predicate, aggregate),
        LogicalPlan::Window(window) => may_pass_windows(predicate, window),
        LogicalPlan::Distinct(Distinct::On(_)) => false,
        _ => true,
    }
}

fn may_pass_groups(predicate: &Expr, aggregate: &Aggregate) -> bool {
    let groups = &aggregate.group_expr;
    let has_plain_groups = !groups.is_empty()
        && !groups
            .iter()
            .any(|group| matches!(group, Expr::GroupingSet(_)));
    let group_columns = aggregate.schema.columns().into_iter().take(groups.len());
    let group_columns: HashSet<Column> = group_columns.collect();
    let columns = predicate.column_refs();
    has_plain_groups
        && columns
            .into_iter()
            .all(|column| group_columns.contains(column))
}

fn may_pass_windows(predicate: &Expr, window: &Window) -> bool {
    let is_partition = |column: &Column, expr: &Expr| match expr {
        Expr::WindowFunction(call) => call
            .params
            .partition_by
            .iter()
            .any(|key| matches!(key, Expr::Column(key) if key == column)),
        _ => false,
    };
    let columns = predicate.column_refs();
    columns.into_iter().all(|column| {
        let mut calls = window.window_expr.iter();
        calls.all(|call| is_partition(column, unaliased(call)))
    })
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}

fn has_volatile_condition(join: &Join) -> bool {
    let keys = join
        .on
        .iter()
        .any(|(left, right)| left.is_volatile() || right.is_volatile());
    keys || join.filter.as_ref().is_some_and(Expr::is_volatile)
}

/// An inner join with its volatile conditions above it: they are asked for each pair of rows. Other joins stay as they are.
fn lifted(mut join: Join) -> Transformed<LogicalPlan> {
    if join.join_type != JoinType::Inner {
        return Transformed::no(LogicalPlan::Join(join));
    }
    let conditions = join
        .filter
        .take()
        .map_or_else(Vec::new, split_conjunction_owned);
    let (mut volatile, stable): (Vec<_>, Vec<_>) =
        conditions.into_iter().partition(Expr::is_volatile);
    join.filter = conjunction(stable);
    let keys = std::mem::take(&mut join.on);
    for (left, right) in keys {
        if left.is_volatile() || right.is_volatile() {
            volatile.push(left.eq(right))
        } else {
            join.on.push((left, right))
        }
    }
    let join = LogicalPlan::Join(join);
    match conjunction(volatile) {
        Some(predicate) => {
            Transformed::yes(LogicalPlan::Filter(Filter::new(predicate, Arc::new(join))))
        }
        None => Transformed::no(join),
    }
}
