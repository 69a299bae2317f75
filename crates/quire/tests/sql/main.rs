//! The room from the outside: statements in, rows, errors and effects out.
#![allow(clippy::unwrap_used)]

mod allocations;
mod conversations;
mod copying;
mod costs;
mod definitions;
mod eager_aggregation;
mod filters;
mod hashed_groups;
mod join_orders;
mod late_dimensions;
mod memory;
mod merged_groups;
mod merging;
mod outer_joins;
mod plan_cache;
mod plans;
mod points;
mod prepared;
mod progress;
mod repeated_queries;
mod reuse;
mod sequences;
mod signatures;
mod sorted_windows;
mod support;
mod totals;
mod tuple_plans;
mod vector_aggregates;
mod vector_joins;
mod vector_sorts;
