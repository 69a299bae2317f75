//! Whether an expression fits the rows it sees.

use quire_tables::row_table::Value;

use super::columns::{kind_of, same_kind};
use crate::plan::{Expression, PlanColumn, PlanError, ShortCut, ValueKind};

/// The rows that expressions of a node see.
pub(super) struct ExpressionChecker<'a> {
    pub(super) node: &'static str,
    columns: &'a [PlanColumn],
    parameter_count: usize,
}

impl<'a> ExpressionChecker<'a> {
    pub(super) fn new(
        node: &'static str,
        columns: &'a [PlanColumn],
        parameter_count: usize,
    ) -> Self {
        Self {
            node,
            columns,
            parameter_count,
        }
    }

    pub(super) fn condition(&self, expression: &Expression) -> Result<(), PlanError> {
        self.of_kind(expression, ValueKind::Boolean, "a condition")
    }

    pub(super) fn of_kind(
        &self,
        expression: &Expression,
        expected: ValueKind,
        part: &str,
    ) -> Result<(), PlanError> {
        let found = self.expression(expression)?;
        same_kind(self.node, part, expected, found)
    }

    fn all_of_kind<'e>(
        &self,
        parts: impl IntoIterator<Item = &'e Expression>,
        expected: ValueKind,
        part: &str,
    ) -> Result<(), PlanError> {
        let mut parts = parts.into_iter();
        parts.try_for_each(|expression| self.of_kind(expression, expected, part))
    }

    /// The kind of an expression whose parts all fit.
    pub(super) fn expression(&self, expression: &Expression) -> Result<ValueKind, PlanError> {
        let node = self.node;
        match expression {
            Expression::Constant(Value::Null) => {
                let part = "constant".to_owned();
                return Err(PlanError::Null { node, part });
            }
            Expression::Constant(_) | Expression::Null(_) | Expression::Now => {}
            Expression::Column {
                slot,
                kind,
                nullable,
            } => self.column(*slot, *kind, *nullable)?,
            Expression::Parameter { number, .. } if *number >= self.parameter_count => {
                let number = *number;
                return Err(PlanError::Parameter { node, number });
            }
            Expression::Parameter { .. } => {}
            Expression::And(_) | Expression::Or(_) | Expression::Not(_) | Expression::Is(..) => {
                self.all_of_kind(expression.children(), ValueKind::Boolean, "a condition")?;
            }
            Expression::Compare(_, sides) => {
                let kind = self.expression(&sides[0])?;
                self.of_kind(&sides[1], kind, "a comparison")?;
            }
            Expression::In(tested, list, _) => {
                let kind = self.expression(tested)?;
                self.all_of_kind(list, kind, "IN")?;
            }
            Expression::Like(..) | Expression::Concatenate(_) => {
                self.all_of_kind(expression.children(), ValueKind::Bytes, "text")?;
            }
            Expression::Case(branches, otherwise) => {
                let (conditions, results): (Vec<_>, Vec<_>) =
                    branches.iter().map(|(when, then)| (when, then)).unzip();
                self.all_of_kind(conditions, ValueKind::Boolean, "CASE")?;
                let results = results.into_iter().chain(otherwise.as_deref());
                self.alike(results, "CASE")?;
            }
            Expression::Coalesce(parts) => self.alike(parts, "COALESCE")?,
            Expression::Integer(..)
            | Expression::Double(..)
            | Expression::Real(..)
            | Expression::Decimal(..)
            | Expression::Digits(_) => {
                self.all_of_kind(expression.children(), expression.kind(), "arithmetic")?;
            }
            Expression::Negate(inner) => match self.expression(inner)? {
                ValueKind::Decimal | ValueKind::Real | ValueKind::Double => {}
                found => return Err(self.operand("-", found)),
            },
            Expression::Cast(plan, inner) => {
                self.of_kind(inner, cast_from(plan.short_cut()), "a cast")?;
            }
            Expression::IsNull(..) | Expression::Call(..) => {
                let mut parts = expression.children();
                parts.try_for_each(|part| self.expression(part).map(drop))?;
            }
        }
        Ok(expression.kind())
    }

    fn column(&self, slot: usize, kind: ValueKind, nullable: bool) -> Result<(), PlanError> {
        let node = self.node;
        let Some(column) = self.columns.get(slot) else {
            return Err(if self.columns.is_empty() {
                PlanError::NotFixed { node }
            } else {
                PlanError::Slot {
                    node,
                    slot,
                    column_count: self.columns.len(),
                }
            });
        };
        same_kind(node, &column.name, kind_of(node, column)?, kind)?;
        if column.nullable && !nullable {
            let part = column.name.clone();
            return Err(PlanError::Null { node, part });
        }
        Ok(())
    }

    /// There is at least one, and all have one kind.
    fn alike<'e>(
        &self,
        parts: impl IntoIterator<Item = &'e Expression>,
        part: &'static str,
    ) -> Result<(), PlanError> {
        let mut parts = parts.into_iter();
        let node = self.node;
        let first = parts.next().ok_or(PlanError::Empty { node, part })?;
        let kind = self.expression(first)?;
        self.all_of_kind(parts, kind, part)
    }

    fn operand(&self, part: &str, found: ValueKind) -> PlanError {
        PlanError::Operand {
            node: self.node,
            part: part.to_owned(),
            found,
        }
    }
}

fn cast_from(short_cut: ShortCut) -> ValueKind {
    match short_cut {
        ShortCut::IntegerInRange { .. }
        | ShortCut::IntegerToDouble
        | ShortCut::IntegerToDecimal(_)
        | ShortCut::IntegerToText => ValueKind::Integer,
        ShortCut::DecimalToDecimal(_) => ValueKind::Decimal,
        ShortCut::RealToDouble => ValueKind::Real,
    }
}
