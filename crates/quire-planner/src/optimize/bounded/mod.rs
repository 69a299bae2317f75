//! Steps on physical plans that replace operators which hold more rows than memory has room for by operators that spill.

mod row_sizes;
mod sorted_limits;
mod spilling_joins;
mod window_rows;
mod windows;

pub use spilling_joins::has_hash_joins;
pub use window_rows::WINDOW_ROWS;

use std::sync::Arc;

use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

use sorted_limits::SortedLimits;
use spilling_joins::SpillingJoins;
use windows::Windows;

/// Which operators hold rows in memory, and how many.
#[derive(Debug, Clone, Copy)]
pub enum Holding {
    /// Those that are expected to fit into this many bytes, which statements share.
    Within(usize),
    /// None that could spill.
    Nothing,
}

impl Holding {
    /// What fits the memory of an environment.
    pub fn of(environment: &RuntimeEnv) -> Self {
        match environment.memory_pool.memory_limit() {
            MemoryLimit::Finite(bytes) => Self::Within(bytes),
            _ => Self::Within(usize::MAX),
        }
    }

    /// The bytes that one operator may be expected to hold: others want memory, too, and estimates are often too small.
    fn operator_bytes(self) -> usize {
        match self {
            Self::Within(memory_bytes) => memory_bytes / 4,
            Self::Nothing => 0,
        }
    }
}

/// DataFusion's rules for physical plans, with ours among them: joins before what they need of their inputs is put below them, limits
/// before filters that sorts tighten as they go are handed to scans, windows at the end.
pub(super) fn rules(holding: Holding) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = PhysicalOptimizer::new().rules;
    let mut insert = |before: &str, rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>| {
        let position = rules.iter().position(|known| known.name() == before);
        rules.insert(position.unwrap_or(rules.len()), rule);
    };
    insert(
        "LimitedDistinctAggregation",
        Arc::new(SpillingJoins(holding)),
    );
    insert("EnsureCooperative", Arc::new(SortedLimits(holding)));
    // Behind all rules that look into windows.
    rules.push(Arc::new(Windows(holding)));
    rules
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
        assert_eq!(after("spilling_joins"), Some("LimitedDistinctAggregation"));
        assert_eq!(after("sorted_limits"), Some("EnsureCooperative"));
    }
}
