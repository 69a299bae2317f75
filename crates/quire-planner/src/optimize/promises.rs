//! What holds of rows does not hold once NULL takes the place of their values.
//!
//! DataFusion's aggregates and joins promise of their output what their input promises of its columns: that two are equal, that one is
//! constant, that rows with the same value are in the same partition. A sort that relies on such a promise is left out. Operators break it:
//!
//! - Grouping sets put NULL in place of values.
//! - An outer join puts NULL in place of the columns of a side that has no match, constants among them.
//! - A union has a constant column, or two that are equal, in one branch and other values in the next.
//! - A window with a key that is constant, or equal to another one, asks for no order of it, and relies on one. A sort by `a + 1` where `a`
//!   equals `b` becomes one by `b + 1`, which the window does not recognise.
//! - A window promises that the aggregates of its frames only grow, or only shrink. A frame without values is NULL, or a count
//!   that is smaller again.
//! - A volatile function of constants, `nextval('s')`, is taken for a constant.
//! - A filter on `a + 1 = a` makes equals of a column and an expression. An order by the one is written as an order by the other, and
//!   is not recognised where an operator above passes on columns only.
//! - A join loses the constants of its right side ([`super::lost_constants`]).
//! - A window with several keys for its partitions does not recognise an order by one of them where no two rows are alike in that one.
//! - A select list that puts the keys of groups elsewhere says that no two rows are alike in other columns. An order by `count, key` is left
//!   out where rows come in the order of `count`.
//!
//! So the inputs of these get [`Unpromised`] above them, which passes the rows on and promises nothing. Above a window it promises what
//! the input of the window does, and above such a select list all but keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Constraint, JoinType, Result};
use datafusion::logical_expr::{Operator, SetMonotonicity};
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::window::{
    PlainAggregateWindowExpr, SlidingAggregateWindowExpr, WindowExpr,
};
use datafusion::physical_expr::{
    EquivalenceProperties, Partitioning, PhysicalExpr, split_conjunction,
};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};

use super::bounded::OwnBatches;
use super::lost_constants::sorted_by_lost;
use super::new_inputs::{main_input, with_inputs, with_main_input};
use super::passed_rows::{PassedRows, RowPassing};
use super::physical_joins::PhysicalJoin;
use super::sorted_windows::SortedWindowsExec;

/// The plan with [`Unpromised`] above what promises more than it keeps.
pub(super) fn kept_promises(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let optimized = plan.transform_up(|node| {
        let node = without_broken_promises(node)?;
        if promises_growth(&node.data) {
            return Ok(Transformed::yes(KeptPromises::BelowWindow.over(node.data)?));
        }
        if misplaces_keys(&node.data) {
            return Ok(Transformed::yes(KeptPromises::AllButKeys.over(node.data)?));
        }
        if equates_expressions(&node.data) || computes_volatile(&node.data) {
            Ok(Transformed::yes(KeptPromises::Nothing.over(node.data)?))
        } else {
            Ok(node)
        }
    })?;
    outermost_promised(optimized.data)
}

/// The plan without [`Unpromised`] among its outermost operators. Nothing relies on what they promise, but the statement's own order must be found
/// below them: it is asked for of the result.
fn outermost_promised(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(unpromised) = plan.downcast_ref::<Unpromised>() {
        return outermost_promised(Arc::clone(&unpromised.input));
    }
    let Some(input) = main_input(&plan) else {
        return Ok(plan);
    };
    let keeps_order = plan.maintains_input_order().first() == Some(&true);
    // A window relies on its input.
    if !keeps_order || plan.required_input_ordering().iter().any(Option::is_some) {
        return Ok(plan);
    }
    let promised = outermost_promised(Arc::clone(input))?;
    if Arc::ptr_eq(&promised, input) {
        return Ok(plan);
    }
    with_main_input(plan, promised)
}

/// The operator over inputs whose promises it keeps.
fn without_broken_promises(
    node: Arc<dyn ExecutionPlan>,
) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let broken = broken_inputs(&node);
    if !broken.contains(&true) {
        return match window_over_keys(&node) {
            Some(input) => {
                let unpromised = KeptPromises::AllButKeys.over(Arc::clone(input))?;
                Ok(Transformed::yes(with_inputs(node, vec![unpromised])?))
            }
            None => Ok(Transformed::no(node)),
        };
    }
    let inputs = node.children().into_iter().zip(broken);
    let inputs = inputs.map(|(input, is_broken)| {
        if is_broken {
            KeptPromises::Nothing.over(Arc::clone(input))
        } else {
            Ok(Arc::clone(input))
        }
    });
    let inputs = inputs.collect::<Result<_>>()?;
    Ok(Transformed::yes(with_inputs(node, inputs)?))
}

