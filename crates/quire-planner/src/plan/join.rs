//! Joins. Those that show only their right input are turned around.

use datafusion::common::{JoinType, NullEquality};
use datafusion::logical_expr::{Expr, ExprSchemable, Join as Planned, LogicalPlan};
use quire_exec::plan::{Join, JoinKey, JoinKind, Plan};

use super::relation::{RelationTranslator, VisibleColumns, untranslated};
use super::untranslated::Untranslated;
use crate::scalar::is_same;

/// A join with its inputs in the order of the algebra.
struct Turned<'p> {
    kind: JoinKind,
    left: &'p LogicalPlan,
    right: &'p LogicalPlan,
    on: Vec<(&'p Expr, &'p Expr)>,
}

impl<'p> Turned<'p> {
    fn of(join: &'p Planned) -> Self {
        let (kind, is_turned) = match join.join_type {
            JoinType::Inner => (JoinKind::Inner, false),
            JoinType::Left => (JoinKind::Left, false),
            JoinType::Right => (JoinKind::Right, false),
            JoinType::Full => (JoinKind::Full, false),
            JoinType::LeftSemi => (JoinKind::Semi, false),
            JoinType::RightSemi => (JoinKind::Semi, true),
            JoinType::LeftAnti => (JoinKind::Anti, false),
            JoinType::RightAnti => (JoinKind::Anti, true),
            JoinType::LeftMark => (JoinKind::Mark, false),
            JoinType::RightMark => (JoinKind::Mark, true),
        };
        let pairs = join.on.iter();
        if is_turned {
            return Self {
                kind,
                left: &join.right,
                right: &join.left,
                on: pairs.map(|(left, right)| (right, left)).collect(),
            };
        }
        Self {
            kind,
            left: &join.left,
            right: &join.right,
            on: pairs.map(|(left, right)| (left, right)).collect(),
        }
    }
}

impl RelationTranslator<'_> {
    pub(super) fn join(&mut self, planned: &Planned) -> Result<Plan, Untranslated> {
        let turned = Turned::of(planned);
        let (left, right) = (self.relation(turned.left)?, self.relation(turned.right)?);
        let mut keys = Vec::with_capacity(turned.on.len());
        for (of_left, of_right) in turned.on {
            let of_types = |expr: &Expr, plan: &LogicalPlan| expr.get_type(plan.schema()).ok();
            match (
                of_types(of_left, turned.left),
                of_types(of_right, turned.right),
            ) {
                (Some(left), Some(right)) if is_same(&left, &right) => {}
                _ => return Err(untranslated(&of_left.clone().eq(of_right.clone()))),
            }
            let left_seen = VisibleColumns {
                schema: turned.left.schema(),
                columns: &left.columns,
            };
            let right_seen = VisibleColumns {
                schema: turned.right.schema(),
                columns: &right.columns,
            };
            keys.push(JoinKey {
                left: self.compared(of_left, left_seen)?,
                right: self.compared(of_right, right_seen)?,
            });
        }
        let residual = match &planned.filter {
            None => None,
            Some(filter) => {
                let schema = turned.left.schema().join(turned.right.schema());
                let schema = schema.map_err(|_| untranslated(filter))?;
                let columns = [left.columns.as_slice(), &right.columns].concat();
                let seen = VisibleColumns {
                    schema: &schema,
                    columns: &columns,
                };
                Some(self.expression(filter, seen)?)
            }
        };
        let join = Join {
            kind: turned.kind,
            left,
            right,
            keys,
            nulls_match: planned.null_equality == NullEquality::NullEqualsNull,
            residual,
            is_null_aware: planned.null_aware,
        };
        let mark = planned.schema.fields().last();
        Ok(Plan::join(join, mark.map_or("mark", |field| field.name())))
    }
}
