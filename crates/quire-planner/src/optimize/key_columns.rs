//! Keys that rows are sorted by, as columns of these rows, where DataFusion would not see the order.
//!
//! It derives the order of `f(x)` from that of `x` and from the interval that its values lie in. Of some expressions it knows no
//! interval: `CASE`, `%`, a subquery. What compares an interval with this one gives up, as `abs(a % 2)`, `-(CASE … END)` and
//! `(CASE … END) > 1` do, and with it the search for a sort by the whole expression: the plan of a window or an aggregate that needs the
//! order is refused. A subquery has another name in the rows of an aggregate once its value is known, besides. Runs before physical
//! planning, so that no other rule puts the key back.

use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::sort_properties::ExprProperties;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, Sort, Window};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr, expressions};

/// What the columns are called, before their number.
const KEY: &str = "__sort_key_";

/// The plan with columns for such keys.
pub(super) fn with_key_columns(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut made = 0;
    let plan = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Window(window) => of_window(window, &mut made),
        LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate, &mut made),
        LogicalPlan::Sort(sort) => of_sort(sort, &mut made),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(plan.data)
}

fn of_window(window: Window, made: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let mut keys = KeyColumns::of(&window.input, made);
    let mut calls = Vec::with_capacity(window.window_expr.len());
    for expr in &window.window_expr {
        let name = NamePreserver::new_for_projection().save(expr);
        let expr = expr.clone().transform_up(|part| {
            let Expr::WindowFunction(mut call) = part else {
                return Ok(Transformed::no(part));
            };
            for key in &mut call.params.partition_by {
                keys.replace(key);
            }
            for key in &mut call.params.order_by {
                keys.replace(&mut key.expr);
            }
            Ok(Transformed::yes(Expr::WindowFunction(call)))
        })?;
        calls.push(name.restore(expr.data));
    }
    let Some(rows) = keys.rows()? else {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    };
    let shown = window.schema.columns();
    let keyed = Window::try_new(calls, rows)?;
    without_keys(LogicalPlan::Window(keyed), shown)
}

fn of_aggregate(aggregate: Aggregate, made: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let mut keys = KeyColumns::of(&aggregate.input, made);
    let mut calls = Vec::with_capacity(aggregate.aggr_expr.len());
    for expr in &aggregate.aggr_expr {
        let name = NamePreserver::new_for_projection().save(expr);
        let expr = expr.clone().transform_up(|part| {
            let Expr::AggregateFunction(mut call) = part else {
                return Ok(Transformed::no(part));
            };
            for key in &mut call.params.order_by {
                let written = key.expr.clone();
                keys.replace(&mut key.expr);
                // Behind DISTINCT, the keys are arguments.
                let arguments = call.params.args.iter_mut();
                for argument in arguments.filter(|argument| **argument == written) {
                    argument.clone_from(&key.expr);
                }
            }
            Ok(Transformed::yes(Expr::AggregateFunction(call)))
        })?;
        calls.push(name.restore(expr.data));
    }
    let Some(rows) = keys.rows()? else {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    };
    let keyed = Aggregate::try_new_with_schema(rows, aggregate.group_expr, calls, aggregate.schema);
    Ok(Transformed::yes(LogicalPlan::Aggregate(keyed?)))
}

fn of_sort(mut sort: Sort, made: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let mut keys = KeyColumns::of(&sort.input, made);
    for key in &mut sort.expr {
        keys.replace(&mut key.expr);
    }
    let Some(rows) = keys.rows()? else {
        return Ok(Transformed::no(LogicalPlan::Sort(sort)));
    };
    let shown = sort.input.schema().columns();
    sort.input = rows;
    without_keys(LogicalPlan::Sort(sort), shown)
}

/// The plan's columns but for the keys.
fn without_keys(plan: LogicalPlan, shown: Vec<Column>) -> Result<Transformed<LogicalPlan>> {
    let shown = shown.into_iter().map(Expr::Column).collect();
    let shown = Projection::try_new(shown, Arc::new(plan))?;
    Ok(Transformed::yes(LogicalPlan::Projection(shown)))
}

/// Keys of a node, and the columns that they become.
struct KeyColumns<'p> {
    input: Arc<LogicalPlan>,
    columns: Vec<(Expr, String)>,
    made: &'p mut usize,
}

impl<'p> KeyColumns<'p> {
    fn of(input: &Arc<LogicalPlan>, made: &'p mut usize) -> Self {
        Self {
            input: Arc::clone(input),
            columns: Vec::new(),
            made,
        }
    }

    /// Puts a column in the place of a key whose order would be lost.
    fn replace(&mut self, key: &mut Expr) {
        if !is_lost(key, self.input.schema()) {
            return;
        }
        let known = self.columns.iter().find(|(expr, _)| expr == key);
        let name = match known {
            Some((_, name)) => name.clone(),
            None => {
                let name = format!("{KEY}{}", self.made);
                *self.made += 1;
                self.columns.push((key.clone(), name.clone()));
                name
            }
        };
        *key = Expr::Column(Column::new_unqualified(name));
    }

    /// The rows with the columns; nothing if there are none.
    fn rows(self) -> Result<Option<Arc<LogicalPlan>>> {
        if self.columns.is_empty() {
            return Ok(None);
        }
        let columns = self.input.schema().columns().into_iter();
        let keys = self.columns.into_iter();
        let rows = columns
            .map(Expr::Column)
            .chain(keys.map(|(expr, name)| expr.unalias().alias(name)));
        let rows = Projection::try_new(rows.collect(), self.input)?;
        Ok(Some(Arc::new(LogicalPlan::Projection(rows))))
    }
}

/// Whether a sort by the key would not be recognised. What is more than a function of columns, a subquery, is not planned here.
fn is_lost(key: &Expr, schema: &DFSchema) -> bool {
    if matches!(key, Expr::Column(_) | Expr::Literal(..)) {
        return false;
    }
    let context = PhysicalPlanningContext::default();
    let planned = create_physical_expr(key, schema, &ExecutionProps::new(), &context);
    let known = planned.and_then(|key| properties(&key, schema.as_arrow()));
    known.is_err()
}

/// What DataFusion derives of an expression over rows of which it knows nothing.
fn properties(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<ExprProperties> {
    let mut known = ExprProperties::new_unknown();
    let parts = expr.children();
    if expr.is::<expressions::Column>() {
        known.range = Interval::make_unbounded(&expr.data_type(schema)?)?;
    } else if !parts.is_empty() || expr.is::<expressions::Literal>() {
        let parts = parts.into_iter().map(|part| properties(part, schema));
        known = expr.get_properties(&parts.collect::<Result<Vec<_>>>()?)?;
    }
    Ok(known)
}
