//! Steps on physical plans that replace operators which hold more rows than memory has room for by operators that spill.

mod holding;
mod own_batches;
mod single_writers;
mod sort_inputs;
mod sorted_limits;
mod spilling_joins;
mod windows;

pub use self::{holding::Holding, own_batches::WINDOW_ROWS, spilling_joins::has_hash_joins};

use std::sync::Arc;

use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

use super::own_rule::OwnRule;
use single_writers::single_writer;
use sort_inputs::copied_sort_inputs;
use sorted_limits::sorted_limit;
use spilling_joins::spilling_join;
use windows::counted_window;

pub(super) use own_batches::{OwnBatches, own_rows};
pub(super) use windows::is_large;

/// Rules for physical plans, in the order in which they run.
pub(super) type PhysicalRules = Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>;

/// Name of the rule that has hash joins spill.
pub(super) const SPILLING_JOINS: &str = "spilling_joins";

/// DataFusion's rules for physical plans, with ours among them: joins before what they need of their inputs is put below them, limits
/// before filters that sorts tighten as they go are handed to scans, windows at the end.
pub(super) fn rules(holding: Holding) -> PhysicalRules {
    let mut rules = PhysicalOptimizer::new().rules;
    insert_before(
        &mut rules,
        "LimitedDistinctAggregation",
        OwnRule::of_operators(SPILLING_JOINS, move |plan| spilling_join(plan, holding)),
    );
    insert_before(
        &mut rules,
        "EnsureCooperative",
        OwnRule::of_operators("sorted_limits", move |plan| Ok(sorted_limit(plan, holding))),
    );
    // Behind the rules that place sorts and move them down.
    let sort_inputs = OwnRule::of_plans("sort_inputs", copied_sort_inputs);
    rules.push(Arc::new(sort_inputs));
    let writers = OwnRule::of_operators("single_writers", move |plan| single_writer(plan, holding));
    rules.push(Arc::new(writers));
    // Behind all rules that look into windows.
    let windows = OwnRule::of_operators("windows", move |plan| counted_window(plan, holding));
    rules.push(Arc::new(windows));
    rules
}

/// Puts a rule before the one called `name`, or behind all if there is none.
pub(super) fn insert_before(rules: &mut PhysicalRules, name: &str, rule: OwnRule) {
    let position = rules.iter().position(|known| known.name() == name);
    rules.insert(position.unwrap_or(rules.len()), Arc::new(rule));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules that ours go before are found by their names.
    #[test]
    fn our_rules_have_their_places() {
        let rules = rules(Holding::Nothing);
        let names: Vec<_> = rules.iter().map(|rule| rule.name()).collect();
        let after = |name: &str| {
            let position = names.iter().position(|known| *known == name);
            position.and_then(|position| names.get(position + 1).copied())
        };
        assert_eq!(after("join_selection"), Some("spilling_joins"));
        assert_eq!(after("spilling_joins"), Some("LimitedDistinctAggregation"));
        assert_eq!(after("sorted_limits"), Some("EnsureCooperative"));
    }
}
