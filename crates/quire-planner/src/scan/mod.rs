//! Tables as DataFusion sees them: what is in them, which filters they take over, and how
//! their rows arrive in a plan.

mod aggregate_stand_in;
mod announce;
mod external;
mod map_columns;
mod memory_share;
mod predicate;
mod provider;
mod pruning;
mod pushable;
mod recorded_keys;
mod rows;
mod source;
mod stored_tests;
mod stream;
mod vector_aggregate;

pub(crate) use aggregate_stand_in::{AggregateStandIn, StandInExec, counted_rows, stand_in_over};
pub use announce::announce;
pub use external::ExternalTableProvider;
pub(crate) use memory_share::reserve_share;
pub use provider::ColumnTableProvider;
pub(crate) use pushable::{is_total, is_total_where};
pub(crate) use recorded_keys::{BuildKeyRecord, BuildKeyRecorder};
pub(crate) use rows::JoinedRows;
pub use rows::{ROW_KEY_COLUMN, RowKeys, RowTableProvider};
pub(crate) use source::{has_static_filters, record_keys};
pub(crate) use vector_aggregate::{VectorAggregateExec, vector_aggregate};
