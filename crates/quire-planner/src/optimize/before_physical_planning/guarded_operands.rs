//! AND and OR whose operands can fail, as a CASE.
//!
//! DataFusion evaluates both operands of AND and OR for all rows of a batch, so that `x <> 0 AND 10 / x > 1` divides by zero. CASE evaluates
//! a result only for the rows that come to it. Operands that cannot fail are evaluated first, as PostgreSQL evaluates cheap conditions first;
//! they are one test. Each operand that can fail is evaluated for the rows that all operands before it have left undecided. Runs before
//! physical planning: rules of the optimizer see AND and OR.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{
    Between, BinaryExpr, Case, Expr, ExprSchemable, Operator, binary_expr, lit,
};

use crate::scan::is_total;

/// The expression with its operands guarded. With `null_is_false`, a NULL may become false, as in a filter.
pub(super) fn guard(
    expr: Expr,
    schema: &DFSchema,
    null_is_false: bool,
) -> Result<Transformed<Expr>> {
    let null_is_false = null_is_false && chain_operator(&expr, schema).is_some();
    expr.transform_down(|part| {
        let operator = chain_operator(&part, schema);
        let Some(operator) = operator.filter(|_| !is_total(&part, schema)) else {
            return Ok(Transformed::no(part));
        };
        let chain = OperandChain {
            operator,
            schema,
            null_is_false,
        };
        let guarded = chain.guarded(chain.operands(part))?;
        // The operands of the chain are done.
        Ok(Transformed::new(guarded, true, TreeNodeRecursion::Jump))
    })
}

/// AND or OR, if the expression is a chain of them. BETWEEN is one, too, if its upper bound can fail.
fn chain_operator(expr: &Expr, schema: &DFSchema) -> Option<Operator> {
    match expr {
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::And | Operator::Or) => {
            Some(binary.op)
        }
        Expr::Between(between)
            if !between.expr.is_volatile() && !is_total(&between.high, schema) =>
        {
            Some(if between.negated {
                Operator::Or
            } else {
                Operator::And
            })
        }
        _ => None,
    }
}

/// The two comparisons that BETWEEN is.
fn bounds(between: Between) -> [Expr; 2] {
    let Between {
        expr,
        negated,
        low,
        high,
    } = between;
    let (from, to) = if negated {
        (Operator::Lt, Operator::Gt)
    } else {
        (Operator::GtEq, Operator::LtEq)
    };
    [
        binary_expr(expr.as_ref().clone(), from, *low),
        binary_expr(*expr, to, *high),
    ]
}

/// What is to become of a chain of operands.
struct OperandChain<'a> {
    operator: Operator,
    schema: &'a DFSchema,
    null_is_false: bool,
}

