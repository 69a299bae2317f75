//! Windows, `LIMIT` and `DISTINCT ON`: the keys are partition keys.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{
    DistinctOn, Expr, ExprFunctionExt, FetchType, Limit, LogicalPlan, SkipType, Sort, SortExpr,
    Window, cast, lit,
};

use super::super::columns::{self, ColumnSubstitutes, columns_of};
use super::keyed::Keyed;
use super::{Pull, Pulled, is_at_least_one};

impl Pull<'_> {
    pub(super) fn window(&self, window: &Window) -> Result<Pulled> {
        let input = self.pull(&window.input)?;
        let before = ColumnSubstitutes::default().with(window.input.schema(), &input.outputs);
        let read = before.substitute_all(&window.window_expr)?;
        let keyed = self.keyed(input, &read.iter().collect::<Vec<_>>())?;
        let known = ColumnSubstitutes::default().with(window.input.schema(), &keyed.outputs);
        let mut calls = Vec::with_capacity(window.window_expr.len());
        for call in &window.window_expr {
            let call = keyed.resolve(known.substitute(call.clone())?)?;
            calls.push(partitioned(call, &keyed)?);
        }
        let call_count = calls.len();
        let conditions = keyed.conditions();
        let plan = LogicalPlan::Window(Window::try_new(calls, Arc::new(keyed.plan))?);
        let columns = columns_of(&plan);
        let values = columns[columns.len() - call_count..].iter().cloned();
        Ok(Pulled {
            outputs: keyed.outputs.into_iter().chain(values).collect(),
            plan,
            conditions,
            having: None,
        })
    }

    /// The first rows for each outer row are those with small numbers.
    pub(super) fn limit(&self, limit: &Limit) -> Result<Pulled> {
        let (skip, fetch) = (limit.get_skip_type()?, limit.get_fetch_type()?);
        let (input, order) = self.ordered(&limit.input)?;
        let skips_none = matches!(skip, SkipType::Literal(0));
        if skips_none && matches!(fetch, FetchType::Literal(None))
            || skips_none && input.having.is_some() && is_at_least_one(&fetch)
        {
            return Ok(input);
        }
        let skipped = match skip {
            SkipType::Literal(0) => None,
            SkipType::Literal(_) | SkipType::UnsupportedExpr => limit.skip.as_deref().cloned(),
        };
        let fetched = match fetch {
            FetchType::Literal(None) => None,
            FetchType::Literal(_) | FetchType::UnsupportedExpr => limit.fetch.as_deref().cloned(),
        };
        self.taken(input, order, skipped, fetched)
    }

    pub(super) fn first_of_sort(&self, sort: &Sort) -> Result<Pulled> {
        let (input, order) = self.ordered_by(sort)?;
        let fetched = sort.fetch.map(|count| lit(count as i64));
        self.taken(input, order, None, fetched)
    }

    fn taken(
        &self,
        input: Pulled,
        order: Vec<SortExpr>,
        skipped: Option<Expr>,
        fetched: Option<Expr>,
    ) -> Result<Pulled> {
        let above = order.iter().map(|key| &key.expr);
        let above: Vec<&Expr> = above.chain(&skipped).chain(&fetched).collect();
        let keyed = self.keyed(input, &above)?;
        let resolve = |count: Option<Expr>| count.map(|count| keyed.resolve(count)).transpose();
        let (skipped, fetched) = (resolve(skipped)?, resolve(fetched)?);
        let (mut keyed, number) = self.numbered(keyed, Vec::new(), order)?;
        let number = cast(Expr::Column(number), DataType::Int64);
        let whole = |count: Expr| cast(count, DataType::Int64);
        let mut conditions = Vec::new();
        // NULL is no limit.
        if let Some(skipped) = skipped.clone() {
            let is_behind = number.clone().gt(whole(skipped.clone()));
            conditions.push(is_behind.or(skipped.is_null()));
        }
        if let Some(fetched) = fetched {
            let is_unlimited = fetched.clone().is_null();
            let before = match skipped {
                Some(skipped) => {
                    number
                        - datafusion::functions::expr_fn::coalesce(vec![whole(skipped), lit(0_i64)])
                }
                None => number,
            };
            conditions.push(before.lt_eq(whole(fetched)).or(is_unlimited));
        }
        keyed.plan = columns::filtered(keyed.plan, conditions)?;
        Ok(keyed.into_pulled())
    }

    /// `DISTINCT ON` takes the first row of each group.
    pub(super) fn first_of_each(&self, distinct: &DistinctOn) -> Result<Pulled> {
        let input = self.pull(&distinct.input)?;
        let schema = distinct.input.schema();
        let before = ColumnSubstitutes::default().with(schema, &input.outputs);
        let order: Vec<SortExpr> = distinct.sort_expr.clone().unwrap_or_default();
        let order_expr = order.iter().map(|key| &key.expr);
        let all = distinct.on_expr.iter().chain(&distinct.select_expr);
        let read = before.substitute_all(all.chain(order_expr))?;
        let keyed = self.keyed(input, &read.iter().collect::<Vec<_>>())?;
        let known = ColumnSubstitutes::default().with(schema, &keyed.outputs);
        let on = known.substitute_all(&distinct.on_expr)?;
        let on = keyed.resolve_all(on)?;
        let selected = keyed.resolve_all(known.substitute_all(&distinct.select_expr)?)?;
        let order = order.into_iter().map(|key| {
            let expr = known.substitute(key.expr)?;
            Ok(SortExpr { expr, ..key })
        });
        let order = order.collect::<Result<Vec<_>>>()?;
        let (mut keyed, number) = self.numbered(keyed, on, order)?;
        let is_first = cast(Expr::Column(number), DataType::Int64).eq(lit(1_i64));
        keyed.plan = columns::filtered(keyed.plan, vec![is_first])?;
        keyed.outputs = selected;
        Ok(keyed.into_pulled())
    }

    /// The rows of each outer row and of each group `within` it, numbered from 1 in order.
    fn numbered(
        &self,
        mut keyed: Keyed,
        within: Vec<Expr>,
        order: Vec<SortExpr>,
    ) -> Result<(Keyed, Column)> {
        let name = self.names.next("__row_number");
        // What rows are ordered by is computed below the window, which relies on the order of columns.
        let values = order.iter().map(|key| keyed.resolve(key.expr.clone()));
        let values = values.collect::<Result<Vec<_>>>()?;
        let (plan, values) = columns::computed(keyed.plan, values, self.names)?;
        keyed.plan = plan;
        let order = order.into_iter().zip(values).map(|(key, value)| SortExpr {
            expr: Expr::Column(value),
            ..key
        });
        let order = columns::each_once(order.collect());
        let partition = keyed.key_columns().into_iter().chain(within);
        let number = row_number()
            .partition_by(partition.collect())
            .order_by(order)
            .build()?;
        let window = Window::try_new(vec![number.alias(&name)], Arc::new(keyed.plan))?;
        keyed.plan = LogicalPlan::Window(window);
        Ok((keyed, Column::new_unqualified(name)))
    }
}

/// The window function computed for each outer row by itself.
fn partitioned(call: Expr, keyed: &Keyed) -> Result<Expr> {
    let partitioned = call.transform_up(|part| match part {
        Expr::WindowFunction(mut function) => {
            let partition = &mut function.params.partition_by;
            let keys = keyed.key_columns().into_iter();
            let keys = keys
                .filter(|key| !partition.contains(key))
                .collect::<Vec<_>>();
            partition.splice(0..0, keys);
            Ok(Transformed::yes(Expr::WindowFunction(function)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(partitioned.data)
}
