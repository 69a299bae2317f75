//! The order in which `array_agg` and `string_agg` take their values.
//!
//! In PostgreSQL these are the rows as they come: in the order of a subquery below, `array_agg(x) FROM (SELECT x FROM t ORDER BY y)`. With
//! DISTINCT they come sorted. DataFusion deletes sorts that nothing asks for, and hands rows to several threads. Here the order becomes
//! that of the function, as if it had been written there.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Expr, Filter, Limit, LogicalPlan, Projection, SortExpr, SubqueryAlias,
};
use quire_functions::OrderedDoubles;

/// The functions whose results depend on the order of all rows. The planner makes `nth_value(x, n)` of `(array_agg(x))[n]`.
const ORDERED: [&str; 3] = ["array_agg", "nth_value", "string_agg"];

/// Those that always name their order, if there is one.
const NAMING_ORDER: [&str; 3] = ["collected_rows", "first_value", "last_value"];

/// What keys are called that a projection leaves out.
const KEY: &str = "\u{1f}order";

pub(super) fn order_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Aggregate(aggregate) = &plan else {
        return Ok(Transformed::no(plan));
    };
    let asks = |expr: &Expr| {
        expr.exists(|part| Ok(matches!(part, Expr::AggregateFunction(call) if is_open(call))))
    };
    let asks: Vec<bool> = aggregate
        .aggr_expr
        .iter()
        .map(asks)
        .collect::<Result<_>>()?;
    if !asks.contains(&true) {
        return Ok(Transformed::no(plan));
    }
    let names = NamePreserver::new(&plan);
    let (input, keys) = match ordered(&aggregate.input)? {
        Some((input, keys)) => (Arc::new(input), keys),
        None => (Arc::clone(&aggregate.input), Vec::new()),
    };
    let expressions = aggregate.aggr_expr.iter().map(|expr| {
        let name = names.save(expr);
        let expr = expr.clone().transform_up(|part| Ok(order(part, &keys)))?;
        Ok(name.restore(expr.data))
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    let ordered = Aggregate::try_new(input, aggregate.group_expr.clone(), expressions)?;
    Ok(Transformed::yes(LogicalPlan::Aggregate(ordered)))
}

/// Whether the result of a function depends on an order, that of `WITHIN GROUP` and of a sum of floats among them.
pub(super) fn is_ordered(function: &AggregateUDF) -> bool {
    let name = function.name();
    let is_named = ORDERED.contains(&name) || NAMING_ORDER.contains(&name);
    is_named || function.inner().is::<OrderedDoubles>() || function.supports_within_group_clause()
}

/// Whether a call takes rows in an order that it does not name.
fn is_open(call: &AggregateFunction) -> bool {
    ORDERED.contains(&call.func.name()) && call.params.order_by.is_empty()
}

fn order(expr: Expr, keys: &[SortExpr]) -> Transformed<Expr> {
    let Expr::AggregateFunction(mut call) = expr else {
        return Transformed::no(expr);
    };
    if !is_open(&call) {
        return Transformed::no(Expr::AggregateFunction(call));
    }
    call.params.order_by = match (call.params.distinct, call.params.args.first()) {
        (true, Some(argument)) => vec![argument.clone().sort(true, false)],
        _ => keys.to_vec(),
    };
    Transformed::yes(Expr::AggregateFunction(call))
}

/// A plan whose rows are sorted, with columns for the keys, and the keys.
fn ordered(plan: &LogicalPlan) -> Result<Option<(LogicalPlan, Vec<SortExpr>)>> {
    Ok(match plan {
        LogicalPlan::Sort(sort) => Some((plan.clone(), sort.expr.clone())),
        LogicalPlan::Filter(filter) => ordered(&filter.input)?
            .map(|(input, keys)| {
                let filter = Filter::try_new(filter.predicate.clone(), Arc::new(input))?;
                Ok::<_, datafusion::common::DataFusionError>((LogicalPlan::Filter(filter), keys))
            })
            .transpose()?,
        LogicalPlan::Limit(limit) => ordered(&limit.input)?.map(|(input, keys)| {
            let limit = Limit {
                input: Arc::new(input),
                ..limit.clone()
            };
            (LogicalPlan::Limit(limit), keys)
        }),
        LogicalPlan::Projection(projection) => match ordered(&projection.input)? {
            Some((input, keys)) => Some(projected(projection, input, keys)?),
            None => None,
        },
        LogicalPlan::SubqueryAlias(alias) => match ordered(&alias.input)? {
            Some((input, keys)) => Some(renamed(alias, input, keys)?),
            None => None,
        },
        _ => None,
    })
}

/// The projection, with a column for each key that it leaves out.
fn projected(
    projection: &Projection,
    input: LogicalPlan,
    mut keys: Vec<SortExpr>,
) -> Result<(LogicalPlan, Vec<SortExpr>)> {
    let mut expressions = projection.expr.clone();
    let mut places = Vec::with_capacity(keys.len());
    for (number, key) in keys.iter().enumerate() {
        let is_key = |expr: &Expr| match expr {
            Expr::Alias(alias) => *alias.expr == key.expr,
            expr => *expr == key.expr,
        };
        let place = expressions.iter().position(is_key);
        places.push(place.unwrap_or_else(|| {
            expressions.push(key.expr.clone().alias(format!("{KEY}{number}")));
            expressions.len() - 1
        }));
    }
    let projection = Projection::try_new(expressions, Arc::new(input))?;
    for (key, place) in keys.iter_mut().zip(places) {
        key.expr = column(&projection.schema, place);
    }
    Ok((LogicalPlan::Projection(projection), keys))
}

/// The keys under the name of the subquery.
fn renamed(
    alias: &SubqueryAlias,
    input: LogicalPlan,
    mut keys: Vec<SortExpr>,
) -> Result<(LogicalPlan, Vec<SortExpr>)> {
    let below = Arc::clone(input.schema());
    let alias = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
    for key in &mut keys {
        let expr = std::mem::take(&mut key.expr);
        let rename = |part| match part {
            Expr::Column(name) => {
                let place = below.index_of_column(&name)?;
                Ok(Transformed::yes(column(&alias.schema, place)))
            }
            other => Ok(Transformed::no(other)),
        };
        key.expr = expr.transform_up(rename)?.data;
    }
    Ok((LogicalPlan::SubqueryAlias(alias), keys))
}

fn column(schema: &DFSchema, place: usize) -> Expr {
    Expr::from(schema.qualified_field(place))
}
