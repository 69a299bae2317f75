//! From the text of a statement to what it does.

mod advise;
mod ddl;
mod describe;
mod dispatch;
mod dml;
mod dump;
mod explain;
mod factor_columns;
mod insert;
mod known_plans;
pub(crate) mod load;
mod maintenance;
mod merged_column;
mod merged_columns;
mod merged_in_subqueries;
mod planned_query;
pub(crate) mod query;
mod repeated_query;
mod row_stream;
mod settings;
mod shared_queries;
mod signature;
mod tuple_engine;
mod views;
mod whole_rows;
mod write;

pub(crate) use dispatch::run;
pub(crate) use dml::stored_value;
pub use dump::DumpPart;
pub(crate) use dump::dump;
pub(crate) use repeated_query::{RepeatedQuery, RepeatedRows};
pub(crate) use signature::{make_arrays, parameter_types, result_schema};
