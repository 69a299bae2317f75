//! Plans become iterators and their programs.
//!
//! Every node says where its columns are: in registers, or attributes of tuples that registers point to. What nobody asks for is never decoded.
//! How often the nodes above ask for a column goes down with the walk: a column that is asked for once may stay an operand where it is.

mod aggregate;
mod base_scan;
mod blocks;
mod builder;
mod cost;
mod demand;
mod estimate;
mod join;
mod join_costs;
mod join_sides;
mod kept;
mod lookup;
mod merge;
mod order;
mod ordered_join;
mod partitioning;
mod plan_estimate;
mod relation;
mod relation_size;
mod scan_cost;
mod shared_plans;
mod shared_reading;
mod spilling;
mod wanted_merge;
mod whole;
mod width;
mod workspace;
mod write;

pub(super) use builder::{BuildContext, Builder};
pub use join_costs::{BatchSide, JoinCosts, batch_fields_ns};
pub use relation_size::RelationSize;
pub use scan_cost::{ScanCost, scan_cost};
pub(super) use shared_plans::SharedPlans;
pub(super) use spilling::Spilling;
pub(super) use whole::WholePlan;
pub use width::kept_value_bytes;
