//! Tables as DataFusion sees them: what is in them, which filters they take over, and how
//! their rows arrive in a plan.

mod announce;
mod external;
mod predicate;
mod provider;
mod pruning;
mod pushable;
mod rows;
mod source;
mod stream;

pub(crate) use announce::announce;
pub(crate) use external::ExternalTableProvider;
pub(crate) use provider::ColumnTableProvider;
pub(crate) use rows::{ROW_KEY_COLUMN, RowKeys, RowTableProvider};
