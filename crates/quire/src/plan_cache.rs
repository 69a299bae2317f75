//! Optimized plans of queries, by their syntax tree: a query that is asked again is not planned again.
//!
//! A plan is for the settings of the planner, the definitions and the states of the tables that it was made for ([`RepeatablePlan`]). What the
//! executor makes of it, filters that joins tighten among it, is made for each execution.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::sql::sqlparser::ast::Query;
use quire_planner::repeatable::RepeatablePlan;

/// Plans in one generation; there are two.
const GENERATION_PLANS: usize = 64;

/// What a plan was made for.
pub(crate) struct PlanKey {
    query: Box<Query>,
    /// A number that is the same where all settings of the planner are.
    settings: u64,
    schema_version: u64,
    hash: u64,
}

impl PlanKey {
    pub(crate) fn new(query: &Query, settings: u64, schema_version: u64) -> Self {
        let mut hasher = DefaultHasher::new();
        (query, settings, schema_version).hash(&mut hasher);
        Self {
            query: Box::new(query.clone()),
            settings,
            schema_version,
            hash: hasher.finish(),
        }
    }
}

impl PartialEq for PlanKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.settings == other.settings
            && self.schema_version == other.schema_version
            && self.query == other.query
    }
}

/// A plan, and how its columns are shown.
pub(crate) struct KnownPlan {
    pub(crate) key: PlanKey,
    pub(crate) plan: RepeatablePlan,
    pub(crate) names: Vec<Option<String>>,
    pub(crate) json: Vec<usize>,
}

/// The plans that were used last. When the younger generation is full, the older one is forgotten.
#[derive(Default)]
pub(crate) struct PlanCache {
    generations: Mutex<PlanGenerations>,
}

#[derive(Default)]
struct PlanGenerations {
    younger: HashMap<u64, Arc<KnownPlan>>,
    older: HashMap<u64, Arc<KnownPlan>>,
}

impl fmt::Debug for PlanCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanCache").finish_non_exhaustive()
    }
}

impl PlanCache {
    pub(crate) fn find(&self, key: &PlanKey) -> Option<Arc<KnownPlan>> {
        let mut generations = self.lock();
        if let Some(known) = generations.younger.get(&key.hash) {
            return (known.key == *key).then(|| Arc::clone(known));
        }
        let known = generations.older.remove(&key.hash)?;
        if known.key != *key {
            return None;
        }
        generations.add(Arc::clone(&known));
        Some(known)
    }

    pub(crate) fn add(&self, plan: KnownPlan) {
        self.lock().add(Arc::new(plan));
    }

    /// Forgets a plan, whose tables have changed.
    pub(crate) fn forget(&self, key: &PlanKey) {
        self.lock().younger.remove(&key.hash);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, PlanGenerations> {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlanGenerations {
    fn add(&mut self, plan: Arc<KnownPlan>) {
        if self.younger.len() >= GENERATION_PLANS {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(plan.key.hash, plan);
    }
}
