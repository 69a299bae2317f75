//! The switches of planning and of functions that a session sets, and the costs that plans are chosen by, among DataFusion's options.

use std::any::Any;

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::{Result, config_err, extensions_options};
use quire_exec::costs::CostModel;
use quire_tables::{Decompression, READ_AHEAD_BYTES};

extensions_options! {
    /// Switches of our own planning steps: `SET quire.join_order = off`. They exist so that a plan
    /// with and without a step can be compared.
    pub struct QuireOptions {
        /// Reorder inner joins by statistics.
        pub join_order: bool, default = true
        /// Let hash joins build their table from the smaller side.
        pub build_sides: bool, default = true
        /// Split aggregates above a join into a partial one below it and one that merges, if that is expected to cost less.
        pub eager_aggregation: bool, default = true
        /// Split every aggregate that can be split, whatever it costs.
        pub eager_aggregation_always: bool, default = false
        /// Group rows before they are joined to dimensions, if groups depend on these by their keys alone or are much fewer.
        pub late_dimensions: bool, default = true
        /// Evaluate filters inside scans.
        pub filter_pushdown: bool, default = true
        /// Skip zones by their minima and maxima.
        pub zone_pruning: bool, default = true
        /// Aggregate stored integers by vectors, inside scans.
        pub vector_aggregates: bool, default = true
        /// Find the groups of integers in an array, where these lie close together.
        pub direct_groups: bool, default = true
        /// Find groups in a hash table of packed keys.
        pub hashed_groups: bool, default = true
        /// Look up the keys of joins in an index of ranks or of packed keys.
        pub vector_joins: bool, default = true
        /// Compute aggregates without keys by an operator of our own.
        pub totals: bool, default = true
        /// Sort by keys that are packed into words.
        pub vector_sorts: bool, default = true
        /// Record the keys of a join's build side, for the scans of its probe side.
        pub recorded_keys: bool, default = true
        /// Hand the keys of a join's probe side to the scans of its build side, if there are few.
        pub transferred_keys: bool, default = true
        /// Compute subplans once that stand in several places.
        pub shared_subplans: bool, default = true
        /// Aggregate over grouping sets from the groups of all keys.
        pub staged_sets: bool, default = true
        /// Compute window functions along sorted rows, by whole batches.
        pub sorted_windows: bool, default = true
        /// Keep optimized plans for queries that are asked again.
        pub plan_cache: bool, default = true
        /// Bytes that a scan has on their way from the disk, or in memory before they are needed; 0: it reads nothing ahead.
        pub read_ahead_bytes: u64, default = READ_AHEAD_BYTES
        /// What scans decode at once: with `cache` a vector of a column when it is needed, with `memory` all of a row group's when the first is, with `pool`
        /// the same, in the cache instead of stored pages.
        pub decompression: String, default = "cache".to_owned()
        /// Test stored integers within scans, where a filter allows it.
        pub stored_tests: bool, default = true
        /// Run statements on a few rows without a planner.
        pub statement_path: bool, default = true
        /// Let the tuple engine make machine code of programs that run often.
        pub native_code: bool, default = true
        /// Where the session is: what clocks show at an instant.
        pub time_zone: String, default = "UTC".to_owned()
        /// In which order the numbers of a date stand: `MDY`, `DMY` or `YMD`.
        pub date_order: String, default = "MDY".to_owned()
        /// Which executor runs queries: `tuple` and `batch`, where they can, or with `auto` what costs less.
        pub engine: String, default = "auto".to_owned()
    }
}

impl QuireOptions {
    /// Which executor queries are for.
    pub fn executor(&self) -> ExecutorChoice {
        match self.engine.as_str() {
            "tuple" => ExecutorChoice::Tuples,
            "batch" => ExecutorChoice::Batches,
            _ => ExecutorChoice::Cheaper,
        }
    }

    /// What scans decode at once.
    pub fn scan_decompression(&self) -> Decompression {
        match self.decompression.as_str() {
            "memory" => Decompression::IntoMemory,
            "pool" => Decompression::IntoPool,
            _ => Decompression::IntoCache,
        }
    }
}

/// What runs a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutorChoice {
    Tuples,
    Batches,
    /// Whichever is expected to cost less.
    Cheaper,
}

impl ConfigExtension for QuireOptions {
    const PREFIX: &'static str = "quire";
}

/// What plans are chosen by: the costs of the session (`SET costs`), and the memory that statements have.
#[derive(Debug, Clone, Copy)]
pub struct PlannerCosts {
    pub model: CostModel,
    pub memory_bytes: usize,
}

/// Memory of statements where nobody has said how much there is.
const UNKNOWN_MEMORY_BYTES: usize = 1 << 30;

impl Default for PlannerCosts {
    fn default() -> Self {
        Self {
            model: CostModel::default(),
            memory_bytes: UNKNOWN_MEMORY_BYTES,
        }
    }
}

impl PlannerCosts {
    /// Those of a statement; built-in ones where it has none.
    pub fn of(options: &ConfigOptions) -> Self {
        options
            .extensions
            .get::<Self>()
            .copied()
            .unwrap_or_default()
    }
}

impl ConfigExtension for PlannerCosts {
    const PREFIX: &'static str = "quire_planner_costs";
}

/// The setting is `costs`, which is no option of the planner: nothing shows them or sets them here.
impl ExtensionOptions for PlannerCosts {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(*self)
    }

    fn set(&mut self, key: &str, _: &str) -> Result<()> {
        config_err!("there is no setting {key}")
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