impl OperandChain<'_> {
    /// The operands of an expression, from left to right.
    fn operands(&self, expr: Expr) -> Vec<Expr> {
        let mut operands = Vec::new();
        let mut pending = vec![expr];
        while let Some(part) = pending.pop() {
            if chain_operator(&part, self.schema) != Some(self.operator) {
                operands.push(part);
                continue;
            }
            match part {
                Expr::BinaryExpr(BinaryExpr { left, right, .. }) => pending.extend([*right, *left]),
                Expr::Between(between) => operands.extend(bounds(between)),
                other => operands.push(other),
            }
        }
        operands
    }

    fn guarded(&self, operands: Vec<Expr>) -> Result<Expr> {
        let (total, others): (Vec<_>, Vec<_>) = operands
            .into_iter()
            .partition(|operand| is_total(operand, self.schema));
        let mut guards = Vec::from_iter(self.joined(total));
        for operand in others {
            guards.push(guard(operand, self.schema, self.null_is_false)?.data);
        }
        // A guard that is NULL decides nothing by itself, but the result is not the last operand alone.
        let mut undecided = Vec::new();
        let last = guards.pop();
        if !self.null_is_false {
            for guard in &guards {
                if guard.nullable(self.schema)? {
                    undecided.push(guard.clone());
                }
            }
        }
        // What is volatile must not be evaluated twice.
        if guards.is_empty() || undecided.iter().any(Expr::is_volatile) {
            guards.extend(last);
            let neutral = self.operator == Operator::And;
            return Ok(self.joined(guards).unwrap_or_else(|| lit(neutral)));
        }
        undecided.extend(last);
        let decided = guards.into_iter().map(|guard| self.decided(guard));
        Ok(Expr::Case(Case::new(
            None,
            decided
                .map(|(test, result)| (Box::new(test), Box::new(result)))
                .collect(),
            self.joined(undecided).map(Box::new),
        )))
    }

    /// When an operand decides the chain, and what it comes to then.
    fn decided(&self, operand: Expr) -> (Expr, Expr) {
        if self.operator == Operator::Or {
            return (operand, lit(true));
        }
        let (comparison, value) = if self.null_is_false {
            (Operator::IsDistinctFrom, true)
        } else {
            (Operator::IsNotDistinctFrom, false)
        };
        (binary_expr(operand, comparison, lit(value)), lit(false))
    }

    fn joined(&self, operands: Vec<Expr>) -> Option<Expr> {
        let join = |left, right| binary_expr(left, self.operator, right);
        operands.into_iter().reduce(join)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::logical_expr::col;

    use super::*;

    fn guarded(expr: Expr, null_is_false: bool) -> Result<String> {
        let fields = [("x", true), ("y", true), ("n", false)]
            .map(|(name, nullable)| Field::new(name, DataType::Int32, nullable));
        let schema = DFSchema::try_from(Schema::new(fields.to_vec()))?;
        Ok(guard(expr, &schema, null_is_false)?.data.to_string())
    }

    fn quotient(divisor: &str) -> Expr {
        (lit(10) / col(divisor)).gt(lit(1))
    }

    #[test]
    fn what_cannot_fail_stays() -> Result<()> {
        let total = col("x").gt(lit(1)).and(col("y").lt(lit(2)));
        let single = quotient("x");
        let lists = col("x").between(lit(1), lit(2)).or(col("n").eq(lit(1)));
        let within = (lit(10) / col("x")).between(lit(1), lit(2));
        for expr in [total, single, lists, within] {
            assert_eq!(guarded(expr.clone(), false)?, expr.to_string());
        }
        Ok(())
    }

    #[test]
    fn what_can_fail_comes_last() -> Result<()> {
        let unknown = quotient("x").and(col("x").not_eq(lit(0)));
        assert_eq!(
            guarded(unknown.clone(), false)?,
            "CASE WHEN (x != Int32(0)) IS NOT DISTINCT FROM Boolean(false) THEN Boolean(false) \
             ELSE x != Int32(0) AND Int32(10) / x > Int32(1) END"
        );
        assert_eq!(
            guarded(unknown, true)?,
            "CASE WHEN (x != Int32(0)) IS DISTINCT FROM Boolean(true) THEN Boolean(false) \
             ELSE Int32(10) / x > Int32(1) END"
        );
        let known = col("n").eq(lit(0)).or(quotient("n"));
        assert_eq!(
            guarded(known, false)?,
            "CASE WHEN n = Int32(0) THEN Boolean(true) ELSE Int32(10) / n > Int32(1) END"
        );
        Ok(())
    }

    #[test]
    fn chains_are_flat_and_their_operands_are_guarded() -> Result<()> {
        let inner = col("x").eq(lit(0)).or(quotient("x"));
        let expr = quotient("n").and(inner).and(quotient("y"));
        assert_eq!(
            guarded(expr, true)?,
            "CASE WHEN (Int32(10) / n > Int32(1)) IS DISTINCT FROM Boolean(true) THEN Boolean(false) \
             WHEN CASE WHEN x = Int32(0) THEN Boolean(true) ELSE Int32(10) / x > Int32(1) END \
             IS DISTINCT FROM Boolean(true) THEN Boolean(false) \
             ELSE Int32(10) / y > Int32(1) END"
        );
        Ok(())
    }

    #[test]
    fn between_is_two_operands() -> Result<()> {
        let within = lit(5).between(col("n"), lit(10) / col("n"));
        assert_eq!(
            guarded(within, false)?,
            "CASE WHEN (Int32(5) >= n) IS NOT DISTINCT FROM Boolean(false) THEN Boolean(false) \
             ELSE Int32(5) <= Int32(10) / n END"
        );
        Ok(())
    }
}
