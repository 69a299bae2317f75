//! An aggregate over a tree of inner joins, and which of its inputs are dimensions.

use std::collections::HashSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan};
use quire_error::interruption::Interruption;

use super::unique::{has_no_null, is_unique, is_whole_table};
use crate::optimize::join_order::{EqualityClass, InputSet, JoinGraph};

/// The parts of the aggregate, in terms of the columns of the inputs.
pub(super) struct GroupedTree<'p> {
    pub(super) aggregate: &'p Aggregate,
    pub(super) graph: JoinGraph,
    /// The keys as the aggregate has them, those of grouping sets once each.
    pub(super) keys: Vec<Expr>,
    /// The same over the inputs.
    pub(super) keys_over_inputs: Vec<Expr>,
    pub(super) calls: Vec<Expr>,
    pub(super) has_sets: bool,
    /// What the calls, conditions and semi joins read.
    fixed_inputs: InputSet,
    /// Of the statement, for proofs.
    interruption: Interruption,
}

/// An input that is joined above the groups.
pub(super) struct Dimension {
    pub(super) input: usize,
    /// What it is joined by: a column of another input, and its own, which is unique.
    pub(super) key: Column,
    pub(super) own_key: Column,
}

impl<'p> GroupedTree<'p> {
    /// `None` if there is no tree, no key, or something that has to be computed in its place.
    pub(super) fn of(aggregate: &'p Aggregate, interruption: Interruption) -> Result<Option<Self>> {
        let keys = keys_once(&aggregate.group_expr);
        let is_set = |key: &Expr| matches!(key, Expr::GroupingSet(_));
        let has_sets = aggregate.group_expr.iter().any(is_set);
        if keys.is_empty() || !has_sets && keys.len() != aggregate.group_expr.len() {
            return Ok(None);
        }
        let expressions = keys.iter().chain(&aggregate.aggr_expr).cloned();
        let (plan, mut over_inputs) = below_projections(&aggregate.input, expressions.collect())?;
        if !matches!(plan, LogicalPlan::Join(_)) || over_inputs.iter().any(Expr::is_volatile) {
            return Ok(None);
        }
        let Some(graph) = JoinGraph::of(plan)? else {
            return Ok(None);
        };
        let calls = over_inputs.split_off(keys.len());
        let mut tree = Self {
            aggregate,
            graph,
            keys,
            keys_over_inputs: over_inputs,
            calls,
            has_sets,
            fixed_inputs: 0,
            interruption,
        };
        tree.fixed_inputs = tree.read_in_place();
        Ok(Some(tree))
    }

    fn read_in_place(&self) -> InputSet {
        let conditions = self.graph.conditions.iter();
        let conditions = conditions.fold(0, |all, (inputs, _)| all | inputs);
        let semi_joins = self.graph.semi_joins.iter();
        let tested = semi_joins.fold(0, |all, semi| all | 1 << semi.input);
        let calls = self.calls.iter();
        conditions | tested | calls.fold(0, |all, call| all | self.inputs_read(call))
    }

    /// The inputs that an expression reads.
    pub(super) fn inputs_read(&self, expression: &Expr) -> InputSet {
        let columns = expression.column_refs();
        let inputs = self.graph.inputs.iter().enumerate();
        inputs.fold(0, |all, (number, input)| {
            let is_read = columns.iter().any(|it| input.schema().has_column(it));
            all | InputSet::from(is_read) << number
        })
    }

    /// The columns that have one value in each group: the keys, what equals them, and the columns of each row that one of them is unique to.
    pub(super) fn determined_columns(&self) -> HashSet<Column> {
        let keys = self.keys_over_inputs.iter();
        let columns = keys.filter_map(Expr::try_as_col).cloned();
        let mut determined: HashSet<Column> = columns.collect();
        let mut open: Vec<&LogicalPlan> = self.graph.inputs.iter().collect();
        loop {
            for class in &self.graph.classes {
                let members = || class.members.iter().filter_map(|(_, it)| it.try_as_col());
                if members().any(|member| determined.contains(member)) {
                    determined.extend(members().cloned());
                }
            }
            let is_determined = |input: &&LogicalPlan| self.has_key_among(input, &determined);
            let Some(place) = open.iter().position(is_determined) else {
                return determined;
            };
            determined.extend(open.swap_remove(place).schema().columns());
        }
    }

