//! `LIKE` with a pattern of many wildcards by a function of ours, which takes time with the length of text and pattern.
//!
//! It runs last, when patterns are as constant as they get. Filters of scans are left alone: scans have our function anyway.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{Expr, LogicalPlan, ScalarUDF};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use quire_functions::TextIsLike;

use super::own_names::keeping_names;

/// Wildcards of a pattern that DataFusion is left with.
const WILDCARDS_MAX: usize = 8;

/// The rule.
#[derive(Debug)]
pub(super) struct ManyWildcards;

impl OptimizerRule for ManyWildcards {
    fn name(&self) -> &str {
        "many_wildcards"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if matches!(plan, LogicalPlan::TableScan(_)) {
            return Ok(Transformed::no(plan));
        }
        keeping_names(plan, &|part| Ok(replace(part)))
    }
}

fn replace(expr: Expr) -> Transformed<Expr> {
    let Expr::Like(like) = expr else {
        return Transformed::no(expr);
    };
    let Some(pattern) = long_pattern(&like) else {
        return Transformed::no(Expr::Like(like));
    };
    let function = TextIsLike::new(pattern, like.case_insensitive);
    let is_like = ScalarUDF::from(function).call(vec![*like.expr]);
    Transformed::yes(if like.negated {
        Expr::Not(Box::new(is_like))
    } else {
        is_like
    })
}

fn long_pattern(like: &Like) -> Option<&str> {
    let Expr::Literal(pattern, _) = like.pattern.as_ref() else {
        return None;
    };
    let (ScalarValue::Utf8(Some(pattern))
    | ScalarValue::LargeUtf8(Some(pattern))
    | ScalarValue::Utf8View(Some(pattern))) = pattern
    else {
        return None;
    };
    let is_plain = like.escape_char.is_none_or(|escape| escape == '\\');
    let wildcards = pattern.bytes().filter(|byte| matches!(byte, b'%' | b'_'));
    (is_plain && wildcards.count() > WILDCARDS_MAX).then_some(pattern.as_str())
}
