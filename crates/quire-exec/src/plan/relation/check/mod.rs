//! Whether a plan can be run: expressions see columns that are there, of the kinds they are built for.

mod columns;
mod expression;

use std::sync::Arc;

use super::{
    Aggregate, Join, JoinKind, Plan, PlanError, PlanNode, PlanQuery, SharedPlace, shared_places,
};
use crate::plan::{Expression, ValueKind};
use columns::{fit, null_in, same_count};
pub(super) use columns::{kind_of, same_kind};
use expression::ExpressionChecker;

impl PlanQuery {
    /// Checks all plans, and that they use no value before it is there.
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn check(&self) -> Result<(), PlanError> {
        let mut parameter_count = self.parameter_count;
        for value in &self.values {
            if matches!(value.node, PlanNode::Write(_)) {
                return Err(PlanError::Inside { node: "query" });
            }
            value.check_with(parameter_count)?;
            same_count("query", 1, value.columns.len())?;
            parameter_count += 1;
        }
        self.plan.check_with(parameter_count)?;
        same_shared_plans(&shared_places(self.values.iter().chain([&self.plan])))
    }
}

/// All places of a shared plan have the same one.
fn same_shared_plans(places: &[SharedPlace<'_>]) -> Result<(), PlanError> {
    for SharedPlace { shared, .. } in places {
        let first = places.iter().find(|place| place.shared.id == shared.id);
        if first.is_some_and(|first| !Arc::ptr_eq(&first.shared.plan, &shared.plan)) {
            return Err(PlanError::Shared { id: shared.id });
        }
    }
    Ok(())
}

impl Plan {
    /// Checks the plan, whatever parameters it uses.
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_with(usize::MAX)
    }

    fn check_with(&self, parameter_count: usize) -> Result<(), PlanError> {
        for input in self.node.inputs() {
            if matches!(input.node, PlanNode::Write(_))
                && !matches!(self.node, PlanNode::Project(..))
            {
                return Err(PlanError::Inside {
                    node: self.node.name(),
                });
            }
            input.check_with(parameter_count)?;
        }
        let node = self.node.name();
        for column in &self.columns {
            kind_of(node, column)?;
        }
        match &self.node {
            PlanNode::Scan(scan) => {
                same_count(node, scan.columns.len(), self.columns.len())?;
                let checker = ExpressionChecker::new(node, &self.columns, parameter_count);
                scan.conditions
                    .iter()
                    .try_for_each(|condition| checker.condition(condition))
            }
            PlanNode::Values(rows) => {
                let checker = ExpressionChecker::new(node, &[], parameter_count);
                rows.iter()
                    .try_for_each(|row| self.outputs(&checker, row.iter()))
            }
            PlanNode::Filter(input, condition) => {
                self.same_columns(input)?;
                ExpressionChecker::new(node, &input.columns, parameter_count).condition(condition)
            }
            PlanNode::Project(input, expressions) => {
                let checker = ExpressionChecker::new(node, &input.columns, parameter_count);
                self.outputs(&checker, expressions.iter())
            }
            PlanNode::Join(join) => self.join_fits(join, parameter_count),
            PlanNode::Aggregate(aggregate) => self.aggregate_fits(aggregate, parameter_count),
            PlanNode::Sort(sort) => {
                self.same_columns(&sort.input)?;
                let checker = ExpressionChecker::new(node, &sort.input.columns, parameter_count);
                let mut keys = sort.keys.iter();
                keys.try_for_each(|key| checker.expression(&key.expression).map(drop))
            }
            PlanNode::Limit { input, skip, fetch } => {
                self.same_columns(input)?;
                let checker = ExpressionChecker::new(node, &[], parameter_count);
                let mut counts = skip.iter().chain(fetch);
                counts.try_for_each(|count| checker.of_kind(count, ValueKind::Integer, "a count"))
            }
            PlanNode::Distinct(input) => self.same_columns(input),
            PlanNode::Shared(shared) => self.same_columns(&shared.plan),
            PlanNode::UnionAll(inputs) => {
                inputs.iter().try_for_each(|input| self.same_columns(input))
            }
            PlanNode::Write(write) => {
                self.same_columns(&write.input)?;
                self.write_fits(write)
            }
        }
    }

    /// The values of expressions are those of the columns.
    fn outputs<'e>(
        &self,
        checker: &ExpressionChecker<'_>,
        expressions: impl ExactSizeIterator<Item = &'e Expression>,
    ) -> Result<(), PlanError> {
        same_count(checker.node, expressions.len(), self.columns.len())?;
        for (expression, column) in expressions.zip(&self.columns) {
            let expected = kind_of(checker.node, column)?;
            checker.of_kind(expression, expected, &column.name)?;
            if expression.may_be_null() && !column.nullable {
                return Err(null_in(checker.node, column));
            }
        }
        Ok(())
    }

    /// The columns are those of an input.
    fn same_columns(&self, input: &Plan) -> Result<(), PlanError> {
        let node = self.node.name();
        same_count(node, input.columns.len(), self.columns.len())?;
        fit(node, &input.columns, &self.columns)
    }

    fn join_fits(&self, join: &Join, parameter_count: usize) -> Result<(), PlanError> {
        let left = ExpressionChecker::new("join", &join.left.columns, parameter_count);
        let right = ExpressionChecker::new("join", &join.right.columns, parameter_count);
        for key in &join.keys {
            let kind = left.expression(&key.left)?;
            right.of_kind(&key.right, kind, "a key")?;
        }
        if let Some(residual) = &join.residual {
            let both = [join.left.columns.as_slice(), &join.right.columns].concat();
            ExpressionChecker::new("join", &both, parameter_count).condition(residual)?;
        }
        let is_simple_anti =
            join.kind == JoinKind::Anti && join.keys.len() == 1 && join.residual.is_none();
        if join.is_null_aware && !is_simple_anti {
            return Err(PlanError::NotIn);
        }
        let expected = Plan::join(join.clone(), "mark").columns;
        same_count("join", expected.len(), self.columns.len())?;
        fit("join", &expected, &self.columns)
    }

    fn aggregate_fits(
        &self,
        aggregate: &Aggregate,
        parameter_count: usize,
    ) -> Result<(), PlanError> {
        let node = "aggregate";
        let checker = ExpressionChecker::new(node, &aggregate.input.columns, parameter_count);
        let mut found = Vec::with_capacity(self.columns.len());
        for group in &aggregate.groups {
            found.push((checker.expression(group)?, group.may_be_null()));
        }
        for call in &aggregate.calls {
            let name = call.function.name();
            match &call.argument {
                Some(argument) => {
                    let kind = checker.expression(argument)?;
                    if !call.takes(kind) {
                        return Err(PlanError::Operand {
                            node,
                            part: name.to_owned(),
                            found: kind,
                        });
                    }
                }
                None if call.may_be_null() => return Err(PlanError::Empty { node, part: name }),
                None => {}
            }
            if let Some(filter) = &call.filter {
                checker.condition(filter)?;
            }
            found.push((call.kind(), call.may_be_null()));
        }
        same_count(node, found.len(), self.columns.len())?;
        for ((found, nullable), column) in found.into_iter().zip(&self.columns) {
            same_kind(node, &column.name, kind_of(node, column)?, found)?;
            if nullable && !column.nullable {
                return Err(null_in(node, column));
            }
        }
        Ok(())
    }
}
