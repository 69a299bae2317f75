//! The settings of a connection: ours, the planner's, and those of PostgreSQL that clients set by habit.

mod configuration;
mod costs;
mod formats;
mod kept;
mod of_database;
mod transactions;

pub(crate) use configuration::{CATALOG_NAME, ConnectionSettings, Identity, SCHEMA_NAME};
pub(crate) use kept::{ACCESS_METHOD, PAGE_CODEC, SERVER_VERSION, page_codecs};
pub(crate) use of_database::{COMPRESSION_THREADS_MAX, DatabaseSettings};
pub(crate) use transactions::isolation_name;
