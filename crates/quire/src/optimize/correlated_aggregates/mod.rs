//! Correlated scalar subqueries that DataFusion cannot turn into joins.
//!
//! DataFusion pulls a subquery's conditions up into a join, which works for equalities
//! ([`equalities`]): `(SELECT count(*) FROM t AS x WHERE x.b < t.b)` it would leave standing, and then
//! refuse. This rule takes those by the way of Neumann and Kemper ("Unnesting Arbitrary Queries", BTW 2015):
//! the distinct outer values are joined with the subquery's input ([`attach`]), the aggregate is
//! grouped by them, and the groups are joined back to the outer rows. An outer row without a group
//! gets what the aggregates say of no rows.

mod attach;
mod equalities;
mod replace;

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, Subquery,
};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// The rule. Comes before DataFusion's own.
#[derive(Debug)]
pub(super) struct CorrelatedAggregates;

impl OptimizerRule for CorrelatedAggregates {
    fn name(&self) -> &str {
        "correlated_aggregates"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let rewritten = match &plan {
            LogicalPlan::Filter(filter) => in_filter(filter, config)?,
            LogicalPlan::Projection(projection) => in_projection(projection, config)?,
            LogicalPlan::Aggregate(aggregate) => in_aggregate(aggregate, config)?,
            _ => None,
        };
        Ok(rewritten.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

fn in_filter(filter: &Filter, config: &dyn OptimizerConfig) -> Result<Option<LogicalPlan>> {
    let mut rows = Rows::new(&filter.input, config);
    let predicate = rows.replace_subqueries(filter.predicate.clone())?;
    if !rows.is_joined {
        return Ok(None);
    }
    let columns = filter.input.schema().columns();
    let plan = LogicalPlanBuilder::from(rows.plan)
        .filter(predicate)?
        .project(columns.into_iter().map(Expr::Column))?
        .build()?;
    Ok(Some(plan))
}

fn in_projection(
    projection: &Projection,
    config: &dyn OptimizerConfig,
) -> Result<Option<LogicalPlan>> {
    let mut rows = Rows::new(&projection.input, config);
    let expressions = rows.replace_in_all(&projection.expr)?;
    if !rows.is_joined {
        return Ok(None);
    }
    let (input, schema) = (Arc::new(rows.plan), Arc::clone(&projection.schema));
    let plan = Projection::try_new_with_schema(expressions, input, schema)?;
    Ok(Some(LogicalPlan::Projection(plan)))
}

/// DataFusion's rule does not look here, so that equalities are taken too.
fn in_aggregate(
    aggregate: &Aggregate,
    config: &dyn OptimizerConfig,
) -> Result<Option<LogicalPlan>> {
    let mut rows = Rows::new(&aggregate.input, config);
    rows.are_equalities_left = false;
    let keys = rows.replace_in_all(&aggregate.group_expr)?;
    let aggregates = rows.replace_in_all(&aggregate.aggr_expr)?;
    if !rows.is_joined {
        return Ok(None);
    }
    let (input, schema) = (Arc::new(rows.plan), Arc::clone(&aggregate.schema));
    let plan = Aggregate::try_new_with_schema(input, keys, aggregates, schema)?;
    Ok(Some(LogicalPlan::Aggregate(plan)))
}

/// The outer rows, and what has been joined to them.
struct Rows<'c> {
    /// Without joins: the rows whose values the subqueries ask for.
    outer: Arc<LogicalPlan>,
    plan: LogicalPlan,
    is_joined: bool,
    /// Whether DataFusion's rule comes for them.
    are_equalities_left: bool,
    config: &'c dyn OptimizerConfig,
}

impl<'c> Rows<'c> {
    fn new(outer: &Arc<LogicalPlan>, config: &'c dyn OptimizerConfig) -> Self {
        Self {
            outer: Arc::clone(outer),
            plan: outer.as_ref().clone(),
            is_joined: false,
            are_equalities_left: true,
            config,
        }
    }

    /// `expression` with a value of a joined column for each subquery that could be joined.
    fn replace_subqueries(&mut self, expression: Expr) -> Result<Expr> {
        let replaced = expression.transform_down(|part| {
            let Expr::ScalarSubquery(subquery) = &part else {
                return Ok(Transformed::no(part));
            };
            Ok(match self.join_subquery(subquery)? {
                Some(value) => Transformed::new(value, true, TreeNodeRecursion::Jump),
                None => Transformed::no(part),
            })
        })?;
        Ok(replaced.data)
    }

    /// The same for expressions that keep their names.
    fn replace_in_all(&mut self, expressions: &[Expr]) -> Result<Vec<Expr>> {
        let names = NamePreserver::new_for_projection();
        let replaced = expressions.iter().map(|expression| {
            let name = names.save(expression);
            let replaced = self.replace_subqueries(expression.clone())?;
            Ok(name.restore(replaced))
        });
        replaced.collect()
    }

    fn join_subquery(&mut self, subquery: &Subquery) -> Result<Option<Expr>> {
        let columns = self.outer_columns(subquery);
        let is_left = self.are_equalities_left && equalities::are_all(&subquery.subquery)?;
        if columns.is_empty() || is_left {
            return Ok(None);
        }
        let names = self.config.alias_generator();
        let Some(joined) = replace::join(subquery, &self.outer, &self.plan, &columns, names)?
        else {
            return Ok(None);
        };
        self.plan = joined.plan;
        self.is_joined = true;
        Ok(Some(joined.value))
    }

    /// The columns of these rows that the subquery reads; others belong to queries further out.
    fn outer_columns(&self, subquery: &Subquery) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for reference in &subquery.outer_ref_columns {
            if let Expr::OuterReferenceColumn(_, column) = reference
                && self.outer.schema().has_column(column)
                && !columns.contains(column)
            {
                columns.push(column.clone());
            }
        }
        columns
    }
}