/// Of which inputs the operator breaks the promises, though it passes them on.
fn broken_inputs(node: &Arc<dyn ExecutionPlan>) -> Vec<bool> {
    if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        let unpromised = aggregate.input().downcast_ref::<Unpromised>();
        let has_promises = unpromised.is_none_or(|it| it.purpose != KeptPromises::Nothing);
        if aggregate.group_expr().has_grouping_set() && has_promises {
            return vec![true];
        }
    }
    if has_promised_keys(node) {
        return vec![true];
    }
    let sorted = sorted_by_lost(node);
    if sorted.contains(&true) {
        return sorted;
    }
    if node.is::<UnionExec>() {
        let inputs = node.children().into_iter();
        let is_broken = |input: &Arc<dyn ExecutionPlan>| {
            let values = input.equivalence_properties().eq_group();
            !values.is_empty()
        };
        return inputs.map(is_broken).collect();
    }
    let Some(join) = PhysicalJoin::of(node.as_ref()) else {
        return Vec::new();
    };
    let is_filled_up = match join.kind() {
        JoinType::Left => [false, true],
        JoinType::Right => [true, false],
        JoinType::Full => [true, true],
        _ => return Vec::new(),
    };
    let inputs = node.children().into_iter().zip(is_filled_up);
    // That two columns are equal holds of NULLs, too.
    let is_broken = |input: &Arc<dyn ExecutionPlan>| {
        let constants = input.equivalence_properties().constants();
        !constants.is_empty()
    };
    inputs
        .map(|(input, is_filled_up)| is_filled_up && is_broken(input))
        .collect()
}

/// Whether a window has a key that its input promises to be constant, or equal to another key: it asks for no order of it, and relies on
/// one. So it does of a key that equals an expression over other columns, or is computed from a column that equals another one.
fn has_promised_keys(node: &Arc<dyn ExecutionPlan>) -> bool {
    let children = node.children();
    let [input] = children.as_slice() else {
        return false;
    };
    let properties = input.equivalence_properties();
    let group = properties.eq_group();
    let are_equal = |key: &Arc<dyn PhysicalExpr>, other: &Arc<dyn PhysicalExpr>| {
        let class = group.get_equivalence_class(key);
        class.is_some_and(|class| class.contains(other))
    };
    let is_computed = |key: &Arc<dyn PhysicalExpr>| {
        let class = group.get_equivalence_class(key);
        class.is_some_and(|class| class.iter().any(|equal| !equal.is::<Column>()))
    };
    let is_of_equals = |key: &Arc<dyn PhysicalExpr>| {
        let mut columns = collect_columns(key).into_iter();
        let has_equals = |column| {
            let column: Arc<dyn PhysicalExpr> = Arc::new(column);
            group.get_equivalence_class(&column).is_some()
        };
        !key.is::<Column>() && columns.any(has_equals)
    };
    window_calls(node).iter().any(|call| {
        let ordered = call.order_by().iter().map(|key| &key.expr);
        let keys: Vec<_> = call.partition_by().iter().chain(ordered).collect();
        let mut numbered = keys.iter().enumerate();
        numbered.any(|(number, key)| {
            let mut before = keys[..number].iter();
            properties.is_expr_constant(key).is_some()
                || is_computed(key)
                || is_of_equals(key)
                || before.any(|other| are_equal(key, other))
        })
    })
}

/// The window functions that an operator computes; none if it is no window.
fn window_calls(node: &Arc<dyn ExecutionPlan>) -> &[Arc<dyn WindowExpr>] {
    if let Some(window) = node.downcast_ref::<BoundedWindowAggExec>() {
        return window.window_expr();
    }
    if let Some(windows) = node.downcast_ref::<SortedWindowsExec>() {
        return window_calls(windows.window());
    }
    let window = node.downcast_ref::<WindowAggExec>();
    window.map_or(&[], WindowAggExec::window_expr)
}

/// Whether the operator is a filter on an expression that equals another one, or a column.
fn equates_expressions(node: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(filter) = node.downcast_ref::<FilterExec>() else {
        return false;
    };
    let mut conditions = split_conjunction(filter.predicate()).into_iter();
    conditions.any(|condition| {
        let Some(test) = condition.downcast_ref::<BinaryExpr>() else {
            return false;
        };
        let sides = [test.left(), test.right()];
        *test.op() == Operator::Eq
            && sides.iter().all(|side| !side.is::<Literal>())
            && sides.iter().any(|side| !side.is::<Column>())
    })
}

/// Whether the operator computes a volatile function. One of constants, as `nextval('s')` is, is taken for a constant.
fn computes_volatile(node: &Arc<dyn ExecutionPlan>) -> bool {
    let projection = node.downcast_ref::<ProjectionExec>();
    let mut computed = projection.map_or(&[][..], ProjectionExec::expr).iter();
    computed.any(|output| is_volatile(&output.expr))
}

