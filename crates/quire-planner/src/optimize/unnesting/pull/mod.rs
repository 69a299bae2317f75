//! What depends on the outer row, pulled up through a subquery.
//!
//! [`Pulled`] says what a subquery's rows are for a given outer row, in terms of one plan that depends on no outer row.
//! Each operator takes that of its input and makes its own.

mod groups;
mod joins;
mod keyed;
mod order;
mod sets;

pub(super) use joins::{conditions_of, or_unknown};

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, not_impl_err};
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    EmptyRelation, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, Sort, SortExpr, lit,
};

use super::columns::{self, ColumnSubstitutes, UniqueColumnNames, columns_of};
use super::row_counts::always_has_a_row;

/// A subquery's rows for an outer row: those of `plan` that meet the conditions.
#[derive(Debug)]
pub(super) struct Pulled {
    /// Depends on no outer row.
    pub(super) plan: LogicalPlan,
    /// The subquery's columns, over columns of `plan` and of the outer row.
    pub(super) outputs: Vec<Expr>,
    /// What holds between the outer row and a row of `plan`.
    pub(super) conditions: Vec<Expr>,
    /// If set, then the subquery has one row at most for each outer row: `plan` has one that meets the conditions, or none and its
    /// columns count as NULL. In both cases, the subquery has its row if these conditions hold.
    pub(super) having: Option<Vec<Expr>>,
}

impl Pulled {
    /// The rows of a plan that reads no outer row.
    pub(super) fn independent(plan: LogicalPlan) -> Self {
        Self {
            outputs: columns_of(&plan),
            plan,
            conditions: Vec::new(),
            having: None,
        }
    }

    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let having = self.having.iter().flatten();
        self.outputs.iter().chain(&self.conditions).chain(having)
    }

    /// Where there is nothing but the outer row, all conditions are about it.
    pub(super) fn is_outer_row_alone(&self) -> bool {
        let one_row = |empty: &EmptyRelation| empty.produce_one_row;
        matches!(&self.plan, LogicalPlan::EmptyRelation(empty) if one_row(empty))
    }

    /// Whether `plan` has a row for each outer row.
    pub(super) fn has_a_row(&self) -> bool {
        self.conditions.is_empty() && always_has_a_row(&self.plan)
    }

    /// The same with names that none of the rows `beside` it have, and without the columns that nothing reads.
    pub(super) fn renamed(self, beside: &DFSchema, names: &UniqueColumnNames) -> Result<Self> {
        let mut columns = Vec::new();
        for expression in self.expressions() {
            for column in expression.column_refs() {
                if !columns.contains(column) {
                    columns.push(column.clone());
                }
            }
        }
        let relation = names.next("__subquery");
        let mut renamed = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let mut before = columns[..index].iter();
            let is_taken = before.any(|other| other.name == column.name)
                || beside.has_column_with_unqualified_name(&column.name);
            renamed.push(if is_taken {
                names.next("__column")
            } else {
                column.name.clone()
            });
        }
        let pairs = columns.iter().cloned().zip(renamed);
        let mut outputs: Vec<Expr> = pairs
            .map(|(column, name)| {
                if column.name == name {
                    Expr::Column(column)
                } else {
                    Expr::Column(column).alias(name)
                }
            })
            .collect();
        if outputs.is_empty() {
            outputs.push(lit(true).alias(names.next("__row")));
        }
        let plan = LogicalPlanBuilder::from(self.plan)
            .project(outputs)?
            .alias(relation.clone())?
            .build()?;
        let known = ColumnSubstitutes::of_columns(&columns, &columns_of(&plan));
        Ok(Self {
            plan,
            outputs: known.substitute_all(&self.outputs)?,
            conditions: known.substitute_all(&self.conditions)?,
            having: match self.having {
                Some(having) => Some(known.substitute_all(&having)?),
                None => None,
            },
        })
    }
}

/// Pulls up what depends on the rows of one plan.
#[derive(Clone, Copy)]
pub(super) struct Pull<'a> {
    pub(super) outer: &'a LogicalPlan,
    pub(super) names: &'a UniqueColumnNames,
}

