//! Rows bound to the outer row by equalities only: what aggregates, windows, limits and outer joins need.

use datafusion::common::Result;
use datafusion::logical_expr::{BinaryExpr, Expr, JoinType, LogicalPlan, Operator};

use super::super::columns::{self, OuterColumn, outer_columns};
use super::super::domain::{CorrelatedKey, CorrelationDomain};
use super::{Pull, Pulled};

/// The rows of `plan` whose keys equal what the outer row says. The outputs read `plan` only.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) plan: LogicalPlan,
    pub(super) outputs: Vec<Expr>,
    pub(super) keys: Vec<CorrelatedKey>,
    /// The outer values, if they are columns of `plan`.
    domain: Option<CorrelationDomain>,
}

impl Keyed {
    /// `expression` over columns of `plan` alone.
    pub(super) fn resolve(&self, expression: Expr) -> Result<Expr> {
        match &self.domain {
            Some(domain) => domain.resolve(expression),
            None => Ok(expression),
        }
    }

    pub(super) fn resolve_all(&self, expressions: Vec<Expr>) -> Result<Vec<Expr>> {
        let expressions = expressions.into_iter();
        expressions
            .map(|expression| self.resolve(expression))
            .collect()
    }

    pub(super) fn key_columns(&self) -> Vec<Expr> {
        let keys = self.keys.iter();
        keys.map(|key| Expr::Column(key.inner.clone())).collect()
    }

    pub(super) fn conditions(&self) -> Vec<Expr> {
        self.keys.iter().map(CorrelatedKey::condition).collect()
    }

    pub(super) fn into_pulled(self) -> Pulled {
        Pulled {
            conditions: self.conditions(),
            plan: self.plan,
            outputs: self.outputs,
            having: None,
        }
    }
}

impl Pull<'_> {
    /// The rows by keys: by the equalities among the conditions, if they are nothing else and neither the outputs nor the
    /// expressions `above` read the outer row; else beside the domain.
    pub(super) fn keyed(&self, pulled: Pulled, above: &[&Expr]) -> Result<Keyed> {
        let mut all = pulled.outputs.iter().chain(above.iter().copied());
        let reads_outer = all.any(|expression| self.reads(expression));
        if pulled.having.is_none()
            && !reads_outer
            && let Some(equalities) = self.equalities(&pulled.conditions)
        {
            return self.by_equalities(pulled, equalities);
        }
        let expressions = pulled.expressions().chain(above.iter().copied());
        let columns = outer_columns(expressions, self.outer.schema())?;
        self.beside_domain(pulled, columns)
    }

    fn by_equalities(&self, pulled: Pulled, equalities: Vec<Equality>) -> Result<Keyed> {
        let inner = equalities.iter().map(|equality| equality.inner.clone());
        let (plan, columns) = columns::computed(pulled.plan, inner.collect(), self.names)?;
        let keys = equalities
            .into_iter()
            .zip(columns)
            .map(|(equality, inner)| CorrelatedKey {
                outer: equality.outer,
                inner,
                is_null_safe: equality.is_null_safe,
            });
        self.with_columns(Keyed {
            plan,
            outputs: pulled.outputs,
            keys: keys.collect(),
            domain: None,
        })
    }

    /// The rows beside the values of the outer `columns`, which must have all that the rows read.
    pub(super) fn beside_domain(&self, pulled: Pulled, columns: Vec<OuterColumn>) -> Result<Keyed> {
        let domain = CorrelationDomain::of(self.outer, columns, self.names)?;
        let conditions = domain.resolve_all(pulled.conditions)?;
        let outer = domain.plan.clone();
        let plan = match pulled.having {
            Some(having) => {
                let joined = columns::join(outer, pulled.plan, JoinType::Left, conditions)?;
                columns::filtered(joined, domain.resolve_all(having)?)?
            }
            None => columns::join(outer, pulled.plan, JoinType::Inner, conditions)?,
        };
        self.with_columns(Keyed {
            plan,
            outputs: domain.resolve_all(pulled.outputs)?,
            keys: domain.keys(),
            domain: Some(domain),
        })
    }

    /// The same with outputs that are columns, each one of its own.
    fn with_columns(&self, mut keyed: Keyed) -> Result<Keyed> {
        let mut seen: Vec<Expr> = Vec::new();
        for output in &mut keyed.outputs {
            if seen.contains(output) && matches!(output, Expr::Column(_)) {
                // An alias makes it another expression, so that it becomes a column.
                *output = output.clone().alias("__again");
            }
            seen.push(output.clone());
        }
        let (plan, columns) = columns::computed(keyed.plan, keyed.outputs, self.names)?;
        keyed.plan = plan;
        keyed.outputs = columns.into_iter().map(Expr::Column).collect();
        Ok(keyed)
    }

    /// All conditions as equalities between the outer row and the inner one; `None` if one is something else.
    fn equalities(&self, conditions: &[Expr]) -> Option<Vec<Equality>> {
        let equalities = conditions.iter();
        equalities
            .map(|condition| self.equality(condition))
            .collect()
    }

    fn equality(&self, condition: &Expr) -> Option<Equality> {
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else {
            return None;
        };
        if !matches!(op, Operator::Eq | Operator::IsNotDistinctFrom) {
            return None;
        }
        let is_outer = |side: &Expr| self.reads(side) && side.column_refs().is_empty();
        let is_inner = |side: &Expr| !self.reads(side) && !side.column_refs().is_empty();
        let (outer, inner) = match (is_outer(left), is_outer(right)) {
            (true, _) if is_inner(right) => (left, right),
            (_, true) if is_inner(left) => (right, left),
            _ => return None,
        };
        (!outer.is_volatile() && !inner.is_volatile()).then(|| Equality {
            outer: outer.as_ref().clone(),
            inner: inner.as_ref().clone(),
            is_null_safe: *op == Operator::IsNotDistinctFrom,
        })
    }
}

struct Equality {
    outer: Expr,
    inner: Expr,
    is_null_safe: bool,
}
