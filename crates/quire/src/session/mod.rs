//! What one connection keeps between statements, and what one statement sees.

mod catalog;
mod configuration;
mod context;
mod costs;
mod formats;
mod kept;
mod planners;
mod second_try;
mod transactions;

pub(crate) use configuration::{ACCESS_METHOD, Identity, Settings};
pub(crate) use context::{Session, SettingsThen, StatementContext, next_of};
pub(crate) use planners::Planners;
pub(crate) use transactions::isolation_name;