impl Pull<'_> {
    pub(super) fn pull(&self, plan: &LogicalPlan) -> Result<Pulled> {
        if !self.depends(plan)? {
            return Ok(Pulled::independent(plan.clone()));
        }
        match plan {
            LogicalPlan::Filter(filter) => self.filter(filter),
            LogicalPlan::Projection(projection) => {
                let input = self.pull(&projection.input)?;
                self.projection(projection, input)
            }
            LogicalPlan::SubqueryAlias(alias) => self.pull(&alias.input),
            LogicalPlan::Subquery(subquery) => self.pull(&subquery.subquery),
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.sort(sort),
            LogicalPlan::Sort(sort) => self.first_of_sort(sort),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Distinct(distinct) => self.distinct(distinct),
            LogicalPlan::Window(window) => self.window(window),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Values(values) => self.values(values),
            LogicalPlan::Unnest(unnest) => self.unnest(unnest),
            other => not_impl_err!("{} in a correlated subquery", other.display()),
        }
    }

    pub(super) fn reads(&self, expression: &Expr) -> bool {
        let schema = self.outer.schema();
        let is_read = |part: &Expr| matches!(part, Expr::OuterReferenceColumn(_, column) if schema.has_column(column));
        expression.exists(|part| Ok(is_read(part))).unwrap_or(true)
    }

    /// Whether the plan reads a column of the outer rows.
    pub(super) fn depends(&self, plan: &LogicalPlan) -> Result<bool> {
        plan.exists(|node| {
            let mut found = false;
            node.apply_expressions(|expression| {
                found |= self.reads(expression);
                Ok(TreeNodeRecursion::Continue)
            })?;
            Ok(found)
        })
    }

    fn filter(&self, filter: &Filter) -> Result<Pulled> {
        let mut input = self.pull(&filter.input)?;
        let known = ColumnSubstitutes::default().with(filter.input.schema(), &input.outputs);
        let predicate = known.substitute(filter.predicate.clone())?;
        let conditions = split_conjunction_owned(predicate);
        if let Some(having) = &mut input.having {
            having.extend(conditions);
            return Ok(input);
        }
        let (outer, own): (Vec<Expr>, Vec<Expr>) = conditions
            .into_iter()
            .partition(|condition| self.reads(condition));
        input.conditions.extend(outer);
        input.plan = columns::filtered(input.plan, own)?;
        Ok(input)
    }

    /// What does not read the outer row is computed, unless the row may be missing.
    fn projection(&self, projection: &Projection, mut input: Pulled) -> Result<Pulled> {
        let known = ColumnSubstitutes::default().with(projection.input.schema(), &input.outputs);
        let outputs = known.substitute_all(&projection.expr)?;
        let outputs: Vec<Expr> = outputs.into_iter().map(Expr::unalias).collect();
        if input.having.is_some() || input.is_outer_row_alone() {
            input.outputs = outputs;
            return Ok(input);
        }
        let is_computed =
            |output: &Expr| !self.reads(output) && !matches!(output, Expr::Literal(..));
        let own = outputs.iter().filter(|output| is_computed(output)).cloned();
        let (plan, columns) = columns::computed(input.plan, own.collect(), self.names)?;
        let mut columns = columns.into_iter();
        let outputs = outputs.into_iter().map(|output| {
            if is_computed(&output) {
                columns.next().map_or(output, Expr::Column)
            } else {
                output
            }
        });
        Ok(Pulled {
            outputs: outputs.collect(),
            plan,
            ..input
        })
    }

    /// The order is kept where it can be, for aggregates that read rows in order.
    fn sort(&self, sort: &Sort) -> Result<Pulled> {
        let (mut input, order) = self.ordered_by(sort)?;
        if input.having.is_none() && !order.iter().any(|key| self.reads(&key.expr)) {
            input.plan = LogicalPlanBuilder::from(input.plan).sort(order)?.build()?;
        }
        Ok(input)
    }

    fn ordered_by(&self, sort: &Sort) -> Result<(Pulled, Vec<SortExpr>)> {
        let input = self.pull(&sort.input)?;
        let known = ColumnSubstitutes::default().with(sort.input.schema(), &input.outputs);
        let order = sort.expr.iter().map(|key| {
            let expr = known.substitute(key.expr.clone())?;
            Ok(SortExpr { expr, ..*key })
        });
        let order = order.collect::<Result<Vec<_>>>()?;
        Ok((input, order))
    }

    /// The rows of a plan, and the order in which it gives them.
    fn ordered(&self, plan: &LogicalPlan) -> Result<(Pulled, Vec<SortExpr>)> {
        match plan {
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.ordered_by(sort),
            LogicalPlan::Projection(projection) => {
                let (input, order) = self.ordered(&projection.input)?;
                Ok((self.projection(projection, input)?, order))
            }
            LogicalPlan::SubqueryAlias(alias) => self.ordered(&alias.input),
            LogicalPlan::Subquery(subquery) => self.ordered(&subquery.subquery),
            other => Ok((self.pull(other)?, Vec::new())),
        }
    }
}

/// A literal number of rows.
fn is_at_least_one(fetch: &datafusion::logical_expr::FetchType) -> bool {
    use datafusion::logical_expr::FetchType;
    matches!(
        fetch,
        FetchType::Literal(None) | FetchType::Literal(Some(1..))
    )
}