/// Whether the operator computes windows of which it promises an order that they need not have.
fn promises_growth(node: &Arc<dyn ExecutionPlan>) -> bool {
    window_calls(node).iter().any(|call| {
        if let Some(plain) = call.as_any().downcast_ref::<PlainAggregateWindowExpr>() {
            // A count of more and more rows.
            let aggregate = plain.get_aggregate_expr();
            return aggregate.fun().name() != "count" && is_monotone(aggregate);
        }
        let sliding = call.as_any().downcast_ref::<SlidingAggregateWindowExpr>();
        sliding.is_some_and(|sliding| is_monotone(sliding.get_aggregate_expr()))
    })
}

fn is_monotone(aggregate: &AggregateFunctionExpr) -> bool {
    aggregate.set_monotonicity() != SetMonotonicity::NotMonotonic
}

/// The input of a window with several partition keys, if the input has a unique key. Rows in the order of a unique column are in the order of every
/// list of keys that starts with it, which the window does not know.
fn window_over_keys(node: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let has_keys = |call: &Arc<dyn WindowExpr>| call.partition_by().len() > 1;
    if !window_calls(node).iter().any(has_keys) {
        return None;
    }
    let input = node.children().into_iter().next();
    input.filter(|input| {
        let known = input.equivalence_properties().constraints();
        known.iter().next().is_some()
    })
}

/// Whether the operator is a select list that promises keys of its input in other columns than where they are.
fn misplaces_keys(node: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(projection) = node.downcast_ref::<ProjectionExec>() else {
        return false;
    };
    let known = projection.input().equivalence_properties().constraints();
    let known: Vec<BTreeSet<usize>> = known
        .iter()
        .map(|key| columns_of(key).iter().copied().collect())
        .collect();
    let is_wrong = |key: &Constraint| {
        let columns = columns_of(key).iter();
        let sources: Option<BTreeSet<usize>> = columns
            .map(|column| {
                let output = projection.expr().get(*column)?;
                let source = output.expr.downcast_ref::<Column>()?;
                Some(source.index())
            })
            .collect();
        sources.is_none_or(|sources| !known.contains(&sources))
    };
    let promised = node.equivalence_properties().constraints();
    promised.iter().any(is_wrong)
}

fn columns_of(key: &Constraint) -> &[usize] {
    match key {
        Constraint::PrimaryKey(columns) | Constraint::Unique(columns) => columns,
    }
}

/// What [`Unpromised`] promises all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptPromises {
    Nothing,
    /// What the input of a window promises.
    BelowWindow,
    /// Orders, and which columns are equal.
    AllButKeys,
}

/// Rows of which nothing is known, or not all that their operator promises.
pub(super) type Unpromised = PassedRows<KeptPromises>;

impl RowPassing for KeptPromises {
    const NAME: &'static str = "Unpromised";
    /// The rows are those of the input.
    const PASSES_FILTERS: bool = true;

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        // Other rules may have put something between, which passes on what the window promises.
        let window = growing_window(&input).filter(|_| *self == Self::BelowWindow);
        let (kept, known) = match (self, window) {
            (Self::AllButKeys, _) => {
                let known = orders_of(&input, input.equivalence_properties())?;
                (Self::AllButKeys, known)
            }
            (_, Some(window)) => {
                // The columns of a window's input are its first ones.
                let known = match window.children().as_slice() {
                    [below] => orders_of(&input, below.equivalence_properties())?,
                    _ => EquivalenceProperties::new(input.schema()),
                };
                (Self::BelowWindow, known)
            }
            (_, None) => (Self::Nothing, EquivalenceProperties::new(input.schema())),
        };
        let partitioning = input.output_partitioning();
        let partitioning = match kept {
            Self::Nothing => Partitioning::UnknownPartitioning(partitioning.partition_count()),
            _ => partitioning.clone(),
        };
        let (behavior, boundedness) = (input.pipeline_behavior(), input.boundedness());
        let properties = PlanProperties::new(known, partitioning, behavior, boundedness);
        let unpromised = PassedRows::new(input, kept, Arc::new(properties));
        Ok(Arc::new(unpromised))
    }
}

/// The equal columns and the orders of `promised`, for rows that have its columns first.
fn orders_of(
    rows: &Arc<dyn ExecutionPlan>,
    promised: &EquivalenceProperties,
) -> Result<EquivalenceProperties> {
    let mut known = EquivalenceProperties::new(rows.schema());
    known.add_equivalence_group(promised.eq_group().clone())?;
    known.add_orderings(promised.oeq_class().clone());
    Ok(known)
}

/// The window that promises growth, below rows in another form.
fn growing_window(node: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    if promises_growth(node) {
        return Some(node);
    }
    if !node.is::<OwnBatches>() {
        return None;
    }
    node.children().into_iter().find_map(growing_window)
}
