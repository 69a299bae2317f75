//! Outer columns have the types that the query around a subquery gives them in the end.
//!
//! A subquery is planned before the types of the query around it are settled. A column of a union still has the type of the first branch
//! then: in `SELECT … FROM (SELECT an_integer UNION SELECT a_bigint) AS u (c) WHERE c IN (SELECT k FROM t WHERE t.k = u.c)` the subquery
//! compares integers, and would get a BIGINT. So once types are settled, outer columns get those of the columns that they name, and the
//! rules that settle types run again if one has changed.
//!
//! What stands behind LATERAL is no expression of the join: it is the join's right input, below its alias, and reads the left input.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchemaRef, ExprSchema, Result};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

use super::unnesting::has_subquery_anywhere;

type Rule = Arc<dyn AnalyzerRule + Send + Sync>;

/// The rule, with those that settle types.
pub(super) struct OuterTypes {
    settling: Vec<Rule>,
}

impl OuterTypes {
    pub(super) fn new(settling: Vec<Rule>) -> Self {
        Self { settling }
    }
}

impl fmt::Debug for OuterTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AnalyzerRule for OuterTypes {
    fn name(&self) -> &str {
        "outer_types"
    }

    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        if !has_subquery_anywhere(&plan)? {
            return Ok(plan);
        }
        let plan = refresh(plan, &[])?;
        if !plan.transformed {
            return Ok(plan.data);
        }
        let mut rules = self.settling.iter();
        rules.try_fold(plan.data, |plan, rule| rule.analyze(plan, config))
    }
}

/// Gives the outer columns of a plan their types. `outer` has the schemas that the queries around it read, the innermost last.
fn refresh(plan: LogicalPlan, outer: &[DFSchemaRef]) -> Result<Transformed<LogicalPlan>> {
    let plan = refresh_inputs(plan, outer)?;
    // After the inputs: a subquery in an expression reads them with the types that they have now.
    let read = with_inner(outer, Arc::new(merge_schema(&plan.data.inputs())));
    let plan = plan.transform_data(|plan| plan.map_subqueries(|query| refresh(query, &read)))?;
    let plan = plan.transform_data(|plan| settle(plan, outer))?;
    if plan.transformed {
        plan.map_data(LogicalPlan::recompute_schema)
    } else {
        Ok(plan)
    }
}

/// The same of a node's inputs. The right input of a join may be behind LATERAL; if it is not, it has no column of the left one.
fn refresh_inputs(plan: LogicalPlan, outer: &[DFSchemaRef]) -> Result<Transformed<LogicalPlan>> {
    let is_join = matches!(plan, LogicalPlan::Join(_));
    let mut left = None;
    plan.map_children(|input| {
        let input = match left.take() {
            Some(left) => refresh(input, &with_inner(outer, left))?,
            None => refresh(input, outer)?,
        };
        left = is_join.then(|| Arc::clone(input.data.schema()));
        Ok(input)
    })
}

fn with_inner(outer: &[DFSchemaRef], inner: DFSchemaRef) -> Vec<DFSchemaRef> {
    [outer, &[inner]].concat()
}

/// The same of a node's own expressions.
fn settle(plan: LogicalPlan, outer: &[DFSchemaRef]) -> Result<Transformed<LogicalPlan>> {
    if let LogicalPlan::Subquery(mut query) = plan {
        let columns = query.outer_ref_columns.into_iter();
        query.outer_ref_columns = columns.map(|column| typed(column, outer).data).collect();
        return Ok(Transformed::no(LogicalPlan::Subquery(query)));
    }
    plan.map_expressions(|expr| expr.transform_up(|part| Ok(typed(part, outer))))
}

fn typed(part: Expr, outer: &[DFSchemaRef]) -> Transformed<Expr> {
    let Expr::OuterReferenceColumn(field, column) = part else {
        return Transformed::no(part);
    };
    let mut schemas = outer.iter().rev();
    let found = schemas.find_map(|schema| schema.field_from_column(&column).ok());
    match found.map(|found| found.data_type()) {
        Some(settled) if settled != field.data_type() => {
            let field = field.as_ref().clone().with_data_type(settled.clone());
            Transformed::yes(Expr::OuterReferenceColumn(Arc::new(field), column))
        }
        _ => Transformed::no(Expr::OuterReferenceColumn(field, column)),
    }
}
