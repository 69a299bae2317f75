//! Planning steps of our own, beside DataFusion's.

mod checked_operators;
mod integer_sums;
mod join_order;
mod unique_names;

pub(crate) use unique_names::UniqueNamesPlanner;

use std::sync::Arc;

use datafusion::optimizer::analyzer::Analyzer;
use datafusion::optimizer::{AnalyzerRule, Optimizer, OptimizerRule};

/// DataFusion's analyzer rules, which settle types, between ours.
pub(crate) fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules = Analyzer::new().rules;
    rules.insert(0, Arc::new(integer_sums::IntegerSums));
    rules.push(Arc::new(checked_operators::CheckedOperators));
    rules
}

/// DataFusion's optimizer rules, with the join order chosen as soon as filters are where they
/// belong, so that the sizes of a join's inputs can be told.
pub(crate) fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let after_filters = rules
        .iter()
        .position(|rule| rule.name() == "push_down_filter")
        .map_or(rules.len(), |position| position + 1);
    rules.insert(after_filters, Arc::new(join_order::JoinOrder));
    rules
}
