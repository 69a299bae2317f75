//! The settings of a connection: ours, the planner's, and those of PostgreSQL that clients set by habit.

mod configuration;
mod costs;
mod formats;
mod kept;
mod transactions;

pub(crate) use configuration::{CATALOG_NAME, ConnectionSettings, Identity, SCHEMA_NAME};
pub(crate) use kept::{ACCESS_METHOD, SERVER_VERSION};
pub(crate) use transactions::isolation_name;