    /// Whether one of the columns tells the rows of an input apart. NULL is one group, whatever number of rows has it, and matches no row of a join.
    fn has_key_among(&self, input: &LogicalPlan, columns: &HashSet<Column>) -> bool {
        let is_joined = |column: &Column| {
            let mut members = self.graph.classes.iter().flat_map(|class| &class.members);
            members.any(|(_, member)| member.try_as_col() == Some(column))
        };
        let own = input.schema().columns().into_iter();
        let mut own = own.filter(|column| columns.contains(column));
        own.any(|column| {
            is_unique(input, &column, &self.interruption)
                && (is_joined(&column) || has_no_null(input, &column))
        })
    }

    /// The dimensions, those first that may be joined last. `may_leave` says whether the groups may do without what is determined by a column.
    pub(super) fn dimensions(&self, may_leave: impl Fn(&Column) -> bool) -> Vec<Dimension> {
        let mut left: InputSet = self.graph.current.inputs();
        let mut found = Vec::new();
        loop {
            let mut next = None;
            for input in 0..self.graph.inputs.len() {
                if left & 1 << input != 0 && next.is_none() {
                    next = self.dimension(input, left, &may_leave);
                }
            }
            let Some(dimension) = next else {
                return found;
            };
            left &= !(1 << dimension.input);
            found.push(dimension);
        }
    }

    /// The input as a dimension of the other ones that are `left`.
    fn dimension(
        &self,
        input: usize,
        left: InputSet,
        may_leave: impl Fn(&Column) -> bool,
    ) -> Option<Dimension> {
        let plan = &self.graph.inputs[input];
        if self.fixed_inputs & 1 << input != 0 || !is_whole_table(plan) {
            return None;
        }
        let others = left & !(1 << input);
        let connects = |class: &&EqualityClass| {
            class.inputs() & 1 << input != 0 && class.inputs() & others != 0
        };
        let mut connecting = self.graph.classes.iter().filter(connects);
        let (Some(class), None) = (connecting.next(), connecting.next()) else {
            return None;
        };
        let members = |inputs: InputSet| {
            let members = class.members.iter();
            let of_inputs = members.filter(move |(member, _)| inputs & 1 << member != 0);
            of_inputs.map(|(_, expression)| expression.try_as_col())
        };
        let mut own = members(1 << input);
        let (Some(Some(own_key)), None) = (own.next(), own.next()) else {
            return None;
        };
        let key = members(others).next()??;
        let has_one_type = self.type_of(key) == self.type_of(own_key);
        let is_dimension =
            has_one_type && may_leave(key) && is_unique(plan, own_key, &self.interruption);
        is_dimension.then(|| Dimension {
            input,
            key: key.clone(),
            own_key: own_key.clone(),
        })
    }

    fn type_of(&self, column: &Column) -> Option<&DataType> {
        let mut inputs = self.graph.inputs.iter();
        inputs.find_map(|input| {
            let place = input.schema().maybe_index_of_column(column)?;
            Some(input.schema().field(place).data_type())
        })
    }
}

/// The keys of groups, those of grouping sets once each.
fn keys_once(group_by: &[Expr]) -> Vec<Expr> {
    let mut keys: Vec<Expr> = Vec::new();
    let mut add = |key: &Expr| {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    };
    for key in group_by {
        match key {
            Expr::GroupingSet(GroupingSet::Rollup(parts) | GroupingSet::Cube(parts)) => {
                parts.iter().for_each(&mut add);
            }
            Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
                sets.iter().flatten().for_each(&mut add);
            }
            key => add(key),
        }
    }
    keys
}

/// What is below projections, and expressions in terms of its columns.
fn below_projections(
    plan: &LogicalPlan,
    mut expressions: Vec<Expr>,
) -> Result<(&LogicalPlan, Vec<Expr>)> {
    let mut plan = plan;
    loop {
        let (schema, outputs, input) = match plan {
            LogicalPlan::Projection(projection) => {
                let outputs = projection.expr.iter().cloned().map(Expr::unalias);
                (&projection.schema, outputs.collect(), &projection.input)
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let columns = alias.input.schema().columns().into_iter();
                let outputs: Vec<Expr> = columns.map(Expr::Column).collect();
                (&alias.schema, outputs, &alias.input)
            }
            other => return Ok((other, expressions)),
        };
        let below = |part: Expr| {
            let place = match &part {
                Expr::Column(column) => schema.maybe_index_of_column(column),
                _ => None,
            };
            Ok(match place {
                Some(place) => {
                    let output: &Expr = &outputs[place];
                    Transformed::new(output.clone(), true, TreeNodeRecursion::Jump)
                }
                None => Transformed::no(part),
            })
        };
        for expression in &mut expressions {
            *expression = std::mem::take(expression).transform_down(below)?.data;
        }
        plan = input;
    }
}
