//! A join tree, put together again in a chosen shape.

use std::sync::Arc;

use datafusion::common::{DFSchemaRef, JoinConstraint, NullEquality, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Expr, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder, build_join_schema,
};

use super::graph::{EqualityClass, InputSet, JoinGraph, Tree};

/// Builds `tree`; the result has the columns of `schema`, in that order.
pub(super) fn rebuild(graph: &JoinGraph, tree: &Tree, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    let plan = joined(graph, tree)?;
    if plan.schema().columns() == schema.columns() {
        return Ok(plan);
    }
    let columns = schema.columns().into_iter().map(Expr::Column);
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// Builds `tree`, of all inputs or of some that no condition connects with the others but keys.
pub(in crate::optimize) fn joined(graph: &JoinGraph, tree: &Tree) -> Result<LogicalPlan> {
    let mut builder = Builder {
        graph,
        pending: graph.conditions.clone(),
    };
    let plan = builder.build(tree)?;
    builder.filtered(plan, u64::MAX)
}

struct Builder<'g> {
    graph: &'g JoinGraph,
    /// Conditions not yet applied.
    pending: Vec<(InputSet, Expr)>,
}

impl Builder<'_> {
    fn build(&mut self, tree: &Tree) -> Result<LogicalPlan> {
        match tree {
            Tree::Input(index) => {
                let input = self.graph.inputs[*index].clone();
                self.filtered(input, 1 << index)
            }
            Tree::Semi(index, inner) => {
                let mut join = self.graph.semi_joins[*index].join.clone();
                join.left = Arc::new(self.build(inner)?);
                let schema =
                    build_join_schema(join.left.schema(), join.right.schema(), &join.join_type)?;
                join.schema = Arc::new(schema);
                Ok(LogicalPlan::Join(join))
            }
            Tree::Join(left, right) => {
                let (left_set, right_set) = (left.inputs(), right.inputs());
                let left = self.build(left)?;
                let right = self.build(right)?;
                let key = |class: &EqualityClass| key_between(class, left_set, right_set);
                let on = self.graph.classes.iter().filter_map(key).collect();
                let filter = conjunction(self.take_covered(left_set | right_set));
                Ok(LogicalPlan::Join(Join::try_new(
                    Arc::new(left),
                    Arc::new(right),
                    on,
                    filter,
                    JoinType::Inner,
                    JoinConstraint::On,
                    NullEquality::NullEqualsNothing,
                    false,
                )?))
            }
        }
    }

    /// Applies the conditions that only read `set` and are still pending.
    fn filtered(&mut self, plan: LogicalPlan, set: InputSet) -> Result<LogicalPlan> {
        match conjunction(self.take_covered(set)) {
            Some(condition) => Ok(LogicalPlan::Filter(Filter::try_new(
                condition,
                Arc::new(plan),
            )?)),
            None => Ok(plan),
        }
    }

    fn take_covered(&mut self, set: InputSet) -> Vec<Expr> {
        let is_covered = |condition: &mut (InputSet, Expr)| {
            condition.0 & !set == 0 && (condition.0 != 0 || set == u64::MAX)
        };
        self.pending
            .extract_if(.., is_covered)
            .map(|(_, condition)| condition)
            .collect()
    }
}

/// One pair of equal expressions between two sides: the others of a class follow from it, because
/// the members within a side have been made equal below.
fn key_between(class: &EqualityClass, left: InputSet, right: InputSet) -> Option<(Expr, Expr)> {
    let within = |set: InputSet| {
        let mut members = class
            .members
            .iter()
            .filter(move |(input, _)| set & (1 << input) != 0);
        members.next().map(|(_, expr)| expr.clone())
    };
    Some((within(left)?, within(right)?))
}
